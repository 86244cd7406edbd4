#include "tests/solvers/scatter/rungs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "formulations/scatter/bounds.h"
#include "heuristics/scatter/registry.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/exhaustive_check.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/incumbent.h"
#include "solvers/scatter/bounds/makespan_profile_bound.h"
#include "solvers/scatter/exact/scatter_milp.h"
#include "solvers/scatter/exact/subset_dp.h"
#include "solvers/solve.h"
#include "tests/oracles/scatter/brute_force.h"

namespace stowage {
namespace {

constexpr double kTolerance = 1e-6;

void expect_valid(const ScatterInstance& instance, const ScatterPlan& plan,
                  const std::string& what) {
  const std::vector<Violation> violations = verify(instance, plan);
  EXPECT_TRUE(violations.empty()) << what << all_of(violations);
}

}  // namespace

double slack(double ms) { return kTolerance * std::max(1.0, ms); }

std::string all_of(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) text += ' ' + to_string(violation);
  return text;
}

void expect_found_again(const ScatterInstance& instance, const ScatterPlan& optimum,
                        std::uint64_t seed) {
  expect_valid(instance, optimum, std::to_string(seed));
  const double best = optimum.objective_ms;
  const auto again = least_objective(instance, 2 * best + 1);
  ASSERT_TRUE(again) << seed;
  EXPECT_NEAR(*again, best, slack(best)) << seed;
}

std::string expect_read_back(const ScatterInstance& instance,
                             const std::optional<ScatterPlan>& plan, std::uint64_t seed) {
  const std::string hash = instance_hash(instance);
  const auto back = read_scatter_instance(write_scatter_instance(instance));
  EXPECT_TRUE(back) << seed << to_string(back.errors()[0]);
  if (!back) return hash;
  EXPECT_EQ(back->cluster, instance.cluster) << seed;
  EXPECT_EQ(back->model, instance.model) << seed;
  EXPECT_EQ(back->padding, instance.padding) << seed;
  EXPECT_EQ(back->cost.table, instance.cost.table) << seed;
  EXPECT_EQ(instance_hash(*back), hash) << seed;
  EXPECT_TRUE(is_well_formed(instance)) << seed;
  if (!plan) return hash;
  const auto same = read_scatter_plan(write_scatter_plan(*plan));
  EXPECT_TRUE(same) << seed;
  if (same) {
    EXPECT_EQ(*same, *plan) << seed;
  }
  return hash;
}

ScatterInstance without_rules_on_batches(ScatterInstance instance) {
  instance.rules.no_idle_ranks = false;
  instance.rules.equal_sequences = false;
  instance.rules.micro_batches_multiple_of = 1;
  return instance;
}

void expect_sets_have_the_optimum(const ScatterInstance& instance, const ScatterPlan& optimum,
                                  std::uint64_t seed) {
  const double best = optimum.objective_ms;
  const ScatterTable table(instance);
  for (const double above : {1 + kTolerance, 1.5}) {
    Budget budget;
    const auto step = best_of_subsets(table, best * above + kTolerance, budget);
    ASSERT_TRUE(step) << seed;
    EXPECT_NEAR(step_ms(table, *step), best, slack(best)) << seed;
    expect_valid(instance, to_plan(instance, table, *step), std::to_string(seed));
  }
}

HeuristicPlans expect_bounds_below_and_heuristics_above(const ScatterInstance& instance,
                                                        const ScatterPlan& optimum,
                                                        std::uint64_t seed, bool joint) {
  const double best = optimum.objective_ms;
  const ScatterTable table(instance);
  EXPECT_LE(least_micro_batches(table), std::ssize(optimum.micro_batches)) << seed;
  for (const NamedBound& bound : scatter_bounds(table)) {
    EXPECT_LE(bound.value, best + slack(best)) << bound.name << ' ' << seed;
  }
  HeuristicPlans made;
  for (const ScatterHeuristic& heuristic : heuristics(instance)) {
    if (heuristic.name == "joint" && !joint) continue;
    const auto plan = heuristic.run(instance, table, seed, Budget());
    if (!plan) continue;
    ++made.plans;
    EXPECT_GE(plan->objective_ms, best - slack(best)) << heuristic.name << ' ' << seed;
    expect_valid(instance, *plan, heuristic.name + ' ' + std::to_string(seed));
    if (heuristic.name != "fast") continue;
    made.fast = true;
    made.fast_is_best = plan->objective_ms <= best + slack(best);
  }
  return made;
}

