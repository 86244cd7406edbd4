// Proofs that no layout stays within the capacity: what holds, and what does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "instances/layout/load.h"
#include "instances/layout/verify.h"
#include "tests/instances/random_layout.h"
#include "tests/oracles/layout/brute_force.h"

namespace stowage::layout_infeasibility_test {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

// A pinned byte at 10, and three buffers of 4 bytes: 13 bytes at once. Stacks end at 4, 8, 12, 16
// and, on the pinned one, at 15.
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

}  // namespace
}  // namespace stowage::layout_infeasibility_test
