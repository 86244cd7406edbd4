// Parameters and stages on the command line: they can be listed, set and excluded, and the outcome
// names them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
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

TEST_F(Params, AnAblationOfSeveralInstancesIsASummary) {
  dir_.write("lengths.txt", "900\n400\n1200\n512\n70\n380\n");
  ASSERT_EQ(run({"convert", "lengths.txt", "other.json", "--devices", "4"}).exit_code, 0);
  const std::vector<std::string> both = {
      "compare", "instance.json", "other.json", "--ablate", "--seed", "0", "--node-limit", "5"};
  std::vector<std::string> timeless = both;
  timeless.emplace_back("--timeless");
  const Finished summary = run(timeless);
  ASSERT_EQ(summary.exit_code, 0) << summary.err;
  const json document = json::parse(summary.out);
  EXPECT_EQ(document["format"], "stowage/ablation");
  ASSERT_EQ(document["instances"].size(), 2u);
  EXPECT_FALSE(document["instances"][0].contains("seconds"));
  // The rows of each instance add up to the summary.
  std::map<std::string, int> ran;
  std::map<std::string, int> worse;
  for (const char* name : {"instance.json", "other.json"}) {
    const json rows = json::parse(
        run({"compare", name, "--ablate", "--node-limit", "5", "--timeless"}).out)["methods"];
    for (const json& row : rows) {
      const auto method = row["method"].get<std::string>();
      if (method == "auto") continue;
      const std::string stage = method.substr(std::string("without ").size());
      ++ran[stage];
      worse[stage] +=
          row["objective_ms"].is_number() &&
          row["objective_ms"].get<double>() > rows[0]["objective_ms"].get<double>() * (1 + 1e-9);
    }
  }
  ASSERT_EQ(document["stages"].size(), ran.size());
  for (const json& stage : document["stages"]) {
    EXPECT_EQ(stage["ran"], ran.at(stage["name"])) << stage;
    EXPECT_EQ(stage["plans_worse"], worse.at(stage["name"])) << stage;
    EXPECT_FALSE(stage.contains("seconds"));
  }
  const json timed = json::parse(run(both).out);
  EXPECT_TRUE(timed["stages"][0].contains("seconds_without"));
}

TEST_F(Params, AnAblationOfSeveralInstancesRefusesOtherFamiliesAndFlags) {
  ASSERT_EQ(run({"generate", "layout", "--kind", "random", "--buffers", "9", "-o", "layout.json"})
                .exit_code,
            0);
  const Finished other = run({"compare", "instance.json", "layout.json", "--ablate"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("must be scatter as the first instance, is layout"));
  const Finished missing = run({"compare", "instance.json", "nowhere.json", "--ablate"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("nowhere.json"));
  const Finished alone = run({"compare", "instance.json", "instance.json"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("MORE"));
  const Finished measured =
      run({"compare", "instance.json", "instance.json", "--ablate", "--measure"});
  EXPECT_EQ(measured.exit_code, 2);
  EXPECT_THAT(measured.err, HasSubstr("--measure"));
}

// A default that names a file as its evidence names one that is there.
TEST_F(Params, EvidenceIsWhereItIsSaidToBe) {
  int files = 0;
  for (const char* family : {"scatter", "assign", "layout", "order", "strategy"}) {
    const json list = json::parse(run({"params", family, "--json"}).out);
    EXPECT_LE(list["parameters"].size(), 40u) << family;
    for (const json& each : list["parameters"]) {
      const auto evidence = each["evidence"].get<std::string>();
      const std::string path = evidence.substr(0, evidence.find(':'));
      if (path.find('/') == path.npos) continue;
      EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(STOWAGE_SOURCE_DIR) / path))
          << evidence;
      ++files;
    }
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace stowage::commands_params_test
