// The best pattern, compared with enumeration of all patterns.
#include "formulations/scatter/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "instances/numeric/random.h"

namespace stowage::scatter_pattern_test {
namespace {

double best_of_all(const std::vector<PatternItem>& items, std::size_t next, Tokens capacity,
                   Ms room) {
  if (next == items.size()) return 0;
  const PatternItem& item = items[next];
  double best = 0;
  for (int copies = 0; copies <= item.count; ++copies) {
    const Tokens tokens = capacity - copies * item.tokens;
    const Ms time = room - copies * item.time;
    if (tokens < 0 || time < 0) break;
    best = std::max(best, copies * item.worth + best_of_all(items, next + 1, tokens, time));
  }
  return best;
}

TEST(BestPattern, IsTheBestOfAll) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(round);
    std::vector<PatternItem> items;
    const std::size_t kinds = 1 + draw(random, 5);
    for (std::size_t k = 0; k < kinds; ++k) {
      const auto tokens = static_cast<Tokens>(1 + draw(random, 9));
      // Integral times: sums are exact in any order.
      items.push_back({.kind = static_cast<int>(k),
                       .count = static_cast<int>(draw(random, 5)),
                       .tokens = tokens,
                       .time = static_cast<Ms>(tokens + static_cast<Tokens>(draw(random, 12))),
                       .worth = static_cast<double>(draw(random, 30))});
    }
    const auto capacity = static_cast<Tokens>(draw(random, 30));
    const auto room = static_cast<Ms>(draw(random, 50));
    const double truth = best_of_all(items, 0, capacity, room);
    const BestPattern best = best_pattern(items, capacity, room, 0);
    EXPECT_EQ(best.worth, truth);
    EXPECT_EQ(best.most, truth);
    double worth = 0;
    Tokens tokens = 0;
    Ms time = 0;
    for (const PatternAmount& amount : best.amounts) {
      const PatternItem& item = items[static_cast<std::size_t>(amount.kind)];
      EXPECT_LE(amount.count, item.count);
      worth += amount.count * item.worth;
      tokens += amount.count * item.tokens;
      time += amount.count * item.time;
    }
    EXPECT_EQ(worth, truth);
    EXPECT_LE(tokens, capacity);
    EXPECT_LE(time, room);
    // Little memory loosens the bound, and never makes it wrong.
    const BestPattern few = best_pattern(items, capacity, room, 0, 2);
    EXPECT_LE(few.worth, truth);
    EXPECT_GE(few.most, truth);
    // No pattern exceeds this floor.
    const BestPattern none = best_pattern(items, capacity, room, truth);
    EXPECT_TRUE(none.amounts.empty());
    EXPECT_EQ(none.most, truth);
  }
}

TEST(BestPattern, OfNothingIsTheFloor) {
  const BestPattern best = best_pattern({}, 10, 5, 3);
  EXPECT_TRUE(best.amounts.empty());
  EXPECT_EQ(best.worth, 3);
  EXPECT_EQ(best.most, 3);
}

}  // namespace
}  // namespace stowage::scatter_pattern_test
