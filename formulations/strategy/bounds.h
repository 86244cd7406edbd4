// Lower bounds on the step of any configuration of a strategy instance.
//
//   const StrategyTable table(instance);
//   if (auto proof = equal_prices(table, budget)) {      // SB1 of every class
//     for (auto& its : proof->classes) {
//       raise_prices(table, its, best_known_ms, budget); // SB2, where it is below
//     }
//   }
//
// Proofs are in formulations/README.md under the bounds' names.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "instances/budget.h"
#include "instances/strategy/certificate.h"
#include "instances/strategy/table.h"
#include "instances/units.h"

namespace stowage {

// Names of the bounds that need no search, of those with a certificate, and of those that a search
// only says.
inline constexpr std::array<std::string_view, 1> kStrategyClosedForms = {"work"};
inline constexpr std::array<std::string_view, 2> kStrategyCertified = {"prices", "thresholds"};
inline constexpr std::array<std::string_view, 3> kStrategySearched = {"search", "mip-cbc",
                                                                      "mip-glpk"};

// All products and attention on all devices, with nothing sent and nothing idle [SB0].
Ms work_bound(const StrategyTable& table);

// The step of no plan of this class and layout is less, by one price for each stage [SB2]; equal
// prices give the area bound [SB1]. Infinite if no split of the layers fits.
Ms priced_bound(const StageCosts& costs, const std::vector<double>& prices);

// The bound of a class with these prices: of its weakest layout.
Ms class_bound(const StrategyTable& table, const StrategyCertificate::Class& its);

// Every class with equal prices, and the bound that follows. Infinite if nothing fits; nothing if
// the budget ended it before it was complete.
std::optional<StrategyCertificate> equal_prices(const StrategyTable& table, const Budget& budget);

// Better prices for a class whose bound is below `enough`, in some rounds of a subgradient method;
// keeps the best ones and returns the bound. Ends early with the budget.
Ms raise_prices(const StrategyTable& table, StrategyCertificate::Class& its, Ms enough,
                const Budget& budget);

// The least memory with which some configuration fits, and where it is needed.
struct LeastMemory {
  Mib mib = 0;  // infinite if options do not combine at all
  StrategyClass of_class;
  StrategyLayout layout;
  std::int64_t stage = 0;   // that needs it
  std::int64_t layers = 0;  // of that stage
};
LeastMemory least_memory(const StrategyTable& table);

}  // namespace stowage
