// Checks the proofs of verify.h that no order exists. It shares no code with the search that finds
// them.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "instances/order/verify/counterexample_plan.h"
#include "instances/order/verify/reference_model.h"
#include "instances/order/verify/verify.h"
#include "instances/proof/infeasibility_check.h"

namespace stowage {
namespace {

// Returns the bytes that are live whenever the operator runs. With a host, a tensor that the
// operator does not touch may be on the host.
Bytes needed_by(const OrderInstance& instance, const OrderReferenceModel& truth, std::int64_t op) {
  const OrderOperator& its = instance.operators[static_cast<std::size_t>(op)];
  Bytes need = truth.least_added(its);
  std::vector<bool> counted(instance.tensors.size(), false);
  for (const std::int64_t t : OrderReferenceModel::touched(its)) {
    counted[static_cast<std::size_t>(t)] = true;
    need += truth.size(t);
  }
  for (std::size_t t = 0; t < counted.size(); ++t) {
    const auto index = static_cast<std::int64_t>(t);
    if (!counted[t] && !instance.host && truth.always(index)) need += truth.size(index);
  }
  return need;
}

}  // namespace

std::vector<Violation> check_infeasibility(const OrderInstance& instance,
                                           const InfeasibilityProof& proof) {
  InfeasibilityCheck check(proof, {{"operator", ProofParts::witnesses}, {"ends"}});
  const OrderReferenceModel truth(instance);
  const auto too_little = [&](Bytes need) {
    return instance.capacity && need > *instance.capacity;
  };
  const auto complain = [&](Bytes need) {
    check.wrong(
        "/witnesses", text(need) + " bytes at once",
        instance.capacity ? "more than the capacity, " + text(*instance.capacity) : "a capacity");
  };
  if (proof.by == "operator") {
    const auto operators = static_cast<std::int64_t>(instance.operators.size());
    check.at_least(1);
    for (std::size_t k = 0; k < proof.witnesses.size(); ++k) {
      const std::int64_t op = proof.witnesses[k];
      if (op < 0 || op >= operators) {
        check.wrong_witness(k, "operator " + text(op), "the index of an operator");
      } else if (const Bytes need = needed_by(instance, truth, op); !too_little(need)) {
        complain(need);
      }
    }
  }
  if (proof.by == "ends") {
    const Bytes need = std::max(truth.at_start(), truth.at_end());
    if (!too_little(need)) complain(need);
  }
  if (proof.by == "none" && has_counterexample_plan(instance)) check.plan_exists();
  return std::move(check).take();
}

}  // namespace stowage
