// Proofs that no layout fits in the capacity: valid and invalid ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "instances/layout/load.h"
#include "instances/layout/verify/verify.h"
#include "tests/instances/every_proof.h"
#include "tests/instances/random_layout.h"
#include "tests/oracles/layout/brute_force.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_infeasibility_test {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

// A byte pinned at 10, and three buffers of 4 bytes: 13 bytes at once. Stacks end at 4, 8, 12, 16
// and, above the pinned byte, at 15.
LayoutInstance around_a_pin(Bytes capacity) {
  LayoutInstance instance{.name = "pin",
                          .capacity = capacity,
                          .buffers = {{.lower = 0, .upper = 1, .size = 1, .offset = 10}}};
  for (int k = 0; k < 3; ++k) instance.buffers.push_back({.lower = 0, .upper = 1, .size = 4});
  return instance;
}

InfeasibilityProof by_heights(const LayoutInstance& instance) {
  const std::int64_t step = peak_load(instance).step;
  return {.by = "heights", .witnesses = needing_memory_at(instance, step), .step = step};
}

TEST(LayoutInfeasibility, NoStackEndsBetweenTheLoadAndTheCapacity) {
  for (const Bytes capacity : {13, 14}) {
    const LayoutInstance instance = around_a_pin(capacity);
    EXPECT_THAT(check_infeasibility(instance, by_heights(instance)), IsEmpty()) << capacity;
    EXPECT_FALSE(brute_force(instance));
  }
  const LayoutInstance enough = around_a_pin(15);
  EXPECT_THAT(check_infeasibility(enough, by_heights(enough)), Not(IsEmpty()));
  EXPECT_TRUE(brute_force(enough));
}

// If all sizes are multiples of a MiB, the stacks are listed in blocks of a MiB, so that large
// sizes have no more stacks than small ones.
TEST(LayoutInfeasibility, StacksOfLargeBlocksAreFew) {
  constexpr Bytes kMib = Bytes{1} << 20;
  LayoutInstance instance = around_a_pin(14 * kMib);
  for (Buffer& buffer : instance.buffers) {
    buffer.size *= kMib;
    if (buffer.offset) *buffer.offset *= kMib;
  }
  EXPECT_THAT(check_infeasibility(instance, by_heights(instance)), IsEmpty());
  instance.capacity = 15 * kMib;
  EXPECT_THAT(check_infeasibility(instance, by_heights(instance)), Not(IsEmpty()));
}

// Stacks need one alignment of the buffers that may lie in them: a pinned buffer is where it is,
// and one without bytes takes no place.
TEST(LayoutInfeasibility, OtherAlignmentsOfPinsAndOfNoBytesDoNotMatter) {
  LayoutInstance instance = around_a_pin(14);
  instance.buffers[0].alignment = 2;
  instance.buffers.push_back({.lower = 0, .upper = 1, .size = 0, .alignment = 8});
  EXPECT_THAT(check_infeasibility(instance, by_heights(instance)), IsEmpty());
  instance.buffers[1].alignment = 2;  // 4 bytes in blocks of 2, and twice 4 bytes anywhere
  EXPECT_THAT(check_infeasibility(instance, by_heights(instance)), Not(IsEmpty()));
}

// Three bytes are pinned at 0, and two lie on them. The end of the pin is no sum of the other
// sizes.
TEST(LayoutInfeasibility, StacksMayStandOnAPin) {
  LayoutInstance instance{.name = "stand",
                          .capacity = 5,
                          .buffers = {{.lower = 0, .upper = 1, .size = 3, .offset = 0},
                                      {.lower = 0, .upper = 1, .size = 2}}};
  EXPECT_TRUE(brute_force(instance));
  EXPECT_THAT(check_infeasibility(instance, by_heights(instance)), Not(IsEmpty()));
}

TEST(LayoutInfeasibility, WitnessesOfHeightsNeedMemoryAtTheStep) {
  const LayoutInstance instance = around_a_pin(14);
  InfeasibilityProof proof = by_heights(instance);
  proof.witnesses.pop_back();  // 9 bytes: a stack may end at 12
  EXPECT_THAT(check_infeasibility(instance, proof), Not(IsEmpty()));
  proof = by_heights(instance);
  proof.step = 1;
  EXPECT_THAT(check_infeasibility(instance, proof), Not(IsEmpty()));
  proof.step.reset();
  EXPECT_THAT(check_infeasibility(instance, proof), Not(IsEmpty()));
  LayoutInstance endless = instance;
  endless.capacity.reset();
  EXPECT_THAT(check_infeasibility(endless, by_heights(endless)), Not(IsEmpty()));
}

