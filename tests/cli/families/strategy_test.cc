// The commands on strategies: from a generated instance to a proven configuration, its picture and
// its explanation; and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::families_strategy_test {
namespace {

using ::testing::HasSubstr;

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
    ASSERT_EQ(run({"generate", "strategy", "--nodes", "1", "--sequences", "32", "--tokens", "16K",
                   "-o", "wanted.json"})
                  .exit_code,
              0);
  }
  // The same with other members.
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
  // One stage wins here, and its bound is exact.
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
  for (const char* method : {"rule", "homogeneous", "fast"}) {
    EXPECT_THAT(table.out, HasSubstr(method));
  }
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
  expect_refused({"export", "wanted.json", "-o", "model.lp"}, "a strategy has no model file");
  ASSERT_EQ(run({"solve", "wanted.json", "--method", "fast", "-o", "plan.json"}).exit_code, 0);
  expect_refused({"run", "wanted.json", "plan.json"}, "plans hold no batches");
}

}  // namespace
}  // namespace stowage::families_strategy_test
