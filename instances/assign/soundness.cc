// A look at a step in memory that does not write its lengths.
#include "instances/lengths/soundness.h"

#include "instances/assign/chunk_flow.h"
#include "instances/assign/json.h"

namespace stowage {

bool surely_sound(const AssignInstance& instance) {
  const AssignInstance without_lengths{.name = instance.name,
                                       .devices = instance.devices,
                                       .schemes = instance.schemes,
                                       .strategies = instance.strategies,
                                       .constraints = instance.constraints,
                                       .pad_multiple = instance.pad_multiple};
  return read_assign_instance(write_assign_instance(without_lengths)) &&
         lengths_are_sound(instance.lengths, instance.pad_multiple, instance.schemes.size()) &&
         cut_parts(instance) <= kMaxParts &&
         most_passes(instance) <= (instance.constraints.chunks ? kMaxChunkPasses : kMaxPasses);
}

}  // namespace stowage
