#include "instances/layout/generate/hard_packings.h"

#include <gtest/gtest.h>

#include <set>

#include "instances/layout/load.h"
#include "instances/layout/validate.h"

namespace stowage::layout_packing_test {
namespace {

using Kind = PackingGenerator::Kind;

constexpr Kind kKinds[] = {Kind::blocks, Kind::ring, Kind::window, Kind::stack, Kind::sections};

TEST(Packing, IsSmallAndNearlyFull) {
  int full = 0;
  for (const Kind kind : kKinds) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const LayoutInstance packing = generate_packing({.kind = kind, .seed = seed});
      SCOPED_TRACE(packing.name);
      EXPECT_GE(packing.buffers.size(), 60U);
      EXPECT_LE(packing.buffers.size(), 700U);  // about 500 are wanted; a layer is finished
      for (const Buffer& buffer : packing.buffers) {
        EXPECT_LT(buffer.lower, buffer.upper);
        EXPECT_GT(buffer.size, 0);
      }
      const Bytes load = peak_load(packing).load;
      EXPECT_LE(load, *packing.capacity);
      EXPECT_GE(10 * load, 8 * *packing.capacity);
      full += load == *packing.capacity;
    }
  }
  EXPECT_GT(full, 40);
}

TEST(Packing, TheSeedDrawsEverything) {
  std::set<std::string> names;
  for (const Kind kind : kKinds) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const LayoutInstance packing = generate_packing({.kind = kind, .seed = seed});
      EXPECT_EQ(packing, generate_packing({.kind = kind, .seed = seed}));
      names.insert(packing.name);
    }
  }
  EXPECT_EQ(names.size(), 50U);
}

}  // namespace
}  // namespace stowage::layout_packing_test
