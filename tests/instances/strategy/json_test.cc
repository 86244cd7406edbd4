// Strategy documents are read back unchanged, name their model, and have a hash of their meaning.
#include "instances/strategy/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "instances/check.h"
#include "instances/lengths/list.h"
#include "instances/model/transformer.h"
#include "instances/strategy/generate/from_shape.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/planning_table.h"
#include "tests/instances/json_fixture.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_json_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(StrategyJson, ReadsEveryKey) {
  const auto read = read_strategy_instance(kValidStrategy);
  ASSERT_TRUE(read) << to_string(read.errors()[0]);
  using Recompute = StrategyRecompute;
  const StrategyInstance expected{
      .name = "small",
      .model = {.hidden = 512,
                .heads = 8,
                .kv_width = 128,
                .vocabulary = 1000,
                .tied = true,
                .causal = false,
                .flash_attention = false,
                .sequence_parallel = false,
                .blocks = {{.name = "first", .count = 2, .ffn = 2048, .gated = false},
                           {.count = 4, .ffn = 1024, .experts = {{4, 2, 256}}}}},
      .cluster = {.nodes = 2, .devices_per_node = 4, .memory_mib = 1000.5},
      .cost = {.linear_tflops = 193,
               .attention_tflops = 140,
               .half_width = 64,
               .overlap = 0.5,
               .measured = {{0, 2, 1, Recompute::full, {100, 1000}, {0.5, 4}}}},
      .options = {.pp = {1, 2},
                  .v = {1, 3},
                  .tp = {2, 1},
                  .cp = {1},
                  .cp_exchange = {StrategyExchange::ring, StrategyExchange::all_to_all},
                  .ep = {2, 1},
                  .zero = {0, 3},
                  .shard = {0, 2},
                  .recompute = {Recompute::none, Recompute::full},
                  .logit_chunks = {4},
                  .stream_chunks = {2, 1},
                  .micro_batches = {1, 2}},
      .lengths = {1000, 500, 250, 250}};
  EXPECT_EQ(*read, expected);
  const auto plan = read_strategy_plan(kValidStrategyPlan);
  ASSERT_TRUE(plan) << to_string(plan.errors()[0]);
  EXPECT_EQ(plan->stages[1].recompute, Recompute::full);
  EXPECT_EQ(plan->stages[1].stream_chunks, 2);
  EXPECT_EQ(plan->ep, 2);
  EXPECT_EQ(plan->shard, 2);
  EXPECT_EQ(plan->cp_exchange, StrategyExchange::ring);
  EXPECT_EQ(*read_strategy_plan(write_strategy_plan(*plan)), *plan);
}

TEST(StrategyJson, WhatIsWrittenIsReadBack) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const StrategyInstance wanted =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed) : tiny_experts(seed), seed);
    const auto read = read_strategy_instance(write_strategy_instance(wanted));
    ASSERT_TRUE(read) << seed << to_string(read.errors()[0]);
    EXPECT_EQ(*read, wanted) << seed;
    EXPECT_EQ(instance_hash(*read), instance_hash(wanted));
    EXPECT_TRUE(is_well_formed(wanted)) << seed;
  }
}

TEST(StrategyJson, AModelByItsNameIsItsNumbers) {
  const std::string text = with(kValidStrategy, "\"ep\": [2, 1], ", "");
  const std::size_t begin = text.find("{\"hidden\"");
  const std::size_t end = text.find("\"cluster\"");
  const auto named = [&](const std::string& name) {
    return read_strategy_instance(text.substr(0, begin) + '"' + name + "\", " + text.substr(end));
  };
  for (const TransformerShape& shape : kTransformerShapes) {
    const auto read = named(std::string(shape.name));
    ASSERT_TRUE(read) << shape.name;
    EXPECT_EQ(read->model, model_of(shape));
  }
  const auto unknown = named("llama-8b");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(to_string(unknown.errors()[0]), HasSubstr("E501 /model"));
}

