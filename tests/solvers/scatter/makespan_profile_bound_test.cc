// Certificates by makespans: each passes the checker, which shares no code with the solver, none
// claims more than the optimum of brute force, and changed ones are refused.
#include "solvers/scatter/bounds/makespan_profile_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "formulations/scatter/bounds.h"
#include "instances/json/writer.h"
#include "instances/numeric/random.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/verify.h"
#include "instances/violation.h"
#include "solvers/milp/solver.h"
#include "solvers/scatter/patterns/makespan_profile_search.h"
#include "solvers/scatter/patterns/pattern_dive.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_profile_bound_test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kInstances = 200;
#else
const auto kInstances = static_cast<std::uint64_t>(in_long_run(1000, 5000));
#endif
constexpr std::uint64_t kShards = 4;

std::optional<ScatterCertificate> certificate_of(
    const ScatterInstance& instance, MilpBackend backend, Ms upper, std::int64_t boxes,
    std::size_t most_lengths = ScatterProfileBound::kMostLengths) {
  std::optional<ScatterCertificate> last;
  ScatterProfileBound search(
      instance, backend, upper, [&](const ScatterCertificate& better) { last = better; },
      most_lengths);
  if (!search.promising()) return std::nullopt;
  Budget budget({.node_limit = boxes});
  search.improve(budget);
  if (last) {
    EXPECT_EQ(search.bound(), last->bound_ms);
  }
  return last;
}

class ProfileBoundOnTiny : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ProfileBoundOnTiny, IsCertifiedAndAtMostTheOptimum) {
  if (built_backends().empty()) GTEST_SKIP() << "no LP backend";
  int tight = 0;
  int all = 0;
  for (std::uint64_t seed = GetParam(); seed < kInstances; seed += kShards) {
    SCOPED_TRACE(seed);
    const ScatterInstance instance = tiny_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan || instance.lengths.empty()) continue;
    for (const double above : {1.1, 1.0}) {
      const auto certificate =
          certificate_of(instance, built_backends()[seed % built_backends().size()],
                         plan->objective_ms * above, 12);
      if (!certificate) continue;
      const CertificateCheck check = check_certificate(instance, *certificate);
      for (const Violation& v : check.violations) ADD_FAILURE() << to_string(v);
      EXPECT_EQ(check.bound_ms, certificate->bound_ms);
      ASSERT_LE(certificate->bound_ms, plan->objective_ms * (1 + 1e-9));
      if (above > 1) continue;
      ++all;
      tight += certificate->bound_ms > plan->objective_ms * (1 - 1e-6) ? 1 : 0;
    }
  }
  // The bound is useful: it proves most of these optima.
  EXPECT_GT(tight, all / 2);
}

// With lengths that are lowered to a few, the bound is weaker and as certain.
TEST_P(ProfileBoundOnTiny, OfLoweredLengthsIsCertifiedAndAtMostTheOptimum) {
  if (built_backends().empty()) GTEST_SKIP() << "no LP backend";
  int lowered = 0;
  for (std::uint64_t seed = GetParam(); seed < kInstances; seed += kShards) {
    SCOPED_TRACE(seed);
    const ScatterInstance instance = tiny_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan || instance.lengths.empty()) continue;
    const std::size_t kinds = ScatterTable(instance).kinds().size();
    const auto certificate =
        certificate_of(instance, built_backends()[seed % built_backends().size()],
                       plan->objective_ms * 1.1, 6, 1 + seed % 2);
    if (!certificate) continue;
    const CertificateCheck check = check_certificate(instance, *certificate);
    for (const Violation& v : check.violations) ADD_FAILURE() << to_string(v);
    EXPECT_EQ(check.bound_ms, certificate->bound_ms);
    ASSERT_LE(certificate->bound_ms, plan->objective_ms * (1 + 1e-9));
    if (kinds > 2) ++lowered;
  }
  EXPECT_GT(lowered, static_cast<int>(kInstances / kShards / 20));
}

