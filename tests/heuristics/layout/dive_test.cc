#include "heuristics/layout/construct/dive.h"

#include <gtest/gtest.h>

#include <set>

#include "heuristics/layout/construct/buffer_orders.h"
#include "heuristics/layout/index/contained_index.h"
#include "heuristics/layout/index/next_buffer_by_load.h"
#include "instances/layout/generate/generate.h"
#include "instances/layout/neighbours.h"
#include "instances/numeric/numbers.h"
#include "tests/guillotine_layout.h"
#include "tests/layout_check.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_dive_test {
namespace {

TEST(ContainedIndex, AgreesWithLookingAtEveryRange) {
  std::mt19937_64 random(7);
  const auto up_to = [&](int bound) {
    return static_cast<int>(draw(random, static_cast<std::uint64_t>(bound) + 1));
  };
  int found = 0;
  for (int round = 0; round < 300; ++round) {
    const int sections = 1 + up_to(20);
    const auto window = [&] {
      const int first = up_to(sections - 1);
      return SectionRange{first, first + 1 + up_to(sections - first - 1)};
    };
    std::vector<SectionRange> ranges;
    for (int i = up_to(30); i > 0; --i) ranges.push_back(window());
    ContainedIndex index(ranges, sections, Budget());
    std::vector<bool> present(ranges.size(), true);
    for (int step = 0; step < 60; ++step) {
      const SectionRange asked = window();
      int expected = ContainedIndex::kNone;
      for (std::size_t i = ranges.size(); i-- > 0;) {
        if (present[i] && asked.first <= ranges[i].first && ranges[i].last <= asked.last) {
          expected = static_cast<int>(i);
        }
      }
      ASSERT_EQ(index.least(asked), expected);
      found += expected != ContainedIndex::kNone;
      if (ranges.empty()) continue;
      const std::size_t i = draw(random, ranges.size());
      present[i] = !present[i];
      if (present[i]) {
        index.insert(static_cast<int>(i));
      } else {
        index.erase(static_cast<int>(i));
      }
    }
  }
  EXPECT_GT(found, 1000);
}

// The definition: repeatedly places the waiting buffer with the least feasible offset; ties are
// broken by the order.
std::vector<Bytes> obvious_dive(const LayoutTable& table, const std::vector<int>& order) {
  std::vector<Bytes> offsets(static_cast<std::size_t>(table.buffers()), 0);
  std::vector<bool> placed(offsets.size(), false);
  for (std::size_t step = 0; step < order.size(); ++step) {
    int chosen = -1;
    Bytes least = 0;
    for (const int b : order) {
      if (placed[static_cast<std::size_t>(b)]) continue;
      Bytes offset = 0;
      for (const int other : order) {
        if (placed[static_cast<std::size_t>(other)] && table.conflict(b, other)) {
          offset = std::max(offset, offsets[static_cast<std::size_t>(other)] + table.size(other));
        }
      }
      if (chosen < 0 || offset < least) {
        chosen = b;
        least = offset;
      }
    }
    offsets[static_cast<std::size_t>(chosen)] = least;
    placed[static_cast<std::size_t>(chosen)] = true;
  }
  return offsets;
}

TEST(LayoutDive, IsTheFirstBranchOfTheCanonicalSearch) {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 20);
    const LayoutTable table(instance);
    bool aligned = false;
    for (int b = 0; b < table.buffers(); ++b) aligned = aligned || table.alignment(b) > 1;
    if (aligned || table.any_gaps() || table.any_pins()) continue;
    const std::vector<int> order = static_order(table, "TWA");
    EXPECT_EQ(canonical_dive(table, order, Budget()), obvious_dive(table, order)) << seed;
    ++seen;
  }
  EXPECT_GT(seen, 300);
  const LayoutInstance cut = guillotine_layout(3, 300, 500, 400);
  const LayoutTable table(cut);
  const std::vector<int> order = static_order(table, "ZW");
  EXPECT_EQ(canonical_dive(table, order, Budget()), obvious_dive(table, order));
}