// Names, the order of options and repetitions have no meaning; every number has one.
TEST(StrategyJson, TheHashIsOfWhatIsMeant) {
  const StrategyInstance wanted = *read_strategy_instance(kValidStrategy);
  const std::string hash = instance_hash(wanted);
  StrategyInstance same = wanted;
  same.name = "other";
  same.model.blocks[0].name = "other";
  std::reverse(same.options.tp.begin(), same.options.tp.end());
  same.options.zero.push_back(0);
  EXPECT_EQ(instance_hash(same), hash);
  const auto differs = [&](auto change) {
    StrategyInstance other = wanted;
    change(other);
    EXPECT_NE(instance_hash(other), hash);
  };
  differs([](StrategyInstance& i) { i.model.hidden = 513; });
  differs([](StrategyInstance& i) { i.model.kv_width.reset(); });
  differs([](StrategyInstance& i) { i.model.tied = false; });
  differs([](StrategyInstance& i) { i.model.causal = true; });
  differs([](StrategyInstance& i) { i.model.blocks[1].count = 5; });
  differs([](StrategyInstance& i) { i.model.blocks[0].gated = true; });
  differs([](StrategyInstance& i) { i.model.blocks[1].experts->count = 6; });
  differs([](StrategyInstance& i) { i.model.blocks[1].experts->top_k = 1; });
  differs([](StrategyInstance& i) { i.model.blocks[1].experts->ffn = 255; });
  differs([](StrategyInstance& i) { i.model.blocks[1].experts.reset(); });
  differs([](StrategyInstance& i) { i.options.ep = {2}; });
  differs([](StrategyInstance& i) { i.cluster.memory_mib = 1; });
  differs([](StrategyInstance& i) { i.cluster.mib_per_ms.across = 1; });
  differs([](StrategyInstance& i) { i.cost.overlap = 0; });
  differs([](StrategyInstance& i) { i.options.pp = {1}; });
  differs([](StrategyInstance& i) { i.options.recompute.pop_back(); });
  differs([](StrategyInstance& i) { i.cost.measured.clear(); });
  differs([](StrategyInstance& i) { i.cost.measured[0].block = 1; });
  differs([](StrategyInstance& i) { i.cost.measured[0].tokens[0] = 99; });
  differs([](StrategyInstance& i) { i.cost.measured[0].ms[1] = 5; });
  differs([](StrategyInstance& i) { i.options.shard = {0}; });
  differs([](StrategyInstance& i) { i.options.cp_exchange.pop_back(); });
  differs([](StrategyInstance& i) { i.options.cp_exchange = {StrategyExchange::all_to_all}; });
  differs([](StrategyInstance& i) { i.options.stream_chunks = {1}; });
  differs([](StrategyInstance& i) { i.options.stream_chunks = {2}; });
  differs([](StrategyInstance& i) { i.options.micro_batches.clear(); });
  differs([](StrategyInstance& i) { i.lengths[0] = 999; });
  differs([](StrategyInstance& i) { i.model.query_width = 100; });
  differs([](StrategyInstance& i) { i.cost.detail.emplace(); });
}

TEST(StrategyJson, EveryNumberOfTheDetailIsReadWrittenAndHashed) {
  StrategyInstance wanted = *read_strategy_instance(kValidStrategy);
  wanted.cost.detail = StrategyDetail{.memory_mib_per_ms = 1000};
  wanted.model.query_width = 640;
  ASSERT_EQ(*read_strategy_instance(write_strategy_instance(wanted)), wanted);
  std::set<std::string> hashes = {instance_hash(wanted)};
  for (const auto member :
       {&StrategyDetail::memory_mib_per_ms, &StrategyDetail::pass_bytes, &StrategyDetail::pass_ms,
        &StrategyDetail::message_ms, &StrategyDetail::square_bytes,
        &StrategyDetail::expert_slowdown, &StrategyDetail::update_bytes, &StrategyDetail::update_ms,
        &StrategyDetail::activation_factor, &StrategyDetail::fixed_mib}) {
    StrategyInstance other = wanted;
    (*other.cost.detail).*member += 1;
    EXPECT_EQ(*read_strategy_instance(write_strategy_instance(other)), other);
    hashes.insert(instance_hash(other));
    (*other.cost.detail).*member = -1;
    EXPECT_FALSE(is_well_formed(other));
  }
  wanted.cost.detail->gradient_bytes = 2;
  EXPECT_EQ(*read_strategy_instance(write_strategy_instance(wanted)), wanted);
  hashes.insert(instance_hash(wanted));
  wanted.cost.detail->step_overlap = wanted.cost.overlap;
  EXPECT_EQ(*read_strategy_instance(write_strategy_instance(wanted)), wanted);
  hashes.insert(instance_hash(wanted));
  EXPECT_EQ(hashes.size(), 13U);
  wanted.cost.detail->step_overlap = 1.5;
  EXPECT_THAT(to_string(check(Instance(wanted))[0]), HasSubstr("/cost/detail/step_overlap"));
  wanted.cost.detail->step_overlap.reset();
  wanted.cost.detail->gradient_bytes = 9;
  EXPECT_THAT(to_string(check(Instance(wanted))[0]), HasSubstr("/cost/detail/gradient_bytes"));
}

