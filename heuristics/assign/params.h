// Parameters of the assign heuristics that choose strategy, dispatch and rows. This header is not
// installed.
#pragma once

#include <string_view>

#include "instances/parameters.h"

namespace stowage {

// Sources of the default values. The file of tune.py has the effects of halving and doubling on
// `fast`, and docs/benchmarks/protocol.md has the suites and the seeds.
inline constexpr std::string_view kAssignSteps =
    "bench/tuning/assign_fast.json: halved and doubled on the tune part of assign-drawn";
inline constexpr std::string_view kAssignSeeds =
    "docs/benchmarks/protocol.md: generator of assign-drawn at seeds of no suite";
inline constexpr std::string_view kAssignWhole =
    "docs/benchmarks/protocol.md: the suite assign, before it had parts";

// Parameters of `fast`, and of the first plan of `auto` (construct/multistart.h).
struct AssignFastParams {
  int starts = 2;
  int steps = 300;
  int few = 96;
  int few_ruins = 600;
};

// Parameters of the further starts for the strategies within reach of the best plan
// (construct/multistart.h).
struct AssignMultistartParams {
  int starts = 4;
  int steps = 1000;
  int ruins = 300;
  int long_ruins = 4000;
  double reach = 1.1;
  int worse_counts = 4;
  int best_counts = 3;
};

// Parameters of the local search: moves and swaps of the slowest replica, ruin and recreate
// (improve/local_search.h).
struct AssignSearchParams {
  int partners = 24;
  int repacks = 24;
  double work = 12000;
  double sequences_per_ruin = 256;
};

// Parameters of planning rows of chunks of one size (construct/chunked_rows.h).
struct AssignChunkParams {
  int moves = 2000;
  int candidates = 24;
  int targets = 16;
  int row_counts = 12;
};

struct AssignPlanParams {
  AssignFastParams fast;
  AssignMultistartParams multistart;
  AssignSearchParams search;
  AssignChunkParams chunks;
};

template <class Visitor>
void fields(Visitor&& visit, AssignFastParams& p) {
  visit({"fast.starts", "dispatches", 0, 1000,
         "More: more dispatches by price are searched for each strategy.", kAssignSteps},
        p.starts);
  visit({"fast.steps", "steps of local search", 0, 1e7,
         "More: each start of `fast` is searched longer.", kAssignWhole},
        p.steps);
  visit({"fast.few", "sequences", 0, 1e9,
         "More: `fast` plans larger instances with the starts of `joint` and with ruins.",
         kAssignSteps},
        p.few);
  visit({"fast.few_ruins", "ruins", 0, 1e7,
         "More: `fast` searches instances of few sequences longer.", kAssignSteps},
        p.few_ruins);
}

template <class Visitor>
void fields(Visitor&& visit, AssignMultistartParams& p) {
  visit(
      {"multistart.starts", "dispatches", 0, 1000,
       "More: more dispatches by price are searched for each strategy within reach.", kAssignWhole},
      p.starts);
  visit({"multistart.steps", "steps of local search", 0, 1e7,
         "More: each start is searched longer.", kAssignWhole},
        p.steps);
  visit({"multistart.ruins", "ruins", 0, 1e7,
         "More: the best start of each strategy is ruined and recreated more often.", kAssignWhole},
        p.ruins);
  visit({"multistart.long_ruins", "ruins", 0, 1e8,
         "More: `auto` searches longer after its bounds and before the MILPs.", kAssignWhole},
        p.long_ruins);
  visit({"multistart.reach", "ratio to the best plan", 1, 100,
         "More: strategies that are slower at first are searched as well.", kAssignSteps},
        p.reach);
  visit({"multistart.worse_counts", "row counts", 0, 1000,
         "More: with equal rows, more row counts beyond the best one are tried.", kAssignWhole},
        p.worse_counts);
  visit({"multistart.best_counts", "row counts", 1, 1000,
         "More: with equal rows, more row counts get all starts.", kAssignWhole},
        p.best_counts);
}

template <class Visitor>
void fields(Visitor&& visit, AssignSearchParams& p) {
  visit({"search.partners", "sequences", 2, 1e6,
         "More: each sequence of the slowest replica is exchanged with more others.", kAssignWhole},
        p.partners);
  visit({"search.repacks", "tries", 0, 1e6,
         "More: a replica is packed anew in more ways before the search counts as stuck.",
         kAssignWhole},
        p.repacks);
  visit({"search.work", "exchanges per step", 1, 1e9,
         "More: the search of large instances goes on for longer.", kAssignWhole},
        p.work);
  visit({"search.sequences_per_ruin", "sequences", 1, 1e9,
         "More: large instances are ruined more often.", kAssignWhole},
        p.sequences_per_ruin);
}

template <class Visitor>
void fields(Visitor&& visit, AssignChunkParams& p) {
  visit(
      {"chunks.moves", "moves", 0, 1e7, "More: rows of chunks are evened out for longer.", kByHand},
      p.moves);
  visit({"chunks.candidates", "sequences", 2, 1e6,
         "More: more sequences of the slowest replica are tried in each move.", kByHand},
        p.candidates);
  visit({"chunks.targets", "replicas", 1, 1e6, "More: each sequence is tried on more replicas.",
         kByHand},
        p.targets);
  visit({"chunks.row_counts", "row counts", 0, 1e6,
         "More: more row counts around the best guess are tried.", kByHand},
        p.row_counts);
}

template <class Visitor>
void fields(Visitor&& visit, AssignPlanParams& p) {
  fields(visit, p.fast);
  fields(visit, p.multistart);
  fields(visit, p.search);
  fields(visit, p.chunks);
}

}  // namespace stowage
