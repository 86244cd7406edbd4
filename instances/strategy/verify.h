// The independent verifier of a strategy plan: is it valid for this instance, and is what it says
// true? What all verifiers promise stands in instances/verify.h.
//
// Rules of a strategy plan:
//
//   number             every time and every amount of memory is finite and not negative
//   options            the instance's options have each value that the plan takes; stream chunks
//                      are 1 without full recomputation
//   devices            pp tp cp dp is the number of devices, and tp cp divides the heads
//   experts            ep is 1, or divides cp dp and the experts of each layer that has some; only
//                      with sequence parallelism is it above 1 where tp is
//   micro_batches      micro_batches dp divides the number of sequences; pp divides micro_batches
//                      where v > 1
//   layers             there are pp stages of at least one layer, with all layers among them, whose
//                      layers v divides; where the model has a vocabulary, the embedding in the
//                      first stage and the head in the last one may count as a layer. All have as
//                      many where v > 1 and blocks differ
//   memory             each stage needs as much as it says, and at most the device's memory
//   time               each stage takes as long as it says
//   objective          step_ms follows from the stages
//   bound              bound_ms is at most step_ms, and names its certificate if positive
//   instance_hash      the plan was made for this very instance (verify_instance_hash)
//
// Memory, times and the objective are asked only of plans that keep the rules from `options` to
// `layers`.
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

// Names of all rules, in the order of the table above.
std::vector<std::string_view> strategy_verify_rules();

// Every violation found, empty for a valid plan; by rule in the order of the table, then by place.
// Requires a valid instance (as the reader returns it). Does not look at plan.instance_hash.
std::vector<Violation> verify(const StrategyInstance& instance, const StrategyPlan& plan);

// The rule instance_hash: empty if `plan` carries `instance_hash`, the hash of the instance at
// hand.
std::vector<Violation> verify_instance_hash(const StrategyPlan& plan,
                                            std::string_view instance_hash);

// Whether an instance has no plan for the reason that an outcome gives. Empty if the proof holds,
// which is
//   configurations  however the options are combined, layers do not fit the memory of the devices,
//                   or the options do not combine at all; no witnesses
// `none` proves nothing, and holds unless some configuration fits. Requires a valid instance; any
// proof may be handed in.
std::vector<Violation> check_infeasibility(const StrategyInstance& instance,
                                           const InfeasibilityProof& proof);

}  // namespace stowage
