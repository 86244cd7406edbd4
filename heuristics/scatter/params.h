// The parameters of the scatter heuristics that plan a whole step. Not installed.
#pragma once

#include <string_view>

#include "instances/parameters.h"

namespace stowage {

// Evidence of defaults: the file of tune.py has the effects of halving and doubling on `fast`.
inline constexpr std::string_view kScatterSteps =
    "bench/tuning/scatter_fast.json: halved and doubled on the tune parts of few and drawn";

// construct/multistart.h: starts from all chunkings compete under annealing.
struct MultistartParams {
  double moves = 420;
  double long_moves = 40000;
  int path_rounds = 10;
  double promising = 1.3;
  int packed = 6;
  int racing = 4;
  double hot = 4.2e-3;
  double cooling = 0.5;
  int windows = 6;
};

// improve/improvement_rounds.h: rounds of destroy and repair, annealing, or planning anew.
struct LnsParams {
  double moves = 2000;
  int cycle = 8;
  int doublings = 5;
  double part_moves = 480;
  int part_rounds = 32;
  int large = 1500;
};

// window/window_deal.h: the search for a deal of the sequences of several steps. Fixed: no command
// sets them, and the time of a window is that of the steps that it plans.
struct DealParams {
  double moves = 40;    // annealing moves per sequence in the estimate of a step's time
  int path_rounds = 2;  // rounds of shortest paths over chunks in the estimate
  int swaps = 40;       // swaps of runs of sequences that are tried on the best deal
  int deals = 3;        // deals of the best estimates that the method plans
};

// mixed/mixed_search.h: starts and annealing of mixed micro-batches. Fixed: the moves and the first
// temperature are those of MultistartParams.
struct MixedParams {
  int prices = 9;               // of a hidden exchange, from 0 to 1, for the starts
  int batches = 3;              // numbers of micro-batches that starts are made for
  int unshared = 4;             // numbers of their micro-batches without a shared row
  int one_by_one = 50;          // micro-batches up to which each number is tried
  int block = 256;              // annealing moves at one temperature
  double cold = 1e-3;           // last temperature, as a share of the first
  double first_evenness = 0.3;  // first weight of evenness among devices
  double last_evenness = 0.01;
};

template <class Visitor>
void fields(Visitor&& visit, MultistartParams& p) {
  visit({"multistart.moves", "annealing moves per sequence", 1, 1e6,
         "More: better plans of `fast`, in proportionally more time.", kScatterSteps},
        p.moves);
  visit({"multistart.long_moves", "annealing moves per sequence", 1, 1e7,
         "More: better plans of `joint`, in proportionally more time.", kByHand},
        p.long_moves);
  visit({"multistart.path_rounds", "rounds", 2, 10000,
         "More: shortest paths over chunks with better prices, for `fast` and the rounds.",
         kScatterSteps},
        p.path_rounds);
  visit({"multistart.promising", "ratio to the best start", 1, 100,
         "More: more starts are packed and raced that are worse at first.", kScatterSteps},
        p.promising);
  visit({"multistart.packed", "starts", 1, 1000,
         "More: more starts are packed anew for their makespans.", kScatterSteps},
        p.packed);
  visit({"multistart.racing", "starts", 1, 1000,
         "More: more starts share the annealing moves, so each gets fewer.", kScatterSteps},
        p.racing);
  visit({"multistart.hot", "share of the mean makespan", 1e-6, 1,
         "More: annealing begins hotter and changes a start further.", kScatterSteps},
        p.hot);
  visit({"multistart.cooling", "ratio", 0.01, 1,
         "More: later rounds of the race anneal nearly as hot as the first.", kScatterSteps},
        p.cooling);
  visit({"multistart.windows", "windows", 0, 1000,
         "More: more groups of wasteful micro-batches are planned anew.", kScatterSteps},
        p.windows);
}

template <class Visitor>
void fields(Visitor&& visit, LnsParams& p) {
  visit({"lns.moves", "annealing moves per sequence", 1, 1e7,
         "More: each round searches longer, so there are fewer rounds.", kByHand},
        p.moves);
  visit(
      {"lns.cycle", "rounds", 1, 1000, "More: the whole step is planned anew less often.", kByHand},
      p.cycle);
  visit({"lns.doublings", "cycles", 0, 30, "More: rounds go on doubling their moves for longer.",
         kByHand},
        p.doublings);
  visit({"lns.part_moves", "annealing moves per sequence", 1, 1e7,
         "More: first rounds of a large step search longer.", kByHand},
        p.part_moves);
  visit({"lns.part_rounds", "rounds", 0, 100000,
         "More: a large step has more rounds for a few of its micro-batches before the whole.",
         kByHand},
        p.part_rounds);
  visit({"lns.large", "sequences", 1, 1e9,
         "More: fewer steps count as large, which begin with rounds for some micro-batches.",
         kByHand},
        p.large);
}

}  // namespace stowage
