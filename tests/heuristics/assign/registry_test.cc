#include "heuristics/assign/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "heuristics/assign/construct/chunked_rows.h"
#include "heuristics/assign/construct/row_packing.h"
#include "heuristics/packing.h"
#include "instances/assign/planning_table.h"
#include "instances/assign/verify/verify.h"
#include "instances/numeric/random.h"
#include "instances/violation.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_registry_test {
namespace {

std::optional<AssignPlan> run(const std::string& name, const AssignInstance& instance) {
  for (const AssignHeuristic& heuristic : heuristics(instance)) {
    if (heuristic.name == name) return heuristic.run(instance, AssignTable(instance), 1, Budget());
  }
  ADD_FAILURE() << "no heuristic " << name;
  return std::nullopt;
}

AssignInstance one_scheme(int replicas, Tokens max_tokens, std::vector<Tokens> lengths) {
  return {.name = "plain",
          .devices = replicas,
          .schemes = {{.name = "1x1",
                       .quadratic_ms = 1e-6,
                       .linear_ms = 0.01,
                       .fixed_ms = 5,
                       .max_tokens = max_tokens}},
          .strategies = {{.name = "all", .replicas = {replicas}}},
          .lengths = std::move(lengths)};
}

TEST(AssignRegistry, NamesAreUniqueAndBaselinesNameTheirSource) {
  std::set<std::string> names;
  std::set<std::string> ours;
  for (const AssignHeuristic& heuristic : heuristics(AssignInstance())) {
    EXPECT_TRUE(names.insert(heuristic.name).second) << heuristic.name;
    EXPECT_FALSE(heuristic.summary.empty()) << heuristic.name;
    if (heuristic.source.empty()) ours.insert(heuristic.name);
  }
  EXPECT_EQ(ours, (std::set<std::string>{"fast", "joint"}));
  for (const char* name : {"lpt", "karmarkar-karp", "first-fit-decreasing", "best-fit-decreasing",
                           "next-fit", "hydraulis-lpt"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

// Every heuristic on a thousand unusual instances: its plans are valid.
TEST(AssignRegistry, EveryPlanVerifies) {
  std::map<std::string, int> planned;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const AssignInstance instance = tiny_assign(seed, 16);
    for (const AssignHeuristic& heuristic : heuristics(instance)) {
      const auto plan = heuristic.run(instance, AssignTable(instance), seed, Budget());
      if (!plan) continue;
      ++planned[heuristic.name];
      const auto violations = verify(instance, *plan);
      ASSERT_TRUE(violations.empty())
          << heuristic.name << ' ' << seed << ' ' << to_string(violations.front());
    }
  }
  for (const AssignHeuristic& heuristic : heuristics(AssignInstance())) {
    EXPECT_GT(planned[heuristic.name], 300) << heuristic.name;
  }
}

TEST(AssignRegistry, TheSameInputGivesTheSamePlan) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const AssignInstance instance = tiny_assign(seed, 24);
    for (const AssignHeuristic& heuristic : heuristics(instance)) {
      EXPECT_EQ(heuristic.run(instance, AssignTable(instance), 7, Budget()),
                heuristic.run(instance, AssignTable(instance), 7, Budget()))
          << heuristic.name << ' ' << seed;
    }
  }
}

// A plan is found even with an exhausted budget.
TEST(AssignRegistry, AnEndedBudgetLeavesAPlan) {
  const AssignInstance instance = one_scheme(4, 100, {90, 80, 70, 60, 50, 40, 30, 20, 10});
  for (const AssignHeuristic& heuristic : heuristics(instance)) {
    const auto plan =
        heuristic.run(instance, AssignTable(instance), 0, Budget({.time_limit_s = 0}));
    ASSERT_TRUE(plan) << heuristic.name;
    EXPECT_TRUE(verify(instance, *plan).empty()) << heuristic.name;
  }
}

TEST(AssignRegistry, NoSequencesIsAnEmptyPlan) {
  AssignInstance instance = one_scheme(3, 100, {});
  for (const AssignHeuristic& heuristic : heuristics(instance)) {
    const auto plan = heuristic.run(instance, AssignTable(instance), 0, Budget());
    ASSERT_TRUE(plan) << heuristic.name;
    EXPECT_EQ(plan->objective_ms, 0) << heuristic.name;
    EXPECT_TRUE(verify(instance, *plan).empty()) << heuristic.name;
  }
  instance.constraints.allow_empty = false;
  for (const AssignHeuristic& heuristic : heuristics(instance)) {
    EXPECT_FALSE(heuristic.run(instance, AssignTable(instance), 0, Budget())) << heuristic.name;
  }
}

TEST(AssignRegistry, MoreReplicasThanSequencesAndOneReplica) {
  const AssignInstance many = one_scheme(5, 100, {60, 60});
  const AssignInstance one = one_scheme(1, 100, {60, 60, 40, 40});
  for (const AssignHeuristic& heuristic : heuristics(many)) {
    const auto apart = heuristic.run(many, AssignTable(many), 0, Budget());
    ASSERT_TRUE(apart) << heuristic.name;
    EXPECT_NEAR(apart->objective_ms, 5 + 0.6 + 0.0036, 1e-9) << heuristic.name;
    const auto together = heuristic.run(one, AssignTable(one), 0, Budget());
    ASSERT_TRUE(together) << heuristic.name;
    EXPECT_TRUE(verify(one, *together).empty()) << heuristic.name;
  }
  // Two full rows.
  EXPECT_EQ(run("fast", one)->replicas[0].rows.size(), 2U);
}

// Only one strategy admits the long sequence; the faster strategy must not be chosen.
TEST(AssignRegistry, OnlyOneStrategyHoldsTheLongest) {
  AssignInstance instance = one_scheme(4, 100, {150, 20, 20});
  instance.schemes.push_back(instance.schemes[0]);
  instance.schemes[1].name = "4x1";
  instance.schemes[1].tp = 4;
  instance.schemes[1].linear_ms = 1;
  instance.schemes[1].max_tokens = 150;
  instance.strategies = {{"short", {4, 0}}, {"long", {0, 1}}};
  for (const AssignHeuristic& heuristic : heuristics(instance)) {
    const auto plan = heuristic.run(instance, AssignTable(instance), 0, Budget());
    ASSERT_TRUE(plan) << heuristic.name;
    EXPECT_EQ(plan->strategy, "long") << heuristic.name;
  }
  instance.lengths[0] = 151;
  EXPECT_EQ(unplaceable_sequences(instance), (std::vector<std::int64_t>{0}));
  for (const AssignHeuristic& heuristic : heuristics(instance)) {
    EXPECT_FALSE(heuristic.run(instance, AssignTable(instance), 0, Budget())) << heuristic.name;
  }
}

// 6 3 3 | 4 4 4 fills two rows; first-fit-decreasing opens a third for 6 4 | 4 4 3 | 3, and so does
// LPT.
TEST(AssignRegistry, FullRowsThatFirstFitMissesAreFound) {
  const std::vector<Tokens> lengths{6, 4, 4, 4, 3, 3};
  AssignInstance instance = one_scheme(1, 12, lengths);
  EXPECT_EQ(first_fit_decreasing(lengths, 12)->size(), 3U);
  for (const AssignHeuristic& heuristic : heuristics(instance)) {
    const auto plan = heuristic.run(instance, AssignTable(instance), 0, Budget());
    ASSERT_TRUE(plan) << heuristic.name;
    EXPECT_TRUE(verify(instance, *plan).empty()) << heuristic.name;
  }
  for (const char* name : {"fast", "joint"}) {
    EXPECT_EQ(run(name, instance)->replicas[0].rows.size(), 2U) << name;
  }
}

// Karmarkar-Karp has no cap: verl's rows exceed it, repaired rows do not.
TEST(AssignRegistry, KarmarkarKarpRowsAreRepaired) {
  const std::vector<double> loads{8, 7, 6, 5, 4};
  EXPECT_EQ(karmarkar_karp(loads, 2), (Bins{{1, 3, 4}, {0, 2}}));
  std::mt19937_64 random(3);
  int broken = 0;
  for (int k = 0; k < 200; ++k) {
    std::vector<Tokens> lengths;
    std::vector<double> workloads;
    Tokens sum = 0;
    for (int i = 0; i < 40; ++i) {
      lengths.push_back(1 + static_cast<Tokens>(draw(random, 1000)));
      sum += lengths.back();
      const auto s = static_cast<double>(lengths.back());
      workloads.push_back(24576 * s + s * s);
    }
    const AssignInstance instance = one_scheme(1, 2000, lengths);
    for (const auto& bin : karmarkar_karp(workloads, static_cast<int>((sum + 1999) / 2000))) {
      Tokens tokens = 0;
      for (const int item : bin) tokens += lengths[static_cast<std::size_t>(item)];
      if (tokens > 2000) {
        ++broken;
        break;
      }
    }
    const auto plan = run("karmarkar-karp", instance);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(verify(instance, *plan).empty()) << k;
  }
  EXPECT_GT(broken, 10);
}

// Forty steps of 128 sequences of laws on eight ranks. First-fit-decreasing opens fewer rows still,
// since it packs the step before it deals rows to ranks.
TEST(AssignRegistry, RepairedRowsAreFewMoreThanBrokenOnes) {
  std::ifstream list(std::string(STOWAGE_SOURCE_DIR) + "/instances/data/lengths/laws_de.txt");
  std::vector<Tokens> lengths;
  for (std::string line; std::getline(list, line);) {
    if (!line.empty() && line.front() != '#' && std::stoll(line) <= 32768) {
      lengths.push_back(std::stoll(line));
    }
  }
  std::size_t broken_steps = 0;
  std::size_t broken_rows = 0;
  std::map<std::string, std::size_t> rows;
  for (std::ptrdiff_t step = 0; step < 40; ++step) {
    const auto from = lengths.begin() + 128 * step;
    const AssignInstance instance = one_scheme(8, 32768, {from, from + 128});
    const auto loads_of = [&](const std::vector<int>& items) {
      std::vector<double> loads;
      for (const int item : items) {
        const auto s = static_cast<double>(instance.lengths[static_cast<std::size_t>(item)]);
        loads.push_back(24576 * s + s * s);
      }
      return loads;
    };
    const auto tokens_of = [&](const std::vector<int>& items) {
      Tokens sum = 0;
      for (const int item : items) sum += instance.lengths[static_cast<std::size_t>(item)];
      return sum;
    };
    std::vector<int> all(instance.lengths.size());
    std::iota(all.begin(), all.end(), 0);
    const Bins ranks = karmarkar_karp(loads_of(all), 8);
    Tokens fullest = 0;
    for (const std::vector<int>& rank : ranks) fullest = std::max(fullest, tokens_of(rank));
    const auto count = static_cast<int>((fullest + 32767) / 32768);
    bool broken = false;
    for (const std::vector<int>& rank : ranks) {
      for (const std::vector<int>& bin : karmarkar_karp(loads_of(rank), count)) {
        std::vector<int> row;
        for (const int item : bin) row.push_back(rank[static_cast<std::size_t>(item)]);
        broken = broken || tokens_of(row) > 32768;
        ++broken_rows;
      }
    }
    broken_steps += broken;
    for (const char* name : {"karmarkar-karp", "first-fit-decreasing"}) {
      const auto plan = run(name, instance);
      ASSERT_TRUE(plan);
      for (const AssignReplica& replica : plan->replicas) rows[name] += replica.rows.size();
    }
  }
  EXPECT_EQ(broken_steps, 13U);
  EXPECT_EQ(broken_rows, 744U);
  EXPECT_EQ(rows["karmarkar-karp"], 775U);
  EXPECT_EQ(rows["first-fit-decreasing"], 599U);
}

// A hundred thousand rows of random sets under random caps, on one to three stages.
TEST(AssignRows, NoCapIsEverBroken) {
  std::mt19937_64 random(17);
  std::int64_t rows = 0;
  while (rows < 100000) {
    const auto cap = static_cast<Tokens>(20 + draw(random, 200));
    AssignInstance instance = one_scheme(1, cap, {});
    instance.schemes[0].pp = 1 + static_cast<int>(draw(random, 3));
    const std::uint64_t count = 1 + draw(random, 80);
    for (std::uint64_t i = 0; i < count; ++i) {
      instance.lengths.push_back(
          1 + static_cast<Tokens>(draw(random, static_cast<std::uint64_t>(cap))));
    }
    const AssignTable table(instance);
    std::vector<int> positions;
    for (int i = 0; i < table.size(); ++i) positions.push_back(i);
    const RowCounts counts{.multiple = 1 + static_cast<int>(draw(random, 3))};
    for (const auto& replica :
         {best_rows(table, 0, positions, counts), fewest_rows(table, 0, positions, counts)}) {
      if (!replica) continue;
      EXPECT_EQ(replica->rows.size() % static_cast<std::size_t>(counts.multiple), 0U);
      std::vector<int> seen;
      for (const WorkingRow& row : replica->rows) {
        ++rows;
        Tokens tokens = 0;
        for (const int position : row.positions) tokens += table.length(position);
        ASSERT_LE(tokens, cap);
        ASSERT_EQ(tokens, row.tokens);
        ASSERT_FALSE(row.positions.empty());
        seen.insert(seen.end(), row.positions.begin(), row.positions.end());
      }
      std::ranges::sort(seen);
      ASSERT_EQ(seen, positions);
    }
  }
}

// Steps too large to try every replica or group for every sequence after the limit.
TEST(AssignInAHurry, PlansObeyTheConstraints) {
  AssignInstance instance{.name = "wide", .devices = 2000};
  Strategy all{.name = "all"};
  for (int g = 0; g < 400; ++g) {
    instance.schemes.push_back({.name = std::to_string(g),
                                .quadratic_ms = 1e-6,
                                .linear_ms = 0.01 + 0.0001 * g,
                                .fixed_ms = 5,
                                .max_tokens = 3000 + g});
    all.replicas.push_back(5);
  }
  instance.strategies = {{.name = "narrow", .replicas = std::vector<int>(400, 0)}, all};
  instance.strategies.front().replicas[0] = 1;
  instance.strategies.front().replicas[399] = 1;
  std::mt19937_64 random(1);
  for (int k = 0; k < 8000; ++k) {
    instance.lengths.push_back(1 + static_cast<Tokens>(draw(random, 999)));
  }
  for (const RowConstraints& constraints :
       {RowConstraints{}, RowConstraints{.allow_empty = false},
        RowConstraints{.rows_multiple_of = 2}, RowConstraints{.chunks = ChunkRule{.size = 700}}}) {
    instance.constraints = constraints;
    const Budget none({.time_limit_s = 0});
    const auto named = heuristics(instance);
    const auto fast = std::ranges::find(named, "fast", &AssignHeuristic::name);
    const std::optional<AssignPlan> plan = fast->run(instance, AssignTable(instance), 1, none);
    ASSERT_TRUE(plan);
    const std::vector<Violation> violations = verify(instance, *plan);
    EXPECT_TRUE(violations.empty()) << to_string(violations.front());
    EXPECT_EQ(plan->strategy, "all");  // the more promising strategy; the second one is not tried
    // All replicas share the sequences, not only those of the groups tried first.
    const auto idle = std::ranges::count_if(
        plan->replicas, [](const AssignReplica& replica) { return replica.rows.empty(); });
    EXPECT_LT(idle, 200);
  }
}

// Many fast replicas that do not admit long sequences are useless for a step of long sequences.
TEST(AssignInAHurry, StrategiesAreJudgedByWhatTheyHold) {
  const AssignInstance instance{
      .name = "long",
      .devices = 9,
      .schemes = {{.name = "short", .linear_ms = 1, .max_tokens = 100},
                  {.name = "long", .linear_ms = 2, .max_tokens = 1000}},
      .strategies = {{.name = "many", .replicas = {8, 1}}, {.name = "able", .replicas = {0, 4}}},
      .lengths = std::vector<Tokens>(40, 900)};
  const Budget none({.time_limit_s = 0});
  const auto named = heuristics(instance);
  const auto fast = std::ranges::find(named, "fast", &AssignHeuristic::name);
  const std::optional<AssignPlan> plan = fast->run(instance, AssignTable(instance), 1, none);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->strategy, "able");
}

}  // namespace
}  // namespace stowage::assign_registry_test
