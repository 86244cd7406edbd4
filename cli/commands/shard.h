// Which share of a stream this process plans: every step whose number leaves the remainder `index`
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
  std::string from;  // the environment variable that said so; empty if none did

  bool takes(std::int64_t step) const { return step % count == index; }
  bool operator==(const Shard&) const = default;
};

// "3/8"; nothing unless 0 <= 3 < 8.
std::optional<Shard> parse_shard(const std::string& text);

// The share of this process under mpirun (Open MPI's OMPI_COMM_WORLD_RANK and _SIZE, or PMI_RANK
// and PMI_SIZE) and in a Slurm array (SLURM_ARRAY_TASK_ID, _MIN, _STEP and _COUNT), or of both
// together: ranks within array tasks. All steps if there is neither. E001 naming the variable if
// one of a pair is missing or makes no sense.
Result<Shard> shard_of_environment();

}  // namespace stowage
