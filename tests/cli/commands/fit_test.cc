// stowage fit: from a table to a cost for planning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/fixture.h"
#include "tests/svg_document.h"

namespace stowage::commands_fit_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Fit : public testing::Test {
 protected:
  Fit() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments, const std::string& input = "") const {
    return run_stowage(arguments, {.input = input, .directory = dir_.path()});
  }

  TempDir dir_;
};

TEST_F(Fit, WritesACostThatInstancesName) {
  const Finished told = run({"fit", "samples.csv", "-o", "cost.json", "--picture", "fit.svg"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const auto answer = nlohmann::json::parse(told.out);
  EXPECT_EQ(answer["format"], "stowage/fit");
  EXPECT_EQ(answer["samples"].size(), 72U);
  EXPECT_EQ(answer["outliers"], nlohmann::json::array({7}));
  EXPECT_NEAR(answer["cost"]["quadratic_ms"].get<double>() / 1e-4, 1, 0.02);
  EXPECT_NEAR(answer["cost"]["all_to_all"]["latency_ms"]["4"].get<double>() / 16, 1, 0.05);
  EXPECT_NEAR(answer["memory"]["coefficients"][0]["value"].get<double>(), 2000, 1);
  EXPECT_TRUE(answer["plans"].is_null());
  EXPECT_EQ(nlohmann::json::parse(dir_.read("cost.json")), answer["cost"]);
  EXPECT_EQ(SvgDocument(dir_.read("fit.svg")).complaints(), "");
  EXPECT_THAT(told.err, HasSubstr("without 1 outlier"));
  EXPECT_THAT(told.err, HasSubstr("next      measure"));

  auto instance = nlohmann::json::parse(dir_.read("instance.json"));
  instance["cost"] = {{"file", "cost.json"}};
  dir_.write("here.json", instance.dump());
  EXPECT_EQ(run({"solve", "here.json", "--method", "fast"}).exit_code, 0);
}

TEST_F(Fit, WritesTimesInThePlaceOfCoefficients) {
  const Finished told =
      run({"fit", "samples.csv", "--table", "--instance", "instance.json", "-o", "cost.json"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const auto answer = nlohmann::json::parse(told.out);
  EXPECT_EQ(nlohmann::json::parse(dir_.read("cost.json")), answer["table"]["cost"]);
  EXPECT_EQ(answer["table"]["cost"].size(), 1U);
  EXPECT_GT(answer["table"]["held_out"]["mean"], 0.0);
  EXPECT_THAT(told.err, HasSubstr("table     held out"));
  // The samples follow a formula, so a table is no better.
  EXPECT_THAT(told.err, HasSubstr("no better than the formula"));

  auto instance = nlohmann::json::parse(dir_.read("instance.json"));
  instance["cost"] = {{"file", "cost.json"}};
  dir_.write("here.json", instance.dump());
  const Finished solved = run({"solve", "here.json", "--method", "fast"});
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
}

// A table that the instance's reader would refuse is not written.
TEST_F(Fit, ATableThatTheInstanceCannotHaveIsRefused) {
  auto instance = nlohmann::json::parse(dir_.read("instance.json"));
  instance["rules"]["packed"] = false;
  dir_.write("apart.json", instance.dump());
  const Finished refused =
      run({"fit", "samples.csv", "--table", "--instance", "apart.json", "-o", "cost.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("E310"));
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "cost.json"));
}

TEST_F(Fit, TheSameTableGivesTheSameBytes) {
  const Finished first = run({"fit", "samples.csv", "--instance", "instance.json"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(run({"fit", "-", "--instance", "instance.json"}, dir_.read("samples.csv")).out,
            first.out);
}

TEST_F(Fit, WarnsWhereTheCostCannotTellPlansApart) {
  const Finished fine = run({"fit", "samples.csv", "--instance", "instance.json"});
  const auto plans = nlohmann::json::parse(fine.out)["plans"];
  ASSERT_GE(plans["methods"].size(), 2U);
  const double between = plans["best_to_next"];
  ASSERT_GT(between, 0);
  EXPECT_GE(plans["best_to_last"].get<double>(), between);
  EXPECT_THAT(fine.err, HasSubstr("faster than the next"));
  EXPECT_THAT(fine.err, Not(HasSubstr("this cost does not say")));

  // The same rows with errors of up to a factor of 1.5.
  std::string rough;
  int line = 0;
  std::istringstream lines(dir_.read("samples.csv"));
  for (std::string each; std::getline(lines, each); ++line) {
    if (line == 0) {
      rough += "degree,lengths_tokens,time_ms\n";
      continue;
    }
    const std::size_t time = each.find(',', each.find(',') + 1) + 1;
    const double ms = std::stod(each.substr(time));
    rough += each.substr(0, time) + std::to_string(ms * (1 + 0.1 * (line * 7 % 11 - 5))) + '\n';
  }
  const Finished told = run({"fit", "-", "--instance", "instance.json"}, rough);
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.err, HasSubstr("this cost does not say"));
}

TEST_F(Fit, NamesDegreesWithoutASample) {
  std::string some;
  std::istringstream lines(dir_.read("samples.csv"));
  for (std::string each; std::getline(lines, each);) {
    if (!each.starts_with("4,")) some += each + '\n';
  }
  const Finished told = run({"fit", "-", "--instance", "instance.json"}, some);
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(nlohmann::json::parse(told.out)["missing_degrees"], nlohmann::json::array({4}));
  EXPECT_THAT(told.err, HasSubstr("no sample of degree 4"));
}

TEST_F(Fit, RefusesWhatItCannotUse) {
  dir_.write("bad.csv", "degree,lengths_tokens,time_ms,exchange\n1,0,1,\n2,5,-1,\n2,5,1,none\n");
  const Finished bad = run({"fit", "bad.csv"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.csv:2:lengths_tokens"));
  EXPECT_THAT(bad.err, HasSubstr("bad.csv:3:time_ms"));
  dir_.write("ring.csv", "degree,lengths_tokens,time_ms,exchange\n1,9,1,\n2,5,1,ring\n");
  EXPECT_THAT(run({"fit", "ring.csv"}).err, HasSubstr("ring.csv:3:exchange"));
  dir_.write("few.csv", "degree,lengths_tokens,time_ms\n1,9,1\n");
  EXPECT_THAT(run({"fit", "few.csv"}).err, HasSubstr("few.csv: must be at least 4"));
  for (const auto& [arguments, said] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"fit", "missing.csv"}, "missing.csv"},
           {{"fit", "samples.csv", "--picture", "fit.png"}, "must end in .svg"},
           {{"fit", "samples.csv", "-o", "samples.csv"}, "--output"},
           {{"fit", "samples.csv", "--instance", "layout.json"}, "scatter"},
           {{"fit", "samples.csv", "--instance", "instance.json", "--mib-per-token", "2"},
            "--mib-per-token: has no effect"},
           {{"fit", "-", "--instance", "-"}, "stdin has the samples already"}}) {
    const Finished told = run(arguments);
    EXPECT_EQ(told.exit_code, 2);
    EXPECT_THAT(told.err, HasSubstr(said));
  }
}

}  // namespace
}  // namespace stowage::commands_fit_test
