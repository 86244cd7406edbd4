// The map of exchanges shows which kind is the fastest, as worked out by hand.
#include "instances/pictures/scatter/exchange_map.h"

#include <gtest/gtest.h>

#include "tests/svg_document.h"

namespace stowage::scatter_exchange_map_test {
namespace {

using enum ExchangeKind;

// Two nodes of two devices, which hold 1000 tokens each. A ring of two sends 0.03125 ms a token
// behind 0.00025 ms a token^2, and an all-to-all sends the same without hiding. With four devices
// two levels are faster until a ring hides all communication, from 1000 tokens on.
ScatterInstance two_nodes() {
  return {
      .cluster = {.devices = 4, .devices_per_node = 2, .memory_mib = 1000, .degrees = {1, 2, 4}},
      .model = {.activation_mib_per_token = 1},
      .cost = {.quadratic_ms = 0.001,
               .linear_ms = 0.5,
               .fixed_ms = 3,
               .exchange =
                   Exchange{.kinds = {{2, {all_to_all, ring}}, {4, {all_to_all, ring, two_level}}},
                            .all_to_all_mib_per_token = 1,
                            .keys_values_mib_per_token = 0.5,
                            .inside_mib_per_ms = 8,
                            .across_mib_per_ms = 2,
                            .inside_latency_ms = 0.25,
                            .across_latency_ms = 1}}};
}

TEST(ExchangeMap, ShowsTheFastestKindByLengthAndDegree) {
  const SvgDocument document(svg_document({exchange_map(two_nodes())}, "map"));
  EXPECT_EQ(document.complaints(), "");
  const auto rings = document.rects("c1");  // and the legend's box
  const auto two_levels = document.rects("c3");
  ASSERT_EQ(rings.size(), 3U);
  ASSERT_EQ(two_levels.size(), 2U);
  EXPECT_TRUE(document.rects("c0").empty());
  EXPECT_EQ(two_levels[0].box.x, rings[0].box.x);
  EXPECT_NEAR(rings[1].box.x, two_levels[0].box.right(), 0.02);
  EXPECT_GT(rings[1].box.y, rings[0].box.y);
  EXPECT_TRUE(document.has_tooltip("degree 2, 64 to"));
  EXPECT_TRUE(document.has_tooltip("tokens: two_level"));
}

TEST(ExchangeMap, SaysWhereThereIsNothingToShow) {
  ScatterInstance instance = two_nodes();
  instance.cluster.memory_mib = 10;
  EXPECT_EQ(SvgDocument(svg_document({exchange_map(instance)}, "map")).complaints(), "");
  instance.cluster.degrees = {1};
  EXPECT_EQ(SvgDocument(svg_document({exchange_map(instance)}, "map")).complaints(), "");
}

}  // namespace
}  // namespace stowage::scatter_exchange_map_test
