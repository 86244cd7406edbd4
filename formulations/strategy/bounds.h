// Lower bounds on the step of any configuration of a strategy instance.
//
//   const StrategyTable table(instance);
//   if (auto proof = equal_prices(table, budget)) {      // SB1 of every class
//     for (auto& its : proof->classes) {
//       raise_prices(table, its, best_known_ms, budget); // SB2, where it is below
//     }
//   }
//
// Proofs are in docs/theory/strategy.md under the bounds' names.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "instances/budget.h"
#include "instances/strategy/certificate.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/planning_table.h"
#include "instances/units.h"

namespace stowage {

// Names of the bounds that need no search, of those with a certificate, and of those that only a
// search proves.
inline constexpr std::array<std::string_view, 1> kStrategyClosedForms = {"work"};
inline constexpr std::array<std::string_view, 2> kStrategyCertified = {"prices", "thresholds"};
inline constexpr std::array<std::string_view, 4> kStrategySearched = {"search", "mip-cbc",
                                                                      "mip-glpk", "mip-highs"};

// Returns the time of all products and attention on all devices, without communication and idle
// time [SB0].
Ms work_bound(const StrategyTable& table);

// Returns a bound on the step of all plans of this class and layout, with one price for each stage
// [SB2]. Equal prices give the area bound [SB1]. Infinite if no split of the layers fits.
Ms priced_bound(const StageCosts& costs, const std::vector<double>& prices);

// Returns the bound of a class with these prices: the least over its layouts.
Ms class_bound(const StrategyTable& table, const StrategyCertificate::Class& its);

// Returns every class with equal prices, and the bound that follows, infinite if no configuration
// fits. Returns nullopt if the budget ends before all classes are bounded.
std::optional<StrategyCertificate> equal_prices(const StrategyTable& table, const Budget& budget);

// The rounds of the subgradient method of raise_prices().
struct PriceRounds {
  int rounds = 20;
  double first_step = 2;  // the exponent of the first change of prices
};

// Searches better prices for a class whose bound is below `enough`, by a subgradient method. Keeps
// the best prices and returns their bound. Ends early with the budget.
Ms raise_prices(const StrategyTable& table, StrategyCertificate::Class& its, Ms enough,
                const Budget& budget, const PriceRounds& rounds = {});

// The least memory with which some configuration fits, and the stage that needs it.
struct LeastMemory {
  Mib mib = 0;  // infinite if no options can be combined
  StrategyClass of_class;
  StrategyLayout layout;
  std::int64_t stage = 0;   // the stage that needs it
  std::int64_t layers = 0;  // layers of that stage
};
LeastMemory least_memory(const StrategyTable& table);

}  // namespace stowage
