#include "instances/scatter/trainer.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "instances/scatter/cost/mixed.h"
#include "instances/scatter/json/json.h"
#include "instances/trainer/composer.h"

namespace stowage {

Result<TrainerStep> trainer_step(const ScatterInstance& instance, const ScatterPlan& plan) {
  TrainerComposer composer(instance.lengths, instance.loss_tokens);
  int next = 0;  // micro-batch of the trainer, in which a rank has one row at a time
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    for (const std::vector<std::size_t>& together : groups_at_once(instance, batch.groups)) {
      for (std::size_t k = 0; k < together.size(); ++k) {
        const ScatterGroup& group = batch.groups[together[k]];
        composer.add({.micro_batch = next,
                      .group = static_cast<int>(k),
                      .first_rank = group.first_rank,
                      .degree = group.degree,
                      .recomputation = batch.recomputation,
                      .offload = group.offload},
                     group.sequences, group.cu_seqlens);
      }
      ++next;
    }
  }
  return std::move(composer).finish({.problem = "scatter",
                                     .name = instance.name,
                                     .instance_hash = instance_hash(instance),
                                     .ranks = instance.cluster.devices});
}

}  // namespace stowage
