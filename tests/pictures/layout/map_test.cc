// The map shows every buffer at its address and steps; the profile equals a direct computation.
#include "instances/pictures/layout/map.h"

#include <gtest/gtest.h>

#include "instances/layout/load.h"
#include "instances/layout/plan_builder.h"
#include "instances/pictures/layout/memory_profile.h"
#include "tests/svg_document.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_map_test {
namespace {

const LayoutInstance kInstance{
    .name = "map",
    .capacity = 40,
    .buffers = {{.id = "a<b>", .lower = 0, .upper = 10, .size = 8, .offset = 0},
                {.lower = 2, .upper = 6, .size = 16},
                {.id = "gap", .lower = 4, .upper = 10, .size = 8, .gaps = {{6, 8}}},
                {.id = "nothing", .lower = 0, .upper = 10, .size = 0}}};

SvgDocument document_of(const LayoutInstance& instance, const LayoutPlan& plan) {
  return SvgDocument(
      svg_document({layout_map(instance, plan, {.proven = ShownBound{32, "load"}})}, "map"));
}

TEST(LayoutPicture, IsToScale) {
  const LayoutPlan plan = compose_layout(kInstance, {0, 8, 24, 0});
  const SvgDocument document = document_of(kInstance, plan);
  EXPECT_EQ(document.complaints(), "");
  const auto pinned = document.rects("c3 n");
  ASSERT_EQ(pinned.size(), 1U);
  EXPECT_EQ(pinned[0].title, "buffer a<b>: 8 bytes at 0 (pinned), steps 0 to 9");
  const double per_step = pinned[0].box.width / 10;
  const double per_byte = pinned[0].box.height / 8;
  const auto half = document.rects("c2 t");  // lives for 4 of 10 steps
  ASSERT_EQ(half.size(), 1U);
  EXPECT_NEAR(half[0].box.x, pinned[0].box.x + 2 * per_step, 0.02);
  EXPECT_NEAR(half[0].box.width, 4 * per_step, 0.02);
  EXPECT_NEAR(half[0].box.height, 16 * per_byte, 0.02);
  EXPECT_NEAR(half[0].box.bottom(), pinned[0].box.y, 0.02);
  ASSERT_EQ(document.rects("c3 t").size(), 2U);  // two lifetimes around the gap
  EXPECT_TRUE(document.has_tooltip("buffer gap: 8 bytes at 24, steps 4 to 9, with gaps"));
  EXPECT_TRUE(document.has_tooltip("buffer 1:"));
  EXPECT_TRUE(document.has_tooltip("capacity"));
  EXPECT_FALSE(document.has_tooltip("nothing"));
}

TEST(LayoutPicture, ACapacityFarAboveThePeakIsNamedOnly) {
  LayoutInstance instance = kInstance;
  instance.capacity = 1000;
  const SvgDocument document = document_of(instance, compose_layout(instance, {0, 8, 24, 0}));
  EXPECT_EQ(document.complaints(), "");
  EXPECT_FALSE(document.has_tooltip("capacity"));
  std::string said;
  for (const auto& text : document.texts) said += text.text + ' ';
  EXPECT_NE(said.find("The capacity, 1 000 bytes, is above the picture."), std::string::npos);
}

TEST(MemoryProfile, IsWhatAPlainCountGives) {
  int drawn = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    LayoutInstance instance = tiny_layout(seed);
    instance.capacity.reset();
    std::vector<Bytes> offsets;  // stacked: never an overlap
    Bytes top = 0;
    for (Buffer& buffer : instance.buffers) {
      buffer.offset.reset();
      const Bytes alignment = alignment_of(instance, buffer);
      offsets.push_back((top + alignment - 1) / alignment * alignment);
      top = offsets.back() + buffer.size;
    }
    const LayoutPlan plan = compose_layout(instance, offsets);
    std::int64_t steps = 0;
    for (const MemorySegment& stretch : memory_profile(instance, plan)) {
      for (std::int64_t step = stretch.lower; step < stretch.upper; ++step, ++steps) {
        Bytes used = 0;
        Bytes highest = 0;
        for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
          for (const Lifetime& need : needs_of(instance.buffers[i])) {
            if (step < need.lower || step >= need.upper || instance.buffers[i].size == 0) continue;
            used += instance.buffers[i].size;
            highest = std::max(highest, offsets[i] + instance.buffers[i].size);
          }
        }
        ASSERT_EQ(stretch.used, used) << seed << ' ' << step;
        ASSERT_EQ(stretch.top, highest) << seed << ' ' << step;
      }
    }
    drawn += steps > 0 ? 1 : 0;
    EXPECT_EQ(document_of(instance, plan).complaints(), "") << seed;
  }
  EXPECT_GT(drawn, 200);
}

TEST(MemoryProfile, FreeIsWhatLiesBelowTheTop) {
  const LayoutInstance instance{
      .buffers = {{.lower = 0, .upper = 2, .size = 4}, {.lower = 1, .upper = 2, .size = 4}}};
  // Tops of 4 and 12, of which 4 and 8 are used.
  EXPECT_DOUBLE_EQ(free_share(memory_profile(instance, compose_layout(instance, {0, 8}))), 0.25);
  EXPECT_EQ(free_share({}), 0);
}

TEST(LayoutPicture, LargeMapsStaySmall) {
  LayoutInstance instance{.name = "large"};
  std::vector<Bytes> offsets;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    const std::int64_t lower = i * 7919 % 100'000;
    instance.buffers.push_back(
        {.id = "b" + std::to_string(i), .lower = lower, .upper = lower + 1 + i % 500, .size = 64});
    offsets.push_back(i * 64);
  }
  const Picture picture = layout_map(instance, compose_layout(instance, offsets), {});
  EXPECT_LT(picture.elements.size(), 5'000'000U);
  EXPECT_EQ(SvgDocument(svg_document({picture}, "")).complaints(), "");
}

// Long names in thousands of tooltips.
TEST(LayoutPicture, LongNamesAreCut) {
  LayoutInstance instance{.name = std::string(100'000, 'n')};
  std::vector<Bytes> offsets;
  for (std::int64_t i = 0; i < 1000; ++i) {
    instance.buffers.push_back({.id = std::to_string(i) + std::string(10'000, 'x'),
                                .lower = i % 100,
                                .upper = i % 100 + 1,
                                .size = 64});
    offsets.push_back(i / 100 * 64);
  }
  const std::string bytes =
      svg_document({layout_map(instance, compose_layout(instance, offsets), {})}, "");
  EXPECT_LT(bytes.size(), 1'000'000U);
  EXPECT_EQ(SvgDocument(bytes).complaints(), "");
}

TEST(LayoutPicture, AMapOfNothingIsDrawn) {
  const LayoutInstance empty{.name = "empty"};
  EXPECT_EQ(document_of(empty, compose_layout(empty, {})).complaints(), "");
  const LayoutInstance weightless{.buffers = {{.lower = 0, .upper = 1, .size = 0}}};
  EXPECT_EQ(document_of(weightless, compose_layout(weightless, {0})).complaints(), "");
}

}  // namespace
}  // namespace stowage::layout_map_test
