// Parameters and stages on the command line: they can be listed, set and excluded, and the outcome
// names them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/fixture.h"

namespace stowage::commands_params_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Params : public testing::Test {
 protected:
  Params() { dir_.write("instance.json", kTinyInstance); }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }

  // Runs a solve with these flags; equal flags must give equal outcomes.
  Finished solve(std::vector<std::string> flags) const {
    std::vector<std::string> all = {"solve", "instance.json", "--node-limit", "20", "--timeless"};
    all.insert(all.end(), flags.begin(), flags.end());
    return run(all);
  }

  TempDir dir_;
};

TEST_F(Params, AreListedForPeopleAndPrograms) {
  const Finished table = run({"params", "scatter"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("lns.moves"));
  const json list = json::parse(run({"params", "scatter", "--json"}).out);
  EXPECT_EQ(list["format"], "stowage/parameters");
  ASSERT_FALSE(list["parameters"].empty());
  for (const json& each : list["parameters"]) {
    EXPECT_THAT(table.out, HasSubstr(each["name"].get<std::string>()));
    EXPECT_GE(each["default"].get<double>(), each["least"].get<double>());
    for (const char* words : {"unit", "effect", "evidence"}) EXPECT_NE(each[words], "") << each;
  }
  for (const json& each : list["stages"]) {
    EXPECT_THAT(table.out, HasSubstr(each["name"].get<std::string>()));
  }
}

TEST_F(Params, AnOutcomeNamesWhatDiffersAndIsValid) {
  dir_.write("mine.json", R"({"lns.moves": 100, "rounds.dives": 3, "lns.cycle": 8})");
  const Finished outcome = solve(
      {"--set", "lns.moves=50", "--params", "mine.json", "--without", "subset_dp,lns", "--stages"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  // --set takes precedence over the file, and a parameter at its default is not listed.
  EXPECT_EQ(document["parameters"], json::parse(R"({"lns.moves": 50, "rounds.dives": 3})"));
  EXPECT_EQ(document["without"], json::parse(R"(["subset_dp", "lns"])"));
  for (const json& stage : document["stages"]) {
    EXPECT_NE(stage["name"], "lns");
    EXPECT_FALSE(stage.contains("seconds"));
  }
  dir_.write("outcome.json", outcome.out);
  const Finished verdict = run({"verify", "instance.json", "outcome.json"});
  EXPECT_EQ(verdict.exit_code, 0) << verdict.err;
  EXPECT_THAT(verdict.err, HasSubstr("stages, parameters, without"));
}

TEST_F(Params, AnOutcomeOfDefaultsHasNoneOfThem) {
  const Finished usual = solve({});
  EXPECT_EQ(solve({"--set", "lns.moves=2000"}).out, usual.out);
  for (const char* key : {"stages", "parameters", "without"}) {
    EXPECT_FALSE(json::parse(usual.out).contains(key));
  }
  const json with_stages = json::parse(solve({"--stages"}).out);
  EXPECT_EQ(with_stages["stages"][0]["name"], "first_plan");
  EXPECT_EQ(with_stages["stages"][0]["first_plan"], true);
}

TEST_F(Params, MistakesAreNamedAllAtOnce) {
  const Finished refused =
      solve({"--set", "lns.move=5,lns.cycle=0,rounds.dives", "--without", "lms"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("lns.move is no parameter of scatter"));
  EXPECT_THAT(refused.err, HasSubstr("did you mean 'lns.moves'"));
  EXPECT_THAT(refused.err, HasSubstr("lns.cycle must be a whole number from 1 to 1000, is 0"));
  EXPECT_THAT(refused.err, HasSubstr("must be NAME=NUMBER, is 'rounds.dives'"));
  EXPECT_THAT(refused.err, HasSubstr("unknown value 'lms'"));
  dir_.write("bad.json", R"({"lns.moves": "many", "lns.cycle": null})");
  const Finished file = solve({"--params", "bad.json"});
  EXPECT_EQ(file.exit_code, 2);
  EXPECT_THAT(file.err, HasSubstr("/lns.moves"));
  EXPECT_THAT(file.err, HasSubstr("/lns.cycle"));
}

TEST_F(Params, AnAblationHasARowForEachStageThatRan) {
  const Finished table =
      run({"compare", "instance.json", "--ablate", "--node-limit", "5", "--timeless"});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  const json rows = json::parse(table.out)["methods"];
  const json stages = json::parse(solve({"--stages", "--node-limit", "5"}).out)["stages"];
  ASSERT_EQ(rows.size(), stages.size() + 1);
  EXPECT_EQ(rows[0]["method"], "auto");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    EXPECT_EQ(rows[i + 1]["method"], "without " + stages[i]["name"].get<std::string>());
  }
  const Finished both = run({"compare", "instance.json", "--ablate", "--methods", "fast"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("--ablate"));
}

}  // namespace
}  // namespace stowage::commands_params_test
