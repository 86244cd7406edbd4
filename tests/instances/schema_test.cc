// Longer than 300 lines: each document is compared with its schema.
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
#include "instances/scatter/generate/generate.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/trainer.h"
#include "instances/strategy/json/json.h"
#include "instances/trainer/step.h"
#include "tests/instances/json_fixture.h"

namespace stowage::schema_test {
namespace {

// Returns the violations of a schema by a document; empty if it is valid.
std::string complaints(std::string_view name, const std::string& document) {
  const auto text = schema(name);
  EXPECT_TRUE(text) << name;
  const nlohmann::json schema_json = nlohmann::json::parse(*text);
  valijson::Schema compiled;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json),
                                          compiled);
  const nlohmann::json target = nlohmann::json::parse(document, nullptr, false);
  if (target.is_discarded()) return "not JSON";
  valijson::ValidationResults results;
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  if (validator.validate(compiled, valijson::adapters::NlohmannJsonAdapter(target), &results)) {
    return "";
  }
  std::string all;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const std::string& step : error.context) all += step;
    all += ": " + error.description + '\n';
  }
  return all;
}

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

struct Break {
  const char* name;
  const char* from;
  const char* to;
};

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

TEST(Schema, WrittenAssignDocumentsAreValid) {
  const auto instance = read_assign_instance(kValidAssign);
  const auto plan = read_assign_plan(kValidAssignPlan);
  ASSERT_TRUE(instance);
  ASSERT_TRUE(plan);
  EXPECT_EQ(complaints("assign-instance", std::string(kValidAssign)), "");
  EXPECT_EQ(complaints("assign-instance", write_assign_instance(*instance)), "");
  EXPECT_EQ(complaints("assign-plan", write_assign_plan(*plan)), "");
  EXPECT_EQ(complaints("assign-plan", write_assign_plan({})), "");
}

TEST(Schema, BrokenAssignDocumentsAreRefusedBySchemaAndReader) {
  const std::vector<Break> instances = {
      {"problem", "\"assign\"", "\"scatter\""},
      {"no devices", "\"devices\"", "\"x-devices\""},
      {"unknown key", "\"devices\"", "\"gpus\": 8, \"devices\""},
      {"unknown key of a scheme", "\"tp\": 2", "\"sp\": 1, \"tp\": 2"},
      {"no cap", "\"max_tokens\"", "\"x-max_tokens\""},
      {"too many stages", "\"pp\": 2", "\"pp\": 1025"},
      {"half a stage", "\"pp\": 2", "\"pp\": 2.5"},
      {"negative cost", "0.001", "-0.001"},
      {"empty strategy", "{\"1x1\": 8}", "{}"},
      {"negative replicas", "\"1x1\": 8", "\"1x1\": -8"},
      {"constraint as text", "\"equal_rows\": true", "\"equal_rows\": \"yes\""},
      {"unknown constraint", "\"equal_rows\"", "\"same_rows\""},
      {"no multiple", "\"rows_multiple_of\": 2", "\"rows_multiple_of\": 0"},
      {"zero length", "[100, 50", "[0, 50"},
      {"absolute list", "[100, 50, 30, 20, 10]", "{\"file\": \"/lengths.txt\"}"},
  };
  for (const Break& b : instances) {
    const std::string text = with(kValidAssign, b.from, b.to);
    EXPECT_NE(complaints("assign-instance", text), "") << b.name;
    EXPECT_FALSE(read_assign_instance(text)) << b.name;
  }
  const std::vector<Break> plans = {
      {"format", "stowage/plan", "stowage/outcome"},
      {"no hash", "\"instance_hash\"", "\"x-hash\""},
      {"no strategy", "\"strategy\"", "\"x-strategy\""},
      {"null simulation", "\"simulated_1f1b_ms\": 41.5", "\"simulated_1f1b_ms\": null"},
      {"unknown key of a row", "\"tokens\"", "\"degree\": 1, \"tokens\""},
      {"negative id", "[0, 4]", "[0, -4]"},
      {"no rows", "\"rows\": []", "\"x-rows\": []"},
      {"scheme as number", "\"1x1\"", "11"},
  };
  for (const Break& b : plans) {
    const std::string text = with(kValidAssignPlan, b.from, b.to);
    EXPECT_NE(complaints("assign-plan", text), "") << b.name;
    EXPECT_FALSE(read_assign_plan(text)) << b.name;
  }
}