// Sequences of 200 lengths, padded by the degree of their group: the bound is near the plan.
TEST(ProfileCertificate, CoversStepsOfManyLengths) {
  if (built_backends().empty()) GTEST_SKIP() << "no LP backend";
  ScatterInstance step{.name = "many",
                       .cluster = {.devices = 16, .memory_mib = 8000, .degrees = {1, 2, 4, 8, 16}},
                       .model = {.states_mib = 100, .activation_mib_per_token = 1},
                       .cost = {.quadratic_ms = 1e-4, .linear_ms = 0.1, .fixed_ms = 200},
                       .padding = Padding{.device_multiple = 2}};
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    step.lengths.push_back(20 + 3 * i + static_cast<Tokens>(draw(random, 3)));
  }
  SolveOptions options;
  options.method = "fast";
  Budget budget;
  const Outcome fast = solve(step, options, budget, {});
  ASSERT_TRUE(fast.plan);
  const Ms upper = std::get<ScatterPlan>(*fast.plan).objective_ms;
  const ScatterTable whole = ScatterTable(step).relaxed();
  const ScatterTable lowered = whole.lowered(ScatterProfileBound::kMostLengths);
  ASSERT_GT(whole.kinds().size(), 150U);
  EXPECT_LE(lowered.kinds().size(), ScatterProfileBound::kMostLengths);
  EXPECT_GE(lowered.total_area(), 0.98 * whole.total_area());
  for (int position = 0; position < whole.size(); ++position) {
    EXPECT_LE(lowered.length(position), whole.length(position));
    for (int config = 0; config < 5; ++config) {
      EXPECT_LE(lowered.cost(position, config), whole.cost(position, config));
    }
  }
  auto certificate = certificate_of(step, built_backends().front(), upper, 4);
  ASSERT_TRUE(certificate);
  EXPECT_TRUE(check_certificate(step, *certificate).violations.empty());
  EXPECT_GT(certificate->bound_ms, 0.9 * upper);
  EXPECT_LE(certificate->bound_ms, upper);
  certificate->bound_ms = 1.2 * upper;
  EXPECT_FALSE(check_certificate(step, *certificate).violations.empty());
}

INSTANTIATE_TEST_SUITE_P(Shards, ProfileBoundOnTiny, testing::Range(std::uint64_t{0}, kShards));

TEST(ProfileCertificate, CorruptionsAreRefused) {
  if (built_backends().empty()) GTEST_SKIP() << "no LP backend";
  std::mt19937_64 random(11);
  int refused = 0;
  for (std::uint64_t seed = 0; refused < 200; ++seed) {
    ASSERT_LT(seed, 2000U);
    SCOPED_TRACE(seed);
    const ScatterInstance instance = tiny_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan || instance.lengths.empty()) continue;
    const auto certificate =
        certificate_of(instance, built_backends().front(), plan->objective_ms, 12);
    if (!certificate) continue;
    // A bound above the optimum is false, for all prices.
    ScatterCertificate bad = *certificate;
    bad.bound_ms = plan->objective_ms * 1.001;
    EXPECT_FALSE(check_certificate(instance, bad).violations.empty());
    ++refused;
    for (ProfileTree& tree : bad.profiles) {
      for (ProfileNode& node : tree) {
        const double factor = 1 + static_cast<double>(draw(random, 1000)) / 500;
        for (double& value : node.values) {
          if (draw(random, 2) == 0) value *= factor;
        }
        for (auto& degrees : node.batches) {
          for (GroupPrices& prices : degrees) {
            if (draw(random, 3) == 0) prices.time /= factor;
            if (draw(random, 3) == 0) prices.group /= factor;
            if (draw(random, 9) == 0) prices = {};
          }
        }
        if (draw(random, 3) == 0) node.at *= factor;
        if (draw(random, 5) == 0) std::swap(node.below, node.above);
      }
      if (tree.size() > 1 && draw(random, 4) == 0) tree.pop_back();
    }
    if (draw(random, 5) == 0) bad.profiles.pop_back();
    if (draw(random, 5) == 0) bad.profiles.push_back({ProfileNode{}});
    EXPECT_FALSE(check_certificate(instance, bad).violations.empty());
    ++refused;
  }
}

TEST(ProfileCertificate, ShapesAndNumbersMatch) {
  if (built_backends().empty()) GTEST_SKIP() << "no LP backend";
  std::uint64_t seed = 0;
  std::optional<ScatterCertificate> good;
  ScatterInstance instance;
  for (; !good || good->profiles.front().front().kind != ProfileNode::Kind::priced; ++seed) {
    ASSERT_LT(seed, 2000U);
    instance = tiny_scatter(seed);
    const auto plan = brute_force(instance);
    good.reset();
    if (!plan || instance.lengths.empty()) continue;
    good = certificate_of(instance, built_backends().front(), plan->objective_ms, 12);
    // The longest sequence fits, so the claim that it fits nowhere is not a proof.
    const ScatterTable table(instance);
    if (good && (least_micro_batches(table) > 1 || good->bound_ms < table.alone(0) * 1.001)) {
      good.reset();
    }
  }
  const auto rule = [&](const ScatterCertificate& certificate) {
    const CertificateCheck check = check_certificate(instance, certificate);
    return check.violations.empty() ? "" : check.violations.front().rule;
  };
  ScatterCertificate bad = *good;
  bad.profiles.front().front().values.push_back(1);
  EXPECT_EQ(rule(bad), "certificate_profile");
  bad = *good;
  bad.profiles.front().front().batches.clear();
  EXPECT_EQ(rule(bad), "certificate_profile");
  bad = *good;
  bad.profiles.front().front().values.front() = -1;
  EXPECT_EQ(rule(bad), "certificate_number");
  bad = *good;
  bad.profiles.front().clear();
  EXPECT_EQ(rule(bad), "certificate_profile");
  bad = *good;
  bad.profiles.front().push_back({});
  EXPECT_EQ(rule(bad), "certificate_profile");
  bad = *good;
  bad.nodes.push_back({});
  EXPECT_EQ(rule(bad), "certificate_profile");
  bad = *good;
  bad.profiles.front().front() = {};  // left open
  EXPECT_EQ(rule(bad), "certificate_bound");
  bad = *good;
  for (double& value : bad.profiles.front().front().values) value *= 1.5;
  EXPECT_EQ(rule(bad), "certificate_pattern");
}