TEST(LayoutDive, GoesAroundPinnedBuffers) {
  // The pin leaves room below it only for the small buffer, and above it for the large one.
  const LayoutInstance instance{.buffers = {{.lower = 0, .upper = 2, .size = 6},
                                            {.lower = 0, .upper = 2, .size = 3, .offset = 4},
                                            {.lower = 0, .upper = 2, .size = 4}}};
  const LayoutTable table(instance);
  EXPECT_EQ(canonical_dive(table, {0, 2}, Budget()), (std::vector<Bytes>{7, 4, 0}));
}

TEST(LayoutDive, StopsWithItsBudget) {
  const LayoutInstance cut = guillotine_layout(3, 3000, 5000, 5000);
  const LayoutTable table(cut);
  EXPECT_FALSE(canonical_dive(table, static_order(table, "Z"), Budget({.time_limit_s = 0})));
}

// The definition: of the ranges inside the window those that cover the section with the largest
// load among all that such a range covers; the first of these sections, the widest, the first to
// start, the largest, the first.
int obvious_choice(const std::vector<SectionRange>& ranges, const std::vector<Bytes>& sizes,
                   const std::vector<bool>& present, const std::vector<Bytes>& more,
                   SectionRange window) {
  std::vector<Bytes> load = more;
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    for (int s = ranges[r].first; present[r] && s < ranges[r].last; ++s) load[at(s)] += sizes[r];
  }
  const auto covers = [&](std::size_t r, int s) {
    return present[r] && window.first <= ranges[r].first && ranges[r].last <= window.last &&
           ranges[r].first <= s && s < ranges[r].last;
  };
  int fullest = -1;
  for (int s = window.first; s < window.last; ++s) {
    bool covered = false;
    for (std::size_t r = 0; r < ranges.size(); ++r) covered = covered || covers(r, s);
    if (covered && (fullest < 0 || load[at(s)] > load[at(fullest)])) fullest = s;
  }
  int chosen = NextBufferByLoad::kNone;
  const auto key = [&](std::size_t r) {
    return std::tuple(ranges[r].last - ranges[r].first, -ranges[r].first, sizes[r]);
  };
  for (std::size_t r = 0; r < ranges.size() && fullest >= 0; ++r) {
    if (!covers(r, fullest)) continue;
    if (chosen == NextBufferByLoad::kNone || key(r) > key(at(chosen))) chosen = static_cast<int>(r);
  }
  return chosen;
}

TEST(NextBufferByLoad, AgreesWithItsDefinition) {
  std::mt19937_64 random(11);
  const auto up_to = [&](int bound) {
    return static_cast<int>(draw(random, static_cast<std::uint64_t>(bound) + 1));
  };
  int found = 0;
  for (int round = 0; round < 400; ++round) {
    const int sections = 1 + up_to(15);
    const auto window = [&] {
      const int first = up_to(sections - 1);
      return SectionRange{first, first + 1 + up_to(sections - first - 1)};
    };
    std::vector<SectionRange> ranges;
    std::vector<Bytes> sizes;
    for (int i = up_to(25); i > 0; --i) {
      ranges.push_back(window());
      sizes.push_back(1 + up_to(9));
    }
    std::vector<Bytes> more(at(sections), 0);
    for (Bytes& bytes : more) bytes = up_to(2) == 0 ? up_to(20) : 0;
    NextBufferByLoad index(ranges, sizes, more, Budget());
    std::vector<bool> present(ranges.size(), true);
    for (int step = 0; step < 50; ++step) {
      const SectionRange asked = window();
      const int chosen = index.least(asked);
      const int expected = obvious_choice(ranges, sizes, present, more, asked);
      ASSERT_EQ(chosen, expected);
      found += expected != NextBufferByLoad::kNone;
      if (ranges.empty()) continue;
      const std::size_t i = draw(random, ranges.size());
      present[i] = !present[i];
      present[i] ? index.insert(static_cast<int>(i)) : index.erase(static_cast<int>(i));
    }
  }
  EXPECT_GT(found, 3000);
}

