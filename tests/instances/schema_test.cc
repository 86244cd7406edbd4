#include "instances/schema/schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "instances/assign/json/json.h"
#include "instances/audit/work.h"
#include "instances/layout/json/json.h"
#include "instances/order/json/json.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/presets.h"
#include "instances/scatter/trainer.h"
#include "instances/strategy/json/json.h"
#include "instances/trainer/step.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/schema_complaints.h"

namespace stowage::schema_test {
namespace {

TEST(Schema, NamesAreTheFiles) {
  for (const std::string_view name : schema_names()) {
    EXPECT_EQ(schema(name),
              file_text(kInstancesDir / "schema" / (std::string(name) + ".schema.json")));
  }
  EXPECT_EQ(schema_names(), (std::vector<std::string_view>{
                                "assign-instance", "assign-plan", "audit", "audited-work",
                                "layout-instance", "layout-plan", "order-instance", "order-plan",
                                "outcome", "partition", "scatter-instance", "scatter-plan",
                                "strategy-instance", "strategy-plan", "trainer"}));
  EXPECT_EQ(schema("scatter"), std::nullopt);
}

TEST(Schema, EveryBundledInstanceIsValid) {
  for (const char* folder : {"scatter/tiny", "scatter/real"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kInstancesDir / "data" / folder)) {
      EXPECT_EQ(complaints("scatter-instance", file_text(entry.path())), "") << entry.path();
    }
  }
  for (const char* folder : {"assign/tiny", "assign/real"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kInstancesDir / "data" / folder)) {
      EXPECT_EQ(complaints("assign-instance", file_text(entry.path())), "") << entry.path();
    }
  }
  for (const char* folder : {"layout/tiny", "layout/real"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kInstancesDir / "data" / folder)) {
      if (entry.path().extension() != ".json") continue;
      EXPECT_EQ(complaints("layout-instance", file_text(entry.path())), "") << entry.path();
    }
  }
  for (const char* folder : {"order/tiny", "order/real"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kInstancesDir / "data" / folder)) {
      EXPECT_EQ(complaints("order-instance", file_text(entry.path())), "") << entry.path();
    }
  }
}

TEST(Schema, EveryBundledStrategyIsValid) {
  for (const char* folder : {"strategy/tiny", "strategy/real"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kInstancesDir / "data" / folder)) {
      EXPECT_EQ(complaints("strategy-instance", file_text(entry.path())), "") << entry.path();
    }
  }
}

TEST(Schema, WhatIsWrittenIsValid) {
  const auto instance = read_scatter_instance(kValidInstance);
  ASSERT_TRUE(instance);
  EXPECT_EQ(complaints("scatter-instance", std::string(kValidInstance)), "");
  EXPECT_EQ(complaints("scatter-instance", write_scatter_instance(*instance)), "");
  const ScatterPlan plan = compose_plan(
      *instance, {{{.degree = 2, .sequences = {0}}, {.degree = 2, .sequences = {1, 3}}},
                  {{.degree = 1, .sequences = {2}}}});
  EXPECT_EQ(complaints("scatter-plan", write_scatter_plan(plan)), "");
  EXPECT_EQ(complaints("scatter-plan", write_scatter_plan({})), "");
  const auto preset = scatter_preset({.model = "gpt-30b", .devices = 256});
  ASSERT_TRUE(preset);
  EXPECT_EQ(complaints("scatter-instance", write_scatter_instance(*preset)), "");
}

TEST(Schema, TheOutcomeOfItsPageIsValid) {
  const std::string page = file_text(kInstancesDir / "outcomes.md");
  const std::size_t at = page.find("{\n  \"format\": \"stowage/outcome\"");
  ASSERT_NE(at, std::string::npos);
  const std::string outcome = page.substr(at, page.find("\n```", at) - at);
  EXPECT_EQ(complaints("outcome", outcome), "");
  EXPECT_EQ(complaints("outcome", with(outcome, "\"gap\": 0", "\"gap\": null")), "");
  EXPECT_NE(complaints("outcome", with(outcome, "\"optimal\"", "\"splendid\"")), "");
  EXPECT_NE(complaints("outcome", with(outcome, "\"exit_code\": 0", "\"exit_code\": 5")), "");
  EXPECT_NE(complaints("outcome", with(outcome, "\"plan\": {", "\"plan\": [], \"x\": {")), "");
  EXPECT_NE(complaints("outcome", with(outcome, "\"nodes\": 0", "\"nodes\": -1")), "");
}

