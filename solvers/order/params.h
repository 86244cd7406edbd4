// The parameters of an order solve, including those of its heuristics, and constants that are not
// worth tuning. Not installed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "heuristics/order/params.h"
#include "instances/parameters.h"

namespace stowage {

// Parameters of the rounds, each with more states than the one before (stages.h).
struct OrderRoundParams {
  int growth = 4;
  std::int64_t most_states = std::int64_t{1} << 21;
  std::int64_t plans = 500;
};

// Parameters of the bounds by cuts of the graph at an operator.
struct CutParams {
  std::int64_t operators = 100;
  std::int64_t nodes = 500'000;
};

// Parameters of the search for precedences that every better order keeps.
struct ForcedParams {
  std::int64_t nodes = 200'000;
  int halvings = 3;
};

// Parameters of the solves at single lengths, and of the rows between them (length/length_rows.h).
struct LengthParams {
  int rows = 32;
  std::int64_t nodes = 20'000;
  int solves = 64;
  std::int64_t cuts = 30;
  std::int64_t cut_nodes = 100'000;
};

struct OrderParams {
  OrderHeuristicParams heuristics;
  OrderRoundParams rounds;
  CutParams cuts;
  ForcedParams forced;
  LengthParams lengths;
  std::int64_t checkmate_binaries = 100'000;
};

// Constants that follow from a parameter, separate rounding from a difference, or limit the lists
// of an explanation.
namespace order_fixed {

// least number of operators with a cut bound, for graphs of any size
inline constexpr std::int64_t kFewestCuts = 3;
// factor of the nodes of a length from round to round
inline constexpr std::int64_t kLengthGrowth = 10;
inline constexpr std::uint64_t kLengthRounds = 3;
// factor from lengths.nodes to the nodes of the longest length
inline constexpr std::int64_t kLongestNodes = 1'000;
// share of a tensor that counts as the whole tensor
inline constexpr double kWholeTensor = 1 - 1e-6;
inline constexpr std::size_t kListedTensors = 50;  // listed tensors that are alive at the peak
inline constexpr std::size_t kListedChanges = 5;
// steps on either side of the peak from which moves are tried
inline constexpr std::int64_t kMovedOver = 200;

}  // namespace order_fixed

// Returns the number of states that a search may have in this round.
inline std::int64_t states_of_round(const OrderParams& params, std::uint64_t round) {
  std::int64_t states = params.heuristics.stretches.states;
  for (std::uint64_t k = 0; k < round; ++k) states *= params.rounds.growth;
  return states;
}

// Returns the widest stretch, in steps, that is searched in this round.
inline int width_of_round(const OrderParams& params, std::uint64_t round) {
  const std::int64_t width = std::int64_t{params.heuristics.stretches.width} << round;
  return static_cast<int>(std::min<std::int64_t>(width, std::numeric_limits<int>::max()));
}

// Returns the number of rounds until the number of states exceeds its limit.
inline std::uint64_t rounds_of(const OrderParams& params) {
  std::uint64_t rounds = 0;
  while (states_of_round(params, rounds) <= params.rounds.most_states) ++rounds;
  return rounds;
}

template <class Visitor>
void fields(Visitor&& visit, OrderParams& p) {
  fields(visit, p.heuristics);
  OrderRoundParams& rounds = p.rounds;
  visit({"rounds.growth", "ratio", 2, 64,
         "More: each round has more states and plans, so there are fewer rounds.", kByHand},
        rounds.growth);
  visit({"rounds.most_states", "states", 1, 1e8,
         "More: more rounds, the last with some hundred bytes of memory for each state.", kByHand},
        rounds.most_states);
  visit({"rounds.plans", "plans", 1, 1e9,
         "More: the first round tries more plans with runs again or transfers.", kByHand},
        rounds.plans);
  visit({"cuts.operators", "operators", 0, 1e6,
         "More: bounds of more operators are tried before each search.", kByHand},
        p.cuts.operators);
  visit({"cuts.nodes", "nodes of networks", 0, 1e12,
         "More: bounds of more operators are tried in large graphs.", kByHand},
        p.cuts.nodes);
  visit({"forced.nodes", "nodes of networks", 0, 1e12,
         "More: the first round tries more cuts for precedences that better orders keep.", kByHand},
        p.forced.nodes);
  visit({"forced.halvings", "halvings", 0, 60,
         "More: more peaks between bound and plan are tried for a proof by precedences.", kByHand},
        p.forced.halvings);
  LengthParams& lengths = p.lengths;
  visit({"lengths.rows", "rows", 1, 1e6, "More: a plan has more orders, each for fewer lengths.",
         kByHand},
        lengths.rows);
  visit({"lengths.nodes", "nodes", 1, 1e9, "More: the graph of each length is solved for longer.",
         kByHand},
        lengths.nodes);
  visit({"lengths.solves", "lengths", 0, 1e6, "More: graphs of more lengths are solved in a round.",
         kByHand},
        lengths.solves);
  visit({"lengths.cuts", "operators", 1, 1e6,
         "More: bounds of more operators are tried at the ends of rows.", kByHand},
        lengths.cuts);
  visit({"lengths.cut_nodes", "nodes of networks", 0, 1e12,
         "More: bounds of more operators are tried at the ends of rows of large graphs.", kByHand},
        lengths.cut_nodes);
  visit({"checkmate.binaries", "variables", 0, 1e9,
         "More: the baseline `checkmate` builds the MILP of larger graphs.", kByHand},
        p.checkmate_binaries);
}

}  // namespace stowage
