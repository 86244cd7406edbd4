// `fast` against published planners, and against the best plan whose stages have equal ZeRO levels
// and recomputation modes, on presets of models and machines. bench/fast_strategies.py computes the
// table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "instances/model/machine.h"
#include "instances/model/transformer.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/generate/generate.h"
#include "instances/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"

namespace stowage::strategy_fast_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Case {
  std::string model;
  std::string machine;
  std::int64_t sequences = 0;
  Tokens tokens = 0;
  std::int64_t formulas = 2;
};

// Returns cases in which layers, ZeRO and recomputation of the stages matter, or all 72 in a long
// run.
std::vector<Case> cases() {
  if (in_long_run(0, 1) == 0) {
    return {{"llama3-70b", "h100", 256, 32'768, 1},
            {"llama3-70b", "h200", 512, 8192, 1},
            {"qwen3-32b", "h100", 512, 8192, 1},
            {"llama3-8b", "a100-80", 512, 8192, 2},
            {"mixtral-8x7b", "h100", 256, 32'768, 2}};
  }
  std::vector<Case> all;
  for (const std::string model : {"llama3-8b", "qwen3-32b", "llama3-70b", "mixtral-8x7b"}) {
    for (const std::string machine : {"a100-80", "h100", "h200"}) {
      for (const std::int64_t formulas : {1, 2}) {
        all.push_back({model, machine, 512, 8192, formulas});
        all.push_back({model, machine, 256, 32'768, formulas});
        all.push_back({model, machine, 64, 131'072, formulas});
      }
    }
  }
  return all;
}

StrategyInstance instance_of(const Case& its) {
  StrategyGenerator generator{.model = its.model, .name = its.model};
  generator.machine = its.machine;
  generator.formulas = its.formulas;
  generator.nodes = 8;
  return *generate_strategy(generator, std::vector<Tokens>(at(its.sequences), its.tokens));
}

Outcome solved(const StrategyInstance& instance, const std::string& method) {
  Budget budget({.node_limit = 500'000});
  return solve(Instance(instance), {.method = method}, budget);
}

TEST(StrategyFast, IsNeverBehindBaselinesAndNearTheUniformOptimum) {
  int ahead = 0;
  int proven = 0;
  for (const Case& its : cases()) {
    const std::string name = its.model + " " + its.machine + " " + std::to_string(its.tokens);
    const StrategyInstance instance = instance_of(its);
    const Outcome fast = solved(instance, "fast");
    ASSERT_TRUE(fast.objective) << name;
    for (const char* baseline : {"rule", "homogeneous", "galvatron", "alpa"}) {
      const Outcome other = solved(instance, baseline);
      if (!other.objective) continue;
      EXPECT_LE(*fast.objective, *other.objective * (1 + 1e-12)) << name << ' ' << baseline;
      ahead += *fast.objective < *other.objective * 0.999 ? 1 : 0;
    }
    // The optimum with one ZeRO level and one recomputation mode in all stages.
    double best = kInfinity;
    double bound = kInfinity;
    for (const std::int64_t zero : instance.options.zero) {
      for (const StrategyRecompute recompute : instance.options.recompute) {
        StrategyInstance uniform = instance;
        uniform.options.zero = {zero};
        uniform.options.recompute = {recompute};
        const Outcome outcome = solved(uniform, "auto");
        if (!outcome.objective) continue;
        best = std::min(best, *outcome.objective);
        bound = std::min(bound, outcome.bound);
      }
    }
    ASSERT_LT(best, kInfinity) << name;
    proven += bound >= best * (1 - 1e-9) ? 1 : 0;
    EXPECT_LE(*fast.objective, best * 1.01) << name;
  }
  EXPECT_GT(ahead, 5);
  EXPECT_GT(proven, 2);
}

// Every model on 8, 64 and 256 GPUs of every machine has a plan, or the answer states the memory
// that it needs. The test runs a part of the cases; bench/configure_presets.py tries all with the
// command.
TEST(StrategyFast, EveryPresetIsAnsweredOrDoesNotFit) {
  const int every = in_long_run(7, 1);
  int number = 0;
  int planned = 0;
  int refused = 0;
  for (const std::string_view model : transformer_names()) {
    for (const std::string_view machine : machine_names()) {
      for (const std::int64_t nodes : {1, 8, 32}) {
        if (++number % every != 0) continue;
        StrategyGenerator generator{.model = std::string(model), .name = "preset"};
        generator.machine = std::string(machine);
        generator.nodes = nodes;
        const StrategyInstance instance =
            *generate_strategy(generator, std::vector<Tokens>(256, 8192));
        const Outcome outcome = solved(instance, "fast");
        if (outcome.plan) {
          ++planned;
          EXPECT_THAT(verify(Instance(instance), *outcome.plan), IsEmpty());
        } else {
          ++refused;
          EXPECT_EQ(outcome.status, Status::infeasible) << model << ' ' << machine;
          EXPECT_THAT(outcome.detail, HasSubstr("MiB")) << model << ' ' << machine;
        }
      }
    }
  }
  EXPECT_GT(planned, 20);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace stowage::strategy_fast_test