TEST(Schema, BrokenInstancesAreRefusedBySchemaAndReader) {
  const std::vector<Break> breaks = {
      {"format", "stowage/instance", "stowage/plan"},
      {"version", "\"version\": 1", "\"version\": 2"},
      {"version as text", "\"version\": 1", "\"version\": \"1\""},
      {"problem", "\"scatter\"", "\"stowing\""},
      {"name", "\"four\"", "4"},
      {"no model", "\"model\"", "\"x-model\""},
      {"unknown key", "\"pad_multiple\"", "\"pad\": 1, \"pad_multiple\""},
      {"unknown key in cluster", "\"aligned\"", "\"align\": true, \"aligned\""},
      {"unknown key in cost", "\"fixed_ms\"", "\"fixed\": 1, \"fixed_ms\""},
      {"no devices", "\"devices\": 4", "\"devices\": 0"},
      {"too many devices", "\"devices\": 4", "\"devices\": 1000001"},
      {"devices as text", "\"devices\": 4", "\"devices\": \"4\""},
      {"half a device", "\"devices\": 4", "\"devices\": 4.5"},
      {"negative memory", "\"memory_mib\": 100", "\"memory_mib\": -100"},
      {"null memory", "\"memory_mib\": 100", "\"memory_mib\": null"},
      {"no degrees", "[1, 2, 4]", "[]"},
      {"repeated degrees", "[1, 2, 4]", "[1, 2, 2, 4]"},
      {"degree zero", "[1, 2, 4]", "[0, 1, 2, 4]"},
      {"aligned as number", "true", "1"},
      {"no activations", "\"activation_mib_per_token\": 1", "\"activation_mib_per_token\": 0"},
      {"negative memory of a sequence", "\"activation_mib_per_token\": 1",
       "\"activation_mib_per_token\": 1, \"sequence_mib\": -1"},
      {"chunks of no logits", "\"activation_mib_per_token\": 1",
       "\"activation_mib_per_token\": 1, \"logits_chunk_tokens\": 8"},
      {"negative cost", "0.001", "-0.001"},
      {"huge cost", "0.001", "1e17"},
      {"no bandwidth", "\"2\": 8", "\"2\": 0"},
      {"bandwidth as text", "\"2\": 8", "\"2\": \"8\""},
      {"degree key", "\"2\": 8", "\"two\": 8"},
      {"padded degree key", "\"2\": 8", "\"02\": 8"},
      {"no exchange volume", "\"mib_per_token\": 1, ", ""},
      {"no padding", "\"pad_multiple\": 16", "\"pad_multiple\": 0"},
      {"zero length", "80, 60", "0, 60"},
      {"negative length", "80, 60", "-80, 60"},
      {"length beyond 2^53", "80, 60", "9007199254740994, 60"},
      {"half a token", "80, 60", "80.5, 60"},
      {"lengths as text", "[100, 80, 60, 20]", "\"lengths.txt\""},
      {"list without file", "[100, 80, 60, 20]", "{\"first\": 1}"},
      {"absolute list", "[100, 80, 60, 20]", "{\"file\": \"/lengths.txt\"}"},
      {"negative count", "[100, 80, 60, 20]", "{\"file\": \"l.txt\", \"count\": -1}"},
  };
  for (const Break& b : breaks) {
    const std::string text = with(kValidInstance, b.from, b.to);
    EXPECT_NE(complaints("scatter-instance", text), "") << b.name;
    EXPECT_FALSE(read_scatter_instance(text)) << b.name;
  }
}

