// Cuts of sequences: compared with every cut for short sequences, and properties for long ones.
#include "instances/assign/chunks/chunk_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "instances/numeric/numbers.h"
#include "tests/instances/draw.h"

namespace stowage::assign_chunk_cuts_test {
namespace {

struct Case {
  ChunkRule rule;
  Scheme scheme;
  Tokens length = 0;
};

Case drawn(Draw& draw, Tokens most, ChunkBoundaries boundaries) {
  Case its;
  its.rule = {.size = draw.whole(2, 6), .retained = static_cast<int>(draw.whole(1, 4))};
  its.rule.boundaries = boundaries;
  its.scheme = {.pp = static_cast<int>(draw.whole(1, 6)),
                .quadratic_ms = draw.coin() ? 0 : draw.real(0, 0.2),
                .linear_ms = draw.real(0.01, 1),
                .fixed_ms = draw.coin() ? 0 : draw.real(0, 2),
                .max_tokens = 100};
  its.length = draw.whole(its.rule.size + 1, std::max(most, its.rule.size + 1));
  return its;
}

// Computes the cost of a cut chunk by chunk.
SequenceCut priced(const Case& its, const std::vector<Tokens>& ends) {
  SequenceCut cut{.ends = ends, .cost = {.chunks = std::ssize(ends)}};
  Tokens begin = 0;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    const Chunk chunk{{{0, begin, ends[k]}}, k, ends.size()};
    const Ms ms = chunk_pass_ms(chunk, its.scheme, static_cast<std::size_t>(its.rule.retained));
    cut.cost.sum += ms;
    cut.cost.longest = std::max(cut.cost.longest, ms);
    begin = ends[k];
  }
  return cut;
}

// Calls take(cut) for every cut there is.
void every_cut(const Case& its, const std::function<void(const SequenceCut&)>& take) {
  std::vector<Tokens> ends;
  const std::function<void(Tokens)> extend = [&](Tokens begin) {
    if (begin == its.length) {
      if (std::ssize(ends) <= most_parts(its.rule, its.length)) take(priced(its, ends));
      return;
    }
    for (Tokens end = begin + 1; end <= std::min(begin + its.rule.size, its.length); ++end) {
      ends.push_back(end);
      extend(end);
      ends.pop_back();
    }
  };
  extend(0);
}

void expect_sound(const Case& its, const SequenceCut& cut) {
  Tokens begin = 0;
  for (const Tokens end : cut.ends) {
    EXPECT_GT(end, begin);
    EXPECT_LE(end - begin, its.rule.size);
    begin = end;
  }
  EXPECT_EQ(begin, its.length);
  EXPECT_LE(std::ssize(cut.ends), most_parts(its.rule, its.length));
  const SequenceCut again = priced(its, cut.ends);
  EXPECT_EQ(cut.cost.chunks, again.cost.chunks);
  EXPECT_NEAR(cut.cost.sum, again.cost.sum, 1e-9 * again.cost.sum);
  EXPECT_NEAR(cut.cost.longest, again.cost.longest, 1e-9 * again.cost.longest);
}

TEST(ChunkCuts, TheLeastBubbleIsThatOfEveryCut) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Draw draw(seed);
    const Case its = drawn(draw, 13, ChunkBoundaries::least_bubble);
    Ms least = kInfinity;
    every_cut(its,
              [&](const SequenceCut& cut) { least = std::min(least, cut.alone(its.scheme.pp)); });
    const ChunkCuts cuts(its.rule, 1, its.scheme);
    const SequenceCut cut = cuts.alone(its.length);
    expect_sound(its, cut);
    EXPECT_NEAR(cut.alone(its.scheme.pp), least, 1e-9 * least) << "seed " << seed;
    better += least < 0.99 * cuts.fixed(its.length).alone(its.scheme.pp);
  }
  EXPECT_GT(better, 100);
}

// The greedy parts have the least sum for every longest time, and the least longest time for every
// number of parts.
TEST(ChunkCuts, GreedyPartsAreTheBestOfEveryCut) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    const Case its = drawn(draw, 11, ChunkBoundaries::least_bubble);
    const ChunkCuts cuts(its.rule, 1, its.scheme);
    const std::int64_t most = most_parts(its.rule, its.length);
    std::vector<Ms> level(static_cast<std::size_t>(most) + 1, kInfinity);
    std::vector<SequenceCut> all;
    every_cut(its, [&](const SequenceCut& cut) {
      all.push_back(cut);
      for (std::int64_t parts = cut.cost.chunks; parts <= most; ++parts) {
        Ms& least = level[static_cast<std::size_t>(parts)];
        least = std::min(least, cut.cost.longest);
      }
    });
    for (std::int64_t parts = 1; parts <= most; ++parts) {
      const auto cut = cuts.level(its.length, parts);
      const Ms least = level[static_cast<std::size_t>(parts)];
      ASSERT_EQ(cut.has_value(), least < kInfinity) << "seed " << seed;
      if (!cut) continue;
      expect_sound(its, *cut);
      EXPECT_LE(cut->cost.chunks, parts);
      EXPECT_NEAR(cut->cost.longest, least, 1e-9 * least) << "seed " << seed;
    }
    for (int k = 0; k < 10; ++k) {
      const Ms longest = all[draw.below(all.size())].cost.longest;
      Ms least = kInfinity;
      for (const SequenceCut& cut : all) {
        if (cut.cost.longest <= longest) least = std::min(least, cut.cost.sum);
      }
      const auto cut = cuts.within(its.length, longest, most);
      ASSERT_TRUE(cut);
      EXPECT_LE(cut->cost.longest, longest);
      EXPECT_NEAR(cut->cost.sum, least, 1e-9 * least) << "seed " << seed;
    }
  }
}

