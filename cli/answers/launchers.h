// A configuration in the words of trainers: the flags of Megatron-LM, the file of TorchTitan.
#pragma once

#include <cstdint>
#include <string>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

struct LaunchedSteps {
  std::int64_t sequences = 0;  // of a step
  Tokens longest = 0;          // of all steps, rounded up to what the ranks divide
  Tokens tokens_of_rank = 0;   // the most that a rank of a group has
};

// A shell script for one node, which torchrun starts on each. Requires the same ZeRO
// level and recomputation in all stages. The flags are those of Megatron Core 0.14. Unless
// parameters are sharded, STOWAGE_PLANS=1 runs it by plans of the steps (python/README.md).
std::string megatron_script(const StrategyInstance& instance, const StrategyPlan& plan,
                            const LaunchedSteps& steps);

// A TOML file with the keys of TorchTitan 0.2, which shards as level 2 or 3 of ZeRO or not at all.
std::string torchtitan_toml(const StrategyPlan& plan, const LaunchedSteps& steps);

}  // namespace stowage
