#include "instances/scatter/trainer.h"

#include <utility>

#include "instances/scatter/json/json.h"
#include "instances/trainer/composer.h"

namespace stowage {

Result<TrainerStep> trainer_step(const ScatterInstance& instance, const ScatterPlan& plan) {
  TrainerComposer composer(instance.lengths, instance.loss_tokens);
  for (std::size_t m = 0; m < plan.micro_batches.size(); ++m) {
    const std::vector<ScatterGroup>& groups = plan.micro_batches[m].groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      composer.add({.micro_batch = static_cast<int>(m),
                    .group = static_cast<int>(g),
                    .first_rank = groups[g].first_rank,
                    .degree = groups[g].degree,
                    .recomputation = plan.micro_batches[m].recomputation,
                    .offload = groups[g].offload},
                   groups[g].sequences, groups[g].cu_seqlens);
    }
  }
  return std::move(composer).finish({.problem = "scatter",
                                     .name = instance.name,
                                     .instance_hash = instance_hash(instance),
                                     .ranks = instance.cluster.devices});
}

}  // namespace stowage
