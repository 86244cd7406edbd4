// The parameters of an assign solve, including those of its heuristics. Not installed.
#pragma once

#include <cstdint>

#include "heuristics/assign/params.h"
#include "instances/parameters.h"

namespace stowage {

// Parameters of the dynamic program over all subsets (exact/subset_dp.h).
struct AssignSubsetParams {
  int quick_sequences = 14;
  std::int64_t late_steps = 20'000'000;
};

// Parameters of row patterns by column generation (bounds/pattern_bound.h).
struct AssignPatternParams {
  int rounds = 12;
  int patience = 3;
  double near = 5e-5;
  double quick_near = 1e-3;
};

// Parameters of prices of length bands (bounds/band_bound.h).
struct AssignBandParams {
  std::int64_t operations = 4'000'000;
  int rounds = 20;
};

// Parameters of the tree search over the shares of the replicas (bounds/completion_bound.h).
struct AssignCompletionParams {
  std::int64_t nodes = 1'000'000;
  int times = 8;
};

// Parameters of configurations of rows by column generation (bounds/configuration_bound.h).
struct AssignConfigurationParams {
  int lps = 4000;
};

// Parameters of the MILP over groups of similar sequences (bounds/grouped_bound.h).
struct AssignGroupedParams {
  std::int64_t nodes = 300;
  int apart = 8;
};

// Parameters of the MILP of each strategy (exact/strategy_milp.h).
struct AssignMilpParams {
  std::int64_t variables = 3000;
  std::int64_t nodes = 2000;
};

struct AssignLnsParams {
  int ruins = 1000;
};

// Gaps that decide whether further bounds run.
struct AssignGapParams {
  double wide = 0.02;
  double worth_patience = 1e-3;
};

// solve.cc: the choice among plans of pipelines by the end of their simulated 1F1B schedule.
struct AssignChoiceParams {
  double tolerance = 0;
};

struct AssignParams {
  AssignChoiceParams pipeline;
  AssignPlanParams plans;
  AssignSubsetParams subsets;
  AssignPatternParams pattern_bound;
  AssignBandParams band_bound;
  AssignCompletionParams completion;
  AssignConfigurationParams configuration_bound;
  AssignGroupedParams grouped_bound;
  AssignMilpParams strategy_milps;
  AssignLnsParams lns;
  AssignGapParams gaps;
};

template <class Visitor>
void fields(Visitor&& visit, AssignParams& p) {
  visit({"pipeline.tolerance", "relative", 0, 1,
         "More: with pipeline stages, plans of a higher objective may be chosen for an earlier end "
         "under 1F1B; 0: only plans of equal objective.",
         kByHand},
        p.pipeline.tolerance);
  fields(visit, p.plans);
  AssignSubsetParams& subsets = p.subsets;
  visit({"subsets.quick_sequences", "sequences", 0, 17,
         "More: `fast` tries all subsets of larger instances before its bounds.", kAssignSteps},
        subsets.quick_sequences);
  visit({"subsets.late_steps", "steps", 0, 1e15,
         "More: `fast` tries all subsets for longer after its bounds.", kAssignSeeds},
        subsets.late_steps);
  AssignPatternParams& pattern = p.pattern_bound;
  visit({"pattern_bound.rounds", "linear programmes", 0, 1e6,
         "More: each strategy gets more linear programmes.", kAssignSteps},
        pattern.rounds);
  visit({"pattern_bound.patience", "linear programmes", 1, 1e6,
         "More: a strategy whose bound stays the same gets more linear programmes.", kAssignSeeds},
        pattern.patience);
  visit({"pattern_bound.near", "relative gap", 1e-9, 1,
         "More: `auto` is content with a larger gap and saves linear programmes.", kAssignWhole},
        pattern.near);
  visit({"pattern_bound.quick_near", "relative gap", 1e-9, 1,
         "More: `fast` is content with a larger gap and saves linear programmes.", kAssignSteps},
        pattern.quick_near);
  AssignBandParams& band = p.band_bound;
  visit({"band_bound.operations", "operations", 0, 1e15,
         "More: prices of length bands are improved for longer; `fast` takes a quarter.",
         kAssignSeeds},
        band.operations);
  visit({"band_bound.rounds", "rounds", 1, 1e6,
         "More: each case gets better prices, the first case three times as many rounds.",
         kAssignSteps},
        band.rounds);
  AssignCompletionParams& completion = p.completion;
  visit({"completion.nodes", "nodes", 0, 1e15,
         "More: the tree search goes on for longer; `fast` takes a tenth.", kAssignSteps},
        completion.nodes);
  visit({"completion.times", "times", 1, 1000,
         "More: more times between bound and objective are asked about.", kAssignSteps},
        completion.times);
  visit({"configuration_bound.lps", "linear programmes", 0, 1e9,
         "More: configurations are generated for longer; `fast` takes a tenth.", kAssignSeeds},
        p.configuration_bound.lps);
  AssignGroupedParams& grouped = p.grouped_bound;
  visit({"grouped_bound.nodes", "nodes", 1, 1e12,
         "More: the MILP of each strategy's groups searches longer.", kAssignWhole},
        grouped.nodes);
  visit({"grouped_bound.apart", "replicas", 0, 1000,
         "More: strategies of more replicas also get a MILP replica by replica.", kAssignWhole},
        grouped.apart);
  AssignMilpParams& milp = p.strategy_milps;
  visit({"strategy_milps.variables", "variables", 0, 1e9,
         "More: `auto` builds the MILPs of larger strategies.", kAssignWhole},
        milp.variables);
  visit({"strategy_milps.nodes", "nodes", 1, 1e12,
         "More: the MILPs of `auto` search longer, and less time is left for its ruins.",
         kAssignWhole},
        milp.nodes);
  visit({"lns.ruins", "ruins", 1, 1e9,
         "More: more ruins come between two checks of bound and limits.", kAssignWhole},
        p.lns.ruins);
  AssignGapParams& gaps = p.gaps;
  visit({"gaps.wide", "relative gap", 1e-9, 1,
         "More: `fast` leaves out its slower bounds more often.", kAssignSeeds},
        gaps.wide);
  visit({"gaps.worth_patience", "relative gap", 0, 1,
         "More: `auto` leaves out its slower bounds and MILPs more often.", kAssignWhole},
        gaps.worth_patience);
}

}  // namespace stowage