TEST(ChunkCuts, NoWayIsWorseThanPartsOfOneSize) {
  for (const ChunkBoundaries way : {ChunkBoundaries::equal_time, ChunkBoundaries::least_bubble}) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      Draw draw(seed);
      const Case its = drawn(draw, 400, way);
      const ChunkCuts cuts(its.rule, 1, its.scheme);
      const SequenceCut cut = cuts.alone(its.length);
      expect_sound(its, cut);
      EXPECT_LE(cut.alone(its.scheme.pp), cuts.fixed(its.length).alone(its.scheme.pp) * (1 + 1e-9));
      if (way == ChunkBoundaries::equal_time) {
        EXPECT_LE(cut.cost.chunks, cuts.fixed(its.length).cost.chunks);
      }
    }
  }
}

// 100,000 tokens for which attention takes as long as all other work: eight parts, of which later
// ones are shorter.
TEST(ChunkCuts, LaterPartsAreShorter) {
  const ChunkRule rule{.size = 25'000, .retained = 100, .boundaries = ChunkBoundaries::equal_time};
  const Scheme scheme{.pp = 4, .quadratic_ms = 1e-7, .linear_ms = 1e-2, .max_tokens = 25'000};
  const ChunkCuts cuts(rule, 1, scheme);
  const auto cut = cuts.level(100'000, 8);
  ASSERT_TRUE(cut);
  ASSERT_EQ(cut->ends.size(), 8U);
  const Ms whole = 1e-7 * 1e10 + 1e-2 * 1e5;
  EXPECT_NEAR(cut->cost.sum, whole, 1e-9 * whole);
  EXPECT_NEAR(cut->cost.longest, whole / 8, 1e-4 * whole);  // tokens are whole
  Tokens begin = cut->ends[0];
  Tokens before = begin;
  for (std::size_t k = 1; k < cut->ends.size(); ++k) {
    EXPECT_LE(cut->ends[k] - begin, before + 1) << k;
    before = cut->ends[k] - begin;
    begin = cut->ends[k];
  }
}

TEST(ChunkCuts, CutsAreMultiplesOfThePaddingWhereTheSizeIs) {
  const ChunkRule rule{.size = 64, .retained = 1, .boundaries = ChunkBoundaries::least_bubble};
  const Scheme scheme{.pp = 4, .quadratic_ms = 1e-3, .linear_ms = 0.1, .max_tokens = 64};
  const SequenceCut cut = ChunkCuts(rule, 16, scheme).alone(640);
  for (const Tokens end : cut.ends) EXPECT_EQ(end % 16, 0);
  EXPECT_LT(cut.alone(4), ChunkCuts(rule, 16, scheme).fixed(640).alone(4));
}

// Several sequences of a replica, and a row that is longer than the best parts of some sequences.
TEST(ChunkCuts, AReplicaCutsAllOfThemForOneLongestRow) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Draw draw(seed);
    Case one = drawn(draw, 9, ChunkBoundaries::least_bubble);
    Case two = one;
    two.length = draw.whole(one.rule.size + 1, 9);
    const Ms other = draw.real(0, 5);
    Ms least = kInfinity;
    every_cut(one, [&](const SequenceCut& a) {
      every_cut(two, [&](const SequenceCut& b) {
        if (one.length == two.length && a.ends != b.ends) return;
        const Ms longest = std::max({a.cost.longest, b.cost.longest, other});
        least = std::min(least, a.cost.sum + b.cost.sum + (one.scheme.pp - 1) * longest);
      });
    });
    std::map<Tokens, std::int64_t> counts;
    ++counts[one.length];
    ++counts[two.length];
    ReplicaCuts cuts(one.rule, 1, one.scheme);
    Ms sum = 0;
    Ms longest = other;
    for (const auto& [length, cut] : cuts.of(counts, other)) {
      sum += static_cast<double>(counts[length]) * cut.cost.sum;
      longest = std::max(longest, cut.cost.longest);
    }
    EXPECT_NEAR(sum + (one.scheme.pp - 1) * longest, least, 1e-9 * least) << "seed " << seed;
  }
}

}  // namespace
}  // namespace stowage::assign_chunk_cuts_test
