// The configurations that trainers refuse, which a strategy must not propose for them.
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

// Returns "megatron", "torchtitan", "deepspeed".
std::vector<std::string_view> strategy_trainers();

struct TrainerOptions {
  StrategyOptions options;         // without values that the trainer refuses
  std::vector<std::string> rules;  // each rule that refuses one of the values, as a sentence
};

// Returns the options that the trainer accepts. E388 at each option of which the trainer accepts no
// value. Requires one of strategy_trainers().
Result<TrainerOptions> options_for(const StrategyInstance& instance, std::string_view trainer);

}  // namespace stowage
