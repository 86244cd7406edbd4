// The proofs of verify.h that there is no plan. Shares no line with whoever finds them.
#include <algorithm>

#include "instances/infeasibility_check.h"
#include "instances/scatter/truth.h"
#include "instances/scatter/verify.h"

namespace stowage {

std::vector<Violation> check_infeasibility(const ScatterInstance& instance,
                                           const InfeasibilityProof& proof) {
  InfeasibilityCheck check(proof, {"sequences"});
  if (proof.by != "sequences") return std::move(check).take();
  const ScatterTruth truth(instance);
  Tokens room = 0;  // of the largest group
  for (const int degree : instance.cluster.degrees) room = std::max(room, truth.capacity(degree));
  check.sequences_longer_than(truth, room);
  return std::move(check).take();
}

}  // namespace stowage
