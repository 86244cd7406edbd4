// Enumerators without a name, in every member with an enumeration type: check(), verify(), the
// checker of certificates, the writers and the hash must refuse them, and no code may read outside
// of a table of names. Each member has a line here; the last test counts the enumerations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "instances/check.h"
#include "instances/documents.h"
#include "instances/families.h"
#include "instances/json/writer.h"
#include "instances/partition/partition.h"
#include "instances/scatter/presets.h"
#include "instances/strategy/fit/stacks.h"
#include "instances/verify.h"

namespace stowage::enumerators_test {
namespace {

constexpr int kBytes = 256;

ScatterInstance scatter() {
  ScatterInstance step{.name = "t",
                       .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
                       .model = {.activation_mib_per_token = 1},
                       .cost = {.linear_ms = 0.5},
                       .lengths = {64, 80}};
  step.cost.exchange = Exchange{.kinds = {{2, {ExchangeKind::all_to_all}}},
                                .all_to_all_mib_per_token = 1,
                                .keys_values_mib_per_token = 1,
                                .inside_mib_per_ms = 1,
                                .across_mib_per_ms = 1};
  return step;
}

ScatterPlan scatter_plan(ExchangeKind exchange) {
  const std::string text = R"({"format": "stowage/plan", "version": 1, "problem": "scatter",
    "micro_batches": [{"groups": [{"degree": 2, "first_rank": 0, "sequences": [0, 1]}]}]})";
  auto plan = std::get<ScatterPlan>(*read_plan(text, scatter()));
  plan.micro_batches[0].groups[0].exchange = exchange;
  return plan;
}

AssignInstance assign(ChunkBoundaries boundaries) {
  AssignInstance step{.name = "t", .devices = 1};
  step.schemes = {{.name = "s", .linear_ms = 1, .max_tokens = 100}};
  step.strategies = {{.name = "x", .replicas = {1}}};
  step.lengths = {10};
  step.constraints.chunks = ChunkRule{.size = 5, .boundaries = boundaries};
  return step;
}

OrderInstance order(OrderObjective objective) {
  OrderInstance graph{.name = "t", .capacity = 100, .objective = objective};
  graph.tensors = {{.id = "a", .size = 1}};
  graph.operators = {{.id = "f", .writes = {0}}};
  return graph;
}

StrategyInstance strategy() {
  StrategyInstance wanted{.name = "t"};
  wanted.model = {.hidden = 64, .heads = 2, .blocks = {{.count = 2, .ffn = 64}}};
  wanted.cluster = {.nodes = 1, .devices_per_node = 1, .memory_mib = 1000};
  wanted.lengths = {128};
  return wanted;
}

StrategyPlan strategy_plan(StrategyRecompute recompute) {
  return {.name = "t", .stages = {{.layers = 2, .recompute = recompute}}};
}

// Returns whether check() refuses the instance, and calls all functions that read it.
template <class InstanceT>
bool refused(const InstanceT& instance, const typename FamilyOf<InstanceT>::Plan& plan) {
  const std::string text = write_instance(instance);
  EXPECT_FALSE(text.empty());
  EXPECT_FALSE(instance_hash(instance).empty());
  const bool bad = !check(instance).empty();
  EXPECT_EQ(bad, !read_instance(text)) << text;
  EXPECT_EQ(!verify(instance, plan).empty() || !bad, true);
  return bad;
}

// Returns whether verify() refuses the plan and no reader accepts its document.
bool refused_plan(const InstanceView& instance, const PlanView& plan) {
  const bool read = static_cast<bool>(read_plan(write_plan(plan)));
  return !verify(instance, plan).empty() && !read;
}

struct Member {
  const char* enumeration;
  std::size_t names;                 // number of enumerators from 0 with a name
  std::function<bool(int)> refused;  // tests an enumerator by its number
};