TEST(Schema, WrittenLayoutsAreValid) {
  const auto instance = read_layout_instance(kValidLayout);
  const auto plan = read_layout_plan(kValidLayoutPlan);
  ASSERT_TRUE(instance);
  ASSERT_TRUE(plan);
  EXPECT_EQ(complaints("layout-instance", std::string(kValidLayout)), "");
  EXPECT_EQ(complaints("layout-instance", write_layout_instance(*instance)), "");
  EXPECT_EQ(complaints("layout-instance", write_layout_instance({})), "");
  EXPECT_EQ(complaints("layout-plan", write_layout_plan(*plan)), "");
  EXPECT_EQ(complaints("layout-plan", write_layout_plan({})), "");
}

TEST(Schema, BrokenLayoutsAreRefusedBySchemaAndReader) {
  const std::vector<Break> instances = {
      {"problem", "\"layout\"", "\"scatter\""},
      {"no buffers", "\"buffers\"", "\"x-buffers\""},
      {"unknown key", "\"capacity_bytes\"", "\"capacity\": 1, \"capacity_bytes\""},
      {"unknown key of a buffer", "\"id\": \"a\"", "\"name\": \"a\""},
      {"id as number", "\"id\": \"a\"", "\"id\": 1"},
      {"no size", "\"size_bytes\"", "\"x-size\""},
      {"negative size", "\"size_bytes\": 7", "\"size_bytes\": -7"},
      {"half a byte", "\"size_bytes\": 7", "\"size_bytes\": 7.5"},
      {"size beyond 2^53", "\"size_bytes\": 7", "\"size_bytes\": 9007199254740994"},
      {"negative step", "\"lower\": 0", "\"lower\": -1"},
      {"alignment zero", "\"alignment\": 32", "\"alignment\": 0"},
      {"null pin", "512", "null"},
      {"gap of one step", "[5, 9]", "[5]"},
      {"gaps as text", "[[5, 9], [12, 13]]", "\"5-9\""},
      {"block without occurrences", "\"occurrences\"", "\"x-occurrences\""},
      {"negative index", "[2, 3]", "[2, -3]"},
  };
  for (const Break& b : instances) {
    const std::string text = with(kValidLayout, b.from, b.to);
    EXPECT_NE(complaints("layout-instance", text), "") << b.name;
    EXPECT_FALSE(read_layout_instance(text)) << b.name;
  }
  const std::vector<Break> plans = {
      {"format", "stowage/plan", "stowage/outcome"},
      {"no hash", "\"instance_hash\"", "\"x-hash\""},
      {"no peak", "\"peak_bytes\"", "\"x-peak\""},
      {"null bound", "\"bound_bytes\": 519", "\"bound_bytes\": null"},
      {"bound name as number", "\"pins\"", "1"},
      {"offset as text", "[0, 128", "[\"0\", 128"},
      {"negative offset", "[0, 128", "[0, -128"},
      {"unknown key", "\"offsets\"", "\"offset\": 1, \"offsets\""},
  };
  for (const Break& b : plans) {
    const std::string text = with(kValidLayoutPlan, b.from, b.to);
    EXPECT_NE(complaints("layout-plan", text), "") << b.name;
    EXPECT_FALSE(read_layout_plan(text)) << b.name;
  }
}

