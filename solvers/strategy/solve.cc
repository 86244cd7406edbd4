#include "solvers/strategy/solve.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formulations/strategy/bounds.h"
#include "formulations/strategy/thresholds.h"
#include "heuristics/strategy/configurations.h"
#include "heuristics/strategy/registry.h"
#include "instances/numbers.h"
#include "instances/numerics.h"
#include "instances/strategy/compose.h"
#include "instances/strategy/table.h"
#include "solvers/family_solve.h"
#include "solvers/milp/backends.h"
#include "solvers/strategy/explain.h"
#include "solvers/strategy/mip_solve.h"
#include "solvers/strategy/stage_search.h"
#include "solvers/strategy/uniap_solve.h"

namespace stowage {
namespace {

const Method kAuto{"auto", MethodKind::ours,
                   "fast, cases or prices for every class, then a search of those that are left",
                   ""};
const Method kExact{"exact", MethodKind::ours,
                    "the same with equal prices alone: class by class, until proof or limit",
                    "stage_search.h"};
const Method kMip{"mip", MethodKind::ours, "class by class by a MILP backend, for small instances",
                  "formulations/README.md"};

const Method kUniap{"uniap", MethodKind::baseline,
                    "layers and choices of each class without chunks by a MILP, with one layout",
                    "UniAP (arXiv 2307.16375)"};

class StrategySolve : public FamilySolve<StrategyInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  std::optional<Refutation> refute() override {
    table_.emplace(instance_);
    if (table_->classes().empty()) return nothing_combines(instance_);
    return std::nullopt;
  }

  static Refutation nothing_combines(const StrategyInstance& instance) {
    if (std::optional<Undealt> undealt = why_undealt(instance)) {
      return {std::move(undealt->rule), std::move(undealt->remedy), {}, {.by = "configurations"}};
    }
    const std::string of_ep = rule_of_ep(instance);
    return {
        std::string("no values of the options combine: pp tp cp must divide the devices, tp cp the "
                    "heads, and micro_batches dp the sequences") +
            of_ep,
        std::string("add degrees that divide the devices, or 1, to options.pp, options.tp and "
                    "options.cp, ") +
            (of_ep.empty() ? "" : "add 1 to options.ep, ") +
            "or give a multiple of the devices as sequences",
        {},
        {.by = "configurations"}};
  }

  std::vector<NamedBound> bounds() override { return {{"work", work_bound(*table_)}}; }

  void complete(Outcome& outcome) const override {
    if (certificate_ && outcome.plan) outcome.certificate.emplace(*certificate_);
    if (!outcome.plan) return;
    const std::int64_t tp = std::get<StrategyPlan>(*outcome.plan).tp;
    const std::int64_t pairs = instance_.model.key_value_heads();
    if (pairs == 0 || tp <= pairs) return;
    outcome.detail += (outcome.detail.empty() ? "" : "; ") + std::string("tp ") +
                      std::to_string(tp) + " is more than the " + plain_count(pairs, "head") +
                      " of keys and values, which ranks repeat: a trainer that only divides them "
                      "refuses this plan";
  }

  StoppedBy search() override {
    if (options_.method == kUniap.name) return run_uniap();
    const bool mip = options_.method == kMip.name;
    const bool whole = options_.method == kAuto.name || options_.method == kExact.name || mip;
    const std::string first = whole ? "fast" : options_.method;
    for (const StrategyHeuristic& heuristic : heuristics(instance_)) {
      if (heuristic.name != first) continue;
      if (auto plan = heuristic.run(instance_, *table_, options_.seed, budget_)) {
        incumbent_.offer(std::move(*plan), 'H', heuristic.name);
      } else {
        incumbent_.remark(heuristic.name + " has no configuration that fits");
      }
    }
    if (!incumbent_.plan() && refuted_by_memory()) return StoppedBy::proof;
    if (!ended()) prove(options_.method == kAuto.name);
    if (!whole || ended()) return ending();
    if (mip) return run_mip();
    search_classes('L', "search", [this](const StageCosts& costs, Ms below) -> Searched {
      StageSearch search(costs);
      StageSearch::Answer answer = search.run(below, budget_);
      return {std::move(answer.stages), answer.complete ? kInfinity : 0, answer.complete};
    });
    return ending();
  }

  StoppedBy run_uniap() {
    if (built_backends().empty()) {
      incumbent_.remark("no MILP backend is built in");
      return StoppedBy::error;
    }
    UniapResult found = solve_uniap(*table_,
                                    {.backend = backend_of(options_),
                                     .milp_seconds = options_.milp_seconds.value_or(kMilpSeconds),
                                     .seed = options_.seed},
                                    budget_);
    if (found.plan) {
      incumbent_.offer(std::move(*found.plan), 'M', "uniap");
    } else {
      incumbent_.remark("uniap has no configuration that fits");
    }
    if (found.unsolved > 0) {
      incumbent_.remark(std::to_string(found.unsolved) + " of its MILPs did not end" +
                        (found.detail.empty() ? "" : ": " + found.detail));
    }
    if (!incumbent_.plan() && refuted_by_memory()) return StoppedBy::proof;
    if (!ended()) prove(false);
    return ending();
  }

