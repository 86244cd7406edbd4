#include "instances/scatter/trainer.h"

#include <utility>

#include "instances/scatter/cost/mixed.h"
#include "instances/scatter/json/json.h"
#include "instances/trainer/composer.h"

namespace stowage {

Result<TrainerStep> trainer_step(const ScatterInstance& instance, const ScatterPlan& plan) {
  TrainerComposer composer(instance.lengths, instance.loss_tokens);
  int next = 0;
  for (std::size_t m = 0; m < plan.micro_batches.size(); ++m, ++next) {
    const std::vector<ScatterGroup>& groups = plan.micro_batches[m].groups;
    // A rank has one row at a time: the shared row of a mixed micro-batch, then its own.
    const bool mixed = mixed_times(instance, groups).has_value();
    int own = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const bool shared = mixed && is_shared_row(instance, groups[g].degree);
      composer.add({.micro_batch = mixed && !shared ? next + 1 : next,
                    .group = shared ? 0 : own++,
                    .first_rank = groups[g].first_rank,
                    .degree = groups[g].degree,
                    .recomputation = plan.micro_batches[m].recomputation,
                    .offload = groups[g].offload},
                   groups[g].sequences, groups[g].cu_seqlens);
    }
    if (mixed) ++next;
  }
  return std::move(composer).finish({.problem = "scatter",
                                     .name = instance.name,
                                     .instance_hash = instance_hash(instance),
                                     .ranks = instance.cluster.devices});
}

}  // namespace stowage
