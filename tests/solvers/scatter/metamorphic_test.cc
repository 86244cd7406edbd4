// Changes of a scatter step with a known effect on the optimum.
#include "tests/solvers/metamorphic.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_metamorphic_test {
namespace {

constexpr std::uint64_t kSteps = 40;

void scale_costs(ScatterInstance& step, double factor) {
  step.cost.quadratic_ms *= factor;
  step.cost.linear_ms *= factor;
  step.cost.fixed_ms *= factor;
  step.cost.all_to_all.mib_per_token *= factor;
  for (auto& [degree, ms] : step.cost.all_to_all.latency_ms) ms *= factor;
}

// Expresses memory in a unit that is smaller by `factor`.
void scale_mib(ScatterInstance& step, double factor) {
  step.cluster.memory_mib *= factor;
  step.model.states_mib *= factor;
  step.model.activation_mib_per_token *= factor;
  step.cost.all_to_all.mib_per_token *= factor;
  for (auto& [degree, speed] : step.cost.all_to_all.mib_per_ms) speed *= factor;
}

// Halves every token.
void halve_tokens(ScatterInstance& step) {
  for (Tokens& length : step.lengths) length *= 2;
  step.pad_multiple *= 2;
  step.model.activation_mib_per_token /= 2;
  step.cost.quadratic_ms /= 4;
  step.cost.linear_ms /= 2;
  step.cost.all_to_all.mib_per_token /= 2;
}

void change_numbers(Metamorphosis<ScatterInstance>& step) {
  step.after(
      "milliseconds in microseconds", Trend::equal, [](auto& s) { scale_costs(s, 1000); }, 1000);
  step.after(
      "a quarter of every cost", Trend::equal, [](auto& s) { scale_costs(s, 0.25); }, 0.25);
  step.after("MiB in KiB", Trend::equal, [](auto& s) { scale_mib(s, 1024); });
  step.after("half tokens", Trend::equal, halve_tokens);
  step.after("a dearer group", Trend::not_down, [](auto& s) { s.cost.fixed_ms += 1; });
  step.after("a dearer token", Trend::not_down, [](auto& s) { s.cost.linear_ms += 0.125; });
  step.after("a slower exchange", Trend::not_down, [](auto& s) {
    for (auto& [degree, speed] : s.cost.all_to_all.mib_per_ms) speed /= 2;
  });
}

void change_cluster(Metamorphosis<ScatterInstance>& step) {
  step.after("one more device", Trend::not_up, [](auto& s) { ++s.cluster.devices; });
  step.after("more memory", Trend::not_up, [](auto& s) { s.cluster.memory_mib += 7; });
  step.after("any first rank", Trend::equal, [](auto& s) { s.cluster.aligned = false; });
  step.after("a degree less", Trend::not_down, [](auto& s) {
    if (s.cluster.degrees.size() > 1) s.cluster.degrees.pop_back();
  });
}

void change_sequences(Metamorphosis<ScatterInstance>& step) {
  step.after("other ids", Trend::equal,
             [](auto& s) { std::reverse(s.lengths.begin(), s.lengths.end()); });
  step.after("other ids again", Trend::equal, [](auto& s) {
    if (!s.lengths.empty()) std::rotate(s.lengths.begin(), s.lengths.begin() + 1, s.lengths.end());
  });
  step.after("a sequence less", Trend::not_up, [](auto& s) {
    if (!s.lengths.empty()) s.lengths.pop_back();
  });
  step.after("a shorter sequence", Trend::not_up, [](auto& s) {
    if (!s.lengths.empty()) s.lengths.front() = (s.lengths.front() + 1) / 2;
  });
  step.after("no padding", Trend::not_up, [](auto& s) { s.pad_multiple = 1; });
}

TEST(ScatterMetamorphic, TheOptimumMovesTheRightWay) {
  int proven = 0;
  int compared = 0;
  for (std::uint64_t seed = 0; seed < kSteps; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Metamorphosis<ScatterInstance> step(tiny_scatter(seed + 7000, 5));
    change_numbers(step);
    change_cluster(step);
    change_sequences(step);
    proven += step.proven() ? 1 : 0;
    compared += step.compared();
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 10 * static_cast<int>(kSteps));
  // An interval that is never closed would prove little.
  EXPECT_EQ(proven, static_cast<int>(kSteps));
}

}  // namespace
}  // namespace stowage::scatter_metamorphic_test
