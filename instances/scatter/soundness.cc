// A look at a step in memory that does not write its lengths.
#include "instances/lengths/soundness.h"

#include "instances/scatter/json.h"

namespace stowage {

bool surely_sound(const ScatterInstance& instance) {
  const ScatterInstance without_lengths{.name = instance.name,
                                        .cluster = instance.cluster,
                                        .model = instance.model,
                                        .cost = instance.cost,
                                        .rules = instance.rules,
                                        .pipeline_stages = instance.pipeline_stages,
                                        .pad_multiple = instance.pad_multiple};
  return read_scatter_instance(write_scatter_instance(without_lengths)) &&
         lengths_are_sound(instance.lengths, instance.pad_multiple, instance.loss_tokens,
                           instance.cluster.degrees.size());
}

}  // namespace stowage