TEST(Schema, BrokenPlansAreRefusedBySchemaAndReader) {
  const std::vector<Break> breaks = {
      {"format", "stowage/plan", "stowage/instance"},
      {"no hash", "\"instance_hash\"", "\"x-hash\""},
      {"objective as text", "\"objective_ms\": 40.5", "\"objective_ms\": \"40.5\""},
      {"null bound", "\"bound_ms\": 39", "\"bound_ms\": null"},
      {"unknown key", "\"degree\"", "\"sp\": 1, \"degree\""},
      {"no groups", "\"groups\"", "\"x-groups\""},
      {"negative rank", "\"first_rank\": 0", "\"first_rank\": -1"},
      {"negative id", "[0, 2]", "[0, -2]"},
      {"half an id", "[0, 2]", "[0, 2.5]"},
      {"no cu_seqlens", "\"cu_seqlens\"", "\"x-cu_seqlens\""},
      {"tokens beyond 2^53", "\"tokens\": 176", "\"tokens\": 9007199254740994"},
      {"micro-batches as object", "[{\"makespan_ms\"", "[[{\"makespan_ms\""},
  };
  for (const Break& b : breaks) {
    const std::string text = with(kValidPlan, b.from, b.to);
    EXPECT_NE(complaints("scatter-plan", text), "") << b.name;
    EXPECT_FALSE(read_scatter_plan(text)) << b.name;
  }
}

TEST(Schema, WrittenTrainerFilesAreValidAndBrokenOnesAreNot) {
  const auto instance = read_scatter_instance(kValidInstance);
  ASSERT_TRUE(instance);
  const ScatterPlan plan = compose_plan(*instance, {{{.degree = 4, .sequences = {0, 1, 2, 3}}}});
  const auto step = trainer_step(*instance, plan);
  ASSERT_TRUE(step);
  const std::string text = write_trainer_json(*step);
  EXPECT_EQ(complaints("trainer", text), "");
  const std::vector<Break> breaks = {
      {"format", "stowage/trainer", "stowage/plan"},
      {"problem", "\"scatter\"", "\"layout\""},
      {"no ranks", "\"ranks\": 4", "\"ranks\": 0"},
      {"unknown key", "\"degree\"", "\"sp\": 1, \"degree\""},
      {"id beyond int32", "[0, 1, 2, 3]", "[0, 1, 2, 3000000000]"},
      {"no schedule", "\"schedule\"", "\"x-schedule\""},
  };
  for (const Break& b : breaks) {
    EXPECT_NE(complaints("trainer", with(text, b.from, b.to)), "") << b.name;
    EXPECT_FALSE(read_trainer_json(with(text, b.from, b.to))) << b.name;
  }
}

TEST(Schema, AuditedWorkIsReadAndValid) {
  for (const char* text : {
           R"({"lengths": [5, 9], "rows": [[[0], [1]], []]})",
           R"({"lengths": [5, 9], "partition": [[0, 1], []], "x-by": "verl"})",
           R"({"lengths": [5, 9], "batch_rebalance": [[[0, 1]]]})",
           R"({"lengths": [5, 9], "sample_id_groups": [[[0, 1], [0, 1]]]})",
       }) {
    const auto work = read_trainer_work(text);
    EXPECT_TRUE(work && check(*work).empty()) << text;
    EXPECT_EQ(complaints("audited-work", text), "") << text;
  }
}

TEST(Schema, BrokenWorkIsRefusedBySchemaAndReader) {
  const std::string valid = R"({"lengths": [5, 9], "rows": [[[0], [1]]]})";
  const std::vector<Break> breaks = {
      {"no lengths", "\"lengths\"", "\"x-lengths\""},
      {"no work", "\"rows\"", "\"x-rows\""},
      {"two kinds of work", "\"rows\"", "\"partition\": [[0, 1]], \"rows\""},
      {"unknown key", "\"rows\"", "\"ranks\": 1, \"rows\""},
      {"no rank", "[[[0], [1]]]", "[]"},
      {"ids of ranks", "\"rows\"", "\"partition\""},
      {"rows without ranks", "[[[0], [1]]]", "[[0], [1]]"},
      {"negative id", "[0]", "[-1]"},
      {"half an id", "[0]", "[0.5]"},
      {"zero length", "[5, 9]", "[0, 9]"},
      {"length as text", "[5, 9]", "[\"5\", 9]"},
  };
  for (const Break& b : breaks) {
    const std::string text = with(valid, b.from, b.to);
    EXPECT_NE(complaints("audited-work", text), "") << b.name;
    const auto work = read_trainer_work(text);
    EXPECT_FALSE(work && check(*work).empty()) << b.name;
  }
}

}  // namespace
}  // namespace stowage::schema_test