// Instances without experts, stream chunks or measured costs keep the hash of older versions.
TEST(StrategyJson, TheHashOfDenseModelsStays) {
  StrategyInstance dense = *read_strategy_instance(kValidStrategy);
  dense.model.blocks[1].experts.reset();
  dense.options.ep = {1};
  dense.options.shard = {0};
  dense.options.cp_exchange = {StrategyExchange::all_to_all};
  dense.options.stream_chunks = {1};
  dense.cost.measured.clear();
  EXPECT_EQ(instance_hash(dense), "fnv1a64:38bdaebae0152438");
  // A single expert is a part for every token.
  StrategyInstance one = dense;
  one.model.blocks[1].experts = {1, 1, 600};
  one.model.blocks[1].ffn -= 600;
  EXPECT_EQ(instance_hash(one), instance_hash(dense));
}

// An instance built by a program is checked like a document.
TEST(StrategyJson, InstancesInMemoryAreChecked) {
  const StrategyInstance wanted = *read_strategy_instance(kValidStrategy);
  EXPECT_THAT(check(Instance(wanted)), IsEmpty());
  const auto error_of = [&](auto change) {
    StrategyInstance other = wanted;
    change(other);
    EXPECT_FALSE(is_well_formed(other));
    const std::vector<InputError> errors = check(Instance(other));
    return errors.empty() ? "" : to_string(errors[0]);
  };
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.lengths.clear(); }), HasSubstr("E381 /lengths"));
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.lengths[1] = 0; }), HasSubstr("/lengths/1"));
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.model.blocks.clear(); }),
              HasSubstr("E381 /model/blocks"));
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.options.tp.assign(33, 1); }),
              HasSubstr("E108 /options/tp"));
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.model.blocks[1].experts->top_k = 5; }),
              HasSubstr("E383 /model/blocks/1/experts/top_k"));
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.model.blocks[1].experts.reset(); }),
              HasSubstr("E384 /options/ep"));
  EXPECT_THAT(error_of([](StrategyInstance& i) {
                i.cost.measured.assign(1001, i.cost.measured[0]);
                for (std::size_t k = 0; k < 1001; ++k) {
                  i.cost.measured[k].tp = 1 + static_cast<std::int64_t>(k);
                }
              }),
              HasSubstr("E108 /cost/measured"));
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.cost.measured.push_back(i.cost.measured[0]); }),
              HasSubstr("E385 /cost/measured/1: must be the only one"));
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.options.cp_exchange.clear(); }),
              HasSubstr("E381 /options/cp_exchange"));
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.options.shard.clear(); }),
              HasSubstr("E381 /options/shard"));
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.options.stream_chunks.clear(); }),
              HasSubstr("E381 /options/stream_chunks"));
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.options.ep.clear(); }),
              HasSubstr("E381 /options/ep"));
  EXPECT_THAT(error_of([](StrategyInstance& i) { i.cluster.nodes = 999'999; }),
              HasSubstr("E382 /cluster"));
}

TEST(StrategyJson, GeneratedInstancesAreSound) {
  for (const TransformerShape& shape : kTransformerShapes) {
    const auto made = generate_strategy({.model = std::string(shape.name)}, {8192, 8192});
    ASSERT_TRUE(made);
    EXPECT_TRUE(is_well_formed(*made));
    EXPECT_EQ(made->options.ep.size() > 1, shape.experts > 0) << shape.name;
    EXPECT_EQ(made->name, std::string(shape.name) + "-64gpu-2seq");
  }
  EXPECT_EQ(generate_strategy({.model = "bert"}, {1}).errors()[0].code, "E501");
  EXPECT_EQ(generate_strategy({.nodes = 0}, {1}).errors()[0].code, "E504");
  EXPECT_EQ(generate_strategy({.most_stream_chunks = 0}, {1}).errors()[0].code, "E504");
  EXPECT_EQ(generate_strategy({.devices_per_node = 1025}, {1}).errors()[0].code, "E504");
  EXPECT_EQ(generate_strategy({.devices_per_node = 72}, {1})->cluster.devices(), 8 * 72);
  EXPECT_EQ(generate_strategy({.shard = {}}, {1}).errors()[0].pointer, "/shard");
  EXPECT_EQ(generate_strategy({.shard = {-1}}, {1}).errors()[0].pointer, "/shard");
  EXPECT_EQ(generate_strategy({.shard = {0, 8}}, {1})->options.shard,
            (std::vector<std::int64_t>{0, 8}));
  EXPECT_EQ(generate_strategy({.most_stream_chunks = 8}, {1})->options.stream_chunks,
            (std::vector<std::int64_t>{1, 2, 4, 8}));
  EXPECT_EQ(generate_strategy({}, {}).errors()[0].code, "E504");
  // The generated document can be read again: no cluster has more than a million devices.
  const auto large = generate_strategy({.nodes = 15'626, .devices_per_node = 64}, {1});
  EXPECT_EQ(to_string(large.errors()[0]),
            "E504 /nodes: must be at most 15625 with 64 devices a node, is 15626");
  EXPECT_TRUE(generate_strategy({.nodes = 15'625, .devices_per_node = 64}, {1}));
}

// Its parameters are those that the table counts, without embedding and head.
TEST(StrategyJson, APublishedModelWithExperts) {
  const auto made = generate_strategy({.model = "olmoe-1b-7b"}, std::vector<Tokens>(64, 4096));
  ASSERT_TRUE(made);
  const StrategyBlock expected{
      .name = "experts", .count = 16, .ffn = 0, .experts = {{64, 8, 1024}}};
  EXPECT_EQ(made->model.blocks, std::vector<StrategyBlock>{expected});
  EXPECT_EQ(made->options.ep, (std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64}));
  const StrategyTable table(*made);
  const TransformerShape& shape = *transformer_shape("olmoe-1b-7b");
  EXPECT_EQ(table.runs().front().layer.shared + table.runs().front().layer.experts,
            static_cast<double>(layer_parameters(shape)));
  EXPECT_EQ(table.runs().front().layer.active, static_cast<double>(active_layer_parameters(shape)));
  EXPECT_EQ(generate_strategy({.model = "mixtral-8x7b", .nodes = 1, .devices_per_node = 4}, {1})
                ->options.ep,
            (std::vector<std::int64_t>{1, 2, 4}));
}

TEST(StrategyJson, AMachineSaysRatesBandwidthsAndMemory) {
  const auto second = generate_strategy({.model = "llama3-8b", .machine = "b200"}, {8192});
  ASSERT_TRUE(second);
  EXPECT_DOUBLE_EQ(second->cluster.memory_mib, 0.99 * 180 * 1024);
  EXPECT_DOUBLE_EQ(second->cost.linear_tflops, 0.80 * 2250);
  EXPECT_DOUBLE_EQ(second->cost.attention_tflops, 0.31 * 2250);
  EXPECT_EQ(second->cost.half_width, 0);
  StrategyDetail detail{.memory_mib_per_ms = 8000e6 / 1048576};
  EXPECT_EQ(generate_strategy({.machine = "b200", .formulas = 2}, {8192})->cost.detail, detail);
  detail.activation_factor = 0.85;
  detail.fixed_mib = 1024;
  EXPECT_EQ(generate_strategy({.machine = "b200", .formulas = 3}, {8192})->cost.detail, detail);
  detail.message_ms = 0.05;
  detail.step_overlap = 0.2;
  EXPECT_EQ(second->cost.detail, detail);
  const auto unfused = generate_strategy({.stack = "megatron-deepspeed-2022"}, {8192});
  EXPECT_EQ(unfused->cost.detail->activation_factor, 1.5);
  EXPECT_EQ(unfused->cost.detail->fixed_mib, 4096);
  EXPECT_EQ(generate_strategy({.model = "qwen3-30b-a3b"}, {1})->model.query_width, 4096);
  EXPECT_EQ(generate_strategy({.formulas = 5}, {1}).errors()[0].pointer, "/formulas");
  const auto made =
      generate_strategy({.model = "llama3-8b", .machine = "b200", .formulas = 1}, {8192});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->cost.detail, std::nullopt);
  EXPECT_EQ(made->name, "llama3-8b-b200-64gpu-1seq");
  EXPECT_EQ(made->model.kv_width, 1024);
  EXPECT_DOUBLE_EQ(made->cluster.memory_mib, 0.9 * 180 * 1024);
  EXPECT_DOUBLE_EQ(made->cluster.mib_per_ms.inside, 0.8 * 900e6 / 1048576);
  EXPECT_DOUBLE_EQ(made->cluster.mib_per_ms.across, 0.8 * 50e6 / 1048576);
  EXPECT_DOUBLE_EQ(made->cost.linear_tflops, 0.62 * 2250);
  EXPECT_DOUBLE_EQ(made->cost.attention_tflops, 0.45 * 2250);
  EXPECT_EQ(generate_strategy({.machine = "h100", .memory_mib = 1000}, {1})->cluster.memory_mib,
            1000);
  EXPECT_EQ(generate_strategy({.machine = "h10"}, {1}).errors()[0].pointer, "/machine");
}

TEST(StrategyJson, TheRealInstanceIsMadeByTheGenerator) {
  const auto lengths = read_length_file(kInstancesDir / "data/lengths/laws_de.txt", {.count = 256});
  ASSERT_TRUE(lengths);
  const auto made =
      generate_strategy({.model = "llama-13b", .formulas = 1, .memory_mib = 40'960}, *lengths);
  EXPECT_EQ(write_strategy_instance(*made),
            file_text(kInstancesDir / "data/strategy/real/llama-13b-64gpu-256seq.json"));
}

}  // namespace
}  // namespace stowage::strategy_json_test
