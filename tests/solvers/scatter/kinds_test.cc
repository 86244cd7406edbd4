// The oracle ladder for unequal devices: brute force over sets of ranks = MILP by GLPK = MILP by
// CBC = the facade; bounds and certificates are below, heuristics above, and the verifier checks
// places.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "instances/scatter/certificate.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/table/device_pools.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/explain/family_explain.h"
#include "solvers/scatter/explain/explain.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/solvers/scatter/rungs.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_kinds_test {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(14, 1000));

TEST(ScatterKinds, InstancesAreRead) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    expect_read_back(tiny_kinds_scatter(seed), std::nullopt, seed);
  }
}

TEST(ScatterKinds, BruteForcePlansVerify) {
  std::uint64_t planned = 0;
  std::uint64_t across = 0;
  for (std::uint64_t seed = 0; seed < 4 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_kinds_scatter(seed, 5);
    const auto plan = brute_force(instance);
    if (!plan) continue;
    ++planned;
    EXPECT_TRUE(verify(instance, *plan).empty()) << seed;
    for (const ScatterMicroBatch& batch : plan->micro_batches) {
      for (const ScatterGroup& group : batch.groups) {
        across += form_of(instance, batch, group)->place >= std::ssize(instance.cluster.kinds);
      }
    }
  }
  EXPECT_GT(planned, kInstances);
  EXPECT_GT(across, kInstances / 8);
}

TEST(ScatterKinds, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < 2 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_kinds_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    planned += expect_bounds_below_and_heuristics_above(instance, *optimum, seed).plans;
  }
  EXPECT_GT(planned, kInstances);
}

class ScatterKindsFacade : public testing::TestWithParam<MilpBackend> {};

TEST_P(ScatterKindsFacade, EqualsBruteForce) {
  std::uint64_t planned = 0;
  std::uint64_t proven = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_kinds_scatter(seed, 4, 4);
    const auto optimum = brute_force(instance);
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "exact", .backend = GetParam()}, budget);
    if (!optimum) {
      ASSERT_EQ(outcome.status, Status::infeasible) << seed << " " << outcome.detail;
      EXPECT_TRUE(check_infeasibility(instance, *outcome.infeasibility).empty()) << seed;
      continue;
    }
    ++planned;
    ASSERT_TRUE(outcome.objective) << seed << ' ' << outcome.detail;
    EXPECT_EQ(outcome.status, Status::optimal) << seed << ' ' << outcome.detail;
    EXPECT_NEAR(*outcome.objective, optimum->objective_ms, slack(optimum->objective_ms)) << seed;
    EXPECT_LE(outcome.bound, *outcome.objective) << seed;
    if (!outcome.certificate) continue;
    const auto* certificate = std::get_if<ScatterCertificate>(&outcome.certificate->any());
    ASSERT_NE(certificate, nullptr) << seed;
    const CertificateCheck check = check_certificate(instance, *certificate);
    EXPECT_TRUE(check.violations.empty()) << seed << check.violations.size();
    EXPECT_LE(check.bound_ms, optimum->objective_ms + slack(optimum->objective_ms)) << seed;
    ++proven;
  }
  EXPECT_GT(planned, kInstances / 3);
  EXPECT_GT(proven, 0U);
}

// Times and memory are those of the ranks that a plan names.
TEST(ScatterKinds, AGroupThatMovesToOtherDevicesIsCaught) {
  std::uint64_t moved = 0;
  for (std::uint64_t seed = 0; seed < 10 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_kinds_scatter(seed, 4);
    std::optional<ScatterPlan> plan = brute_force(instance);
    if (!plan || plan->micro_batches.empty()) continue;
    ScatterMicroBatch& batch = plan->micro_batches.front();
    if (batch.groups.size() > 1) continue;  // the group would take the ranks of another group
    ScatterGroup& group = batch.groups.front();
    const ScatterGroup before = group;
    for (group.first_rank = 0; group.first_rank + group.degree <= instance.cluster.devices;
         group.first_rank += group.degree) {
      const auto here = group_place(instance.cluster, before.degree,
                                    *place_at(instance.cluster, before.degree, group.first_rank));
      const auto there = group_place(instance.cluster, before.degree,
                                     *place_at(instance.cluster, before.degree, before.first_rank));
      if (here->speed == there->speed || !(instance.cost.linear_ms > 0)) continue;
      ++moved;
      const std::vector<Violation> violations = verify(instance, *plan);
      EXPECT_TRUE(std::ranges::any_of(violations, [](const Violation& violation) {
        return violation.rule == "time" || violation.rule == "capacity";
      })) << seed;
    }
  }
  EXPECT_GT(moved, kInstances / 2);
}