std::vector<Member> members() {
  return {
      {"ExchangeKind", 5,
       [](int value) {
         ScatterInstance step = scatter();
         step.cost.exchange->kinds[2] = {static_cast<ExchangeKind>(value)};
         return refused(step, scatter_plan(ExchangeKind::none));
       }},
      {"ExchangeKind", 5,
       [](int value) {
         return refused_plan(scatter(), scatter_plan(static_cast<ExchangeKind>(value)));
       }},
      {"ChunkBoundaries", kChunkBoundaries.size(),
       [](int value) { return refused(assign(static_cast<ChunkBoundaries>(value)), {}); }},
      {"OrderObjective", 2,
       [](int value) { return refused(order(static_cast<OrderObjective>(value)), {}); }},
      {"StrategyRecompute", kStrategyRecomputes.size(),
       [](int value) {
         StrategyInstance wanted = strategy();
         wanted.options.recompute = {static_cast<StrategyRecompute>(value)};
         return refused(wanted, strategy_plan(StrategyRecompute::none));
       }},
      {"StrategyRecompute", kStrategyRecomputes.size(),
       [](int value) {
         StrategyInstance wanted = strategy();
         wanted.cost.measured = {
             {.recompute = static_cast<StrategyRecompute>(value), .tokens = {128}, .ms = {1}}};
         return refused(wanted, strategy_plan(StrategyRecompute::none));
       }},
      {"StrategyExchange", kStrategyExchanges.size(),
       [](int value) {
         StrategyInstance wanted = strategy();
         wanted.options.cp_exchange = {static_cast<StrategyExchange>(value)};
         return refused(wanted, strategy_plan(StrategyRecompute::none));
       }},
      {"StrategyExchange", kStrategyExchanges.size(),
       [](int value) {
         StrategyPlan plan = strategy_plan(StrategyRecompute::none);
         plan.cp_exchange = static_cast<StrategyExchange>(value);
         return refused_plan(strategy(), plan);
       }},
      {"StrategyRateSource", kStrategyRateSources.size(),
       [](int value) {
         StrategyInstance wanted = strategy();
         wanted.cost.rates = StrategyRates{.source = static_cast<StrategyRateSource>(value),
                                           .stack = "megatron-2025"};
         EXPECT_FALSE(rate_text(rate_report(wanted)).empty());
         return refused(wanted, strategy_plan(StrategyRecompute::none));
       }},
      {"StrategyRecompute", kStrategyRecomputes.size(),
       [](int value) {
         const StrategyPlan plan = strategy_plan(static_cast<StrategyRecompute>(value));
         EXPECT_FALSE(recompute_text(plan.stages[0]).empty());
         return refused_plan(strategy(), plan);
       }},
      {"PartitionCounts", 3,
       [](int value) {
         return !check(PartitionInstance{.lengths = {3, 4},
                                         .bins = 2,
                                         .counts = static_cast<PartitionCounts>(value)})
                     .empty();
       }},
      {"DegreeSet", degree_set_names().size(),
       [](int value) { return !scatter_preset({.degrees = static_cast<DegreeSet>(value)}); }},
  };
}

TEST(Enumerators, WithoutANameAreRefused) {
  for (const Member& member : members()) {
    for (int value = static_cast<int>(member.names); value < kBytes; ++value) {
      EXPECT_TRUE(member.refused(value)) << member.enumeration << ' ' << value;
    }
  }
}

// Each member accepts some enumerators with a name, so the refusals are due to the number.
TEST(Enumerators, WithANameAreTaken) {
  std::size_t taken = 0;
  for (const Member& member : members()) {
    bool any = false;
    for (int value = 0; value < static_cast<int>(member.names); ++value) {
      any = any || !member.refused(value);
    }
    taken += any ? 1 : 0;
    EXPECT_TRUE(any || std::string(member.enumeration) == "StrategyRecompute")
        << member.enumeration;
  }
  EXPECT_GE(taken, members().size() - 1);  // a strategy's plan is invalid for another reason
}

// Certificates are written and checked, whoever made them.
TEST(Enumerators, OfCertificatesAreRefused) {
  for (int value = 0; value < kBytes; ++value) {
    ScatterCertificate certificate;
    certificate.levels = {{.degree = 2, .exchange = static_cast<ExchangeKind>(value)}};
    certificate.nodes = {{}};
    certificate.nodes[0].leaf.intervals = {
        {.degrees = {{.packing = {{.resource = static_cast<Resource>(value)}}}}}};
    certificate.profiles = {{{.kind = static_cast<ProfileNode::Kind>(value)}}};
    JsonWriter json;
    write_json(json, certificate);
    EXPECT_FALSE(json.take().empty());
    const Certificate any = Certificate::Any(certificate);
    EXPECT_FALSE(check_certificate(scatter(), any).violations.empty()) << value;
  }
}

// Every enumeration in a public header of instances and plans is in the list above.
TEST(Enumerators, AreAllCovered) {
  std::set<std::string> covered;
  for (const Member& member : members()) covered.insert(member.enumeration);
  std::set<std::string> there;
  for (const char* header :
       {"scatter/instance.h", "scatter/plan.h", "scatter/presets.h", "assign/instance.h",
        "assign/plan.h", "layout/instance.h", "layout/plan.h", "order/instance.h", "order/plan.h",
        "strategy/instance.h", "strategy/plan.h", "partition/partition.h", "proof.h", "violation.h",
        "trainer/step.h", "model/recorded_block.h"}) {
    std::ifstream file(std::string(STOWAGE_SOURCE_DIR "/instances/") + header);
    std::stringstream text;
    text << file.rdbuf();
    const std::string source = text.str();
    EXPECT_FALSE(source.empty()) << header;
    const std::regex pattern(R"(enum class (\w+))");
    for (auto it = std::sregex_iterator(source.begin(), source.end(), pattern);
         it != std::sregex_iterator(); ++it) {
      there.insert((*it)[1]);
    }
  }
  EXPECT_EQ(covered, there);
}

// A moved-from certificate can be copied, assigned and destroyed.
TEST(Certificates, AreCopiedWhenMovedFrom) {
  Certificate first = Certificate::Any(ScatterCertificate{});
  const Certificate second = std::move(first);
  Certificate third = first;  // NOLINT(*use-after-move)
  third = second;
  EXPECT_EQ(third.any().index(), second.any().index());
}

}  // namespace
}  // namespace stowage::enumerators_test
