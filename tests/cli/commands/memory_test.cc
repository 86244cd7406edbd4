// stowage memory: the peak of a plan's heaviest micro-batches against the planner's count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "instances/layout/generate/transformer_trace.h"
#include "instances/layout/load.h"
#include "instances/model/transformer.h"
#include "tests/cli/fixture.h"

namespace stowage::commands_memory_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Memory : public testing::Test {
 protected:
  Memory() {
    dir_.write("instance.json", kTinyInstance);
    solve("instance.json", "plan.json");
  }

  void solve(const std::string& instance, const std::string& plan) const {
    ASSERT_EQ(run({"solve", instance, "-o", plan, "--node-limit", "1000"}).exit_code, 0);
  }
  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }

  TempDir dir_;
};

TEST_F(Memory, EveryRankHasItsHeaviestGroup) {
  const Finished told =
      run({"memory", "instance.json", "plan.json", "--model", "gpt-7b", "--recompute", "full"});
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.err, HasSubstr("tokens per rank"));
  EXPECT_THAT(told.err, HasSubstr("\nfits  model gpt-7b"));
  const auto answer = nlohmann::json::parse(told.out);
  EXPECT_EQ(answer["format"], "stowage/memory");
  EXPECT_EQ(answer["fits"], true);
  EXPECT_EQ(answer["exit_code"], 0);
  ASSERT_FALSE(answer["groups"].empty());

  const auto plan = nlohmann::json::parse(dir_.read("plan.json"));
  std::map<int, std::int64_t> heaviest, listed;  // by rank
  for (const auto& micro_batch : plan["micro_batches"]) {
    for (const auto& group : micro_batch["groups"]) {
      const int degree = group["degree"], first = group["first_rank"];
      const std::int64_t tokens = group["tokens"];
      for (int r = first; r < first + degree; ++r) {
        heaviest[r] = std::max(heaviest[r], (tokens + degree - 1) / degree);
      }
    }
  }
  for (const auto& group : answer["groups"]) {
    const int degree = group["degree"], first = group["first_rank"];
    const std::int64_t tokens = group["tokens_per_rank"];
    for (int r = first; r < first + degree; ++r) listed[r] = std::max(listed[r], tokens);
    EXPECT_EQ(group["token_model_mib"], static_cast<double>(tokens));  // 1 MiB each
    EXPECT_EQ(group["capacity_mib"], 80);
    // The trace of that many tokens; its maximum load is an optimal peak.
    const Result<LayoutInstance> trace = trace_layout({.model = "gpt-7b",
                                                       .tokens = tokens,
                                                       .ranks = 1,
                                                       .recompute = Recompute::full,
                                                       .split = SequenceSplit::ulysses});
    ASSERT_TRUE(trace);
    EXPECT_GE(group["peak_bytes"], peak_load(*trace).load);
    EXPECT_LE(group["bound_bytes"], group["peak_bytes"]);
    EXPECT_EQ(group["fits"], true);
  }
  EXPECT_EQ(listed, heaviest);
}

TEST_F(Memory, WhatDoesNotFitIsSaid) {
  const Finished told = run({"memory", "instance.json", "plan.json", "--model", "llama-65b"});
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_THAT(told.err, HasSubstr("does not fit"));
  EXPECT_THAT(told.err, HasSubstr("remedy    solve again with activation_mib_per_token"));
  EXPECT_EQ(nlohmann::json::parse(told.out)["fits"], false);
}

// Returns the number after the text `before` in the output.
double number_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before << " is not in\n" << text;
  if (at == std::string::npos) return 0;
  return std::stod(text.substr(at + before.size()));
}

class Remedy : public Memory {
 protected:
  Remedy() {
    dir_.write("lengths.txt",
               "9000\n4000\n120000\n512\n700\n38000\n60000\n2000\n90000\n300\n15000\n7000\n");
    EXPECT_EQ(run({"convert", "lengths.txt", "mine.json", "--preset", "gpt-7b", "--devices", "64"})
                  .exit_code,
              0);
    solve("mine.json", "mine-plan.json");
  }

  Finished memory(std::vector<std::string> more) const {
    more.insert(more.begin(), {"memory", "mine.json", "mine-plan.json", "--model"});
    return run(more);
  }
};

