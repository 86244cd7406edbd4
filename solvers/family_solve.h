// The course of every family's solve: refutation, bounds in closed form, the start plan, the
// family's search, and the outcome. Not installed.
//
//   class ScatterSolve : public FamilySolve<ScatterInstance> { ... search() ... };
//   Outcome outcome = ScatterSolve(instance, options, budget, progress).run();
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "instances/budget.h"
#include "instances/proof.h"
#include "solvers/incumbent.h"
#include "solvers/outcome.h"
#include "solvers/solve.h"

namespace stowage {

// The reason why no plan exists.
struct Refutation {
  std::string detail;
  std::string remedy;                          // as in Outcome
  std::vector<std::int64_t> unplaceable = {};  // ids that fit no group, if they are the reason
  InfeasibilityProof proof = {};               // proof of any other reason
};

template <class InstanceT>
class FamilySolve {
 public:
  // All arguments but `progress` must outlive this.
  FamilySolve(const InstanceT& instance, const SolveOptions& options, Budget& budget,
              const Progress& progress)
      : instance_(instance),
        options_(options),
        budget_(budget),
        incumbent_(instance, budget, progress) {}
  virtual ~FamilySolve() = default;

  Outcome run() {
    if (const std::optional<Refutation> why = refute()) return infeasible(*why);
    StoppedBy ended = StoppedBy::heuristic_end;
    // A failing solver must not lose a plan found before.
    const auto guarded = [&](const auto& part) {
      try {
        part();
      } catch (const std::exception& failure) {
        incumbent_.remark(std::string("failed: ") + failure.what());
        ended = StoppedBy::error;
      }
    };
    guarded([&] {
      for (const NamedBound& bound : bounds()) incumbent_.raise_bound(bound);
      set_criterion();
      if (options_.start) incumbent_.offer_start(std::get<PlanT>(*options_.start));
      ended = search();
    });
    if (!incumbent_.plan() && budget_.exhausted()) guarded([&] { fall_back(); });
    if (refuted_) return infeasible(*refuted_);
    if (time_ended_it_ && ended == StoppedBy::heuristic_end) ended = StoppedBy::time_limit;
    if (gap_ended_it_ && incumbent_.within(options_.gap)) ended = StoppedBy::gap;
    return finished(std::move(incumbent_).conclude(ended));
  }

 protected:
  using PlanT = typename PlanOf<InstanceT>::type;

  // Returns the refutation if it is proven before any search that no plan exists.
  virtual std::optional<Refutation> refute() = 0;
  virtual std::vector<NamedBound> bounds() = 0;
  // Calls choose_by() of the incumbent, if another criterion than the objective chooses the plan.
  virtual void set_criterion() {}
  virtual StoppedBy search() = 0;
  // Submits a plan that takes negligible time, if a limit ended the search before its first plan.
  virtual void fall_back() {}
  // Adds the family's own fields to the outcome.
  virtual void complete(Outcome&) const {}

  const InstanceT& instance_;
  const SolveOptions& options_;
  Budget& budget_;
  Incumbent<InstanceT> incumbent_;
  std::optional<Refutation> refuted_;  // set by the search
  bool gap_ended_it_ = false;
  bool time_ended_it_ = false;
  std::vector<StageReport> stages_;  // of a search with named stages

 private:
  Outcome infeasible(const Refutation& why) const {
    Outcome outcome = incumbent_.report();
    outcome.status = Status::infeasible;
    outcome.stopped_by = StoppedBy::proof;
    outcome.detail = why.detail;
    outcome.remedy = why.remedy;
    outcome.unplaceable = why.unplaceable;
    outcome.infeasibility = why.proof;
    if (!why.unplaceable.empty()) {
      outcome.bound_by = "unplaceable";
      outcome.infeasibility = {.by = "sequences", .witnesses = why.unplaceable};
    }
    return finished(std::move(outcome));
  }

  Outcome finished(Outcome outcome) const {
    outcome.method = options_.method;
    outcome.stages = stages_;
    complete(outcome);
    return outcome;
  }
};

// Returns `first`, the heuristics in their order, and then `more`.
template <class HeuristicT>
std::vector<Method> method_list(const Method& first, const std::vector<HeuristicT>& heuristics,
                                const std::vector<Method>& more) {
  std::vector<Method> all{first};
  for (const HeuristicT& heuristic : heuristics) {
    const bool published = !heuristic.source.empty();
    all.push_back({heuristic.name, published ? MethodKind::baseline : MethodKind::ours,
                   heuristic.summary, heuristic.source});
  }
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Sorts baselines before other methods, stably. The first method, which is the default, stays
// first.
inline void baselines_before_ours(std::vector<Method>& methods) {
  std::stable_partition(methods.begin() + 1, methods.end(),
                        [](const Method& method) { return method.kind == MethodKind::baseline; });
}

}  // namespace stowage
