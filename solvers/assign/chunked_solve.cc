#include "solvers/assign/chunked_solve.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "formulations/assign/chunk_bounds.h"
#include "heuristics/assign/construct/chunked_rows.h"
#include "heuristics/assign/published/chunk_flow.h"
#include "heuristics/assign/registry.h"
#include "solvers/assign/exact/subset_dp.h"
#include "solvers/assign/explain/remedy.h"
#include "solvers/assign/params.h"
#include "solvers/family_solve.h"
#include "solvers/parameters.h"
#include "solvers/stage.h"

namespace stowage {
namespace {

const Method kChunkedAuto{"auto", MethodKind::ours, "every method below, the best plan", ""};
// Composing and verifying a plan takes at most this multiple of the time of the bounds.
constexpr double kPlanPerBounds = 3;

// The context that the stages of one solve share.
struct ChunkedContext : SolveContext<AssignInstance> {
  const AssignParams params;
  bool& gap_ended_it;
  bool& time_ended_it;
  double reserve_s = 0;  // seconds reserved for composing and verifying a plan

  // Returns true if the solve stops before the next stage.
  bool done() const { return incumbent.plan() && (gap_ended_it || incumbent.proven()); }

  Budget part_for_plans() const {
    return budget.part(budget.seconds_left() - reserve_s, budget.nodes_left());
  }
};

using Ended = std::optional<StoppedBy>;

// Submits the plan of a heuristic that had the budget `part`.
Ended offer(ChunkedContext& context, const char* name, std::optional<AssignPlan> plan,
            const Budget& part) {
  Incumbent<AssignInstance>& incumbent = context.incumbent;
  if (plan) {
    incumbent.offer(*std::move(plan), 'H', name);
  } else if (!part.exhausted()) {
    incumbent.remark(std::string(name) + " cannot plan this step");
  }
  if (part.stop_reason() == StopReason::time_limit) context.time_ended_it = true;
  context.gap_ended_it = incumbent.plan() && incumbent.within(context.options.gap);
  return std::nullopt;
}

Ended chunk_rows(ChunkedContext& context, Budget&) {
  const bool needed = !context.incumbent.plan();
  const Budget part = context.part_for_plans();
  return offer(context, "fast",
               assign_chunked(context.instance, context.params.plans.chunks, needed, part), part);
}

Ended chunk_flow(ChunkedContext& context, Budget&) {
  const Budget part = context.part_for_plans();
  std::optional<AssignPlan> plan;
  if (!context.incumbent.plan() || !part.exhausted()) {
    plan = assign_chunk_flow(context.instance, part);
  }
  return offer(context, "chunk-flow", std::move(plan), part);
}

// Returns true if the dynamic program over subsets applies. It supports only chunks of one size.
bool few_in_chunks(const ChunkedContext& context) {
  return context.instance.constraints.chunks->boundaries == ChunkBoundaries::fixed &&
         !context.budget.exhausted() && has_few_sequences(context.instance);
}

Ended chunk_subsets(ChunkedContext& context, Budget&) {
  Incumbent<AssignInstance>& incumbent = context.incumbent;
  FewResult found = solve_few(context.instance, incumbent.bound(), incumbent.plan()->objective_ms,
                              context.part_for_plans());
  if (!found.complete) return std::nullopt;
  if (found.plan) incumbent.offer(*std::move(found.plan), 'M', "subsets");
  incumbent.raise_bound({"subsets", incumbent.plan()->objective_ms});
  return std::nullopt;
}

// If a limit ended the method before its first plan, makes the plan that needs no time.
Ended chunk_rows_at_once(ChunkedContext& context, Budget& budget) {
  if (budget.seconds_left() <= context.reserve_s) context.time_ended_it = true;
  if (!context.time_ended_it && !budget.exhausted()) return std::nullopt;
  if (auto plan = assign_chunked(context.instance, context.params.plans.chunks, true, budget)) {
    context.incumbent.offer(*std::move(plan), 'H', "fast");
  }
  return std::nullopt;
}

// Stowage's own method comes first, because it begins with the plan that needs no time.
constexpr auto kChunkStages = std::to_array<Stage<ChunkedContext>>({
    {"chunk_rows", "rows of chunks, evened out by moves and swaps", chunk_rows},
    {"chunk_flow", "ChunkFlow's rows, dealt to the replicas by LPT", chunk_flow},
    {"chunk_subsets",
     "dynamic programme over all subsets of few sequences in chunks",
     chunk_subsets,
     {.needs = Needs::plan, .when = few_in_chunks}},
    {"chunk_rows_at_once",
     "rows of chunks without any time, if a limit cut the method",
     chunk_rows_at_once,
     {.needs = Needs::no_plan, .even_if_done = true}},
});

Course course_of(const std::string& method) {
  if (method == kChunkedAuto.name) {
    return {Phase{.stages = {"chunk_rows", "chunk_flow", "chunk_subsets", "chunk_rows_at_once"}}};
  }
  return {Phase{.stages = {method == "fast" ? "chunk_rows" : "chunk_flow", "chunk_rows_at_once"}}};
}

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
    context_.reserve_s = kPlanPerBounds * budget_.seconds();
    return found;
  }

  StoppedBy search() override {
    return StageLoop<ChunkedContext>(kChunkStages, context_, stages_)
        .run(course_of(options_.method));
  }

  ChunkedContext context_{{instance_, options_, budget_, incumbent_},
                          with_values<AssignParams>(options_.params),
                          gap_ended_it_,
                          time_ended_it_};
};

}  // namespace

std::vector<Method> chunked_methods(const AssignInstance& instance) {
  return method_list(kChunkedAuto, heuristics(instance), {});
}

std::vector<StageInfo> chunked_stages() {
  return stage_list(std::span<const Stage<ChunkedContext>>(kChunkStages));
}

Outcome solve_chunked(const AssignInstance& instance, const SolveOptions& options, Budget& budget,
                      const Progress& progress) {
  return ChunkedSolve(instance, options, budget, progress).run();
}

}  // namespace stowage