TEST_F(Remedy, PlansMadeWithItFit) {
  const Finished told = memory({"gpt-7b"});
  ASSERT_EQ(told.exit_code, 1) << told.err;
  auto instance = nlohmann::json::parse(dir_.read("mine.json"));
  instance["model"]["activation_mib_per_token"] =
      number_after(told.err, "activation_mib_per_token ");
  dir_.write("again.json", instance.dump());
  solve("again.json", "again-plan.json");
  const Finished again = run({"memory", "again.json", "again-plan.json", "--model", "gpt-7b"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(Remedy, ARecomputationThatDoesNotFitIsNotRecommended) {
  EXPECT_THAT(memory({"gpt-7b"}).err,
              HasSubstr(", or train with --recompute selective, which fits\n"));
  EXPECT_EQ(memory({"gpt-7b", "--recompute", "selective"}).exit_code, 0);
  EXPECT_THAT(memory({"gpt-30b"}).err, HasSubstr(", or train with --recompute full, which fits\n"));
  EXPECT_EQ(memory({"gpt-30b", "--recompute", "selective"}).exit_code, 1);
  EXPECT_EQ(memory({"gpt-30b", "--recompute", "full"}).exit_code, 0);
}

TEST_F(Remedy, WithoutSearchItSaysWhatItDoesNotKnow) {
  const double exact = number_after(memory({"gpt-30b"}).err, "activation_mib_per_token ");
  const Finished told = memory({"gpt-30b", "-t", "0"});
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_LE(number_after(told.err, "activation_mib_per_token between "), exact);
  EXPECT_GT(number_after(told.err, "(no layout needs less) and "), exact);
  EXPECT_THAT(told.err, HasSubstr(", or try --recompute full\n"));
}

TEST_F(Memory, ARemedyThatLeavesSequencesOutSaysSo) {
  const Finished told = run({"memory", "instance.json", "plan.json", "--model", "llama-65b"});
  EXPECT_THAT(told.err, HasSubstr(" fit no group"));
  EXPECT_THAT(told.err, HasSubstr("; with --recompute full it does not fit either\n"));
}

TEST_F(Memory, TheModelIsThatOfTheName) {
  std::string named = kTinyInstance;
  named.replace(named.find("tiny"), 4, "gpt-7b-4gpu");
  dir_.write("named.json", named);
  solve("named.json", "named-plan.json");
  const Finished told = run({"memory", "named.json", "named-plan.json", "--recompute", "full"});
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(nlohmann::json::parse(told.out)["model"], "gpt-7b");
  const Finished nameless = run({"memory", "instance.json", "plan.json"});
  EXPECT_EQ(nameless.exit_code, 2);
  EXPECT_THAT(nameless.err, HasSubstr("--model: is needed"));
  for (const TransformerShape& shape : kTransformerShapes) {
    EXPECT_THAT(nameless.err, HasSubstr(std::string(shape.name)));
  }
}

TEST_F(Memory, LogitsAreCutIntoEqualPieces) {
  const Finished uneven =
      run({"memory", "instance.json", "plan.json", "--model", "gpt-7b", "--logit-chunks", "1000"});
  EXPECT_EQ(uneven.exit_code, 2);
  EXPECT_THAT(uneven.err, HasSubstr("--logit-chunks: must divide the tokens of a rank"));
}

TEST_F(Memory, TokensThatNoTraceTakesAreNamedInThePlan) {
  auto instance = nlohmann::json::parse(kTinyInstance);
  instance["lengths"] = {std::int64_t{1} << 34};
  instance["model"]["activation_mib_per_token"] = 1e-8;
  dir_.write("huge.json", instance.dump());
  solve("huge.json", "huge-plan.json");
  const Finished told = run({"memory", "huge.json", "huge-plan.json", "--model", "gpt-7b"});
  EXPECT_EQ(told.exit_code, 2);
  EXPECT_THAT(told.err,
              HasSubstr("huge-plan.json: E504 /micro_batches/0/groups/0/tokens: per rank "));
  EXPECT_THAT(told.err, Not(HasSubstr("--tokens")));
}

TEST_F(Memory, OtherPlansAreRefused) {
  dir_.write("buffers.64.csv", kTable);
  ASSERT_EQ(run({"convert", "buffers.64.csv", "layout.json"}).exit_code, 0);
  ASSERT_EQ(run({"solve", "layout.json", "-o", "layout-plan.json"}).exit_code, 0);
  EXPECT_EQ(run({"memory", "layout.json", "layout-plan.json"}).exit_code, 2);

  auto plan = nlohmann::json::parse(dir_.read("plan.json"));
  plan["micro_batches"][0]["groups"][0]["tokens"] = 1;
  dir_.write("wrong.json", plan.dump());
  const Finished wrong = run({"memory", "instance.json", "wrong.json", "--model", "gpt-7b"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("violation tokens at"));
}

}  // namespace
}  // namespace stowage::commands_memory_test
