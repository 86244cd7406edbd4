#include "solvers/assign/stages.h"

#include <array>

#include "instances/numeric/numbers.h"
#include "solvers/assign/exact/subset_dp.h"
#include "solvers/assign/stage_implementations.h"

namespace stowage {
namespace {

using namespace assign_stage;

bool few(const AssignContext& context) { return has_few_sequences(context.instance); }

// Returns true if sequences are so few that `fast` tries all subsets before its bounds.
bool very_few(const AssignContext& context) {
  return may_have_few_sequences(context.instance) &&
         context.instance.lengths.size() <= at(context.params.subsets.quick_sequences);
}

bool rather_few(const AssignContext& context) {
  return may_have_few_sequences(context.instance) && !very_few(context);
}

bool wide_gap(const AssignContext& context) {
  return !context.incumbent.within(context.params.gaps.wide);
}

bool worth_patience(const AssignContext& context) {
  return !context.incumbent.within(context.params.gaps.worth_patience);
}

bool worth_a_milp(const AssignContext& context) {
  return context.exact() || worth_patience(context);
}

bool has_backend(const AssignContext&) { return !built_backends().empty(); }

bool out_of_time(const AssignContext& context) { return context.out_of_time(); }

constexpr auto kStages = std::to_array<Stage<AssignContext>>({
    {"first_plan", "a plan of every strategy, quickly", first_plan, {.even_if_done = true}},
    {"subsets", "dynamic programme over all subsets of few sequences", subsets, {.when = few}},
    {"multistart", "better plans of the strategies within reach", multistart},
    {"pattern_bound", "row patterns by column generation", pattern_bound_stage},
    {"band_bound", "prices of length bands", band_bound_stage},
    {"completion", "tree search over the shares of the replicas", completion},
    {"configuration_bound", "configurations of rows by column generation",
     configuration_bound_stage},
    {"fine_pattern_bound",
     "row patterns in more detail",
     fine_pattern_bound,
     {.when = worth_patience}},
    {"long_multistart",
     "as multistart, with more ruins",
     long_multistart,
     {.when = worth_patience}},
    {"grouped_bound",
     "MILP over groups of like sequences",
     grouped_bound_stage,
     {.needs = Needs::plan_and_backend, .when = worth_a_milp}},
    {"strategy_milps",
     "MILP of each strategy that is small enough",
     strategy_milps,
     {.when = has_backend}},
    {"lns", "ruins and recreates until a limit or a proof", lns},
    {"heuristic", "the heuristic that the method names", method_heuristic, {.even_if_done = true}},
    {"quick_subsets",
     "as subsets, where sequences are very few",
     quick_subsets,
     {.when = very_few}},
    {"quick_pattern_bound", "as pattern_bound, in less time", quick_pattern_bound},
    {"quick_band_bound", "as band_bound, in less time", quick_band_bound},
    {"quick_completion", "as completion, in less time", quick_completion},
    {"quick_configuration_bound",
     "as configuration_bound, in less time",
     quick_configuration_bound,
     {.when = wide_gap}},
    {"quick_fine_pattern_bound",
     "as fine_pattern_bound, in less time",
     quick_fine_pattern_bound,
     {.when = wide_gap}},
    {"late_subsets", "as subsets, with a limit of work", late_subsets, {.when = rather_few}},
    {"hydraulis",
     "Hydraulis' ILPs and published score",
     hydraulis_published,
     {.even_if_done = true}},
    {"hydraulis_modelled",
     "Hydraulis' ILPs, chosen by the modelled time",
     hydraulis_modelled,
     {.even_if_done = true}},
    {"plan_at_once",
     "a plan without any time, if a limit cut the method",
     plan_at_once,
     {.when = out_of_time, .even_if_done = true}},
});

}  // namespace

std::span<const Stage<AssignContext>> assign_stages() { return kStages; }

Course assign_course(std::string_view method) {
  if (method == "auto" || method == "exact") {
    return {Phase{.stages = {"first_plan", "subsets", "multistart", "pattern_bound", "band_bound",
                             "completion", "configuration_bound", "fine_pattern_bound",
                             "long_multistart", "grouped_bound", "strategy_milps", "lns"}}};
  }
  if (method == "hydraulis") return {Phase{.stages = {"hydraulis", "plan_at_once"}}};
  if (method == "hydraulis-modelled") {
    return {Phase{.stages = {"hydraulis_modelled", "plan_at_once"}}};
  }
  if (method == "fast" || method == "joint") {
    return {Phase{.stages = {"heuristic", "quick_subsets", "quick_pattern_bound",
                             "quick_band_bound", "quick_completion", "quick_configuration_bound",
                             "quick_fine_pattern_bound", "late_subsets", "plan_at_once"}}};
  }
  return {Phase{.stages = {"heuristic", "plan_at_once"}}};
}

}  // namespace stowage
