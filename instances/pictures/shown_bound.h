// The bounds that a picture shows beside the objective.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/pictures/drawing/panel.h"

namespace stowage {

struct ShownBound {
  double value = 0;
  std::string name;  // of the certificate: "area"
};

struct ShownBounds {
  std::optional<ShownBound> proven;   // recomputed or certified by the caller
  std::optional<ShownBound> claimed;  // stated by the plan, if larger than proven
};

// Returns the legend of the lines, the objective first: "step 9 806 ms", "proven bound 9 333 ms
// (area)". `amount` returns the text of a value, with its unit.
template <class Amount>
std::vector<LegendEntry> bound_legend(const std::string& objective, double value,
                                      const ShownBounds& bounds, const Amount& amount) {
  constexpr auto kLine = LegendEntry::Mark::line;
  std::vector<LegendEntry> entries = {{kLine, "v", objective + ' ' + amount(value)}};
  if (bounds.proven) {
    entries.push_back(
        {kLine, "b",
         "proven bound " + amount(bounds.proven->value) + " (" + bounds.proven->name + ')'});
  }
  if (bounds.claimed) {
    entries.push_back({kLine, "k",
                       "bound as claimed, not proven " + amount(bounds.claimed->value) + " (" +
                           bounds.claimed->name + ')'});
  }
  return entries;
}

}  // namespace stowage
