// stowage calibrate and compare --measure: costs of this machine, and plans timed on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::commands_calibrate_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Calibrate : public testing::Test {
 protected:
  Calibrate() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }

  TempDir dir_;
};

TEST_F(Calibrate, WritesACostThatInstancesInclude) {
  const Finished told = run({"calibrate", "--degrees", "1,2,4", "--packs", "6", "--max-tokens",
                             "128", "--rounds", "1", "-o", "cost.json", "--samples", "packs.csv"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.err, HasSubstr("errors    fitted packs"));
  const auto answer = nlohmann::json::parse(told.out);
  EXPECT_EQ(answer["format"], "stowage/calibration");
  EXPECT_EQ(answer["packs"].size(), 18U);
  const auto cost = nlohmann::json::parse(dir_.read("cost.json"));
  EXPECT_EQ(cost, answer["cost"]);
  const Finished fitted = run({"fit", "packs.csv"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_EQ(nlohmann::json::parse(fitted.out)["samples"].size(), 18U);

  auto instance = nlohmann::json::parse(dir_.read("instance.json"));
  instance["cost"] = {{"file", "cost.json"}};
  dir_.write("here.json", instance.dump());
  const Finished solved = run({"solve", "here.json", "--method", "fast", "-o", "here-plan.json"});
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  // The same step with the cost written into it has the same plan.
  instance["cost"] = cost;
  dir_.write("inline.json", instance.dump());
  EXPECT_EQ(run({"verify", "inline.json", "here-plan.json"}).exit_code, 0);
}

TEST_F(Calibrate, FilesOfCostsThatAreWrongAreNamed) {
  auto instance = nlohmann::json::parse(dir_.read("instance.json"));
  instance["cost"] = {{"file", "cost.json"}};
  dir_.write("here.json", instance.dump());
  const Finished missing = run({"solve", "here.json"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("cost.json"));
  dir_.write("cost.json", R"({"quadratic_ms": -1, "linear_ms": 1, "fixed_ms": 1})");
  const Finished wrong = run({"solve", "here.json"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("cost.json /quadratic_ms"));
  instance["cost"] = {{"file", "/etc/passwd"}};
  dir_.write("here.json", instance.dump());
  EXPECT_THAT(run({"solve", "here.json"}).err, HasSubstr("relative to the instance"));
}

TEST_F(Calibrate, ComparesMeasuredPlans) {
  const Finished told = run({"compare", "instance.json", "--measure", "--methods", "batch-ada,fast",
                             "-t", "1", "--scale", "2"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.err, HasSubstr("measured ms"));
  EXPECT_THAT(told.err, HasSubstr("lengths divided by 2"));
  const auto answer = nlohmann::json::parse(told.out);
  EXPECT_EQ(answer["measured"]["scale"], 2);
  for (const auto& method : answer["methods"]) EXPECT_GT(method["measured_ms"], 0);
}

TEST_F(Calibrate, WithoutPlansThereIsNothingToCompare) {
  const Finished one = run(
      {"compare", "instance.json", "--measure", "--methods", "fast", "-t", "1", "--scale", "2"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  const auto alone = nlohmann::json::parse(one.out)["measured"];
  EXPECT_GT(alone["mean_error"], 0);
  EXPECT_TRUE(alone.at("rank_correlation").is_null());
  EXPECT_THAT(one.err, HasSubstr("off on average, rank correlation -\n"));

  auto instance = nlohmann::json::parse(dir_.read("instance.json"));
  instance["cluster"]["memory_mib"] = 41;
  instance["lengths"] = {60, 60};
  dir_.write("tight.json", instance.dump());
  const Finished none = run({"compare", "tight.json", "--measure", "--methods", "homogeneous-1",
                             "-t", "1", "--scale", "1"});
  const auto answer = nlohmann::json::parse(none.out);
  ASSERT_TRUE(answer["methods"][0]["objective_ms"].is_null()) << none.out;
  EXPECT_TRUE(answer["measured"].at("mean_error").is_null());
  EXPECT_TRUE(answer["measured"].at("rank_correlation").is_null());
  EXPECT_THAT(none.err, HasSubstr("measured  no plan was timed\n"));
  EXPECT_THAT(none.err, Not(HasSubstr("predictions are")));
}

TEST_F(Calibrate, AStopKeepsWhatWasMeasured) {
  Child child({"calibrate", "--degrees", "1", "--packs", "3000", "--max-tokens", "64", "--rounds",
               "1", "--samples", "packs.csv", "--progress", "always"},
              {.directory = dir_.path()});
  ASSERT_TRUE(child.wait_for_err("pack "));
  child.send(SIGTERM);
  const Finished stopped = child.finish();
  EXPECT_EQ(stopped.exit_code, 3) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("packs.csv has "));
  EXPECT_THAT(dir_.read("packs.csv"), testing::StartsWith("degree,lengths_tokens,time_ms\n1,"));
}

// The error is reported as an error and not as a signal.
TEST_F(Calibrate, SaysThatTheMachineLacksAnInstructionSet) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"calibrate"}, {"compare", "instance.json", "--measure"}}) {
    const Finished told =
        run_stowage(arguments, {.directory = dir_.path(), .environment = {{"STOWAGE_ISA", "v9"}}});
    EXPECT_EQ(told.exit_code, 2);
    EXPECT_THAT(told.err, HasSubstr("STOWAGE_ISA: must be "));
    EXPECT_THAT(told.err, Not(HasSubstr("was stopped")));
  }
}

// The predictions' errors exceed the difference of the two plans, so the predictions do not decide
// their order.
TEST_F(Calibrate, SaysWhenPredictionsDoNotDecideTheOrder) {
  const Finished told = run({"compare", "instance.json", "--measure", "--methods", "batch-ada,fast",
                             "-t", "1", "--scale", "2", "--rounds", "1"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const auto measured = nlohmann::json::parse(told.out)["measured"];
  const double spread = measured["spread"];
  EXPECT_GE(spread, 0);
  const bool open = measured["mean_error"].get<double>() >= spread;
  EXPECT_EQ(told.err.find("which plan is faster is not decided here") != std::string::npos, open)
      << told.err;
  EXPECT_EQ(measured["pairs"], 1);
  // One pair agrees where the order is decided and the measured times have it.
  const bool decided = measured["undecided_pairs"] == 0;
  const bool ordered = measured["rank_correlation"].is_number() && measured["rank_correlation"] > 0;
  EXPECT_EQ(measured["agreed_pairs"], decided && ordered ? 1 : 0);
  const bool reversed =
      measured["rank_correlation"].is_number() && measured["rank_correlation"] <= 0;
  EXPECT_EQ(told.err.find("less than the predictions are off: 1 of 1; which of the two") !=
                std::string::npos,
            !open && !reversed && measured["undecided_pairs"] == 1)
      << told.err;
}

TEST_F(Calibrate, RefusesWhatItCannotMeasure) {
  for (const auto& [arguments, said] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"calibrate", "--degrees", "1,x"}, "whole numbers"},
           {{"calibrate", "--degrees", "128"}, "--degrees: must be whole numbers from 1 to 64"},
           {{"calibrate", "--degrees", "7,11,13"}, "common multiple"},
           {{"compare", "instance.json", "--scale", "2"}, "only with --measure"},
           {{"compare", "instance.json", "--rounds", "2"}, "only with --measure"},
           {{"calibrate", "--timeless"}, "--timeless"},
           {{"compare", "instance.json", "--measure", "--timeless"}, "--timeless: has no effect"},
           {{"compare", "layout.json", "--measure"}, "scatter steps only"}}) {
    const Finished told = run(arguments);
    EXPECT_EQ(told.exit_code, 2);
    EXPECT_THAT(told.err, HasSubstr(said));
  }
}

}  // namespace
}  // namespace stowage::commands_calibrate_test
