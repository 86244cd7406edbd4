// Checks prices: computes classes, splits and choices again from the instance.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "instances/numeric/tolerances.h"
#include "instances/proof/infeasibility_check.h"
#include "instances/proof/violation_list.h"
#include "instances/strategy/certificate.h"
#include "instances/strategy/verify/reference_model.h"
#include "instances/strategy/verify/split_reference.h"
#include "instances/strategy/verify/verify.h"

namespace stowage {
namespace {

enum Rule : std::size_t { kClass, kPrice, kProven, kRuleCount };
constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
    "certificate_class", "certificate_price", "certificate_bound"};

constexpr double kNone = std::numeric_limits<double>::infinity();

using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // pp, v, micro-batches

Key key_of(const StrategyReferenceModel::Setting& setting) {
  return {setting.pp, setting.v, setting.micro_batches};
}

std::string layout_of(const StrategyReferenceModel::Setting& setting) {
  return "tp " + text(setting.tp) + ", cp " + text(setting.cp) +
         (setting.ep > 1 ? ", ep " + text(setting.ep) : "") +
         (setting.cp_exchange == StrategyExchange::ring ? ", ring" : "") +
         (setting.shard > 0 ? ", shard " + text(setting.shard) : "");
}

// SB1, SB2: returns a bound that no plan of this class and layout beats. Uses SB4 if `its` asks for
// it and the prices do not reach `wanted`.
Ms setting_bound(const StrategyInstance& instance, const StrategyReferenceModel& truth,
                 const StrategyReferenceModel::Setting& setting,
                 const StrategyCertificate::Class& its, Ms wanted) {
  const SplitReference splits(instance, truth, setting);
  if (setting.pp == 1) {
    return splits.least_sum([&](std::int64_t, const StrategyReferenceModel::Stage& stage) {
      return truth.step(setting, {stage});
    });
  }
  const double sum = std::accumulate(its.prices.begin(), its.prices.end(), 0.0);
  const auto price = [&](std::int64_t s) { return its.prices[static_cast<std::size_t>(s)] / sum; };
  const double chunk = 1 / static_cast<double>(setting.v);
  const double rounds = static_cast<double>(setting.micro_batches) - chunk;
  const Ms steady =
      splits.least_sum([&](std::int64_t s, const StrategyReferenceModel::Stage& stage) {
        return (chunk + rounds * price(s)) * stage.time_ms + price(s) * truth.uncovered(stage);
      });
  const Ms alone =
      splits.least_sum([&](std::int64_t s, const StrategyReferenceModel::Stage& stage) {
        return stage.longest_ms + price(s) * truth.uncovered(stage);
      });
  const Ms priced = std::max(steady, alone);
  if (!its.thresholds || priced >= wanted) return priced;
  return std::max(priced, splits.least_by_cases(wanted));
}

// SB1 of one setting without its memory: the time of all layers in one stage with the quickest
// choice, shared evenly. No plan has less work. 0 if layers that differ are dealt in chunks.
Ms shared_work(const StrategyInstance& instance, const StrategyReferenceModel& truth,
               const StrategyReferenceModel::Setting& setting) {
  if (setting.v > 1 && truth.layers_differ()) return 0;
  std::vector<std::int64_t> all(static_cast<std::size_t>(truth.layers()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  double least = kNone;
  for (const std::int64_t zero : instance.options.zero) {
    if (setting.pp > 1 && zero > instance.options.pipeline_zero) continue;
    for (const StrategyRecompute recompute : instance.options.recompute) {
      for (const std::int64_t parts : truth.stream_chunks(recompute)) {
        least = std::min(
            least, truth.stage(setting, setting.pp - 1, all, zero, recompute, parts, 1).work_ms);
      }
    }
  }
  if (!instance.cost.measured.empty() && setting.ep == 1) least = truth.least_busy(setting);
  const auto m = static_cast<double>(setting.micro_batches);
  const auto p = static_cast<double>(setting.pp);
  return (m + (p - 1) / static_cast<double>(setting.v)) * least / p;
}

class CertificateChecker {
 public:
  CertificateChecker(const StrategyInstance& instance, const StrategyCertificate& certificate)
      : instance_(instance), certificate_(certificate), truth_(instance), found_(kRuleNames) {}

  StrategyCertificateCheck run() && {
    const std::vector<StrategyReferenceModel::Setting> settings = truth_.settings();
    std::map<Key, const StrategyCertificate::Class*> prices;
    for (const StrategyReferenceModel::Setting& setting : settings)
      prices[key_of(setting)] = nullptr;
    bool whole = true;
    for (std::size_t k = 0; k < certificate_.classes.size(); ++k) {
      whole = take(k, prices) && whole;
    }
    for (const auto& each : prices) {
      if (each.second != nullptr) continue;
      whole = false;
      const Key& key = each.first;
      found_.add(kClass, [&] {
        return Description{"/certificate/classes",
                           "no class of " + text(std::get<0>(key)) + " stages, " +
                               text(std::get<1>(key)) + " chunks and " + text(std::get<2>(key)) +
                               " micro-batches",
                           "every class of the instance"};
      });
    }
    if (whole) check_bound(settings, prices);
    StrategyCertificateCheck check{.violations = std::move(found_).take()};
    if (check.violations.empty()) check.bound_ms = certificate_.bound_ms;
    return check;
  }

 private:
  using Prices = std::map<Key, const StrategyCertificate::Class*>;

  bool take(std::size_t k, Prices& prices) {
    const StrategyCertificate::Class& its = certificate_.classes[k];
    const std::string where = "/certificate/classes/" + text(k);
    const auto known = prices.find({its.pp, its.v, its.micro_batches});
    if (known == prices.end() || known->second != nullptr) {
      found_.add(kClass, [&] {
        return Description{where, known == prices.end() ? "a class of no layout" : "a class again",
                           "each class of the instance once"};
      });
      return false;
    }
    known->second = &its;
    const double sum = std::accumulate(its.prices.begin(), its.prices.end(), 0.0);
    const bool positive =
        std::all_of(its.prices.begin(), its.prices.end(), [](double price) { return price >= 0; });
    if (static_cast<std::int64_t>(its.prices.size()) == its.pp && positive && sum > 0 &&
        std::isfinite(sum)) {
      return true;
    }
    found_.add(kPrice, [&] {
      return Description{where + "/prices", text(its.prices.size()) + " prices of " + text(sum),
                         text(its.pp) + " prices from 0 on, with one above 0"};
    });
    return false;
  }

  void check_bound(const std::vector<StrategyReferenceModel::Setting>& settings,
                   const Prices& prices) {
    const Ms bound = certificate_.bound_ms;
    if (!(bound >= 0) || settings.empty()) return complain(settings.empty() ? kNone : bound, {});
    for (const StrategyReferenceModel::Setting& setting : settings) {
      if (bound <= shared_work(instance_, truth_, setting)) continue;
      const Ms least =
          setting_bound(instance_, truth_, setting, *prices.at(key_of(setting)), bound);
      if (bound > least * (1 + kVerifierDiffers)) complain(least, setting);
    }
  }

  void complain(Ms least, const StrategyReferenceModel::Setting& setting) {
    found_.add(kProven, [&] {
      return Description{"/certificate/bound_ms", text(certificate_.bound_ms) + " ms",
                         "at most " + text(least) + " ms, by " + text(setting.pp) + " stages, " +
                             text(setting.v) + " chunks, " + text(setting.micro_batches) +
                             " micro-batches, " + layout_of(setting)};
    });
  }

  const StrategyInstance& instance_;
  const StrategyCertificate& certificate_;
  const StrategyReferenceModel truth_;
  ViolationList found_;
};

}  // namespace

std::vector<std::string_view> strategy_certificate_rules() {
  return {kRuleNames.begin(), kRuleNames.end()};
}

StrategyCertificateCheck check_certificate(const StrategyInstance& instance,
                                           const StrategyCertificate& certificate) {
  return CertificateChecker(instance, certificate).run();
}

std::vector<Violation> check_infeasibility(const StrategyInstance& instance,
                                           const InfeasibilityProof& proof) {
  InfeasibilityCheck check(proof, {{"configurations"}});
  // All configurations are tried here, so that one that fits also refutes a claim by "none".
  if (proof.by == "configurations" || proof.by == "none") {
    const StrategyReferenceModel truth(instance);
    for (const StrategyReferenceModel::Setting& setting : truth.settings()) {
      const double none =
          SplitReference(instance, truth, setting)
              .least_sum([](std::int64_t, const StrategyReferenceModel::Stage&) { return 0.0; });
      if (none == kNone) continue;
      check.wrong("/by",
                  text(setting.pp) + " stages, " + text(setting.v) + " chunks, " +
                      text(setting.micro_batches) + " micro-batches, " + layout_of(setting) +
                      " fit",
                  "no configuration that fits");
      break;
    }
  }
  return std::move(check).take();
}

}  // namespace stowage
