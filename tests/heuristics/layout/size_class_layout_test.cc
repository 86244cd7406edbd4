#include "heuristics/layout/construct/size_class_layout.h"

#include <gtest/gtest.h>

#include "heuristics/layout/construct/stack_all.h"
#include "instances/layout/generate/generate.h"
#include "tests/layout_check.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_slots_test {
namespace {

TEST(LayoutSlots, GoFromOneBufferToTheNext) {
  // 17 and 18 bytes take slots of 18, 3 bytes one of 3; the second of 17 bytes takes the first's.
  const LayoutInstance instance{.buffers = {{.lower = 0, .upper = 4, .size = 17},
                                            {.lower = 3, .upper = 9, .size = 18},
                                            {.lower = 4, .upper = 6, .size = 17},
                                            {.lower = 0, .upper = 9, .size = 3},
                                            {.lower = 0, .upper = 9, .size = 0}}};
  EXPECT_EQ(size_class_layout(instance), (std::vector<Bytes>{3, 21, 3, 0, 0}));
}

TEST(LayoutSlots, AreLayouts) {
  int laid = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 14);
    const LayoutTable table(instance);
    if (table.clash() || instance.capacity) continue;
    const auto offsets = size_class_layout(instance);
    ASSERT_TRUE(offsets);
    EXPECT_EQ(layout_fault(instance, *offsets, table.peak(*offsets)), "") << seed;
    const auto heap = pile(instance);
    ASSERT_TRUE(heap);
    EXPECT_EQ(layout_fault(instance, *heap, table.peak(*heap)), "") << seed;
    ++laid;
  }
  EXPECT_GT(laid, 1000);
}

TEST(LayoutSlots, OfManyBuffersAreNearTheLoad) {
  const auto made = generate_layout(
      {.kind = LayoutGenerator::Kind::short_lived, .buffers = 30000, .steps = 20000});
  ASSERT_TRUE(made);
  const LayoutTable table(made->instance);
  const auto offsets = size_class_layout(made->instance);
  ASSERT_TRUE(offsets);
  EXPECT_LE(static_cast<double>(table.peak(*offsets)), 1.5 * static_cast<double>(table.max_load()));
}

TEST(LayoutSlots, EndWhereAddressesEnd) {
  const Buffer half{.lower = 0, .upper = 1, .size = (Bytes{1} << 52) - 1};
  const LayoutInstance instance{.buffers = {half, half, {.lower = 0, .upper = 1, .size = 1}}};
  EXPECT_FALSE(size_class_layout(instance));  // each half takes a slot of 2^52 bytes
  EXPECT_TRUE(pile(instance));
  const LayoutInstance beyond{.buffers = {half, half, half}};
  EXPECT_FALSE(pile(beyond));
}

}  // namespace
}  // namespace stowage::layout_slots_test
