// Changes of an assign step with a known effect on the optimum.
#include "tests/solvers/metamorphic.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/oracles/assign/brute_force.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_metamorphic_test {
namespace {

constexpr std::uint64_t kSteps = 400;

void scale_costs(AssignInstance& step, double factor) {
  for (Scheme& scheme : step.schemes) {
    scheme.quadratic_ms *= factor;
    scheme.linear_ms *= factor;
    scheme.fixed_ms *= factor;
  }
}

// Halves every token.
void halve_tokens(AssignInstance& step) {
  for (Tokens& length : step.lengths) length *= 2;
  step.pad_multiple *= 2;
  for (Scheme& scheme : step.schemes) {
    scheme.quadratic_ms /= 4;
    scheme.linear_ms /= 2;
    scheme.max_tokens *= 2;
  }
}

void reverse_schemes(AssignInstance& step) {
  std::reverse(step.schemes.begin(), step.schemes.end());
  for (Strategy& strategy : step.strategies) {
    std::reverse(strategy.replicas.begin(), strategy.replicas.end());
  }
}

void add_replica(AssignInstance& step) {
  if (!step.constraints.allow_empty) return;  // the new replica would need rows
  ++step.strategies.front().replicas.front();
  step.devices += step.schemes.front().tp * step.schemes.front().pp;
}

void change_numbers(Metamorphosis<AssignInstance>& step) {
  step.after(
      "milliseconds in microseconds", Trend::equal, [](auto& s) { scale_costs(s, 1000); }, 1000);
  step.after(
      "a quarter of every cost", Trend::equal, [](auto& s) { scale_costs(s, 0.25); }, 0.25);
  step.after("half tokens", Trend::equal, halve_tokens);
  step.after("a dearer row", Trend::not_down, [](auto& s) { s.schemes.front().fixed_ms += 1; });
  step.after("longer rows", Trend::not_up, [](auto& s) { s.schemes.front().max_tokens += 9; });
  step.after("longer pipelines", Trend::not_down, [](auto& s) {
    s.schemes.front().pp += 1;
    s.devices *= 2;
  });
}

void change_choice(Metamorphosis<AssignInstance>& step) {
  step.after("devices that nothing uses", Trend::equal, [](auto& s) { s.devices += 5; });
  step.after("schemes in another order", Trend::equal, reverse_schemes);
  step.after("strategies in another order", Trend::equal,
             [](auto& s) { std::reverse(s.strategies.begin(), s.strategies.end()); });
  step.after("a strategy less", Trend::not_down, [](auto& s) {
    if (s.strategies.size() > 1) s.strategies.pop_back();
  });
  step.after("a replica more", Trend::not_up, add_replica);
  step.after("no row constraints", Trend::not_up, [](auto& s) { s.constraints = {}; });
}

void change_sequences(Metamorphosis<AssignInstance>& step) {
  step.after("other ids", Trend::equal,
             [](auto& s) { std::reverse(s.lengths.begin(), s.lengths.end()); });
  step.after("a sequence less", Trend::not_up, [](auto& s) {
    // Under row constraints a step with fewer sequences may be infeasible.
    if (s.constraints == RowConstraints{} && !s.lengths.empty()) s.lengths.pop_back();
  });
  step.after("a shorter sequence", Trend::not_up, [](auto& s) {
    if (!s.lengths.empty()) s.lengths.front() = (s.lengths.front() + 1) / 2;
  });
  step.after("no padding", Trend::not_up, [](auto& s) { s.pad_multiple = 1; });
}

TEST(AssignMetamorphic, TheOptimumMovesTheRightWay) {
  int proven = 0;
  int compared = 0;
  for (std::uint64_t seed = 0; seed < kSteps; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Metamorphosis<AssignInstance> step(tiny_assign(seed + 7000, 5));
    change_numbers(step);
    change_choice(step);
    change_sequences(step);
    proven += step.proven() ? 1 : 0;
    compared += step.compared();
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 10 * static_cast<int>(kSteps));
  EXPECT_GT(proven, static_cast<int>(kSteps) * 3 / 4);
}

}  // namespace
}  // namespace stowage::assign_metamorphic_test
