#include "solvers/assign/chunked_solve.h"

#include <optional>
#include <string>
#include <utility>

#include "formulations/assign/chunk_bounds.h"
#include "heuristics/assign/chunk_flow.h"
#include "heuristics/assign/chunked.h"
#include "heuristics/assign/registry.h"
#include "solvers/assign/few_sequences.h"
#include "solvers/assign/remedy.h"
#include "solvers/family_solve.h"

namespace stowage {
namespace {

const Method kChunkedAuto{"auto", MethodKind::ours, "every method below, the best plan", ""};
// Writing down and verifying a plan takes at most so many times what the bounds took.
constexpr double kPlanPerBounds = 3;

class ChunkedSolve : public FamilySolve<AssignInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  std::optional<Refutation> refute() override {
    std::vector<std::int64_t> ids = unplaceable_sequences(instance_);
    if (ids.empty()) return std::nullopt;
    std::string remedy = remedy_for_long(instance_, ids);
    return Refutation{"a sequence is longer than every replica has memory for", std::move(remedy),
                      std::move(ids)};
  }

  std::vector<NamedBound> bounds() override {
    std::vector<NamedBound> found = assign_chunk_bounds(instance_, budget_);
    reserve_s_ = kPlanPerBounds * budget_.seconds();
    return found;
  }

  StoppedBy search() override {
    // Ours first: it begins with the plan that a limit of nothing leaves.
    attempt("fast", [&](bool needed, const Budget& part) {
      return assign_chunked(instance_, needed, part);
    });
    attempt("chunk-flow", [&](bool needed, const Budget& part) -> std::optional<AssignPlan> {
      if (!needed && part.exhausted()) return std::nullopt;
      return assign_chunk_flow(instance_, part);
    });
    if (options_.method == kChunkedAuto.name) settle_few();
    // A limit that ended the method before its first plan still leaves time for the quickest.
    if (!incumbent_.plan() && budget_.seconds_left() <= reserve_s_) time_ended_it_ = true;
    if (!incumbent_.plan() && (time_ended_it_ || budget_.exhausted())) {
      if (auto plan = assign_chunked(instance_, true, budget_)) {
        incumbent_.offer(std::move(*plan), 'H', "fast");
      }
    }
    return StoppedBy::heuristic_end;
  }

  // Shares of few sequences know parts of one size alone.
  void settle_few() {
    if (!incumbent_.plan() || gap_ended_it_ || incumbent_.proven()) return;
    if (instance_.constraints.chunks->boundaries != ChunkBoundaries::fixed) return;
    if (budget_.exhausted() || !has_few_sequences(instance_)) return;
    const Budget part = budget_.part(budget_.seconds_left() - reserve_s_, budget_.nodes_left());
    FewResult found =
        solve_few(instance_, incumbent_.bound(), incumbent_.plan()->objective_ms, part);
    if (!found.complete) return;
    if (found.plan) incumbent_.offer(std::move(*found.plan), 'M', "subsets");
    incumbent_.raise_bound({"subsets", incumbent_.plan()->objective_ms});
  }

  template <class Make>
  void attempt(const char* name, const Make& make) {
    if (options_.method != kChunkedAuto.name && options_.method != name) return;
    const Budget part = budget_.part(budget_.seconds_left() - reserve_s_, budget_.nodes_left());
    const bool needed = !incumbent_.plan();
    if (!needed && (gap_ended_it_ || incumbent_.proven())) return;
    if (std::optional<AssignPlan> plan = make(needed, part)) {
      incumbent_.offer(std::move(*plan), 'H', name);
    } else if (!part.exhausted()) {
      incumbent_.remark(std::string(name) + " cannot plan this step");
    }
    time_ended_it_ = time_ended_it_ || part.stop_reason() == StopReason::time_limit;
    gap_ended_it_ = incumbent_.plan() && incumbent_.within(options_.gap);
  }

  double reserve_s_ = 0;  // for writing down and verifying a plan
};

}  // namespace

std::vector<Method> chunked_methods(const AssignInstance& instance) {
  return method_list(kChunkedAuto, heuristics(instance), {});
}

Outcome solve_chunked(const AssignInstance& instance, const SolveOptions& options, Budget& budget,
                      const Progress& progress) {
  return ChunkedSolve(instance, options, budget, progress).run();
}

}  // namespace stowage