TEST(LayoutInfeasibility, HeightsNeverRefuteWhatFits) {
  int proven = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    LayoutInstance instance = random_layout(
        draw, {.most_buffers = 5, .steps = 4, .most_bytes = 6, .alignments = draw.coin()});
    for (Buffer& buffer : instance.buffers) buffer.size *= draw.below(4) == 0 ? 1 : 4;
    if (!pin_clashes(instance).empty()) continue;  // sizes have grown
    instance.capacity = peak_load(instance).load + draw.whole(0, 2);
    const bool holds = check_infeasibility(instance, by_heights(instance)).empty();
    ++(holds ? proven : refused);
    if (holds) {
      EXPECT_FALSE(brute_force(instance)) << seed;
    }
  }
  EXPECT_GT(proven, 20);
  EXPECT_GT(refused, 200);
}

LayoutInstance of(Bytes capacity, std::vector<Buffer> buffers) {
  return {.capacity = capacity, .buffers = std::move(buffers)};
}

bool holds(const LayoutInstance& instance, const InfeasibilityProof& proof) {
  return check_infeasibility(instance, proof).empty();
}

TEST(LayoutInfeasibility, TheLoadIsMoreThanTheCapacity) {
  const std::vector<Buffer> two = {{.upper = 1, .size = 8}, {.upper = 2, .size = 8}};
  const InfeasibilityProof both{.by = "load", .witnesses = {0, 1}, .step = 0};
  EXPECT_TRUE(holds(of(15, two), both));
  EXPECT_FALSE(holds(of(16, two), both));
  EXPECT_FALSE(holds({.buffers = two}, both));
  InfeasibilityProof other = both;
  other.step = 1;  // one of them alone
  EXPECT_FALSE(holds(of(15, two), other));
  other.step.reset();
  EXPECT_FALSE(holds(of(15, two), other));
  other = both;
  other.witnesses = {1};
  EXPECT_FALSE(holds(of(15, two), other));
  EXPECT_TRUE(holds(of(7, two), other));
  other.witnesses = {};
  EXPECT_FALSE(holds(of(0, two), other));
  other.witnesses = {0, 2};
  EXPECT_FALSE(holds(of(0, two), other));
  other.witnesses = {-1, 0};
  EXPECT_FALSE(holds(of(0, two), other));
}

// Two buffers of 5 bytes in blocks of 4 need 8 + 5 bytes; a buffer of 0 bytes needs nothing.
TEST(LayoutInfeasibility, TheLoadIsOfWholeBlocksButTheLast) {
  const std::vector<Buffer> cut = {{.upper = 1, .size = 5, .alignment = 4},
                                   {.upper = 1, .size = 0},
                                   {.upper = 1, .size = 5, .alignment = 8}};
  const InfeasibilityProof all{.by = "load", .witnesses = {0, 1, 2}, .step = 0};
  EXPECT_TRUE(holds(of(12, cut), all));
  EXPECT_FALSE(holds(of(13, cut), all));
  EXPECT_FALSE(holds(of(0, {{.upper = 1, .size = 0}}), {"load", {0}, 0}));
}

TEST(LayoutInfeasibility, LivesEndBeforeTheirStepAndInGaps) {
  const std::vector<Buffer> gap = {{.lower = 1, .upper = 5, .size = 8, .gaps = {{2, 3}}}};
  for (std::int64_t step = 0; step < 6; ++step) {
    EXPECT_EQ(holds(of(7, gap), {"load", {0}, step}), step == 1 || step == 3 || step == 4) << step;
  }
}

