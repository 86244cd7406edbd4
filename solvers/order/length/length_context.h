// The context that the stages of one order solve share if sizes grow with a length. Not installed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "instances/order/certificate.h"
#include "instances/order/instance.h"
#include "instances/units.h"
#include "solvers/family_solve.h"
#include "solvers/order/length/length_rows.h"
#include "solvers/order/params.h"
#include "solvers/stage.h"

namespace stowage {

// Solves a graph of fixed sizes.
using FixedSolve =
    std::function<Outcome(const OrderInstance&, const SolveOptions&, Budget&, const Progress&)>;

struct LengthContext : SolveContext<OrderInstance> {
  std::optional<Refutation>& refuted;  // set by a stage that proves that no plan exists
  const OrderParams params;
  const FixedSolve& fixed;  // solves the graph at one length
  LengthRows rows;

  std::vector<int> program = {};
  int cuts = 1;                                // operators tried for the bound at an end of a row
  std::map<Tokens, std::int64_t> solved = {};  // node limit of the last solve at each length
  // the best certificate of all solves of the longest length
  std::optional<OrderCertificate> certificate = {};

  bool searches() const { return options.method == "auto" || options.method == "exact"; }
  Tokens longest() const { return instance.tokens->to; }
  // Returns true if the solve stops before the next stage.
  bool done() const { return refuted || budget.exhausted(); }

  std::int64_t round_nodes() const {
    std::int64_t nodes = params.lengths.nodes;
    for (std::uint64_t k = 0; k < round; ++k) nodes *= order_fixed::kLengthGrowth;
    return nodes;
  }
  // Returns the node limit of the last solve at the longest length, whose peak is the objective.
  std::int64_t most_nodes() const { return order_fixed::kLongestNodes * params.lengths.nodes; }

  // Solves the graph at one length, starting from the best order known there.
  void solve_at(Tokens length, std::int64_t nodes);
  // Submits the plan of the rows.
  void offer();
};

}  // namespace stowage
