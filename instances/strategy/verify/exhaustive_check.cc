#include "instances/strategy/verify/exhaustive_check.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "instances/numeric/tolerances.h"
#include "instances/strategy/verify/reference_model.h"

namespace stowage {
namespace {

class EveryConfiguration {
 public:
  EveryConfiguration(const StrategyInstance& instance, std::int64_t most)
      : instance_(instance), truth_(instance), left_(most) {}

  std::optional<Ms> run() && {
    for (const StrategyReferenceModel::Setting& setting : truth_.settings()) {
      setting_ = setting;
      stages_.clear();
      if (!extend(0)) return std::nullopt;
    }
    return best_;
  }

 private:
  // Tries all ways to continue with `before` layers in the stages so far; returns false if there
  // are too many.
  bool extend(std::int64_t before) {
    const auto stage = static_cast<std::int64_t>(stages_.size());
    if (stage == setting_.pp) {
      if (before == truth_.layers()) best_ = std::min(best_, truth_.step(setting_, stages_));
      return true;
    }
    for (std::int64_t count = 1; before + count <= truth_.layers(); ++count) {
      if (!truth_.may_hold(setting_, stage, count)) continue;
      if (stage == setting_.pp - 1 && before + count < truth_.layers()) continue;
      const auto its = truth_.layers_of(setting_, stage, before, count);
      for (const std::int64_t zero : instance_.options.zero) {
        if (setting_.pp > 1 && zero > instance_.options.pipeline_zero) continue;
        for (const StrategyRecompute recompute : instance_.options.recompute) {
          for (const std::int64_t parts : truth_.stream_chunks(recompute)) {
            for (const std::int64_t chunks : instance_.options.logit_chunks) {
              if (--left_ < 0) return false;
              const StrategyReferenceModel::Stage next =
                  truth_.stage(setting_, stage, its, zero, recompute, parts, chunks);
              if (next.memory_mib > instance_.cluster.memory_mib * (1 + kVerifierDiffers)) continue;
              stages_.push_back(next);
              if (!extend(before + count)) return false;
              stages_.pop_back();
            }
          }
        }
      }
    }
    return true;
  }

  const StrategyInstance& instance_;
  const StrategyReferenceModel truth_;
  StrategyReferenceModel::Setting setting_;
  std::vector<StrategyReferenceModel::Stage> stages_;
  std::int64_t left_;
  Ms best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::optional<Ms> least_step(const StrategyInstance& instance, std::int64_t most) {
  return EveryConfiguration(instance, most).run();
}

}  // namespace stowage
