// The rules of instances/verify.h for strategy plans.

#include "instances/strategy/verify/verify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/tolerances.h"
#include "instances/proof/plan_claims.h"
#include "instances/proof/violation_list.h"
#include "instances/strategy/verify/reference_model.h"

namespace stowage {
namespace {

enum Rule : std::size_t {
  kNumber,
  kOptions,
  kDevices,
  kExperts,
  kShard,
  kMicroBatches,
  kLayers,
  kMemory,
  kOffload,
  kTime,
  kObjective,
  kBound,
  kInstanceHash,
  kRuleCount,
};

constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
    "number", "options", "devices", "experts",   "shard", "micro_batches", "layers",
    "memory", "offload", "time",    "objective", "bound", "instance_hash"};

// Times and amounts of memory are sums of rounded numbers.

bool agree(double a, double b) {
  return std::abs(a - b) <= kVerifierDiffers * std::max(std::abs(a), std::abs(b));
}

class StrategyVerifier {
 public:
  StrategyVerifier(const StrategyInstance& instance, const StrategyPlan& plan)
      : instance_(instance), plan_(plan), truth_(instance), found_(kRuleNames) {}

  std::vector<Violation> run() && {
    check_numbers();
    check_options();
    check_devices();
    check_experts();
    check_shard();
    check_micro_batches();
    check_layers();
    if (sound_) {
      check_stages();
    } else {
      check_bound_ms(found_, {kNumber, kBound}, plan_.bound_ms, plan_.bound_by, plan_.step_ms);
    }
    return std::move(found_).take();
  }

 private:
  template <class Describe>
  void broken(Rule rule, Describe describe) {
    found_.add(rule, describe);
    sound_ = false;
  }

  void check_numbers() {
    const auto check = [&](double value, const std::string& where) {
      if (std::isfinite(value) && value >= 0) return;
      found_.add(kNumber, [&] { return Description{where, text(value), "a number from 0 on"}; });
    };
    check(plan_.step_ms, "/objective_ms");
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const StrategyStage& stage = plan_.stages[s];
      const std::string where = "/stages/" + text(s);
      check(stage.time_ms, where + "/time_ms");
      check(stage.longest_ms, where + "/longest_ms");
      check(stage.exchange_ms, where + "/exchange_ms");
      check(stage.update_ms, where + "/update_ms");
      check(stage.memory_mib, where + "/memory_mib");
      check(stage.offload, where + "/offload");
    }
  }

  template <class Value>
  void check_option(const std::vector<Value>& known, Value value, const std::string& where) {
    if (std::find(known.begin(), known.end(), value) != known.end()) return;
    broken(kOptions, [&] {
      return Description{where, text(static_cast<std::int64_t>(value)), "a value of the options"};
    });
  }