// explain() computes the effect of more memory for all device types, and of one more node of the
// last type.
TEST(ScatterKinds, ExplainAsksWhatMoreOfEveryKindWouldSave) {
  const ScatterInstance instance{.name = "old-and-new",
                                 .cluster = {.devices = 4,
                                             .devices_per_node = 2,
                                             .memory_mib = 100,
                                             .degrees = {1, 2},
                                             .kinds = {{"new", 1, 2, 200}, {"old", 1, 1, 100}}},
                                 .model = {.states_mib = 20, .activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1, .fixed_ms = 1},
                                 .lengths = {160, 80, 80}};
  Budget budget;
  const Outcome outcome = solve(instance, {.method = "auto"}, budget);
  ASSERT_TRUE(outcome.objective);
  EXPECT_DOUBLE_EQ(*outcome.objective, 61);
  std::set<std::string> asked;
  for (const Change& change : changes_of(instance, std::get<ScatterPlan>(*outcome.plan))) {
    asked.insert(change.where);
    const auto& changed = std::get<ScatterInstance>(change.instance);
    EXPECT_TRUE(read_scatter_instance(write_scatter_instance(changed))) << change.text;
    EXPECT_NE(changed.cluster.kinds, instance.cluster.kinds) << change.text;
  }
  EXPECT_EQ(asked, (std::set<std::string>{"/cluster/devices", "/cluster/memory_mib"}));
}

// For all weights an accepted certificate proves no more than the optimum.
TEST(ScatterKinds, NoCertificateProvesMoreThanTheOptimum) {
  std::uint64_t proven = 0;
  std::uint64_t refuted = 0;
  for (std::uint64_t seed = 0; seed < 6 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_kinds_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    Budget budget({.node_limit = 40});
    const Outcome outcome = solve(instance, {.method = "fast"}, budget);
    if (!outcome.certificate) continue;
    const auto& found = std::get<ScatterCertificate>(outcome.certificate->any());
    const CertificateCheck check = check_certificate(instance, found);
    EXPECT_TRUE(check.violations.empty()) << seed << to_string(check.violations.front());
    EXPECT_LE(check.bound_ms, optimum->objective_ms + slack(optimum->objective_ms)) << seed;
    ++proven;
    for (std::size_t kind = 0; kind < found.kind_weights.size(); ++kind) {
      for (const double factor : {0.5, 2.0}) {
        ScatterCertificate lie = found;
        lie.kind_weights[kind] *= factor;
        lie.bound_ms = std::max(found.bound_ms, 1.001 * optimum->objective_ms);
        refuted += !check_certificate(instance, lie).violations.empty();
        lie.bound_ms = found.bound_ms;
        EXPECT_LE(check_certificate(instance, lie).bound_ms,
                  optimum->objective_ms + slack(optimum->objective_ms))
            << seed;
      }
    }
    ScatterCertificate lie = found;
    lie.kind_weights.push_back(1);
    EXPECT_FALSE(check_certificate(instance, lie).violations.empty()) << seed;
  }
  EXPECT_GT(proven, kInstances / 2);
  EXPECT_GT(refuted, kInstances / 2);
}

INSTANTIATE_TEST_SUITE_P(Backends, ScatterKindsFacade, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterKindsFacade);

}  // namespace
}  // namespace stowage::scatter_kinds_test
