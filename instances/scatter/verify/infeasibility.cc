// Checks the proofs of verify.h that no plan exists. It shares no code with the search that finds
// them.
#include <algorithm>

#include "instances/proof/infeasibility_check.h"
#include "instances/scatter/verify/counterexample_plan.h"
#include "instances/scatter/verify/reference_counts.h"
#include "instances/scatter/verify/reference_model.h"
#include "instances/scatter/verify/verify.h"

namespace stowage {
namespace {

// Checks the proof by counts: each group has a sequence, and each micro-batch a group or, without
// idle ranks, the groups that make up N ranks.
void too_few_sequences(const ScatterInstance& instance, InfeasibilityCheck& check) {
  const auto sequences = static_cast<std::int64_t>(instance.lengths.size());
  if (sequences == 0) {
    check.wrong("", "no sequence", "one at least");
    return;
  }
  std::int64_t groups = 1;
  if (instance.rules.no_idle_ranks) {
    const std::optional<std::int64_t> fewest = true_fewest_groups(instance);
    if (!fewest) return;
    groups = *fewest;
  }
  const LengthCounts counts = true_length_counts(instance);
  const std::int64_t batches = true_fewest_micro_batches(instance, counts);
  const std::int64_t needed = checked_mul(batches, groups).value_or(kMaxExact);
  if (needed > sequences) return;
  check.wrong("", text(sequences) + " sequences for " + text(needed) + " groups",
              "fewer sequences than groups");
}

}  // namespace

std::vector<Violation> check_infeasibility(const ScatterInstance& instance,
                                           const InfeasibilityProof& proof) {
  InfeasibilityCheck check(proof, {{"sequences", ProofParts::witnesses}, {"micro_batches"}});
  const ScatterReferenceModel truth(instance);
  if (proof.by == "sequences") {
    Tokens room = 0;  // of the largest group
    for (const GroupForm form : truth.forms()) room = std::max(room, truth.room(form));
    check.sequences_longer_than(truth, room);
  } else if (proof.by == "micro_batches") {
    too_few_sequences(instance, check);
  }
  if (proof.by == "none" && has_counterexample_plan(instance)) check.plan_exists();
  return std::move(check).take();
}

}  // namespace stowage
