// The parameters of a scatter solve, including those of its heuristics. Not installed.
#pragma once

#include <cstdint>
#include <string_view>

#include "heuristics/scatter/params.h"
#include "instances/parameters.h"

namespace stowage {

struct SubsetParams {
  double share = 0.75;
};

// patterns/partial_replanning.h: column generation over groups, then dives.
struct DiveParams {
  int batches = 6;
  double share = 0.08;
  int repeats = 4;
  double quick_precision = 1e-3;
  int partial = 4;
  double partial_share = 0.04;
};

struct ProfileSearchParams {
  int batches = 4;
  int shapes = 60;
  double share = 0.25;
};

// bounds/bound_schedule.h: step LP and search over makespans.
struct BoundParams {
  double best_share = 0.4;
  double other_share = 0.08;
  std::int64_t lps = 400;
  std::int64_t more_lps = 100;
  std::int64_t boxes = 60;
  std::int64_t quick_lps = 5;
  double quick_gap = 0.02;
};

struct WholeStepMilpParams {
  std::int64_t variables = 3000;
  std::int64_t nodes = 2000;
  double share = 0.5;
};

struct RoundParams {
  int dives = 2;
  int bounds = 8;
  int before_milp = 8;
  std::int64_t regroup_nodes = 500;
};

inline constexpr std::string_view kPipelineSteps =
    "bench/pipelines.py: after 60 nodes the mean 1F1B end is 0.991 of that of the least formula "
    "with "
    "0.02, 0.986 with 0.05";

// solve.cc: the choice among plans of pipelines by the end of their simulated 1F1B schedule.
struct PipelineChoiceParams {
  double tolerance = 0.03;
  double share = 0.3;  // of the time left, for plans for other numbers of stages; fixed
};

// Mixed micro-batches. Fixed: they gain more than better plans without them.
struct MixedCourseParams {
  double unmixed_share = 0.3;      // of the time left, for plans without them
  std::uint64_t temperatures = 4;  // of the rounds of annealing, one after another
};

struct ScatterParams {
  PipelineChoiceParams pipeline;
  MultistartParams multistart;
  LnsParams lns;
  SubsetParams subset_dp;
  DiveParams pattern_dive;
  ProfileSearchParams profile_search;
  BoundParams bounds;
  WholeStepMilpParams step_milp;
  RoundParams rounds;
  MixedCourseParams mixed;
};

template <class Visitor>
void fields(Visitor&& visit, ScatterParams& p) {
  visit({"pipeline.tolerance", "relative", 0, 1,
         "More: with pipeline stages, plans of a higher objective may be chosen for an earlier end "
         "under 1F1B; 0: only plans of equal objective.",
         kPipelineSteps},
        p.pipeline.tolerance);
  fields(visit, p.multistart);
  fields(visit, p.lns);
  visit(
      {"subset_dp.share", "share of the time left", 0.001, 1,
       "More: the dynamic programme is tried where its work is estimated to take longer.", kByHand},
      p.subset_dp.share);
  DiveParams& dive = p.pattern_dive;
  visit({"pattern_dive.batches", "micro-batches", 0, 1000,
         "More: plans of more micro-batches get a dive for each before the rounds.", kByHand},
        dive.batches);
  visit({"pattern_dive.share", "share of the time left", 0.001, 1,
         "More: dives for single micro-batches may take longer.", kByHand},
        dive.share);
  visit({"pattern_dive.repeats", "dives", 1, 1000,
         "More: a micro-batch that gains is planned anew more often.", kByHand},
        dive.repeats);
  visit({"pattern_dive.quick_precision", "relative", 1e-7, 0.1,
         "More: `fast` looks for the least makespan less exactly, in fewer linear programmes.",
         kScatterSteps},
        dive.quick_precision);
  visit({"pattern_dive.partial", "dives", 1, 1000,
         "More: each partial re-optimisation of the rounds has more dives.", kByHand},
        dive.partial);
  visit({"pattern_dive.partial_share", "share of the time left", 0.001, 1,
         "More: each partial re-optimisation may take longer.", kByHand},
        dive.partial_share);
  ProfileSearchParams& profile = p.profile_search;
  visit({"profile_search.batches", "micro-batches", 0, 1000,
         "More: plans of more micro-batches get other makespans.", kByHand},
        profile.batches);
  visit({"profile_search.shapes", "tries", 1, 100000,
         "More: more lists of makespans are tried each time.", kByHand},
        profile.shapes);
  visit({"profile_search.share", "share of the time left", 0.001, 1,
         "More: the search for other makespans may take longer. Halved after each one in vain.",
         kByHand},
        profile.share);
  BoundParams& bound = p.bounds;
  visit({"bounds.best_share", "share of the time left", 0.001, 1,
         "More: the stronger bound search may take longer before the rounds.", kByHand},
        bound.best_share);
  visit({"bounds.other_share", "share of the time left", 0.001, 1,
         "More: the weaker bound search, and a bound that still rises between rounds, may take "
         "longer.",
         kByHand},
        bound.other_share);
  visit({"bounds.lps", "linear programmes", 1, 1e9,
         "More: the step LP goes on for longer before the rounds.", kByHand},
        bound.lps);
  visit({"bounds.more_lps", "linear programmes", 1, 1e9,
         "More: the step LP goes on for longer between rounds.", kByHand},
        bound.more_lps);
  visit({"bounds.boxes", "boxes", 1, 1e9,
         "More: the search over makespans splits more boxes at a time.", kByHand},
        bound.boxes);
  visit({"bounds.quick_lps", "linear programmes", 1, 1e6,
         "More: higher bounds of `fast`, in more time.", kScatterSteps},
        bound.quick_lps);
  visit({"bounds.quick_gap", "relative gap", 0, 1,
         "More: `fast` is content with a larger gap and saves linear programmes.", kScatterSteps},
        bound.quick_gap);
  WholeStepMilpParams& milp = p.step_milp;
  visit({"step_milp.variables", "variables", 0, 200000,
         "More: `auto` builds the MILP of larger steps.", kByHand},
        milp.variables);
  visit({"step_milp.nodes", "nodes", 1, 1e12,
         "More: more proofs of `auto` on small steps, less time for its rounds.", kByHand},
        milp.nodes);
  visit({"step_milp.share", "share of the time left", 0.001, 1,
         "More: `exact` spends more on the MILP of a small step and less on its rounds.", kByHand},
        milp.share);
  RoundParams& rounds = p.rounds;
  visit({"rounds.dives", "rounds", 1, 1000,
         "More: partial re-optimisations come less often in plans of few micro-batches.", kByHand},
        rounds.dives);
  visit({"rounds.bounds", "rounds", 1, 1000, "More: bounds and MILP regroupings come less often.",
         kByHand},
        rounds.bounds);
  visit({"rounds.before_milp", "rounds", 1, 1000,
         "More: `exact` starts its MILP with a better plan, later.", kByHand},
        rounds.before_milp);
  visit({"rounds.regroup_nodes", "nodes", 1, 1e9,
         "More: the first MILP regrouping of each micro-batch searches longer.", kByHand},
        rounds.regroup_nodes);
}

}  // namespace stowage
