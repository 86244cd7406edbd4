// The parameters of a layout solve, including those of its heuristics, and constants that are not
// worth tuning. Not installed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "heuristics/layout/params.h"
#include "instances/parameters.h"

namespace stowage {

// Parameters of the rounds of a short search and of lowering the peak, before the search without a
// node limit (stages.h).
struct LayoutRoundParams {
  int searched = 1'000;
  std::int64_t nodes = 50'000;
  double growth = 4;
  double lowering = 3;
  int in_vain = 2;
  double reported = 0.05;
};

// Parameters of layouts of the busiest sections first (core_first.h).
struct CoreFirstParams {
  int buffers = 50;
  double growth = 1.5;
  std::int64_t nodes = 20'000;
  int tries = 3;
  std::int64_t visits = 200'000;
};

// Parameters of the canonical search (exact/search.h, capacity_portfolio.h, tree/tree.h).
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

// Constants that bound how far a time limit is overrun, that bound the memory of a search, or that
// limit the lists of an explanation.
namespace layout_fixed {

// Seconds per buffer for instances of very many buffers, measured on one core of 2023: for table,
// bounds and size classes; for verification; for lowering until its first round.
inline constexpr double kSecondsToPlan = 1.1e-6;
inline constexpr double kSecondsToVerify = 5e-7;
inline constexpr double kSecondsToLower = 1.5e-6;
// seconds per conflicting pair before the first node
inline constexpr double kSecondsPerPair = 1e-7;
inline constexpr std::int64_t kNodeVisits =
    1'000'000;                                  // visits of buffers between two reads of the clock
inline constexpr std::size_t kTreeBytes = 300;  // bytes of a tree per buffer and section
// bytes of all trees of one capacity
inline constexpr std::size_t kTreesBytes = std::size_t{1} << 26;
// a list of buffers is rebuilt once one part in kListedShare of it is placed
inline constexpr std::size_t kListedShare = 16;
// Shares of the largest load whose sections lay_busiest_first() lays out before all others. The
// first two helped most often in traces of training steps.
inline constexpr std::array kBusyShares = {0.95, 0.9, 0.98, 0.8, 0.7, 0.6};
// largest share of the buffers that lay_busiest_first() fixes: the others need room around them,
// and each of them is compared with each fixed one
inline constexpr double kMostBusy = 0.05;
// shares of the time that is left which lay_busiest_first() may take, of up to fast.many buffers
// and of more, where each attempt takes seconds
inline constexpr double kBusyTime = 0.3;
inline constexpr double kBusyTimeOfMany = 0.1;
// shortened first attempts of core_first, so that a plan is found soon
inline constexpr std::int64_t kShortAttempts = 4;
inline constexpr double kMaxRoundNodes = 1e12;   // hours of search, and far below the 64-bit limit
inline constexpr std::size_t kListedStack = 50;  // listed buffers of the stack below the peak
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
