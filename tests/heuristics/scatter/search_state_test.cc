#include "heuristics/scatter/improve/search_state.h"

#include <gtest/gtest.h>

#include <array>

#include "heuristics/scatter/published/homogeneous.h"
#include "instances/numeric/random.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_state_test {
namespace {

// Recomputes the incrementally updated energy from the groups.
double energy_from_scratch(const StepState& state, int index, double weight) {
  const StepState::Batch& batch = state.batch(index);
  Ms makespan = 0;
  double squares = 0;
  for (const int id : batch.groups) {
    const StepState::Group& group = state.group(id);
    if (group.positions.empty()) continue;
    Load load;
    for (const int position : group.positions) load += state.load(position, group.config);
    const GroupConfig& own = state.table().configs()[static_cast<std::size_t>(group.config)];
    const Ms time = own.overhead + load.time();
    makespan = std::max(makespan, time);
    squares += state.degree(group) * time * time;
  }
  if (makespan == 0) return 0;
  return makespan + weight * squares / state.table().devices() / makespan;
}

// Random moves and swaps that fit: each must change the energy by the predicted amount.
TEST(ScatterState, ForetellsAndKeepsTheEnergy) {
  constexpr double kWeight = 0.5;
  int done = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const ScatterInstance instance =
        seed % 2 == 0 ? tiny_scatter(seed, 14) : tiny_timed_scatter(seed, 14);
    if (instance.lengths.size() < 2 || !unplaceable_sequences(instance).empty()) continue;
    const ScatterTable table(instance);
    StepState state(table, *batch_ada(table), kWeight);
    QuickRandom random(seed);
    for (int i = 0; i < 100; ++i) {
      const auto size = static_cast<std::uint32_t>(table.size());
      const int position = static_cast<int>(random.below(size));
      const int from = state.group_of(position);
      const int to =
          state.groups()[random.below(static_cast<std::uint32_t>(state.groups().size()))];
      const StepState::Group& target = state.group(to);
      if (to == from || state.length(position, target.config) > state.room(target)) continue;
      const int left = state.group(from).batch;
      const int right = target.batch;
      const StepState::Group& source = state.group(from);
      const Ms after = (source.load - state.load(position, source.config)).time();
      const StepState::Change out{from, state.group(from).positions.size() == 1 ? 0 : after};
      const StepState::Change in{to, (target.load + state.load(position, target.config)).time()};
      double foretold = 0;
      if (left == right) {
        foretold = state.energy_with(left, std::array{out, in});
      } else {
        foretold = state.energy_with(left, {&out, 1}) + state.energy_with(right, {&in, 1});
      }
      state.move(position, to);
      double kept = state.batch(left).energy;
      double truth = energy_from_scratch(state, left, kWeight);
      if (left != right) {
        kept += state.batch(right).energy;
        truth += energy_from_scratch(state, right, kWeight);
      }
      EXPECT_NEAR(foretold, truth, 1e-6 * truth);
      EXPECT_NEAR(kept, truth, 1e-6 * truth);
      ++done;
    }
  }
  EXPECT_GT(done, 1000);
}

// Two micro-batches of 11 ms and one of 6, in a pipeline of 4 stages.
TEST(ScatterState, TheLongestMakespanHasItsPriceInAPipeline) {
  const ScatterInstance instance{.cluster = {.devices = 1, .memory_mib = 10, .degrees = {1}},
                                 .model = {.activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1, .fixed_ms = 1},
                                 .pipeline_stages = 4,
                                 .lengths = {5, 5, 5, 5, 5}};
  const ScatterTable table(instance);
  const WorkingStep step = *batch_ada(table, 1);
  ASSERT_EQ(step.size(), 3U);
  EXPECT_DOUBLE_EQ(total(step), 11 + 11 + 6);
  EXPECT_DOUBLE_EQ(step_ms(table, step), 28 + 3 * 11);
  StepState state(table, step, 0);
  const auto energy = [&] {
    double sum = 0;
    for (const StepState::Batch& batch : state.batches()) sum += batch.energy;
    return sum;
  };
  EXPECT_NEAR(energy(), 28, 1e-9);
  state.price_longest(0.1);  // 3 for both of 11 ms, half each, beyond 9.9 ms
  EXPECT_NEAR(energy(), 28 + 2 * 1.5 * 1.1, 1e-9);
  const int shortest = state.batch(2).groups.front();
  const StepState::Change grown{shortest, 13};
  EXPECT_NEAR(state.energy_with(2, {&grown, 1}), 13 + 1.5 * 1.1 + 3 * 2, 1e-9);
  state.price_longest(0.9);  // a third each, beyond 1.1 ms
  EXPECT_NEAR(energy(), 28 + 28 - 3 * 1.1, 1e-9);
  // In a part of a step with a longer micro-batch outside, no makespan counts again.
  const ScatterTable part = table.part(std::array{0, 1}, 1, 20);
  StepState beside(part, *batch_ada(part, 1), 0);
  beside.price_longest(0.1);
  EXPECT_NEAR(beside.batch(0).energy, 11, 1e-9);
}

}  // namespace
}  // namespace stowage::scatter_state_test
