// stowage explain: its text, its JSON answer and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::commands_explain_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Explain : public testing::Test {
 protected:
  Explain() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }

  TempDir dir_;
};

TEST_F(Explain, AnInfeasibleInstanceEndsWithOneAndItsRemedies) {
  dir_.write("infeasible.json", kInfeasibleInstance);
  const Finished told = run({"explain", "infeasible.json"});
  EXPECT_EQ(told.exit_code, 1) << told.err;
  EXPECT_THAT(told.err, HasSubstr("cause     /lengths/2: sequence 2 has 400 tokens\n"));
  EXPECT_THAT(told.err, HasSubstr("raise cluster.memory_mib from 100 to 120 (+20 MiB"));
  const auto answer = nlohmann::json::parse(told.out);
  EXPECT_EQ(answer["format"], "stowage/explanation");
  EXPECT_EQ(answer["status"], "infeasible");
  EXPECT_EQ(answer["exit_code"], 1);
  EXPECT_EQ(answer["irreducible"], true);
  EXPECT_EQ(answer["causes"].size(), 3U);
  EXPECT_EQ(answer["remedies"].size(), 4U);
  EXPECT_FALSE(answer.contains("binds"));
}

TEST_F(Explain, APlanEndsWithZeroAndWhatBindsIt) {
  const Finished told = run({"explain", "instance.json", "plan.json", "--node-limit", "100"});
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.err, HasSubstr("binds     /micro_batches/0/groups/"));
  EXPECT_THAT(told.err, HasSubstr("what if   4 MiB more memory on each device"));
  const auto answer = nlohmann::json::parse(told.out);
  const auto plan = nlohmann::json::parse(dir_.read("plan.json"));
  EXPECT_EQ(answer["objective_ms"], plan["objective_ms"]);
  EXPECT_EQ(answer["binds"].size(), plan["micro_batches"].size());
  EXPECT_EQ(answer["what_if"].size(), 3U);
  EXPECT_GT(answer["moves"]["tried"], 0);
  EXPECT_FALSE(answer.contains("causes"));
}

TEST_F(Explain, LayoutsAreExplainedInBytes) {
  const Finished told = run({"explain", "layout.json", "layout-plan.json"});
  EXPECT_EQ(told.exit_code, 0) << told.err;
  const auto answer = nlohmann::json::parse(told.out);
  EXPECT_TRUE(answer.contains("objective_bytes"));
  EXPECT_THAT(told.err, HasSubstr("recomputed or offloaded"));
}

TEST_F(Explain, AnInvalidPlanIsRefused) {
  auto plan = nlohmann::json::parse(dir_.read("plan.json"));
  plan["objective_ms"] = 1;
  dir_.write("wrong.json", plan.dump());
  const Finished told = run({"explain", "instance.json", "wrong.json"});
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_THAT(told.err, HasSubstr("violation objective"));
  EXPECT_THAT(told.err, Not(HasSubstr("binds")));
}

TEST_F(Explain, TheSameEveryTime) {
  const std::vector<std::string> arguments{
      "explain", "instance.json", "plan.json", "--node-limit", "100", "-t", "600", "--timeless"};
  const Finished first = run(arguments);
  const Finished second = run(arguments);
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(first.err, second.err);
}

}  // namespace
}  // namespace stowage::commands_explain_test
