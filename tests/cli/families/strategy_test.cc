// The commands on strategies: from a generated instance to a proven configuration, its picture and
// its explanation; and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::families_strategy_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StrategyCommands : public testing::Test {
 protected:
  StrategyCommands() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }
  nlohmann::json answer(const std::vector<std::string>& arguments, int exit_code = 0) const {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    return nlohmann::json::parse(finished.out);
  }
  void generate() {
    ASSERT_EQ(run({"generate", "strategy", "--nodes", "1", "--sequences", "32", "--tokens", "16k",
                   "-o", "wanted.json"})
                  .exit_code,
              0);
  }
  // Changes members of the instance.
  void change(const std::function<void(nlohmann::json&)>& edit) {
    auto wanted = nlohmann::json::parse(dir_.read("wanted.json"));
    edit(wanted);
    dir_.write("wanted.json", wanted.dump());
  }

  TempDir dir_;
};

TEST_F(StrategyCommands, FromAModelToAProvenConfiguration) {
  generate();
  const Finished solved = run({"solve", "wanted.json", "-o", "plan.json"});
  dir_.write("outcome.json", solved.out);
  const auto outcome = nlohmann::json::parse(solved.out);
  EXPECT_EQ(outcome["status"], "optimal");
  EXPECT_TRUE(outcome["certificate"].contains("classes"));
  const auto verdict = answer({"verify", "wanted.json", "outcome.json"});
  EXPECT_EQ(verdict["valid"], true);
  // One stage is optimal here, and its bound is exact.
  EXPECT_EQ(outcome["plan"]["pp"], 1);
  EXPECT_EQ(outcome["bound_by"], "prices");
  EXPECT_EQ(verdict["proven"], true);
  EXPECT_EQ(answer({"verify", "wanted.json", "plan.json"})["proven"], false);
}

TEST_F(StrategyCommands, ABrokenCertificateIsRefused) {
  generate();
  dir_.write("outcome.json", run({"solve", "wanted.json"}).out);
  auto outcome = nlohmann::json::parse(dir_.read("outcome.json"));
  outcome["certificate"]["classes"].erase(0);
  dir_.write("lie.json", outcome.dump());
  EXPECT_EQ(answer({"verify", "wanted.json", "lie.json"}, 1)["violations"][0]["rule"],
            "certificate_class");
}

TEST_F(StrategyCommands, IsDrawnExplainedAndCompared) {
  generate();
  change([](nlohmann::json& wanted) { wanted["options"]["pp"] = {4}; });
  dir_.write("outcome.json", run({"solve", "wanted.json", "--node-limit", "20000"}).out);
  ASSERT_EQ(run({"render", "wanted.json", "outcome.json", "-o", "stages.svg"}).exit_code, 0);
  EXPECT_THAT(dir_.read("stages.svg"), HasSubstr("stage 3: "));
  const auto why = answer({"explain", "wanted.json", "outcome.json", "--node-limit", "5000"});
  EXPECT_THAT(why["binds"][0]["text"].get<std::string>(), HasSubstr("for each of"));
  EXPECT_THAT(why["binds"][1]["text"].get<std::string>(), HasSubstr("draining the pipeline"));
  EXPECT_GE(why["what_if"].size(), 2U);
  const Finished table =
      run({"compare", "wanted.json", "--node-limit", "5000", "--format", "table"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  for (const char* method : {"rule", "homogeneous", "galvatron", "alpa", "fast"}) {
    EXPECT_THAT(table.out, HasSubstr(method));
  }
}

// Exports the model of fast's class and layout, and converts a solution of it to a plan.
TEST_F(StrategyCommands, AModelIsExportedAndASolutionRead) {
  generate();
  const auto exported = answer({"export", "wanted.json", "-o", "model.lp"});
  EXPECT_EQ(exported["pp"], 1);
  EXPECT_THAT(dir_.read("model.lp"), HasSubstr("SM2_0:"));
  dir_.write("model.sol", "# Objective value = 1\nf_0_32_z3r1 1\n");
  const Finished read = run({"import", "wanted.json", "model.sol", "-o", "plan.json"});
  ASSERT_EQ(read.exit_code, 0) << read.err;
  EXPECT_EQ(nlohmann::json::parse(dir_.read("plan.json"))["stages"][0]["layers"], 32);
  EXPECT_EQ(answer({"verify", "wanted.json", "plan.json"})["valid"], true);
  change([](nlohmann::json& wanted) { wanted["cluster"]["memory_mib"] = 1000; });
  EXPECT_EQ(run({"export", "wanted.json", "-o", "model.lp"}).exit_code, 1);
}

TEST_F(StrategyCommands, WithoutRoomItSaysWhoAndWhatHelps) {
  generate();
  change([](nlohmann::json& wanted) {
    wanted["cluster"]["memory_mib"] = 9000;
    wanted["options"]["zero"] = {1};
    wanted["options"]["pp"] = {1};
    wanted["options"]["tp"] = {1, 2};
  });
  const Finished solved = run({"solve", "wanted.json"});
  EXPECT_EQ(solved.exit_code, 1);
  dir_.write("none.json", solved.out);
  EXPECT_EQ(nlohmann::json::parse(solved.out)["infeasibility"]["by"], "configurations");
  EXPECT_EQ(answer({"verify", "wanted.json", "none.json"})["valid"], true);
  const auto why = answer({"explain", "wanted.json"}, 1);
  EXPECT_EQ(why["causes"].size(), 2U);
  EXPECT_THAT(why["remedies"][0]["text"].get<std::string>(), HasSubstr("raise cluster.memory_mib"));
}

TEST_F(StrategyCommands, WhatMakesNoSenseIsRefused) {
  const auto expect_refused = [this](const std::vector<std::string>& arguments, const char* why) {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(why));
  };
  expect_refused({"generate", "strategy", "--tokens", "many"}, "--tokens");
  expect_refused({"generate", "strategy", "--preset", "llama-8b"}, "--preset: unknown value");
  expect_refused({"generate", "strategy", "--lengths", "no.txt", "--tokens", "4"},
                 "--tokens: has no effect with --lengths");
  generate();
  ASSERT_EQ(run({"solve", "wanted.json", "--method", "fast", "-o", "plan.json"}).exit_code, 0);
  expect_refused({"run", "wanted.json", "plan.json", "--exchange", "ring"},
                 "--exchange: has no effect on a strategy");
  expect_refused({"run", "wanted.json", "plan.json", "--threads", "2"},
                 "--threads: has no effect on a strategy");
  expect_refused({"run", "wanted.json", "plan.json", "--max-ranks", "7"},
                 "--max-ranks: the plan has 8 ranks and runs on no fewer; 7 are allowed");
}

// Six layers in two stages, two ranks of tp.
constexpr char kTwoStages[] = R"({
  "format": "stowage/instance", "version": 1, "problem": "strategy", "name": "two-stages",
  "model": {"hidden": 512, "heads": 8, "kv_width": 128, "vocabulary": 32000,
            "blocks": [{"count": 6, "ffn": 1408}]},
  "cluster": {"nodes": 1, "devices_per_node": 4, "memory_mib": 8000,
              "mib_per_ms": {"inside": 224, "across": 24}},
  "cost": {"linear_tflops": 193, "attention_tflops": 140},
  "options": {"pp": [2], "tp": [2], "recompute": ["full"], "micro_batches": [4]},
  "lengths": [64, 40, 33, 20, 64, 40, 33, 20]
}
)";

