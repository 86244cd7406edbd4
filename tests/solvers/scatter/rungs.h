// The rungs of the oracle ladder that the tests of one term share: brute force = MILP = all sets of
// sequences = the facade; bounds and certificates below, heuristics above. Each function compares
// one step with its optimum by brute force; a test chooses the steps and adds the checks of its
// term.
//
//   for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
//     const ScatterInstance instance = tiny_timed_scatter(seed);
//     if (const auto optimum = brute_force(instance)) expect_found_again(instance, *optimum, seed);
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/scatter/certificate.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/violation.h"
#include "solvers/milp/backends.h"
#include "solvers/scatter/bounds/step_lp_bound.h"

namespace stowage {

// Returns the tolerance between two computations of a time, in ms.
double slack(double ms);

std::string all_of(const std::vector<Violation>& violations);

// Expects a valid plan whose objective the verifier's own search finds too.
void expect_found_again(const ScatterInstance& instance, const ScatterPlan& optimum,
                        std::uint64_t seed);

// Expects that the instance, by its hash, and the plan are read back unchanged. Returns the hash.
std::string expect_read_back(const ScatterInstance& instance,
                             const std::optional<ScatterPlan>& plan, std::uint64_t seed);

// The search over all sets of sequences does not support rules on whole micro-batches.
ScatterInstance without_rules_on_batches(ScatterInstance instance);
void expect_sets_have_the_optimum(const ScatterInstance& instance, const ScatterPlan& optimum,
                                  std::uint64_t seed);

// The number of plans that heuristics made, and whether `fast` made one and it is the best.
struct HeuristicPlans {
  std::uint64_t plans = 0;
  bool fast = false;
  bool fast_is_best = false;
};
// `joint` is `fast` with more moves, so it runs only on request.
HeuristicPlans expect_bounds_below_and_heuristics_above(const ScatterInstance& instance,
                                                        const ScatterPlan& optimum,
                                                        std::uint64_t seed, bool joint = false);

void expect_milp_has_the_optimum(const ScatterInstance& instance, const ScatterPlan& optimum,
                                 MilpBackend backend, std::uint64_t seed);

// Certificates of the step bound and of the profiles are valid and prove no more than the optimum.
// `look` is called with each. `of_step` is the node limit of the step bound.
struct Certified {
  std::uint64_t certificates = 0;
  double highest = 0;  // bound, ms
};
Certified expect_certificates_hold(const ScatterInstance& instance, const ScatterPlan& optimum,
                                   MilpBackend backend, std::int64_t of_step, std::uint64_t seed,
                                   const CertificateSink& look = {});

// Expects that a certificate for another instance is refused for this one, or true. Returns whether
// it is refused.
bool refused_or_true(const ScatterInstance& instance, double optimum_ms,
                     const ScatterCertificate& told, std::uint64_t seed);

// Method `exact` proves the optimum, or that there is no plan. Returns whether there is one.
bool expect_facade_proves(const ScatterInstance& instance, MilpBackend backend, std::uint64_t seed);

}  // namespace stowage
