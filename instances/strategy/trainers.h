// What trainers refuse: configurations that a strategy is not to propose for them.
//
//   Result<TrainerOptions> narrowed = options_for(instance, "deepspeed");
//   if (narrowed) instance.options = narrowed->options;
//
// Thread safety: its functions read their arguments and constant tables; any number of threads may
// call them at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/strategy/instance.h"

namespace stowage {

// "megatron", "torchtitan", "deepspeed"
std::vector<std::string_view> strategy_trainers();

struct TrainerOptions {
  StrategyOptions options;         // without what the trainer refuses
  std::vector<std::string> rules;  // each that refuses one of the values, as a sentence
};

// E388 at an option of which the trainer takes no value, all of them in one pass. Requires one of
// strategy_trainers().
Result<TrainerOptions> options_for(const StrategyInstance& instance, std::string_view trainer);

}  // namespace stowage
