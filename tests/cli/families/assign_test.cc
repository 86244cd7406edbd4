// The commands on assign instances: from a list to a verified, executed plan, and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::families_assign_test {
namespace {

using ::testing::HasSubstr;

class Assign : public testing::Test {
 protected:
  Assign() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments, RunOptions options = {}) const {
    options.directory = dir_.path();
    return run_stowage(arguments, options);
  }
  nlohmann::json answer(const std::vector<std::string>& arguments, int exit_code = 0) const {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    return nlohmann::json::parse(finished.out);
  }

  TempDir dir_;
};

TEST_F(Assign, FromAPresetToAnExecutedPlan) {
  ASSERT_EQ(run({"generate", "assign", "--preset", "llama-7b", "--tokens", "30k", "-o", "a.json"})
                .exit_code,
            0);
  EXPECT_EQ(nlohmann::json::parse(dir_.read("a.json"))["devices"], 16);

  const Finished solved = run({"solve", "a.json", "-o", "ap.json", "--node-limit", "50"});
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_THAT(solved.err, HasSubstr(" ms under simulated 1F1B"));
  const auto plan = nlohmann::json::parse(dir_.read("ap.json"));
  EXPECT_EQ(plan["problem"], "assign");
  EXPECT_GT(plan["simulated_1f1b_ms"], 0);

  const auto verdict = answer({"verify", "a.json", "ap.json"});
  EXPECT_EQ(verdict["valid"], true);
  EXPECT_LE(verdict["bound_ms"], verdict["objective_ms"]);

  const auto executed = answer({"run", "a.json", "ap.json", "--work", "0.05", "--timeless"});
  EXPECT_EQ(answer({"run", "a.json", "ap.json", "--work", "0.05", "--timeless", "--threads", "3"}),
            executed);
  EXPECT_EQ(executed["passed"], true);
  EXPECT_FALSE(executed["rows"].empty());
  EXPECT_EQ(executed["rows"][0]["replica"], 0);
  EXPECT_NEAR(executed["predicted_ms"].get<double>(), plan["objective_ms"].get<double>(), 1e-6);
}

TEST_F(Assign, AListBecomesAnInstance) {
  ASSERT_EQ(run({"convert", "lengths.txt", "a.json", "--assign", "llama-13b"}).exit_code, 0);
  const auto instance = nlohmann::json::parse(dir_.read("a.json"));
  EXPECT_EQ(instance["problem"], "assign");
  EXPECT_EQ(instance["devices"], 32);
  EXPECT_EQ(instance["name"], "lengths");
  EXPECT_EQ(answer({"solve", "a.json", "--node-limit", "10"})["problem"], "assign");
}