TEST(Schema, WrittenOrdersAreValid) {
  const auto instance = read_order_instance(kValidOrder);
  ASSERT_TRUE(instance);
  EXPECT_EQ(complaints("order-instance", std::string(kValidOrder)), "");
  EXPECT_EQ(complaints("order-instance", write_order_instance(*instance)), "");
  EXPECT_EQ(complaints("order-instance", write_order_instance({})), "");
  OrderInstance again = *instance;
  again.operators[0].in_place = {0};
  EXPECT_EQ(complaints("order-instance", write_order_instance(again)), "");
  again.operators[0].in_place.clear();
  again.objective = OrderObjective::time;
  again.operators[0].ms = 0.5;
  again.operators[0].recompute = true;
  EXPECT_EQ(complaints("order-instance", write_order_instance(again)), "");
  again.host = HostLink{.out_bytes_per_ms = 0.5, .in_bytes_per_ms = 2, .capacity = 0};
  EXPECT_EQ(complaints("order-instance", write_order_instance(again)), "");
  EXPECT_EQ(complaints("order-plan",
                       write_order_plan({.transfers = {{.tensor = 1, .out = 0}, {.tensor = 2}}})),
            "");
  EXPECT_EQ(complaints("order-plan", write_order_plan({.in_place = {{.tensor = 1, .on = 0}}})), "");
  EXPECT_EQ(complaints("order-plan", write_order_plan({.time_ms = 1.5, .bound_ms = 1})), "");
  EXPECT_EQ(complaints("order-plan", std::string(kValidOrderPlan)), "");
  EXPECT_EQ(complaints("order-plan", write_order_plan({})), "");
}

TEST(Schema, BrokenOrdersAreRefusedBySchemaAndReader) {
  const std::vector<Break> instances = {
      {"problem", "\"order\"", "\"layout\""},
      {"no tensors", "\"tensors\"", "\"x-tensors\""},
      {"no operators", "\"operators\"", "\"x-operators\""},
      {"unknown key", "\"capacity_bytes\"", "\"capacity\": 1, \"capacity_bytes\""},
      {"unknown key of a tensor", "\"input\"", "\"inputs\""},
      {"unknown key of an operator", "\"workspace_bytes\"", "\"scratch\""},
      {"no size", "\"size_bytes\"", "\"x-size\""},
      {"negative size", "\"size_bytes\": 200", "\"size_bytes\": -200"},
      {"half a byte", "\"size_bytes\": 200", "\"size_bytes\": 200.5"},
      {"size beyond 2^53", "\"size_bytes\": 200", "\"size_bytes\": 9007199254740994"},
      {"input as number", "\"input\": true", "\"input\": 1"},
      {"alignment zero", "\"alignment\": 64", "\"alignment\": 0"},
      {"reads as text", "[\"x\", \"w\"]", "\"x\""},
      {"reads by index", "[\"x\", \"w\"]", "[0]"},
  };
  for (const Break& b : instances) {
    const std::string text = with(kValidOrder, b.from, b.to);
    EXPECT_NE(complaints("order-instance", text), "") << b.name;
    EXPECT_FALSE(read_order_instance(text)) << b.name;
  }
  const std::vector<Break> plans = {
      {"format", "stowage/plan", "stowage/outcome"},
      {"no hash", "\"instance_hash\"", "\"x-hash\""},
      {"no peak", "\"peak_bytes\"", "\"x-peak\""},
      {"null bound", "\"bound_bytes\": 448", "\"bound_bytes\": null"},
      {"negative operator", "[0, 1, 2]", "[0, -1, 2]"},
      {"operator as text", "[0, 1, 2]", "[\"f\"]"},
      {"unknown key", "\"order\": [", "\"orders\": ["},
  };
  for (const Break& b : plans) {
    const std::string text = with(kValidOrderPlan, b.from, b.to);
    EXPECT_NE(complaints("order-plan", text), "") << b.name;
    EXPECT_FALSE(read_order_plan(text)) << b.name;
  }
}

TEST(Schema, WrittenStrategiesAreValid) {
  const auto instance = read_strategy_instance(kValidStrategy);
  ASSERT_TRUE(instance) << to_string(instance.errors()[0]);
  const auto plan = read_strategy_plan(kValidStrategyPlan);
  ASSERT_TRUE(plan) << to_string(plan.errors()[0]);
  EXPECT_EQ(complaints("strategy-instance", std::string(kValidStrategy)), "");
  EXPECT_EQ(complaints("strategy-instance", write_strategy_instance(*instance)), "");
  EXPECT_EQ(complaints("strategy-plan", std::string(kValidStrategyPlan)), "");
  EXPECT_EQ(complaints("strategy-plan", write_strategy_plan(*plan)), "");
  EXPECT_EQ(complaints("strategy-plan", write_strategy_plan({})), "");
  // A model by its name.
  const std::string text = with(kValidStrategy, "\"ep\": [2, 1], ", "");
  const std::size_t begin = text.find("{\"hidden\"");
  const std::size_t end = text.find("\"cluster\"");
  for (const char* name : {"llama-7b", "gpt-30b", "llama-8b"}) {
    const std::string named = text.substr(0, begin) + '"' + name + "\", " + text.substr(end);
    EXPECT_EQ(complaints("strategy-instance", named).empty(),
              static_cast<bool>(read_strategy_instance(named)))
        << name;
  }
}

