#include "instances/scatter/plan.h"

#include "instances/scatter/devices.h"

namespace stowage {

std::optional<GroupForm> form_of(const ScatterInstance& instance,
                                 const ScatterMicroBatch& micro_batch, const ScatterGroup& group) {
  const int index = recomputation_index(instance, micro_batch.recomputation);
  const std::optional<int> place = place_at(instance.cluster, group.degree, group.first_rank);
  if (index < 0 || !place) return std::nullopt;
  return GroupForm{group.degree, group.exchange, index, *place};
}

}  // namespace stowage
