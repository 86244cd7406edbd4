// The parameters of a layout solve, those of its heuristics among them, and the numbers of its
// searches that nobody would tune. Not installed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heuristics/layout/params.h"
#include "instances/parameters.h"

namespace stowage {

// stages.h: rounds of a short search and of lowering the peak, before the search without a limit.
struct LayoutRoundParams {
  int searched = 1'000;
  std::int64_t nodes = 50'000;
  double growth = 4;
  double lowering = 3;
  int in_vain = 2;
  double reported = 0.05;
};

// busiest.h: the busiest sections first, then more and more sections.
struct CoreFirstParams {
  int buffers = 50;
  double growth = 1.5;
  std::int64_t nodes = 20'000;
  int tries = 3;
  std::int64_t visits = 200'000;
};

// search.h, probe.h, tree.h: the canonical search.
struct LayoutSearchParams {
  std::int64_t pairs = 20'000'000;
  int rungs = 4;
  double highest = 0.875;
  std::int64_t turn = 256;
  double fading = 0.9;
  std::int64_t kept = 4;
  int few = 16;
  std::int64_t alone = 4'096;
};

struct LayoutParams {
  LayoutHeuristicParams heuristics;
  LayoutRoundParams rounds;
  CoreFirstParams core;
  LayoutSearchParams search;
  std::int64_t mip_pairs = 20'000;
};

// Numbers that change the time that a limit is overrun by, bound the memory of a search, or say how
// much of an explanation is listed.
namespace layout_fixed {

// Seconds per buffer of an instance of very many buffers, on one core of 2023: table, bounds and
// size classes; verification; lowering until it has begun.
inline constexpr double kSecondsToPlan = 1.1e-6;
inline constexpr double kSecondsToVerify = 5e-7;
inline constexpr double kSecondsToLower = 1.5e-6;
inline constexpr double kSecondsPerPair = 1e-7;  // of conflicting buffers, before the first node
inline constexpr std::int64_t kNodeVisits =
    1'000'000;                                  // of buffers, between two looks at the clock
inline constexpr std::size_t kTreeBytes = 300;  // of a tree, per buffer and section
inline constexpr std::size_t kTreesBytes = std::size_t{1} << 26;  // of all trees of one capacity
inline constexpr std::size_t kListedShare = 16;  // a list of buffers is renewed without 1 of these
inline constexpr std::int64_t kShortAttempts = 4;  // of core_first: a plan is wanted soon
inline constexpr double kMostRoundNodes = 1e12;    // hours, and far from the end of 64 bits
inline constexpr std::size_t kListedStack = 50;    // buffers of the stack under the peak
inline constexpr std::size_t kListedChanges = 5;

}  // namespace layout_fixed

template <class Visitor>
void fields(Visitor&& visit, LayoutParams& p) {
  fields(visit, p.heuristics);
  LayoutRoundParams& rounds = p.rounds;
  visit({"rounds.searched", "buffers", 0, 1e9,
         "More: `auto` searches layouts of more buffers within its rounds, not only after them.",
         kByHand},
        rounds.searched);
  visit({"rounds.nodes", "nodes", 1, 1e12, "More: the first round searches longer.", kByHand},
        rounds.nodes);
  visit({"rounds.growth", "ratio", 1, 1000, "More: each round has more nodes than the one before.",
         kByHand},
        rounds.growth);
  visit({"rounds.lowering", "ratio", 0, 1000,
         "More: lowering the peak has more of a round's nodes, beside its search.", kByHand},
        rounds.lowering);
  visit({"rounds.in_vain", "rounds", 1, 1000,
         "More: the search without a limit waits for more rounds without a lower peak.", kByHand},
        rounds.in_vain);
  visit({"rounds.reported", "share of the peak above the load", 0, 1,
         "More: fewer of the layouts on the way to a lower peak are verified.", kByHand},
        rounds.reported);
  CoreFirstParams& core = p.core;
  visit({"core_first.buffers", "buffers", 1, 1e6,
         "More: the first part has more buffers, and attempts have fewer parts.", kByHand},
        core.buffers);
  visit({"core_first.growth", "ratio", 1.05, 1000,
         "More: each part has more buffers than the one before.", kByHand},
        core.growth);
  visit({"core_first.nodes", "nodes", 1, 1e9,
         "More: the first parts are searched longer for a layout without a gap.", kByHand},
        core.nodes);
  visit({"core_first.tries", "layouts", 1, 1000,
         "More: the best of more layouts of a part is kept.", kByHand},
        core.tries);
  visit({"core_first.visits", "visits per buffer", 16, 1e9,
         "More: each layout of a part is lowered for longer.", kByHand},
        core.visits);
  LayoutSearchParams& search = p.search;
  visit({"search.pairs", "pairs of buffers that conflict", 0, 1e9,
         "More: larger layouts are searched, with more memory.", kByHand},
        search.pairs);
  visit({"search.rungs", "capacities", 1, 5,
         "More: more capacities between bound and plan are searched in turn.", kByHand},
        search.rungs);
  visit({"search.highest", "share of the nodes", 0, 0.999,
         "More: the highest capacity has more nodes until there is a plan.", kByHand},
        search.highest);
  visit({"search.turn", "nodes", 1, 1e9,
         "More: an order or a restart of few buffers has longer turns.", kByHand},
        search.turn);
  visit({"search.fading", "ratio", 0, 1, "More: restarts heed failures of longer ago.", kByHand},
        search.fading);
  visit({"search.kept", "nodes", 1, 1e9,
         "More: fewer failed states are kept, those that took more nodes.", kByHand},
        search.kept);
  visit({"search.few", "buffers", 0, 1e6,
         "More: layouts of more buffers have one order for the highest capacity alone.", kByHand},
        search.few);
  visit({"search.alone", "nodes", 0, 1e12,
         "More: that order begins after more nodes of the others.", kByHand},
        search.alone);
  visit({"mip.pairs", "pairs of buffers that conflict", 0, 1e9,
         "More: the MIPs of larger layouts are built.", kByHand},
        p.mip_pairs);
}

}  // namespace stowage
