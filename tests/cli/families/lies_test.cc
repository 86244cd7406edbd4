// A thousand false changes of outcomes: `verify` must refuse each, or mark it as not proven. The
// outcomes of `solve` itself must pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/families/families.h"
#include "formulations/order/bounds.h"
#include "instances/order/generate/generate.h"
#include "instances/order/json/json.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/exhaustive_check.h"
#include "solvers/solve.h"
#include "tests/cli/families/lies/impossible_instances.h"
#include "tests/cli/families/lies/outcome_lies.h"
#include "tests/cli/families/lies/plan_lies.h"
#include "tests/cli/families/lies/row_lies.h"
#include "tests/cli/families/lies/told.h"
#include "tests/cli/process.h"
#include "tests/instances/draw.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_host.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_order.h"
#include "tests/tiny_scatter.h"
#include "tests/tiny_strategy.h"

namespace stowage::families_lies_test {
namespace {

const std::vector<Lie>& lies() {
  static const std::vector<Lie> kLies = [] {
    std::vector<Lie> all = outcome_lies();
    for (const std::vector<Lie>& more : {plan_lies(), row_lies(), denials()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return kLies;
}

// Returns instances of all families, some of them infeasible; `of_each_family` steps and layouts
// each.
std::vector<Instance> instances(std::uint64_t of_each_family, std::uint64_t most_items) {
  std::vector<Instance> all = impossible_layouts();
  for (Instance& step : impossible_steps()) all.push_back(std::move(step));
  for (Instance& graph : impossible_orders()) all.push_back(std::move(graph));
  for (Instance& wanted : impossible_strategies()) all.push_back(std::move(wanted));
  for (std::uint64_t seed = 0; seed < of_each_family; ++seed) {
    all.emplace_back(tiny_scatter(seed, most_items));
    all.emplace_back(tiny_ruled_scatter(seed, most_items));
    all.emplace_back(tiny_timed_scatter(seed, most_items));
    all.emplace_back(tiny_memory_scatter(seed, most_items));
    all.emplace_back(tiny_pipeline_scatter(seed, most_items));
    all.emplace_back(tiny_recomputing_scatter(seed, most_items));
    all.emplace_back(tiny_padded_scatter(seed, most_items));
    all.emplace_back(tiny_offload_scatter(seed, most_items));
    all.emplace_back(tiny_kinds_scatter(seed, most_items));
    all.emplace_back(tiny_measured_scatter(seed, most_items));
    all.emplace_back(tiny_assign(seed, most_items));
    all.emplace_back(tiny_layout(seed, most_items));
    all.emplace_back(tiny_order(seed, most_items));
    all.emplace_back(tiny_growing_order(seed, most_items));
    all.emplace_back(tiny_host(seed, most_items));
    all.emplace_back(tiny_strategy(seed, most_items));
    all.emplace_back(with_offload(tiny_experts(seed, most_items), seed));
  }
  return all;
}

// Returns larger instances, for which verify does not find the optimum itself. A claim about the
// optimum is then false or undecided.
std::vector<Instance> larger_instances() {
  constexpr std::size_t kSearched = 12;  // sequences of a scatter step
  std::vector<Instance> all = instances(4, 30);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    all.emplace_back(
        *generate_order({.kind = OrderGenerator::Kind::layered, .operators = 40, .seed = seed}));
    if (seed % 2 == 0) all.emplace_back(tiny_growing_order(seed, 60));
  }
  all.emplace_back(*generate_order({.kind = OrderGenerator::Kind::chunked,
                                    .operators = 48,
                                    .tokens = 65536,
                                    .tokens_from = 256}));
  std::erase_if(all, [](const Instance& instance) {
    const auto* graph = std::get_if<OrderInstance>(&instance);
    if (graph != nullptr) return graph->operators.size() <= kMaxOperatorsTriedAgain;
    const auto* step = std::get_if<ScatterInstance>(&instance);
    return step != nullptr && step->lengths.size() > 2 && step->lengths.size() <= kSearched;
  });
  // A small instance with three rows and two orders. Its optimum is found, so its gap is 0.
  all.emplace_back(
      *read_order_instance(read_text(std::filesystem::path(STOWAGE_SOURCE_DIR) /
                                     "instances/data/order/tiny/another-order-when-long.json")));
  // A small instance with a transfer.
  all.emplace_back(*read_order_instance(read_text(std::filesystem::path(STOWAGE_SOURCE_DIR) /
                                                  "instances/data/order/tiny/on-the-host.json")));
  return all;
}

TEST(HonestOutcomes, AreNotRefusedWhateverTheMethod) {
  const TempDir dir;
  int infeasible = 0;
  for (const Instance& instance : instances(3, 6)) {
    write_instance(dir, instance);
    for (const Method& method : methods(instance)) {
      const Told honest = told(instance, {.method = method.name, .milp_seconds = 0.01}, 20);
      if (!honest.has_plan() && honest.outcome["status"] != "infeasible") continue;
      const Verdict verdict = verdict_of(dir, honest);
      ASSERT_FALSE(verdict.refused) << family_name(instance) << ' ' << instance_name(instance)
                                    << ' ' << method.name << ": " << verdict.words;
      // A bound by a closed form, or with its certificate, is proven.
      const BoundNames names = bound_names(instance);
      const std::string by = honest.outcome["bound_by"];
      const bool searched = std::ranges::find(names.searched, by) != names.searched.end();
      if (honest.has_plan() && !searched) {
        EXPECT_TRUE(verdict.proven) << instance_name(instance) << ' ' << method.name;
      }
      infeasible += honest.has_plan() ? 0 : 1;
    }
  }
  EXPECT_GT(infeasible, 10);
}

TEST(Infeasibility, IsProvenByWhatTheOutcomeCarries) {
  const TempDir dir;
  std::vector<Instance> all = impossible_layouts();
  for (Instance& step : impossible_steps()) all.push_back(std::move(step));
  for (Instance& graph : impossible_orders()) all.push_back(std::move(graph));
  for (Instance& wanted : impossible_strategies()) all.push_back(std::move(wanted));
  std::set<std::string> proofs;
  for (const Instance& instance : all) {
    write_instance(dir, instance);
    const Told honest = told(instance, {.method = "fast"});
    ASSERT_EQ(honest.outcome["status"], "infeasible") << instance_name(instance);
    const Verdict verdict = verdict_of(dir, honest);
    EXPECT_FALSE(verdict.refused) << verdict.words;
    EXPECT_TRUE(verdict.proven) << instance_name(instance);
    proofs.insert(honest.outcome["infeasibility"]["by"]);
  }
  EXPECT_EQ(proofs,
            (std::set<std::string>{"pins", "capacity", "load", "heights", "sequences",
                                   "micro_batches", "rows", "operator", "ends", "configurations"}));
}

// No order of these graphs fits in the capacity, though each operator does.
TEST(Infeasibility, OfAnOrderIsProvenByItsCertificate) {
  const TempDir dir;
  std::map<std::string, int> names;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    OrderInstance graph = tiny_order(seed, 9, false);
    if (graph.operators.empty()) continue;
    const Bytes least = *least_peak(graph);
    graph.capacity = least - 1;
    if (operator_bound(OrderTable(graph)).bytes >= least) continue;
    write_instance(dir, graph);
    Told honest = told(graph, {.method = "exact"}, 100'000);
    ASSERT_EQ(honest.outcome["status"], "infeasible") << seed;
    ASSERT_EQ(honest.outcome["infeasibility"]["by"], "certificate") << seed;
    const Verdict verdict = verdict_of(dir, honest);
    EXPECT_FALSE(verdict.refused) << seed << ' ' << verdict.words;
    EXPECT_TRUE(verdict.proven) << seed;
    ++names[honest.outcome["bound_by"]];
    json& certificate = honest.outcome["certificate"];
    certificate["bound_bytes"] = least - 1;
    // the changed value does not exceed the capacity
    EXPECT_TRUE(verdict_of(dir, honest).refused) << seed;
    honest.outcome.erase("certificate");
    EXPECT_TRUE(verdict_of(dir, honest).refused) << seed;
  }
  EXPECT_GT(names["cut"], 5);
  EXPECT_GT(names["search"], 5);
}

TEST(Lies, AThousandAreRefusedOrMarkedAsNotProven) {
  constexpr int kEnough = 1000;
  const TempDir dir;
  std::set<std::string> kinds;
  std::set<std::string_view> families;
  int count = 0;
  int marked = 0;
  const auto tell_all = [&](const Told& honest, Draw& draw) {
    for (const Lie& lie : lies()) {
      Told lying = honest;
      if (!lie.tell(lying, draw)) continue;
      const Verdict verdict = verdict_of(dir, lying);
      EXPECT_TRUE(verdict.refused || !verdict.proven)
          << lie.name << " about " << family_name(honest.instance) << ' '
          << instance_name(honest.instance);
      kinds.insert(lie.name);
      families.insert(family_name(honest.instance));
      ++count;
      marked += verdict.refused ? 0 : 1;
    }
  };
  // The instances have more sequences and buffers than a search solves at once, and a baseline also
  // runs, so that most changes are about gaps.
  for (const Instance& instance : larger_instances()) {
    write_instance(dir, instance);
    Draw draw(1);
    tell_all(told(instance, {.method = "fast"}, 40), draw);
    tell_all(told(instance, {.method = methods(instance)[1].name}, 40), draw);
  }
  RecordProperty("lies", count);
  RecordProperty("kinds", static_cast<int>(kinds.size()));
  EXPECT_GE(count, kEnough);
  for (const Lie& lie : lies()) {
    // Without a backend no certificate has a gap.
    if (built_backends().empty() && lie.name == "certificate_raised_as_well") continue;
    EXPECT_TRUE(kinds.contains(lie.name)) << lie.name << " is not told";
  }
  EXPECT_GE(kinds.size(), 60U);
  EXPECT_EQ(families.size(), Families::names.size());
  EXPECT_LT(marked, count / 10) << "most lies are to be refused";
}

}  // namespace
}  // namespace stowage::families_lies_test
