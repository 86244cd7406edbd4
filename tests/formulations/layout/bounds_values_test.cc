// Bounds of random layouts keep their values.
#include <gtest/gtest.h>

#include <cstdint>

#include "formulations/layout/bounds.h"
#include "tests/pinned_values.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_bound_values_test {
namespace {

TEST(LayoutBoundValues, AreThoseOfTheFile) {
  PinnedValues values("tests/formulations/values/layout.txt");
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 9);
    const LayoutTable table(instance);
    const std::vector<NamedBound> bounds = layout_bounds(instance, table);
    for (const NamedBound& bound : bounds) values.add(seed, bound.name, bound.value);
    if (bounds.empty()) continue;
    const auto most = static_cast<Bytes>(2 * bounds.back().value + 1);
    const ReachablePeaks peaks(table, most);
    for (Bytes least = 0; least <= most; least += most / 4 + 1) {
      values.add(seed, "reachable", static_cast<double>(peaks.next(least)));
    }
  }
  values.compare();
}

}  // namespace
}  // namespace stowage::layout_bound_values_test
