// Reported speeds of trainers' configurations against the formulas. Only orders and signs are
// compared, since neither the rates of the devices nor the kernels are known.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "instances/strategy/generate/generate.h"
#include "solvers/solve.h"

namespace stowage::solvers_strategy_reported_test {
namespace {

StrategyInstance on_h100(const std::string& model, std::int64_t nodes, std::size_t sequences,
                         Tokens length, std::int64_t formulas = 2) {
  const Result<StrategyInstance> made =
      generate_strategy({.model = model, .nodes = nodes, .machine = "h100", .formulas = formulas},
                        std::vector<Tokens>(sequences, length));
  EXPECT_TRUE(made);
  return *made;
}

Ms step_of(const StrategyInstance& wanted) {
  Budget budget;
  const Outcome outcome = solve(Instance(wanted), {.method = "auto"}, budget);
  EXPECT_EQ(outcome.status, Status::optimal) << outcome.detail;
  return outcome.objective.value_or(0);
}

// TorchTitan (December 2024), Llama 3 8B on eight H100, cp 1, 2, 4, 8 for sequences of 32K to 256K
// tokens: 3890, 2540, 1071, 548 tokens per second and GPU.
TEST(StrategyReported, LongerSequencesOnMoreRanksAreSlowerByTheToken) {
  double before = std::numeric_limits<double>::infinity();
  Tokens length = 32768;
  for (const std::int64_t cp : {1, 2, 4, 8}) {
    const auto sequences = static_cast<std::size_t>(8 / cp);
    StrategyInstance wanted = on_h100("llama3-8b", 1, sequences, length);
    wanted.options.pp = {1};
    wanted.options.v = {1};
    wanted.options.tp = {1};
    wanted.options.cp = {cp};
    wanted.options.recompute = {StrategyRecompute::full};
    wanted.options.micro_batches = {1};
    const double per_device_second =
        static_cast<double>(length) * static_cast<double>(sequences) / 8 / step_of(wanted) * 1000;
    EXPECT_LT(per_device_second, before) << cp;
    before = per_device_second;
    length *= 2;
  }
}

// TorchTitan, Llama 3.1 405B on 512 H100, tp 8, pp 8, dp 8: 100 tokens per second and GPU with
// 1F1B, 128 interleaved. Two layers more, so that all stages and chunks are equal.
TEST(StrategyReported, InterleavingPays) {
  StrategyInstance wanted = on_h100("llama3-405b", 64, 256, 8192);
  wanted.model.blocks.front().count = 128;
  wanted.cluster.memory_mib = 1e6;  // memory does not matter for this comparison
  wanted.options.pp = {8};
  wanted.options.tp = {8};
  wanted.options.cp = {1};
  wanted.options.zero = {1};
  wanted.options.recompute = {StrategyRecompute::full};
  wanted.options.micro_batches = {32};
  std::vector<Ms> steps;
  for (const std::int64_t v : {1, 2, 16}) {
    wanted.options.v = {v};
    steps.push_back(step_of(wanted));
  }
  EXPECT_GT(steps[0] / steps[1], 1.05);
  EXPECT_LT(steps[0] / steps[1], 1.15);
  EXPECT_GT(steps[0] / steps[2], 1.15);
  EXPECT_LT(steps[0] / steps[2], 1.25);
}

// Megatron-Bridge 26.04.01 runs Llama 3 70B on 64 H100 with tp 4, pp 8, v 5 and 256 sequences of 8K
// tokens, without context parallelism. The choice of its engineers is close to the optimum without
// context parallelism. With cp the formulas find a configuration that is 15 % faster, since they
// assume Ulysses' exchange at full bandwidth and products as fast as for whole sequences. In
// version 2 level 3 is 11 % faster, because its ring uses all cards of a node. The engineers'
// configuration has level 1.
TEST(StrategyReported, ATunedConfigurationIsAtMostAFewPercentBehind) {
  for (const std::int64_t formulas : {1, 2}) {
    StrategyInstance wanted = on_h100("llama3-70b", 8, 256, 8192, formulas);
    wanted.options.cp = {1};
    if (formulas == 2) wanted.options.zero = {1};
    StrategyInstance theirs = wanted;
    theirs.options.pp = {8};
    theirs.options.v = {5};
    theirs.options.tp = {4};
    theirs.options.micro_batches = {128};
    StrategyInstance ours = wanted;
    ours.options.v.push_back(5);
    const Ms best = step_of(ours);
    const Ms step = step_of(theirs);
    EXPECT_GE(step, best * (1 - 1e-9));
    EXPECT_LE(step, 1.05 * best);
  }
}

}  // namespace
}  // namespace stowage::solvers_strategy_reported_test
