// The share of a stream that this process plans: every step whose number has the remainder `index`
// when divided by `count`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "instances/result.h"

namespace stowage {

struct Shard {
  std::int64_t index = 0;
  std::int64_t count = 1;
  std::string from;  // name of the environment variable that gave the share; empty without one

  bool takes(std::int64_t step) const { return step % count == index; }
  bool operator==(const Shard&) const = default;
};

// Parses "3/8"; returns nullopt unless 0 <= 3 < 8.
std::optional<Shard> parse_shard(const std::string& text);

// Returns the share of this process from the environment. Sources are mpirun (Open MPI's
// OMPI_COMM_WORLD_RANK and _SIZE, or PMI_RANK and PMI_SIZE) and a Slurm array (SLURM_ARRAY_TASK_ID,
// _MIN, _STEP and _COUNT). With both, ranks subdivide the share of their array task. Without both,
// the share is all steps. Returns E001 with the variable's name if one of a pair is missing or
// invalid.
Result<Shard> shard_of_environment();

}  // namespace stowage