TEST(LayoutInfeasibility, PinsShareAByte) {
  const auto pinned = [](Bytes first, Bytes second) {
    return LayoutInstance{.buffers = {{.upper = 2, .size = 8, .offset = first},
                                      {.lower = 1, .upper = 3, .size = 8, .offset = second},
                                      {.upper = 3, .size = 0, .offset = 4},
                                      {.upper = 3, .size = 8}}};
  };
  const InfeasibilityProof both{"pins", {0, 1}, 1};
  for (const auto& [first, second] : {std::pair<Bytes, Bytes>{0, 7}, {7, 0}, {3, 3}}) {
    EXPECT_TRUE(holds(pinned(first, second), both)) << first << ' ' << second;
  }
  for (const auto& [first, second] : {std::pair<Bytes, Bytes>{0, 8}, {8, 0}, {0, 20}}) {
    EXPECT_FALSE(holds(pinned(first, second), both)) << first << ' ' << second;
  }
  const LayoutInstance clash = pinned(0, 4);
  EXPECT_FALSE(holds(clash, {"pins", {0, 1}, 0}));
  EXPECT_FALSE(holds(clash, {"pins", {0, 1}, 2}));
  EXPECT_FALSE(holds(clash, {"pins", {0, 1}, {}}));
  EXPECT_FALSE(holds(clash, {"pins", {0}, 1}));
  EXPECT_FALSE(holds(clash, {"pins", {0, 2}, 1}));  // no byte
  EXPECT_FALSE(holds(clash, {"pins", {1, 2}, 1}));
  EXPECT_FALSE(holds(clash, {"pins", {0, 3}, 1}));  // not pinned
  EXPECT_FALSE(holds(clash, {"pins", {0, 1, 2}, 1}));
  EXPECT_FALSE(holds(clash, {"pins", {0, 4}, 1}));
}

TEST(LayoutInfeasibility, APinEndsBeyondTheCapacity) {
  const std::vector<Buffer> buffers = {{.upper = 1, .size = 8, .offset = 8},
                                       {.upper = 1, .size = 99}};
  EXPECT_TRUE(holds(of(15, buffers), {"capacity", {0}, {}}));
  EXPECT_FALSE(holds(of(16, buffers), {"capacity", {0}, {}}));
  EXPECT_FALSE(holds({.buffers = buffers}, {"capacity", {0}, {}}));
  EXPECT_FALSE(holds(of(15, buffers), {"capacity", {1}, {}}));
  EXPECT_FALSE(holds(of(15, buffers), {"capacity", {0, 1}, {}}));
  EXPECT_FALSE(holds(of(15, buffers), {"capacity", {}, {}}));
  EXPECT_FALSE(holds(of(15, buffers), {"capacity", {2}, {}}));
}

// Buffers of 0 bytes need no memory at any offset.
TEST(LayoutInfeasibility, NoBytesHaveNoHeight) {
  const LayoutInstance instance = of(27, {{.upper = 1, .size = 0, .offset = 27}});
  EXPECT_FALSE(holds(instance, {"heights", {0}, 0}));
}

// With a capacity that the best layout just reaches, no proof with any name, witnesses and step is
// accepted.
TEST(LayoutInfeasibility, NoProofRefutesWhatFits) {
  int tight = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    LayoutInstance instance = tiny_layout(seed, 5);
    instance.capacity.reset();
    const auto best = brute_force(instance);
    if (!best) continue;
    instance.capacity = best->peak_bytes;
    tight += peak_load(instance).load == best->peak_bytes ? 1 : 0;
    std::int64_t steps = 0;
    for (const Buffer& buffer : instance.buffers) steps = std::max(steps, buffer.upper);
    for_every_proof({"pins", "capacity", "load", "heights"}, instance.buffers.size(), steps,
                    [&](const InfeasibilityProof& proof) {
                      EXPECT_FALSE(holds(instance, proof)) << seed << ' ' << proof.by;
                    });
  }
  EXPECT_GT(tight, 100);
}

// With a capacity below the load of its busiest step an instance has no layout, and the check
// agrees.
TEST(LayoutInfeasibility, LoadsJustAboveTheCapacityAreProofs) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    LayoutInstance instance = tiny_layout(seed);
    const PeakLoad peak = peak_load(instance);
    if (peak.load == 0) continue;
    instance.capacity = peak.load - 1;
    EXPECT_TRUE(holds(instance, {"load", needing_memory_at(instance, peak.step), peak.step}))
        << seed;
  }
}

}  // namespace
}  // namespace stowage::layout_infeasibility_test
