// The independent verifier of a strategy plan: checks whether the plan is valid for the instance
// and whether its stated values are true. instances/verify.h has the promises of all verifiers.
//
// Rules of a strategy plan:
//
//   number             every time and every amount of memory is finite and not negative
//   options            the instance's options have each value that the plan takes; stream chunks
//                      are 1 without full recomputation
//   devices            pp tp cp dp is the number of devices, and tp cp divides the heads
//   experts            ep is 1, or divides cp dp and the experts of each layer that has some; both
//                      ep and tp are above 1 only with sequence parallelism
//   micro_batches      micro_batches dp divides the number of sequences; pp divides micro_batches
//                      where v > 1
//   layers             there are pp stages of at least one layer that hold all layers. v divides
//   the
//                      layers of a stage; if the model has a vocabulary, the embedding in the first
//                      stage and the head in the last may count as a layer. If v > 1 and blocks
//                      differ, all stages have the same number
//   memory             memory_mib of each stage is its need, and at most the device's memory
//   time               the times of each stage are true
//   objective          step_ms follows from the stages
//   bound              bound_ms is at most step_ms, and names its certificate if positive
//   instance_hash      the plan was made for this very instance (verify_instance_hash)
//
// Memory, times and the objective are checked only for plans that satisfy the rules from `options`
// to `layers`.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string_view>
#include <vector>

#include "instances/proof.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "instances/violation.h"

namespace stowage {

// Returns the names of all rules, in the order of the table above.
std::vector<std::string_view> strategy_verify_rules();

// Returns every violation, by rule in the order of the table, then by place; empty for a valid
// plan. Requires a valid instance (as the reader returns it). Ignores plan.instance_hash.
std::vector<Violation> verify(const StrategyInstance& instance, const StrategyPlan& plan);

// The rule instance_hash: returns no violation if `plan` has `instance_hash`, the hash of the given
// instance.
std::vector<Violation> verify_instance_hash(const StrategyPlan& plan,
                                            std::string_view instance_hash);

// Checks the reason that an outcome gives for having no plan; returns no violations if the proof
// holds:
//   configurations  for every combination of the options, layers do not fit the memory of the
//                   devices, or the options exclude each other; no witnesses
// `none` proves nothing, and breaks a rule if some configuration fits. Requires a valid instance;
// the proof may hold any values.
std::vector<Violation> check_infeasibility(const StrategyInstance& instance,
                                           const InfeasibilityProof& proof);

}  // namespace stowage
