// Writes a configuration for trainers: a script with flags of Megatron-LM, a file of TorchTitan.
#pragma once

#include <cstdint>
#include <string>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

struct LaunchedSteps {
  std::int64_t sequences = 0;  // sequences of a step
  // longest sequence of all steps, rounded up to a multiple that the ranks divide
  Tokens longest = 0;
  Tokens tokens_of_rank = 0;  // largest number of tokens on a rank of a group
};

// Returns a shell script for one node, started with torchrun on each node. Requires equal ZeRO
// levels and recomputation in all stages. The flags are those of Megatron Core 0.14. Unless
// parameters are sharded, STOWAGE_PLANS=1 makes the script use plans of the steps
// (docs/start/megatron-lm.md).
std::string megatron_script(const StrategyInstance& instance, const StrategyPlan& plan,
                            const LaunchedSteps& steps);

// Returns a TOML file with the keys of TorchTitan 0.2, which shards by ZeRO level 2 or 3, or not at
// all.
std::string torchtitan_toml(const StrategyPlan& plan, const LaunchedSteps& steps);

}  // namespace stowage