  void check_options() {
    const StrategyOptions& options = instance_.options;
    check_option(options.pp, plan_.pp, "/pp");
    check_option(options.v, plan_.v, "/v");
    check_option(options.tp, plan_.tp, "/tp");
    check_option(options.cp, plan_.cp, "/cp");
    check_option(options.ep, plan_.ep, "/ep");
    check_option(options.logit_chunks, plan_.logit_chunks, "/logit_chunks");
    if (!options.micro_batches.empty()) {
      check_option(options.micro_batches, plan_.micro_batches, "/micro_batches");
    }
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const std::string where = "/stages/" + text(s);
      check_option(options.zero, plan_.stages[s].zero, where + "/zero");
      if (plan_.pp > 1 && plan_.stages[s].zero > options.pipeline_zero) {
        broken(kOptions, [&] {
          return Description{where + "/zero", text(plan_.stages[s].zero),
                             "at most " + text(options.pipeline_zero) + " with two stages or more"};
        });
      }
      check_option(options.recompute, plan_.stages[s].recompute, where + "/recompute");
      check_option(truth_.stream_chunks(plan_.stages[s].recompute), plan_.stages[s].stream_chunks,
                   where + "/stream_chunks");
    }
  }

  // Returns the product of degrees; nullopt if one is not positive or the product leaves the range.
  static std::optional<std::int64_t> product(std::initializer_list<std::int64_t> degrees) {
    std::optional<std::int64_t> all = 1;
    for (const std::int64_t degree : degrees) {
      if (degree < 1) return std::nullopt;
      if (all) all = checked_mul(*all, degree);
    }
    return all;
  }

  void check_devices() {
    const std::int64_t devices = instance_.cluster.nodes * instance_.cluster.devices_per_node;
    const auto used = product({plan_.pp, plan_.tp, plan_.cp, plan_.dp});
    if (used != devices) {
      broken(kDevices, [&] {
        return Description{"/dp",
                           text(plan_.pp) + " x " + text(plan_.tp) + " x " + text(plan_.cp) +
                               " x " + text(plan_.dp) + " devices",
                           "pp tp cp dp of " + text(devices)};
      });
    }
    const auto ranks = product({plan_.tp, plan_.cp});
    if (!ranks || !truth_.may_exchange(plan_.tp, plan_.cp, plan_.cp_exchange)) {
      broken(kDevices, [&] {
        return Description{
            "/tp",
            text(plan_.tp) + " x " + text(plan_.cp) + " ranks" +
                (plan_.cp_exchange == StrategyExchange::ring ? " in a ring" : ""),
            "an exchange of the options where cp is above 1, and tp cp, or in a ring tp, that "
            "divides the " +
                text(instance_.model.heads) + " heads" +
                (instance_.cost.detail
                     ? ", and with tp divides those of keys and values or repeats them"
                     : "")};
      });
    }
  }

  // Checks experts; dp and cp may have any values here.
  void check_experts() {
    const auto ranks = product({plan_.cp, plan_.dp});
    const StrategyReferenceModel::Setting alone{
        .tp = plan_.tp, .cp = ranks.value_or(1), .ep = plan_.ep};
    if (plan_.ep >= 1 && (plan_.ep == 1 || (ranks && truth_.may_share_experts(alone)))) return;
    broken(kExperts, [&] {
      return Description{"/ep",
                         text(plan_.ep) + " ranks for the experts, of " + text(plan_.cp) + " x " +
                             text(plan_.dp) + ", tp " + text(plan_.tp),
                         "1, or a divisor of cp dp and of the experts of each layer that has some, "
                         "with sequence parallelism where tp is above 1"};
    });
  }

  // Checks the ranks that share states; ep may have any value here.
  void check_shard() {
    const auto ranks = product({plan_.cp, plan_.dp});
    const std::int64_t ep = std::max<std::int64_t>(1, plan_.ep);
    const std::vector<std::int64_t>& listed = instance_.options.shard;
    const auto lists = [&](std::int64_t number) {
      return std::find(listed.begin(), listed.end(), number) != listed.end();
    };
    if (plan_.shard == 0 && (lists(0) || (ranks && lists(*ranks)))) return;
    if (plan_.shard > 0 && ranks && plan_.shard < *ranks && *ranks % plan_.shard == 0 &&
        plan_.shard % ep == 0 && lists(plan_.shard)) {
      return;
    }
    broken(kShard, [&] {
      return Description{"/shard",
                         text(plan_.shard) + " ranks that share states, of " + text(plan_.cp) +
                             " x " + text(plan_.dp) + ", ep " + text(plan_.ep),
                         "a value of the options, which is 0 for all of them or a smaller divisor "
                         "of cp dp and a multiple of ep"};
    });
  }

  void check_micro_batches() {
    const auto sequences = static_cast<std::int64_t>(instance_.lengths.size());
    const auto rows = product({plan_.micro_batches, plan_.dp});
    if (!rows || sequences % *rows != 0) {
      broken(kMicroBatches, [&] {
        return Description{
            "/micro_batches",
            text(plan_.micro_batches) + " micro-batches on " + text(plan_.dp) + " replicas",
            "micro_batches dp that divides the " + text(sequences) + " sequences"};
      });
    }
    if (plan_.v < 1 || (plan_.v > 1 && (plan_.pp < 2 || plan_.micro_batches % plan_.pp != 0))) {
      broken(kMicroBatches, [&] {
        return Description{"/v",
                           text(plan_.v) + " chunks, " + text(plan_.micro_batches) +
                               " micro-batches, " + text(plan_.pp) + " stages",
                           "1 chunk, or micro-batches that 2 or more stages divide"};
      });
    }
  }

  void check_layers() {
    if (static_cast<std::int64_t>(plan_.stages.size()) != plan_.pp) {
      broken(kLayers, [&] {
        return Description{"/stages", text(plan_.stages.size()) + " stages",
                           text(plan_.pp) + " stages"};
      });
    }
    const StrategyReferenceModel::Setting setting{.pp = plan_.pp,
                                                  .v = std::max<std::int64_t>(1, plan_.v)};
    const bool equal = setting.v > 1 && truth_.layers_differ();
    const bool ends = setting.v > 1 && !equal && instance_.model.vocabulary > 0;
    std::optional<std::int64_t> sum = 0;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const std::int64_t layers = plan_.stages[s].layers;
      if (sum) sum = checked_add(*sum, std::max<std::int64_t>(0, layers));
      if (truth_.may_hold(setting, static_cast<std::int64_t>(s), layers)) continue;
      broken(kLayers, [&] {
        return Description{"/stages/" + text(s) + "/layers", text(layers) + " layers",
                           "at least one, a multiple of " + text(setting.v) +
                               (equal  ? ", as many as the other stages"
                                : ends ? ", in the first and last stage a multiple or one less"
                                       : "")};
      });
    }
    if (sum == truth_.layers()) return;
    broken(kLayers, [&] {
      return Description{"/stages", (sum ? text(*sum) : "too many") + " layers",
                         "the " + text(truth_.layers()) + " layers of the model"};
    });
  }

  // Checks the stages. Requires decisions that all rules up to `layers` allow.
  void check_stages() {
    const StrategyReferenceModel::Setting setting{plan_.pp, plan_.v,     plan_.micro_batches,
                                                  plan_.tp, plan_.cp,    plan_.dp,
                                                  plan_.ep, plan_.shard, plan_.cp_exchange};
    std::vector<StrategyReferenceModel::Stage> stages;
    std::int64_t before = 0;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const StrategyStage& said = plan_.stages[s];
      const auto index = static_cast<std::int64_t>(s);
      stages.push_back(truth_.stage(
          setting, index, truth_.layers_of(setting, index, before, said.layers), said.zero,
          said.recompute, said.stream_chunks, plan_.logit_chunks, said.offload));
      before += said.layers;
      check_stage("/stages/" + text(s), said, stages.back());
    }
    const Ms step = truth_.step(setting, stages);
    if (!agree(plan_.step_ms, step)) {
      found_.add(kObjective, [&] {
        return Description{"/objective_ms", text(plan_.step_ms) + " ms", text(step) + " ms"};
      });
    }
    check_bound_ms(found_, {kNumber, kBound}, plan_.bound_ms, plan_.bound_by, step);
  }

  void check_stage(const std::string& where, const StrategyStage& said,
                   const StrategyReferenceModel::Stage& is) {
    if (!agree(said.memory_mib, is.memory_mib)) {
      found_.add(kMemory, [&] {
        return Description{where + "/memory_mib", text(said.memory_mib) + " MiB",
                           text(is.memory_mib) + " MiB"};
      });
    }
    const Mib most = instance_.cluster.memory_mib;
    if (is.memory_mib > most * (1 + kVerifierDiffers)) {
      found_.add(kMemory, [&] {
        return Description{where, "needs " + text(is.memory_mib) + " MiB",
                           "at most the device's " + text(most) + " MiB"};
      });
    }
    // Amounts of memory are rounded, and the share follows from their difference.
    const Mib rounding = kVerifierDiffers * std::max(most, is.all_mib);
    if (!(std::abs(said.offload - is.on_host) * is.all_mib <= rounding) ||
        (said.offload != 0 && (!instance_.cluster.offload || !(is.all_mib > 0)))) {
      found_.add(kOffload, [&] {
        return Description{where + "/offload", text(said.offload) + " of the activations leave",
                           text(is.on_host) + ", the least that memory needs and that may leave"};
      });
    }
    const auto check_time = [&](const char* key, Ms have, Ms need) {
      if (agree(have, need)) return;
      found_.add(kTime, [&] {
        return Description{where + key, text(have) + " ms", text(need) + " ms"};
      });
    };
    check_time("/time_ms", said.time_ms, is.time_ms);
    check_time("/longest_ms", said.longest_ms, is.longest_ms);
    check_time("/exchange_ms", said.exchange_ms, is.exchange_ms);
    check_time("/update_ms", said.update_ms, is.update_ms);
  }

  const StrategyInstance& instance_;
  const StrategyPlan& plan_;
  const StrategyReferenceModel truth_;
  bool sound_ = true;  // the decisions are consistent with each other
  ViolationList found_;
};

}  // namespace

std::vector<std::string_view> strategy_verify_rules() {
  return {kRuleNames.begin(), kRuleNames.end()};
}

std::vector<Violation> verify(const StrategyInstance& instance, const StrategyPlan& plan) {
  return StrategyVerifier(instance, plan).run();
}

std::vector<Violation> verify_instance_hash(const StrategyPlan& plan,
                                            std::string_view instance_hash) {
  return check_instance_hash(kRuleNames, kInstanceHash, plan.instance_hash, instance_hash);
}

}  // namespace stowage