void expect_milp_has_the_optimum(const ScatterInstance& instance, const ScatterPlan& optimum,
                                 MilpBackend backend, std::uint64_t seed) {
  const double best = optimum.objective_ms;
  Budget budget;
  Incumbent incumbent(instance, budget, {});
  for (const ScatterHeuristic& heuristic : heuristics(instance)) {
    if (heuristic.name != "batch-ada") continue;
    auto plan = heuristic.run(instance, ScatterTable(instance), 0, budget);
    if (plan) incumbent.offer(*std::move(plan), 'H', heuristic.name);
  }
  EXPECT_EQ(solve_step_milp(instance, {.backend = backend}, incumbent, budget), StoppedBy::proof)
      << seed;
  ASSERT_TRUE(incumbent.plan()) << seed;
  EXPECT_NEAR(incumbent.plan()->objective_ms, best, slack(best)) << seed;
  EXPECT_NEAR(incumbent.bound(), best, slack(best)) << seed;
}

Certified expect_certificates_hold(const ScatterInstance& instance, const ScatterPlan& optimum,
                                   MilpBackend backend, std::int64_t of_step, std::uint64_t seed,
                                   const CertificateSink& look) {
  const double best = optimum.objective_ms;
  Certified certified;
  const auto check = [&](const ScatterCertificate& certificate) {
    const CertificateCheck checked = check_certificate(instance, certificate);
    EXPECT_TRUE(checked.violations.empty()) << seed << ' ' << all_of(checked.violations);
    EXPECT_LE(checked.bound_ms, best + slack(best)) << seed;
    certified.highest = std::max(certified.highest, checked.bound_ms);
    ++certified.certificates;
    if (look) look(certificate);
  };
  Budget budget({.node_limit = of_step});
  ScatterStepBound step(instance, {.backend = backend}, best, check);
  step.improve(budget);
  Budget boxes({.node_limit = 10});
  ScatterProfileBound profile(instance, backend, best, check);
  if (profile.promising()) profile.improve(boxes);
  return certified;
}

bool refused_or_true(const ScatterInstance& instance, double optimum_ms,
                     const ScatterCertificate& told, std::uint64_t seed) {
  const CertificateCheck checked = check_certificate(instance, told);
  const bool refused = !checked.violations.empty();
  EXPECT_TRUE(refused || checked.bound_ms <= optimum_ms + slack(optimum_ms)) << seed;
  return refused;
}

bool expect_facade_proves(const ScatterInstance& instance, MilpBackend backend,
                          std::uint64_t seed) {
  const auto optimum = brute_force(instance);
  Budget budget;
  const Outcome outcome = solve(instance, {.method = "exact", .backend = backend}, budget);
  EXPECT_EQ(outcome.status, optimum ? Status::optimal : Status::infeasible)
      << seed << ' ' << outcome.detail;
  if (!optimum) {
    EXPECT_TRUE(outcome.infeasibility) << seed;
    if (!outcome.infeasibility) return false;
    EXPECT_TRUE(check_infeasibility(instance, *outcome.infeasibility).empty()) << seed;
    return false;
  }
  EXPECT_TRUE(outcome.objective) << seed;
  if (!outcome.objective) return true;
  EXPECT_NEAR(*outcome.objective, optimum->objective_ms, slack(optimum->objective_ms)) << seed;
  EXPECT_LE(outcome.bound, *outcome.objective) << seed;
  EXPECT_TRUE(outcome.violations.empty()) << seed;
  return true;
}

}  // namespace stowage