TEST(OrderedBitset, AgreesWithASet) {
  std::mt19937_64 random(5);
  for (const std::size_t size : {1U, 63U, 64U, 65U, 5000U, 100'000U}) {
    OrderedBitset set(size);
    std::set<std::size_t> expected;
    for (std::size_t i = 0; i < size; ++i) expected.insert(expected.end(), i);
    for (int step = 0; step < 300; ++step) {
      const std::size_t from = draw(random, size);
      const std::size_t to = std::min(size, from + draw(random, 1 + size / 20));
      for (std::size_t i = from; i < to; ++i) {
        set.erase(i);
        expected.erase(i);
      }
      if (step % 3 == 0) {
        set.insert(from);
        expected.insert(from);
      }
      const std::size_t asked = draw(random, size);
      const auto above = expected.lower_bound(asked);
      EXPECT_EQ(set.at_or_above(asked), above == expected.end() ? OrderedBitset::kNone : *above);
      const auto beyond = expected.upper_bound(asked);
      EXPECT_EQ(set.at_or_below(asked),
                beyond == expected.begin() ? OrderedBitset::kNone : *std::prev(beyond));
    }
  }
}

// Ranges that start at one section: each answer takes a short while all the same.
TEST(NextBufferByLoad, IsQuickWhereAllStartTogether) {
  constexpr int kRanges = 200'000;
  const std::vector<SectionRange> ranges(kRanges, {0, 1});
  NextBufferByLoad index(ranges, std::vector<Bytes>(kRanges, 1), {0}, Budget());
  for (int i = 0; i < kRanges; ++i) {
    ASSERT_EQ(index.least({0, 1}), i);
    index.erase(i);
  }
  EXPECT_EQ(index.least({0, 1}), NextBufferByLoad::kNone);
}

TEST(FullestDive, MakesLayouts) {
  int laid = 0;
  std::mt19937_64 random(3);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 14);
    const LayoutTable table(instance);
    if (table.clash() || instance.capacity) continue;
    std::vector<Bytes> more(at(table.sections()), 0);
    for (Bytes& bytes : more) bytes = static_cast<Bytes>(draw(random, 30));
    const auto offsets = fullest_dive(table, static_order(table, "W"), more, Budget());
    ASSERT_TRUE(offsets);
    EXPECT_EQ(layout_fault(instance, *offsets, table.peak(*offsets)), "") << seed;
    ++laid;
  }
  EXPECT_GT(laid, 800);
}

// Ten buffers are alive around one step, and few between it and the next such step: the dive begins
// at the largest load, and wastes nothing there.
TEST(FullestDive, BeginsWhereMostIsNeeded) {
  const auto made = generate_layout(
      {.kind = LayoutGenerator::Kind::short_lived, .buffers = 4000, .steps = 60000});
  ASSERT_TRUE(made);
  const LayoutTable table(made->instance);
  const std::vector<Bytes> none(at(table.sections()), 0);
  const auto fullest = fullest_dive(table, static_order(table, "W"), none, Budget());
  const auto widest = canonical_dive(table, static_order(table, "W"), Budget());
  ASSERT_TRUE(fullest && widest);
  EXPECT_LT(table.peak(*fullest), table.peak(*widest));
}

TEST(LayoutOrders, KeysAreComparedOneAfterTheOther) {
  const LayoutInstance instance{.buffers = {{.lower = 0, .upper = 9, .size = 2},
                                            {.lower = 1, .upper = 2, .size = 5},
                                            {.lower = 3, .upper = 6, .size = 2},
                                            {.lower = 3, .upper = 6, .size = 0},
                                            {.lower = 3, .upper = 6, .size = 1, .offset = 0},
                                            {.lower = 4, .upper = 5, .size = 5}}};
  const LayoutTable table(instance);
  using Order = std::vector<int>;
  EXPECT_EQ(static_order(table, "Z"), (Order{1, 5, 0, 2}));
  EXPECT_EQ(static_order(table, "WZ"), (Order{0, 2, 1, 5}));
  EXPECT_EQ(static_order(table, "ZU"), (Order{5, 1, 0, 2}));
  EXPECT_EQ(static_order(table, "L"), (Order{0, 1, 2, 5}));
  EXPECT_EQ(static_order(table, "A"), (Order{0, 2, 1, 5}));
  EXPECT_EQ(static_order(table, "CZ"), (Order{0, 1, 5, 2}));
  EXPECT_EQ(static_order(table, "TZ"), (Order{5, 0, 2, 1}));  // loads 7 and 10
  EXPECT_EQ(static_order(table, "OZ"), (Order{0, 5, 2, 1}));
}

}  // namespace
}  // namespace stowage::layout_dive_test
