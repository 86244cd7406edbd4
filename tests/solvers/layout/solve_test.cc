// The facade on layouts: every method gives the stated outcome on the bundled tiny ones.
#include "solvers/solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "instances/layout/generate/generate.h"
#include "instances/layout/generate/hard_packings.h"
#include "instances/layout/generate/transformer_trace.h"
#include "instances/layout/json/json.h"
#include "instances/layout/verify/verify.h"
#include "tests/long_run.h"

namespace stowage::layout_solve_test {
namespace {

std::vector<std::filesystem::path> tiny_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances/data/layout/tiny")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

class BundledTinyLayout : public testing::TestWithParam<std::filesystem::path> {
 protected:
  BundledTinyLayout() {
    std::ifstream in(GetParam());
    std::ostringstream text;
    text << in.rdbuf();
    notes_ = nlohmann::json::parse(text.str());
    Result<LayoutInstance> read = read_layout_instance(text.str());
    EXPECT_TRUE(read);
    if (read) instance_ = *std::move(read);
  }

  nlohmann::json notes_;
  LayoutInstance instance_;
};

TEST_P(BundledTinyLayout, HasTheOutcomeItSays) {
  Budget budget({.node_limit = 1'000'000});
  const Outcome outcome = solve(instance_, {}, budget);
  if (notes_.contains("x-infeasible")) {
    EXPECT_EQ(outcome.status, Status::infeasible);
    EXPECT_FALSE(outcome.plan);
    EXPECT_FALSE(outcome.detail.empty());
    return;
  }
  ASSERT_TRUE(outcome.plan) << outcome.detail;
  EXPECT_EQ(outcome.status, Status::optimal) << outcome.detail;
  EXPECT_EQ(std::get<LayoutPlan>(*outcome.plan).peak_bytes, notes_["x-optimal_bytes"].get<Bytes>());
}

TEST_P(BundledTinyLayout, NoMethodContradictsIt) {
  const std::int64_t nodes = in_long_run(10'000, 100'000);  // a step of `anneal` takes 0.1 ms
  for (const Method& method : methods(instance_)) {
    Budget budget({.node_limit = nodes});
    const Outcome outcome = solve(instance_, {.method = method.name, .milp_seconds = 10}, budget);
    SCOPED_TRACE(method.name);
    if (notes_.contains("x-infeasible")) {
      EXPECT_FALSE(outcome.plan);
      continue;
    }
    const auto optimum = notes_["x-optimal_bytes"].get<Bytes>();
    EXPECT_LE(outcome.bound, static_cast<double>(optimum));
    EXPECT_NE(outcome.status, Status::infeasible);
    if (!outcome.plan) continue;  // a baseline may miss a capacity
    const auto& plan = std::get<LayoutPlan>(*outcome.plan);
    EXPECT_GE(plan.peak_bytes, optimum);
    EXPECT_TRUE(verify(instance_, plan).empty());
    if (outcome.status == Status::optimal) {
      EXPECT_EQ(plan.peak_bytes, optimum);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, BundledTinyLayout, testing::ValuesIn(tiny_files()),
                         [](const auto& file) {
                           std::string name = file.param.stem().string();
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(LayoutSolve, AStartIsNeverMadeWorse) {
  const Result<LayoutInstance> trace = trace_layout({.tokens = 4096, .layers = 2});
  ASSERT_TRUE(trace);
  Budget first({.node_limit = 1000});
  const Outcome best = solve(*trace, {}, first);
  ASSERT_TRUE(best.plan);
  Budget none({.node_limit = 0});
  const Outcome kept = solve(*trace, {.method = "online-best-fit", .start = best.plan}, none);
  EXPECT_EQ(kept.objective, best.objective);
  EXPECT_EQ(kept.found_by, "start");

  LayoutPlan stranger = std::get<LayoutPlan>(*best.plan);
  stranger.instance_hash = "fnv1a64:0000000000000000";
  Budget again({.node_limit = 1000});
  const Outcome refused = solve(*trace, {.start = stranger}, again);
  EXPECT_THAT(refused.detail, testing::HasSubstr("another instance"));
}

// The search, and not only the heuristics before it, stops when the plan reaches the gap.
TEST(LayoutSolve, TheSearchStopsAtTheGap) {
  using Kind = PackingGenerator::Kind;
  int stopped = 0;
  for (const Kind kind : {Kind::blocks, Kind::ring, Kind::sections}) {
    for (std::uint64_t seed = 0; seed < 14; ++seed) {
      LayoutInstance instance = generate_packing({.kind = kind, .seed = seed});
      instance.capacity.reset();
      SCOPED_TRACE(instance.name);
      Budget none;
      const double start = *solve(instance, {.method = "fast"}, none).gap();
      Budget first({.node_limit = 10'000});
      const Outcome all = solve(instance, {}, first);
      // Layouts that the search has improved without a proof.
      if (all.status == Status::optimal || *all.gap() >= start) continue;
      Budget budget({.node_limit = 10'000});
      const Outcome outcome = solve(instance, {.gap = *all.gap()}, budget);
      EXPECT_EQ(outcome.stopped_by, StoppedBy::gap);
      EXPECT_LE(*outcome.gap(), *all.gap());
      EXPECT_LT(outcome.nodes, all.nodes);
      ++stopped;
    }
  }
  EXPECT_GT(stopped, 1);
}

// Hundreds of buffers are alive at once, so that no fast layout reaches the load.
LayoutInstance many_alive() {
  auto made = generate_layout({.kind = LayoutGenerator::Kind::short_lived,
                               .buffers = 1500,
                               .steps = 3000,
                               .lifetime = 600,
                               .seed = 2});
  return made->instance;
}

TEST(LayoutSolve, ManyBuffersAreImproved) {
  const LayoutInstance instance = many_alive();
  Budget none;
  const Outcome fast = solve(instance, {.method = "fast"}, none);
  ASSERT_GT(*fast.gap(), 0);
  Budget first({.node_limit = 20'000});
  const Outcome improved = solve(instance, {}, first);
  EXPECT_LT(*improved.objective, *fast.objective);
  Budget again({.node_limit = 20'000});
  EXPECT_EQ(solve(instance, {}, again).objective, improved.objective);

  // Reaching the gap ends the search.
  Budget budget({.node_limit = 20'000});
  const double gap = (*improved.gap() + *fast.gap()) / 2;
  const Outcome enough = solve(instance, {.gap = gap}, budget);
  EXPECT_EQ(enough.stopped_by, StoppedBy::gap);
  EXPECT_LE(*enough.gap(), gap);
  EXPECT_LT(enough.nodes, improved.nodes);

  // A capacity that only improved layouts satisfy; a layout above it is not a plan.
  LayoutInstance narrow = instance;
  narrow.capacity = static_cast<Bytes>(*improved.objective);
  Budget third({.node_limit = 20'000});
  const Outcome fitted = solve(narrow, {}, third);
  ASSERT_TRUE(fitted.plan);
  EXPECT_LE(*fitted.objective, *improved.objective);
  Budget fourth;
  EXPECT_FALSE(solve(narrow, {.method = "fast"}, fourth).plan);
}

// After a limit at any point the best plan so far is returned, and the outcome names the limit.
TEST(LayoutSolve, ImprovementStopsWithItsTime) {
  const LayoutInstance instance = many_alive();
  for (const double millions : {1e-5, 5e-5, 2e-4, 1e-3}) {
    Budget budget({.time_limit_s = millions, .clock = BudgetClock::looks});
    const Outcome outcome = solve(instance, {}, budget);
    ASSERT_TRUE(outcome.plan) << millions;
    EXPECT_EQ(outcome.stopped_by, StoppedBy::time_limit) << millions;
  }
}

// The table for this many buffers would take longer than the limit. A method that has time to begin
// names the limit as the reason of its end, even if some time is left for the verifier.
TEST(LayoutSolve, ManyBuffersAndLittleTime) {
  const auto made = generate_layout(
      {.kind = LayoutGenerator::Kind::short_lived, .buffers = 60'000, .steps = 60'000});
  ASSERT_TRUE(made);
  for (const char* method : {"auto", "fast", "first-fit", "reinsert", "exact"}) {
    Budget none({.time_limit_s = 0});
    const Outcome outcome = solve(made->instance, {.method = method}, none);
    ASSERT_TRUE(outcome.plan) << method;
    EXPECT_EQ(outcome.found_by, "slots");
    EXPECT_LE(*outcome.objective, 1.5 * outcome.bound) << method;
    EXPECT_EQ(outcome.bound_by, "load");
    EXPECT_EQ(outcome.stopped_by, StoppedBy::time_limit);
  }
  Budget unlimited;
  const Outcome fast = solve(made->instance, {.method = "fast"}, unlimited);
  ASSERT_TRUE(fast.plan);
  Budget none({.time_limit_s = 0});
  const Outcome kept = solve(made->instance, {.start = fast.plan}, none);
  EXPECT_EQ(kept.found_by, "start");
  EXPECT_EQ(kept.objective, fast.objective);
  // For fewer buffers the table is built, but no dive runs.
  LayoutInstance fewer = made->instance;
  fewer.buffers.resize(20'000);
  Budget over({.time_limit_s = 0});
  const Outcome quick = solve(fewer, {}, over);
  ASSERT_TRUE(quick.plan);
  EXPECT_LE(*quick.objective, 1.5 * quick.bound);
  LayoutInstance tight = made->instance;
  tight.capacity = static_cast<Bytes>(*fast.objective);
  Budget again({.time_limit_s = 0});
  EXPECT_EQ(solve(tight, {}, again).status, Status::unknown);
}

// A buffer pinned at the end of the number range: a stack of all buffers is not exact, but there is
// a valid plan, and a start plan is kept.
TEST(LayoutSolve, WhereStacksAreNotExact) {
  const LayoutInstance instance{
      .buffers = {{.lower = 0, .upper = 5, .size = 1, .offset = kMaxExact - 1},
                  {.lower = 0, .upper = 5, .size = 11}}};
  Budget budget;
  const Outcome outcome = solve(instance, {}, budget);
  ASSERT_TRUE(outcome.plan) << outcome.detail;
  EXPECT_EQ(outcome.status, Status::optimal);
  EXPECT_EQ(outcome.objective, static_cast<double>(kMaxExact));
  Budget again;
  EXPECT_EQ(solve(instance, {.start = outcome.plan}, again).found_by, "start");
}

TEST(LayoutSolve, TwoLevelsLoseNothingOnWholeSteps) {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    const Result<LayoutInstance> trace =
        trace_layout({.tokens = 65536, .layers = 4, .recompute = recompute});
    ASSERT_TRUE(trace);
    Budget flat_budget({.node_limit = 100'000});
    Budget memo_budget({.node_limit = 100'000});
    const Outcome flat = solve(*trace, {}, flat_budget);
    const Outcome memo = solve(*trace, {.method = "memo"}, memo_budget);
    EXPECT_EQ(flat.status, Status::optimal);
    EXPECT_EQ(memo.objective, flat.objective);
  }
}

}  // namespace
}  // namespace stowage::layout_solve_test