TEST_F(Assign, EveryMethodIsCompared) {
  ASSERT_EQ(run({"generate", "assign", "--tokens", "20k", "-o", "a.json"}).exit_code, 0);
  const Finished table = run({"compare", "a.json", "-t", "1", "--format", "table"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("rows"));
  EXPECT_THAT(table.out, HasSubstr("karmarkar-karp"));
}

TEST_F(Assign, ASequenceBeyondEveryCapIsNamed) {
  dir_.write("long.txt", "10\n50000\n20\n");
  const Finished converted = run({"convert", "long.txt", "a.json", "--assign", "llama-32b"});
  EXPECT_EQ(converted.exit_code, 0);
  EXPECT_THAT(converted.err, HasSubstr("1 sequence fits no strategy"));
  const Finished solved = run({"solve", "a.json"});
  EXPECT_EQ(solved.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(solved.out)["unplaceable"], nlohmann::json::parse("[1]"));
  EXPECT_THAT(solved.err, HasSubstr("sequence 1 has 50 000 tokens, the largest row of any strategy "
                                    "holds 43 520 (strategy S0)"));
  EXPECT_THAT(solved.err, HasSubstr("remedy: add a strategy with a scheme of max_tokens 50 000"));
}

TEST_F(Assign, ProposedStrategiesAreSolvedLikeAny) {
  ASSERT_EQ(run({"generate", "assign", "--tokens", "20k", "-o", "a.json"}).exit_code, 0);
  const Finished proposed = run({"propose", "a.json", "-o", "b.json", "--most", "2", "--keep"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  EXPECT_THAT(proposed.err, HasSubstr("strategy  P0  "));
  const auto names = nlohmann::json::parse(dir_.read("b.json"))["strategies"];
  EXPECT_TRUE(names.contains("S0"));
  EXPECT_TRUE(names.contains("P0"));
  EXPECT_EQ(answer({"solve", "b.json", "--node-limit", "10"})["exit_code"], 0);
  EXPECT_EQ(answer({"propose", "a.json", "--cost", "hydraulis"})["problem"], "assign");
  EXPECT_THAT(run({"propose", "a.json", "--cost", "hydraulis"}).err,
              HasSubstr("these lengths as one step: "));
  EXPECT_EQ(run({"propose", "instance.json"}).exit_code, 2);  // a scatter instance
  nlohmann::json empty = nlohmann::json::parse(dir_.read("a.json"));
  empty["lengths"] = nlohmann::json::array();
  dir_.write("empty.json", empty.dump());
  const Finished refused = run({"propose", "empty.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(nlohmann::json::parse(refused.out)["errors"][0]["code"], "E001");
}

// The line about a strategy must describe the strategy of that name in the file.
TEST_F(Assign, ProposedStrategiesAreCalledWhatTheFileCallsThem) {
  ASSERT_EQ(run({"generate", "assign", "--tokens", "200k", "-o", "a.json"}).exit_code, 0);
  ASSERT_EQ(run({"propose", "a.json", "-o", "few.json", "--most", "3"}).exit_code, 0);
  auto instance = nlohmann::json::parse(dir_.read("few.json"));
  ASSERT_EQ(instance["strategies"].size(), 3U);
  // The first proposed strategy exists under another name, and the name of the second is used by
  // another strategy.
  const auto first = instance["strategies"]["P0"];
  const auto second = instance["strategies"]["P1"];
  ASSERT_NE(second, nlohmann::json::parse(R"({"16x1": 1})"));
  instance["strategies"] = {{"mine", first}, {"P1", {{"16x1", 1}}}};
  dir_.write("few.json", instance.dump());
  const Finished told = run({"propose", "few.json", "-o", "more.json", "--most", "3", "--keep"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.err, HasSubstr("strategy  mine  "));
  EXPECT_THAT(told.err, HasSubstr("  (was there)\n"));
  EXPECT_THAT(told.err, HasSubstr("strategy  P1'  "));
  EXPECT_THAT(told.err, HasSubstr("strategy  P2  "));
  EXPECT_THAT(told.err, Not(HasSubstr("strategy  P0")));
  const auto written = nlohmann::json::parse(dir_.read("more.json"))["strategies"];
  EXPECT_EQ(written.size(), 4U);
  EXPECT_EQ(written["mine"], first);
  EXPECT_EQ(written["P1'"], second);

  // The maximum number of strategies of an instance.
  for (int i = 0; i < 9998; ++i) instance["strategies"]["s" + std::to_string(i)] = {{"16x1", 1}};
  dir_.write("full.json", instance.dump());
  const Finished refused =
      run({"propose", "full.json", "-o", "over.json", "--most", "3", "--keep"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--keep: must leave at most 10 000 strategies"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "over.json"));
}

TEST_F(Assign, ABrokenPlanIsNotExecuted) {
  ASSERT_EQ(run({"generate", "assign", "--tokens", "5k", "-o", "a.json"}).exit_code, 0);
  ASSERT_EQ(run({"solve", "a.json", "-o", "ap.json", "--node-limit", "1"}).exit_code, 0);
  auto plan = nlohmann::json::parse(dir_.read("ap.json"));
  plan["simulated_1f1b_ms"] = 1;
  dir_.write("broken.json", plan.dump());
  const Finished verified = run({"verify", "a.json", "broken.json"});
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_THAT(verified.err, HasSubstr("simulated at /simulated_1f1b_ms: has 1 ms, needs "));
  EXPECT_EQ(run({"run", "a.json", "broken.json"}).exit_code, 1);
}

// verify recomputes the bound of an outcome from its prices, and detects a false one.
TEST_F(Assign, VerifyChecksTheCertificate) {
  ASSERT_EQ(
      run({"generate", "assign", "--tokens", "100k", "--mu", "6", "--sigma", "1", "-o", "a.json"})
          .exit_code,
      0);
  auto outcome = answer({"solve", "a.json", "--method", "fast"});
  ASSERT_TRUE(outcome.contains("certificate"));
  dir_.write("outcome.json", outcome.dump());
  const Finished good = run({"verify", "a.json", "outcome.json"});
  EXPECT_EQ(good.exit_code, 0) << good.err;
  const auto verdict = nlohmann::json::parse(good.out);
  EXPECT_EQ(verdict["bound_by"], "patterns");
  EXPECT_NEAR(verdict["bound_ms"].get<double>(), outcome["bound_ms"].get<double>(), 1e-6);
  outcome["certificate"]["bound_ms"] = outcome["objective_ms"].get<double>() * 1.001;
  dir_.write("outcome.json", outcome.dump());
  const Finished bad = run({"verify", "a.json", "outcome.json"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, HasSubstr("certificate_"));
}

TEST_F(Assign, WhatMakesNoSenseIsRefused) {
  const auto expect_refused = [this](std::vector<std::string> arguments, const char* why) {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(why));
  };
  expect_refused({"generate", "assign", "--tokens", "many"},
                 "--tokens: must be 1 to 9007199254740 tokens, as 200000");
  expect_refused({"generate", "assign", "--preset", "gpt-7b"}, "--preset: unknown value");
  expect_refused({"generate", "assign", "--lengths", "uniform", "--mu", "3"},
                 "--mu: has no effect with --lengths uniform");
  expect_refused({"generate", "assign", "--tokens", "1k", "--limit", "2k"}, "--limit: must be");
  expect_refused({"convert", "lengths.txt", "a.json", "--assign", "llama-7b", "--devices", "4"},
                 "--assign: is a preset with a cluster of its own");
  expect_refused({"convert", "buffers.1048576.csv", "a.json", "--assign", "llama-7b"},
                 "--assign: has an effect only on lists of lengths");
  ASSERT_EQ(run({"generate", "assign", "--tokens", "5k", "-o", "a.json"}).exit_code, 0);
  expect_refused({"verify", "a.json", "plan.json"}, "must be \"assign\" like the instance's");
  expect_refused({"export", "a.json", "-o", "a.lp", "--slots", "2"}, "--slots: has no effect");
  expect_refused({"export", "a.json", "-o", "a.lp", "--strategy", "S99"},
                 "--strategy: must be a strategy of the instance, is 'S99'");
  expect_refused({"export", "instance.json", "-o", "a.lp", "--apart"}, "--apart: has no effect");
  expect_refused({"memory", "a.json", "--recompute", "full"}, "--recompute: has no effect");
  expect_refused({"memory", "a.json", "--model", "gpt-7b"}, "--model: must be one of llama-7b");
  expect_refused({"memory", "instance.json"}, "PLAN: is needed");
  expect_refused({"generate", "assign", "--retained", "2"},
                 "--retained: has an effect with --chunk-tokens alone");
  expect_refused({"generate", "assign", "--boundaries", "equal_time"},
                 "--boundaries: has an effect with --chunk-tokens alone");
  expect_refused({"generate", "assign", "--chunk-tokens", "0"}, "--chunk-tokens");
}

TEST_F(Assign, TheGroupedModelIsExported) {
  ASSERT_EQ(run({"generate", "assign", "--tokens", "50k", "-o", "a.json"}).exit_code, 0);
  const Finished fast = run({"export", "a.json", "-o", "a.lp"});
  ASSERT_EQ(fast.exit_code, 0) << fast.err;
  const auto answer = nlohmann::json::parse(fast.out);
  EXPECT_EQ(answer["problem"], "assign");
  EXPECT_GT(answer["columns"], 20);
  EXPECT_GT(answer["no_slower_than_ms"], 0);
  EXPECT_THAT(dir_.read("a.lp"), HasSubstr("G3_0"));
  const Finished apart = run({"export", "a.json", "-o", "a.mps", "--strategy", "S0", "--apart"});
  ASSERT_EQ(apart.exit_code, 0) << apart.err;
  EXPECT_EQ(nlohmann::json::parse(apart.out)["strategy"], "S0");
  EXPECT_THAT(dir_.read("a.mps"), HasSubstr("G11"));
}

TEST_F(Assign, TheCapsOfAPresetFollowFromItsMemory) {
  ASSERT_EQ(run({"generate", "assign", "--tokens", "50k", "-o", "a.json"}).exit_code, 0);
  const Finished told = run({"memory", "a.json"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const auto answer = nlohmann::json::parse(told.out);
  ASSERT_EQ(answer["schemes"].size(), 7U);
  for (const auto& scheme : answer["schemes"]) {
    EXPECT_EQ(scheme["derived_tokens"], scheme["max_tokens"]);
    EXPECT_EQ(scheme["fits"], true);
  }
  // The 7B model has larger caps, and needs fewer states; the 13B model has no tp of 16.
  EXPECT_EQ(run({"memory", "a.json", "--model", "llama-7b"}).exit_code, 0);
  EXPECT_EQ(run({"memory", "a.json", "--model", "llama-13b"}).exit_code, 3);
  std::string text = dir_.read("a.json");
  const std::size_t at = text.find("\"max_tokens\": 3968");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 18, "\"max_tokens\": 3969");
  dir_.write("b.json", text);
  EXPECT_EQ(run({"memory", "b.json"}).exit_code, 1);
}

TEST_F(Assign, ChunksGoAllTheWay) {
  const auto ok = [this](const std::vector<std::string>& arguments) {
    const Finished done = run(arguments);
    EXPECT_EQ(done.exit_code, 0) << arguments[0] << '\n' << done.err;
    return done;
  };
  ok({"generate", "assign", "--tokens", "100k", "--limit", "60k", "--chunk-tokens", "4000",
      "--retained", "2", "--seed", "5", "-o", "c.json"});
  const auto outcome = nlohmann::json::parse(ok({"solve", "c.json", "-o", "c-plan.json"}).out);
  EXPECT_LT(outcome["gap"], 0.2);
  EXPECT_THAT(dir_.read("c-plan.json"), HasSubstr("\"token_range\": "));
  ok({"verify", "c.json", "c-plan.json"});
  ok({"run", "c.json", "c-plan.json", "--work", "0.2"});
  ok({"compare", "c.json"});
  ok({"explain", "c.json", "c-plan.json", "-t", "0.1"});
  ok({"render", "c.json", "c-plan.json", "-o", "c.svg"});
  ok({"memory", "c.json"});
  ok({"generate", "assign", "--tokens", "100k", "--limit", "60k", "--chunk-tokens", "4000",
      "--boundaries", "least_bubble", "--seed", "5", "-o", "b.json"});
  ok({"solve", "b.json", "-o", "b-plan.json"});
  ok({"verify", "b.json", "b-plan.json"});
  ok({"run", "b.json", "b-plan.json", "--work", "0.2"});
  ok({"render", "b.json", "b-plan.json", "-o", "b.svg"});
  EXPECT_EQ(run({"export", "c.json", "-o", "c.lp"}).exit_code, 2);
  EXPECT_EQ(run({"propose", "c.json"}).exit_code, 2);
  const Finished refused = run({"convert", "c.json", "c.bin", "--plan", "c-plan.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("E345"));
}

}  // namespace
}  // namespace stowage::families_assign_test