TEST(ProfileCertificate, ReadsBackWhatItWrites) {
  if (built_backends().empty()) GTEST_SKIP() << "no LP backend";
  int trees = 0;
  for (std::uint64_t seed = 0; trees < 20; ++seed) {
    ASSERT_LT(seed, 2000U);
    const ScatterInstance instance = tiny_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan || instance.lengths.empty()) continue;
    const auto certificate =
        certificate_of(instance, built_backends().front(), plan->objective_ms * 1.05, 8);
    if (!certificate) continue;
    JsonWriter json;
    json.begin_object();
    json.key("certificate");
    write_json(json, *certificate);
    json.end_object();
    const std::string text = json.take();
    const auto again = read_scatter_certificate(text);
    ASSERT_TRUE(again);
    ASSERT_TRUE(again->has_value());
    JsonWriter twice;
    twice.begin_object();
    twice.key("certificate");
    write_json(twice, **again);
    twice.end_object();
    EXPECT_EQ(twice.take(), text);
    ++trees;
  }
}

TEST(Repack, MakesNoPlanWorseAndLosesNothing) {
  if (built_backends().empty()) GTEST_SKIP() << "no LP backend";
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const ScatterInstance instance = tiny_scatter(seed);
    const auto best = brute_force(instance);
    if (!best || instance.lengths.empty()) continue;
    const ScatterTable table(instance);
    WorkingStep step = to_draft(instance, table, *best);
    std::vector<std::size_t> all;
    for (std::size_t b = 0; b < step.size(); ++b) all.push_back(b);
    Budget budget;
    const bool gained =
        repack_some(table, all, {.spread = 0.1}, built_backends().front(), seed, step, budget);
    EXPECT_FALSE(gained);  // the plan was optimal
    const ScatterPlan plan = to_plan(instance, table, step);
    EXPECT_TRUE(verify(instance, plan).empty());
  }
}

TEST(Reshape, MakesNoPlanWorseAndLosesNothing) {
  if (built_backends().empty()) GTEST_SKIP() << "no LP backend";
  int gained = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const ScatterInstance instance = tiny_scatter(seed);
    const auto best = brute_force(instance);
    if (!best || instance.lengths.empty()) continue;
    const ScatterTable table(instance);
    // Every sequence is in a micro-batch of its own, so the plan can be improved.
    WorkingStep step;
    for (int position = 0; position < table.size(); ++position) {
      WorkingMicroBatch& batch = step.emplace_back();
      int level = 0;
      for (int d = 0; d < static_cast<int>(table.configs().size()); ++d) {
        if (table.holds(d, position)) level = d;
      }
      batch.groups.push_back(empty_group(table, level));
      add_sequence(table, batch.groups.front(), position);
      batch.makespan = batch.groups.front().time;
    }
    const Ms before = total(step);
    ScatterProfileSearch reshape(table, built_backends().front());
    Budget budget;
    for (std::uint64_t i = 0; i < 10; ++i) {
      const Ms last = total(step);
      const bool better = reshape.improve(step, seed * 100 + i, budget);
      EXPECT_EQ(better, total(step) < last);
    }
    EXPECT_LE(total(step), before);
    gained += total(step) < before ? 1 : 0;
    const ScatterPlan plan = to_plan(instance, table, step);
    EXPECT_TRUE(verify(instance, plan).empty());
    EXPECT_GE(plan.objective_ms, best->objective_ms * (1 - 1e-9));
  }
  EXPECT_GT(gained, 20);
}

TEST(Reshape, OfSomeMicroBatchesLeavesTheOthers) {
  if (built_backends().empty()) GTEST_SKIP() << "no LP backend";
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const ScatterInstance instance = tiny_scatter(seed);
    const auto best = brute_force(instance);
    if (!best || best->micro_batches.size() < 2) continue;
    const ScatterTable table(instance);
    WorkingStep step = to_draft(instance, table, *best);
    Budget budget;
    EXPECT_FALSE(reshape_some(table, {0, 1}, built_backends().front(), seed, step, budget));
    const ScatterPlan plan = to_plan(instance, table, step);
    EXPECT_TRUE(verify(instance, plan).empty());
    EXPECT_NEAR(plan.objective_ms, best->objective_ms, 1e-9 * best->objective_ms);
  }
}

}  // namespace
}  // namespace stowage::scatter_profile_bound_test