  StoppedBy run_mip() {
    if (built_backends().empty()) {
      incumbent_.remark("no MILP backend is built in");
      return StoppedBy::error;
    }
    const MilpBackend backend = backend_of(options_);
    search_classes('M', "mip-" + std::string(name(backend)),
                   [&](const StageCosts& costs, Ms below) -> Searched {
                     StrategyMipResult found = solve_strategy_mip(
                         costs, {.backend = backend, .below = below, .seed = options_.seed},
                         budget_);
                     if (!found.detail.empty()) incumbent_.remark(found.detail);
                     return {std::move(found.stages), found.bound, found.complete};
                   });
    return ending();
  }

  bool ended() const {
    return budget_.exhausted() || incumbent_.proven() || incumbent_.within(options_.gap);
  }

  StoppedBy ending() const {
    if (incumbent_.proven()) return StoppedBy::proof;
    return incumbent_.within(options_.gap) ? StoppedBy::gap : StoppedBy::heuristic_end;
  }

  bool refuted_by_memory() {
    const LeastMemory least = least_memory(*table_);
    if (least.mib <= instance_.cluster.memory_mib) return false;
    refuted_ = Refutation{"stage " + std::to_string(least.stage) + " of " +
                              std::to_string(least.of_class.pp) + " needs " +
                              std::to_string(static_cast<std::int64_t>(std::ceil(least.mib))) +
                              " MiB with " + plain_count(least.layers, "layer") +
                              " in the configuration that needs least",
                          "raise cluster.memory_mib to at least " + shortest(least.mib),
                          {},
                          {.by = "configurations"}};
    return true;
  }

  // The bound of the weakest class, with its certificate.
  void prove(bool raise) {
    certificate_ = equal_prices(*table_, budget_);
    if (!certificate_) return;
    if (raise && incumbent_.plan() && certificate_->bound_ms < incumbent_.plan()->step_ms) {
      sharpen(*table_, *certificate_, incumbent_.plan()->step_ms, budget_);
    }
    state_certified();
  }

  void state_certified() {
    if (incumbent_.plan()) {
      // Rounding must not lift it above what is known, or keep it below.
      const Ms known = incumbent_.plan()->step_ms;
      if (certificate_->bound_ms >= known * (1 - kBoundMeets)) certificate_->bound_ms = known;
    }
    const bool cases =
        std::ranges::any_of(certificate_->classes, &StrategyCertificate::Class::thresholds);
    incumbent_.raise_bound({cases ? "thresholds" : "prices", certificate_->bound_ms});
  }

  struct Searched {
    std::vector<StagePlan> stages;  // below what was known; or empty
    Ms bound = kInfinity;           // of what was not found
    bool complete = true;
  };

  // Classes and layouts, the most promising first, until none can be better than the plan.
  template <class Run>
  void search_classes(char source, const std::string& by, Run run) {
    struct Open {
      Ms bound;
      StageCosts costs;
    };
    std::vector<Open> open;
    const auto target = [this] {
      return incumbent_.plan() ? incumbent_.plan()->step_ms : kInfinity;
    };
    for (const StrategyClass& its : table_->classes()) {
      if (its.pp == 1 && incumbent_.plan()) continue;  // all of them were tried
      const std::vector<double> prices(at(its.pp), 1 / static_cast<double>(its.pp));
      for (const StrategyLayout& layout : table_->layouts(its)) {
        if (budget_.exhausted()) return;
        const StageCosts costs(*table_, its, layout);
        if (costs.area() >= target()) continue;
        const Ms bound = priced_bound(costs, prices);
        if (bound < target()) open.push_back({bound, costs});
      }
    }
    std::ranges::stable_sort(open, {}, &Open::bound);
    Ms left = kInfinity;  // no plan that was not found is faster
    for (const Open& each : open) {
      if (each.bound >= target()) break;
      Searched found = run(each.costs, target());
      if (!found.stages.empty()) {
        incumbent_.offer(compose_strategy(each.costs, found.stages), source, by);
        if (certificate_) state_certified();
      }
      left = std::min(left, std::max(found.bound, each.bound));
      if (found.complete) continue;
      incumbent_.raise_bound({by, std::min(left, target())});
      return;
    }
    if (incumbent_.plan()) incumbent_.raise_bound({by, std::min(left, target())});
  }

  void fall_back() override {
    if (auto plan = best_homogeneous(*table_, budget_)) {
      incumbent_.offer(std::move(*plan), 'H', "homogeneous");
    }
  }

  std::optional<StrategyTable> table_;
  std::optional<StrategyCertificate> certificate_;
};

}  // namespace

std::vector<Method> methods_of(const StrategyInstance& instance) {
  std::vector<Method> more{kExact};
  if (!built_backends().empty()) more.insert(more.end(), {kUniap, kMip});
  std::vector<Method> all = method_list(kAuto, heuristics(instance), more);
  baselines_before_ours(all);
  return all;
}

Outcome solve_family(const StrategyInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress) {
  return StrategySolve(instance, options, budget, progress).run();
}

}  // namespace stowage
