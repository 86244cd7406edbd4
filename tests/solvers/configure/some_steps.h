// Steps that configurations are ranked by.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/strategy/generate/generate.h"
#include "solvers/configure/configure.h"

namespace stowage::configure_configure_test {

using Steps = std::vector<std::vector<Tokens>>;

// Returns steps of a few thousand tokens per sequence, with one long sequence each.
inline Steps some_steps(std::size_t count) {
  Steps steps(count, std::vector<Tokens>(16));
  Tokens state = 1;
  for (std::vector<Tokens>& step : steps) {
    for (Tokens& length : step) {
      state = state * 48271 % 2147483647;
      length = 512 + state % 15'000;
    }
  }
  steps.front().front() = 60'000;
  return steps;
}

inline StrategyInstance one_node(const Steps& steps, std::int64_t memory_mib = 73'728,
                                 std::int64_t formulas = 2) {
  return *generate_strategy(
      {.model = "llama-7b", .nodes = 1, .formulas = formulas, .memory_mib = memory_mib},
      mean_step(steps));
}

}  // namespace stowage::configure_configure_test
