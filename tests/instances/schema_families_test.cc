// The schemas of the families beside scatter: what is written is valid, and broken documents are
// refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "instances/assign/json/json.h"
#include "instances/layout/json/json.h"
#include "instances/order/json/json.h"
#include "instances/scatter/json/json.h"
#include "instances/strategy/json/json.h"
#include "instances/trainer/step.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/schema_complaints.h"

namespace stowage::schema_test {
namespace {

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

}  // namespace
}  // namespace stowage::schema_test