TEST(Schema, BrokenStrategiesAreRefusedBySchemaAndReader) {
  const std::vector<Break> instances = {
      {"problem", "\"strategy\"", "\"layout\""},
      {"no model", "\"model\"", "\"x-model\""},
      {"no blocks", "\"blocks\"", "\"x-blocks\""},
      {"no heads", "\"heads\"", "\"x-heads\""},
      {"no vocabulary", "\"vocabulary\"", "\"x-vocabulary\""},
      {"unknown key of the model", "\"kv_width\"", "\"kv\""},
      {"unknown key of a block", "\"gated\"", "\"gate\""},
      {"unknown key of the cluster", "\"nodes\": 2", "\"nodes\": 2, \"racks\": 1"},
      {"unknown key of the cost", "\"overlap\"", "\"overlaps\""},
      {"unknown option", "\"cp\"", "\"sp\""},
      {"no expert", "\"experts\": {\"count\": 4", "\"experts\": {\"count\": 0"},
      {"experts without top_k", "\"top_k\"", "\"x-top_k\""},
      {"unknown key of experts", "\"ffn\": 256", "\"ffn\": 256, \"shared\": 1"},
      {"ranks for experts", "\"ep\": [2, 1]", "\"ep\": []"},
      {"no layer", "\"count\": 2", "\"count\": 0"},
      {"negative width", "\"ffn\": 2048", "\"ffn\": -1"},
      {"no bandwidth", "\"across\": 24", "\"across\": 0"},
      {"no rate", "\"linear_tflops\": 193", "\"linear_tflops\": 0"},
      {"hides too much", "\"overlap\": 0.5", "\"overlap\": 1.5"},
      {"level of ZeRO", "\"zero\": [0, 3]", "\"zero\": [4]"},
      {"recomputation", "\"full\"", "\"some\""},
      {"stages", "\"pp\": [1, 2]", "\"pp\": [0]"},
      {"no value", "\"cp\": [1]", "\"cp\": []"},
      {"no length", "[1000, 500, 250, 250]", "[]"},
      {"tied as number", "\"tied\": true", "\"tied\": 1"},
  };
  for (const Break& b : instances) {
    const std::string text = with(kValidStrategy, b.from, b.to);
    EXPECT_NE(complaints("strategy-instance", text), "") << b.name;
    EXPECT_FALSE(read_strategy_instance(text)) << b.name;
  }
  const std::vector<Break> plans = {
      {"format", "stowage/plan", "stowage/outcome"},
      {"no hash", "\"instance_hash\"", "\"x-hash\""},
      {"no objective", "\"objective_ms\"", "\"x-ms\""},
      {"negative bound", "\"bound_ms\": 12", "\"bound_ms\": -12"},
      {"no stages", "\"stages\"", "\"x-stages\""},
      {"no degree", "\"tp\": 2", "\"tp\": 0"},
      {"no layer", "\"layers\": 4", "\"layers\": 0"},
      {"level of ZeRO", "\"zero\": 3", "\"zero\": 7"},
      {"recomputation", "\"full\"", "\"some\""},
      {"time as text", "\"time_ms\": 3", "\"time_ms\": \"3\""},
      {"unknown key", "\"dp\": 2", "\"dp\": 2, \"rp\": 1"},
  };
  for (const Break& b : plans) {
    const std::string text = with(kValidStrategyPlan, b.from, b.to);
    EXPECT_NE(complaints("strategy-plan", text), "") << b.name;
    EXPECT_FALSE(read_strategy_plan(text)) << b.name;
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
