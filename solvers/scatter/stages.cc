// The stages of a scatter solve, in the order in which `auto` runs them, and the courses of
// methods.
//
// Words. The step is the whole instance: all sequences of a training step. A backend is a library
// for linear and mixed-integer programmes; the step LP also has a simplex of its own. A pattern is
// the set of sequences of one group, and a dive rounds a linear programme over patterns. A profile,
// or shape, is the list of the makespans of all micro-batches.
//
// Besides `when` and `share`, stages limit themselves by parameters of solvers/scatter/params.h:
// dives and searches over profiles return at once for plans of more micro-batches than theirs, and
// each has a share of the time left. While there is no plan, stages run on beyond a limit until one
// plans.
#include "solvers/scatter/stages.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "solvers/scatter/stage_implementations.h"

namespace stowage {
namespace {

using namespace scatter_stage;

// Sequences per device up to which `fast` replans one micro-batch.
constexpr double kFewSequences = 4;
constexpr double kFewerSequences = 2;  // sequences per device up to which `fast` replans several
constexpr std::size_t kFewLengths = 60;
// Share of the time left for a long annealing whose starts would take no time. They take about half
// of a short one.
constexpr double kLongShare = 0.7;

// Column generation requires one number of devices for the groups of a pattern.
bool one_device_type(const ScatterContext& context) { return !context.table.several_kinds(); }

// Returns whether nothing limits the solve, or whether a long annealing is expected to take at most
// kLongShare of the time that is left. Then `auto` is never behind `joint`.
bool has_time_for_long_multistart(const ScatterContext& context) {
  if (context.exact()) return false;
  if (!context.limited()) return true;
  const MultistartParams& params = context.params.multistart;
  const double seconds = context.multistart_s * params.long_moves / params.moves;
  return seconds > 0 && context.has_time_limit() &&
         seconds < kLongShare * context.budget.seconds_left();
}

// A solve by `auto` without a limit ends after the stages before the rounds.
bool has_rounds(const ScatterContext& context) { return context.limited() || context.exact(); }

bool exhausted(const ScatterContext& context) { return context.budget.exhausted(); }

// Returns true in the last of every `rounds` rounds.
bool due(const ScatterContext& context, int rounds) {
  const auto wait = static_cast<std::uint64_t>(rounds);
  return has_rounds(context) && context.round % wait == wait - 1;
}

bool bounds_are_due(const ScatterContext& context) {
  return due(context, context.params.rounds.bounds);
}

// Column generation gains most in steps of few micro-batches, so these run it more often.
bool patterns_are_due(const ScatterContext& context) {
  const std::size_t batches =
      context.improved_batches.value_or(context.incumbent.plan()->micro_batches.size());
  return one_device_type(context) &&
         due(context,
             batches <= kMaxTogether ? context.params.rounds.dives : context.params.rounds.bounds);
}

// Returns true before the rounds, and in the rounds every few rounds.
bool profiles_are_due(const ScatterContext& context) {
  return context.repeats ? patterns_are_due(context) : one_device_type(context);
}

bool milp_regrouping_is_due(const ScatterContext& context) {
  return bounds_are_due(context) && context.exact() && !context.table.measured();
}

// If each group holds few sequences, column generation quickly finds plans that annealing misses.
bool patterns_are_quick(const ScatterContext& context) {
  if (context.table.several_kinds()) return false;
  const std::size_t count = context.incumbent.plan()->micro_batches.size();
  const auto sequences = static_cast<double>(context.instance.lengths.size());
  const double per_device = sequences / context.instance.cluster.devices;
  const bool few_lengths = context.table.kinds().size() <= kFewLengths;
  // Padding by degree leaves nearly as many lengths as sequences, and as many rows of the master.
  if (count <= 1) {
    return per_device <= kFewSequences && (few_lengths || !context.table.pads_by_form());
  }
  return count <= kMaxTogether && per_device <= kFewerSequences && few_lengths;
}

bool makespan_search_ran(const ScatterContext& context) {
  return one_device_type(context) && context.bounding.by_makespans();
}

bool in_a_pipeline(const ScatterContext& context) {
  return context.instance.pipeline_stages > 1 && !context.exact();
}

double depths_share(const ScatterContext& context) { return context.params.pipeline.share; }

bool has_milp_times(const ScatterContext& context) { return !context.table.measured(); }

// Mixed micro-batches gain more than better plans without them.
double unmixed_share(const ScatterContext& context) { return context.params.mixed.unmixed_share; }

double subset_share(const ScatterContext& context) { return context.params.subset_dp.share; }

// Short names for the table below.
constexpr Needs kPlan = Needs::plan;
constexpr Needs kBoth = Needs::plan_and_backend;

constexpr auto kStages = std::to_array<Stage<ScatterContext>>({
    {"first_plan", "best single degree, or first fit where nodes differ, within microseconds",
     first_plan},
    {"multistart", "starts from all chunkings race under a short annealing", multistart},
    {"other_depths",
     "multistart that weighs the longest makespan as fewer or more stages would",
     other_depths,
     {.needs = Needs::plan, .when = in_a_pipeline, .share = depths_share}},
    {"quick_bound",
     "step LP: as many linear programmes as raise the bound",
     quick_bound,
     {.needs = kPlan}},
    {"subset_dp",
     "dynamic programme over all subsets of few sequences",
     subset_dp,
     {.needs = kPlan, .when = one_device_type, .share = subset_share}},
    {"long_multistart",
     "starts race under a long annealing, if that takes a part of the time",
     long_multistart,
     {.when = has_time_for_long_multistart}},
    {"first_milp",
     "MILP of the whole step for a first plan under rules",
     first_milp,
     {.needs = Needs::no_plan}},
    {"pattern_dive",
     "column generation over groups of each micro-batch, then a dive",
     pattern_dive,
     {.needs = kBoth, .when = one_device_type}},
    {"profile_search",
     "other numbers and makespans of micro-batches, packed by patterns",
     profile_search,
     {.needs = kBoth, .when = profiles_are_due}},
    {"best_bound",
     "search over makespans for at most 2 micro-batches, else step LP",
     best_bound,
     {.needs = kBoth}},
    {"dive_at_bound",
     "pattern dive for the makespans where the bound is weakest",
     dive_at_bound,
     {.needs = kBoth, .when = makespan_search_ran}},
    {"other_bound",
     "the bound search that best_bound did not run: step LP or makespans",
     other_bound,
     {.needs = kBoth}},
    {"step_milp",
     "MILP of the whole step, where it is small",
     step_milp,
     {.needs = kBoth, .when = has_milp_times}},
    {"lns",
     "a round of destroying and repairing, annealing or planning anew",
     lns,
     {.needs = kPlan, .when = has_rounds}},
    {"partial_reopt",
     "pattern dives for a few micro-batches of like makespans",
     partial_reopt,
     {.needs = kBoth, .when = patterns_are_due}},
    {"more_bounds",
     "more of each bound search that still rises",
     more_bounds,
     {.needs = kBoth, .when = bounds_are_due}},
    {"regroup_milp",
     "MILP of each micro-batch",
     regroup_milp,
     {.needs = kBoth, .when = milp_regrouping_is_due}},
    {"quick_dive",
     "pattern dive of low precision, where groups hold few sequences",
     quick_dive,
     {.needs = kBoth, .when = patterns_are_quick}},
    {"quick_profile_bound",
     "a few boxes of the search over makespans",
     quick_profile_bound,
     {.needs = kBoth, .when = patterns_are_quick}},
    {"unmixed_start", "the step without mixed micro-batches, by `fast`", unmixed_start},
    {"mixed_starts", "shared rows by the price of a hidden exchange; the best starts are annealed",
     mixed_starts},
    {"unmixed",
     "the step without mixed micro-batches, by the same method",
     unmixed,
     {.needs = kPlan, .share = unmixed_share}},
    {"mixed_annealing",
     "annealing of mixed micro-batches: shared rows and rows of single devices",
     mixed_annealing,
     {.needs = Needs::plan, .when = has_rounds}},
    {"heuristic", "the heuristic that the method names", method_heuristic},
    {"flexsp", "FlexSP's chunks and MILPs", flexsp_milps},
    {"flexsp_chunks", "FlexSP's chunks, grouped by our search", flexsp_grouping},
    {"rescue",
     "best single degree, if a limit left no plan",
     first_plan,
     {.needs = Needs::no_plan, .when = exhausted, .even_if_done = true}},
});

constexpr auto kFirst = std::to_array<std::string_view>(
    {"first_plan", "multistart", "other_depths", "quick_bound", "subset_dp", "long_multistart",
     "first_milp", "pattern_dive", "profile_search", "best_bound", "dive_at_bound", "other_bound"});
// Groups of mixed micro-batches share devices, which patterns and their bounds do not know.
constexpr auto kMixedFirst =
    std::to_array<std::string_view>({"first_plan", "unmixed_start", "mixed_starts", "unmixed"});
constexpr auto kRound = std::to_array<std::string_view>(
    {"lns", "partial_reopt", "profile_search", "more_bounds", "regroup_milp"});

}  // namespace

std::span<const Stage<ScatterContext>> scatter_stages() { return kStages; }

Course scatter_course(std::string_view method, const ScatterParams& params, bool mixes) {
  Phase first{.stages = {kFirst.begin(), kFirst.end()}};
  const Phase step{.stages = {"step_milp"}};
  Phase rounds{.stages = {kRound.begin(), kRound.end()}, .rounds = kUntilLimit};
  if (mixes) {
    first.stages = {kMixedFirst.begin(), kMixedFirst.end()};
    rounds.stages = {"mixed_annealing"};
    if (method == "auto") return {first, step, rounds};
    if (method == "fast") return {Phase{.stages = {"unmixed_start", "mixed_starts", "rescue"}}};
    if (method == "joint") {
      return {Phase{.stages = {"unmixed_start", "mixed_starts", "heuristic", "rescue"}}};
    }
  }
  if (method == "auto") return {first, step, rounds};
  if (method == "exact") {
    // A larger MILP needs a good start, and must leave time for the rounds.
    Phase warm_up = rounds;
    warm_up.rounds = static_cast<std::uint64_t>(params.rounds.before_milp);
    return {first, warm_up, step, rounds};
  }
  if (method == "flexsp") return {Phase{.stages = {"flexsp", "rescue"}}};
  if (method == "flexsp-chunks") return {Phase{.stages = {"flexsp_chunks", "rescue"}}};
  if (method == "fast") {
    return {Phase{
        .stages = {"multistart", "quick_dive", "quick_profile_bound", "quick_bound", "rescue"}}};
  }
  return {Phase{.stages = {"heuristic", "rescue"}}};
}

}  // namespace stowage
