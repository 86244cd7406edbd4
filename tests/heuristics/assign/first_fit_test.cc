#include "heuristics/assign/construct/first_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/tiny_assign.h"

namespace stowage::assign_first_fit_test {
namespace {

// One row each, two stages: 50 with 50 and 10 with 10 have no bubble, 50 with 10 has one.
AssignInstance two_pipelines() {
  return {.name = "pipelines",
          .devices = 4,
          .schemes = {{.name = "two", .pp = 2, .linear_ms = 1, .max_tokens = 50}},
          .strategies = {{.name = "both", .replicas = {2}}},
          .lengths = {50, 10, 50, 10, 10, 10, 10, 10, 10, 10, 10, 10}};
}

TEST(FirstFit, GivesTheFirstReplicaTheLongestSequences) {
  const AssignInstance instance = two_pipelines();
  const AssignTable table(instance);
  const auto sets = first_fit(table, 0, 160);
  ASSERT_TRUE(sets);
  EXPECT_EQ((*sets)[0], (std::vector<int>{0, 1}));
  EXPECT_EQ((*sets)[1].size(), 10U);
  EXPECT_FALSE(first_fit(table, 0, 99));  // two stages of 50 take 100
}

TEST(FirstFit, DealsEverySequenceOnceAndKeepsTheTime) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const AssignInstance instance = tiny_assign(seed, 12);
    const AssignTable table(instance);
    for (int strategy = 0; strategy < table.strategies(); ++strategy) {
      if (!table.usable(strategy)) continue;
      constexpr Ms kTime = 60;
      const auto sets = first_fit(table, strategy, kTime);
      if (!sets) continue;
      ++found;
      const std::vector<int> group_of = groups_of_replicas(table, strategy);
      ASSERT_EQ(sets->size(), group_of.size());
      std::vector<int> all;
      for (std::size_t r = 0; r < sets->size(); ++r) {
        const int scheme = table.groups(strategy)[static_cast<std::size_t>(group_of[r])].scheme;
        LoadSum load;
        for (const int position : (*sets)[r]) {
          EXPECT_TRUE(table.holds(scheme, position));
          load.add(table, scheme, position);
          all.push_back(position);
        }
        EXPECT_LE(even_time(table.schemes()[static_cast<std::size_t>(scheme)], load, RowCounts{}),
                  kTime);
      }
      std::ranges::sort(all);
      ASSERT_EQ(all.size(), instance.lengths.size());
      for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k], static_cast<int>(k));
    }
  }
  EXPECT_GT(found, 50);
}

}  // namespace
}  // namespace stowage::assign_first_fit_test
