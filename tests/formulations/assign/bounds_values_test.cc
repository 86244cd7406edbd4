// Bounds of random assign steps, whole sequences and chunks, keep their values.
#include <gtest/gtest.h>

#include <cstdint>

#include "formulations/assign/bounds.h"
#include "formulations/assign/chunk_bounds.h"
#include "tests/chunked_assign.h"
#include "tests/pinned_values.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_bound_values_test {
namespace {

TEST(AssignBoundValues, AreThoseOfTheFile) {
  PinnedValues values("tests/formulations/values/assign.txt");
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const AssignInstance instance = tiny_assign(seed, 9);
    const AssignTable table(instance);
    bool usable = false;
    for (int strategy = 0; strategy < table.strategies(); ++strategy) {
      usable = usable || table.usable(strategy);
      for (const NamedBound& bound : strategy_bounds(table, strategy)) {
        values.add(seed, std::to_string(strategy) + '-' + bound.name, bound.value);
      }
    }
    if (!usable) continue;
    for (const NamedBound& bound : assign_bounds(table)) values.add(seed, bound.name, bound.value);
  }
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Draw draw(seed);
    const AssignInstance instance = chunked_assign(
        draw,
        {.boundaries = seed % 2 == 0 ? ChunkBoundaries::fixed : ChunkBoundaries::least_bubble});
    for (const NamedBound& bound : assign_chunk_bounds(instance)) {
      values.add(seed, "chunks-" + bound.name, bound.value);
    }
  }
  values.compare();
}

}  // namespace
}  // namespace stowage::assign_bound_values_test