TEST_F(StrategyCommands, RunsOnItsRanks) {
  dir_.write("wanted.json", kTwoStages);
  ASSERT_EQ(run({"solve", "wanted.json", "-o", "plan.json"}).exit_code, 0);
  const auto report = answer({"run", "wanted.json", "plan.json", "--repeats", "2"});
  EXPECT_EQ(report["passed"], true);
  EXPECT_EQ(report["ranks"], 4);
  EXPECT_EQ(report["pp"], 2);
  EXPECT_EQ(report["tp"], 2);
  EXPECT_EQ(report["micro_batches"], 4);
  EXPECT_EQ(report["scale"], 1);
  EXPECT_LE(report["loss_error"], 1e-5);
  for (const char* check : {"output", "input_gradient", "weight_gradient"}) {
    EXPECT_EQ(report[check]["passed"], true);
  }
  EXPECT_EQ(report["weight_gradient"]["compared"], 6 * 9 + 1);  // and the head
  EXPECT_GT(report["measured_ms"], 0);
  EXPECT_GT(report["formula_ms"], 0);
  ASSERT_EQ(report["stages"].size(), 2U);
  EXPECT_EQ(report["stages"][0]["in_flight"], 2);
  for (const auto& stage : report["stages"]) {
    EXPECT_EQ(stage["recompute"], "full");
    EXPECT_EQ(stage["high_water_bytes"], stage["counted_bytes"]);
    EXPECT_LE(stage["counted_bytes"], stage["planned_bytes"]);
    EXPECT_GT(stage["backward_ms"], 0);
  }
  const Finished timeless = run({"run", "wanted.json", "plan.json", "--timeless", "--scale", "2"});
  EXPECT_EQ(timeless.exit_code, 0);
  EXPECT_THAT(timeless.out, Not(HasSubstr("measured_ms")));
  EXPECT_EQ(timeless.out,
            run({"run", "wanted.json", "plan.json", "--timeless", "--scale", "2"}).out);
  EXPECT_THAT(timeless.err, HasSubstr("lengths divided by 2, layers by 1"));
}

TEST_F(StrategyCommands, ARunEndsWithTheTimeAndNeedsAValidPlan) {
  dir_.write("wanted.json", kTwoStages);
  ASSERT_EQ(run({"solve", "wanted.json", "-o", "plan.json"}).exit_code, 0);
  const auto stopped = answer({"run", "wanted.json", "plan.json", "-t", "0"}, 3);
  EXPECT_EQ(stopped["complete"], false);
  EXPECT_EQ(stopped["loss"], nullptr);
  auto plan = nlohmann::json::parse(dir_.read("plan.json"));
  plan["micro_batches"] = 3;
  dir_.write("plan.json", plan.dump());
  const auto refused = answer({"run", "wanted.json", "plan.json"}, 1);
  EXPECT_EQ(refused["passed"], false);
  EXPECT_EQ(refused["violations"][0]["rule"], "options");
}

}  // namespace
}  // namespace stowage::families_strategy_test
