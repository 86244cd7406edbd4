// Splits layers over the stages of a pipeline by dynamic programming.
//
//   const StageSplit least = best_split(costs, 0.0, cost, [](double a, double b) { return a + b; });
//   // cost(stage, first, layers) is kInfinity if the stage cannot have these layers
//
// Not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/stage_costs.h"

namespace stowage {

struct StageSplit {
  double value = kInfinity;
  std::vector<std::int64_t> layers;  // of each stage; empty if value is infinite
};

// Returns the split with the least join(... join(join(start, cost of stage 0), cost of stage 1)
// ...). `join` must not fall if one of its arguments rises. Among equal splits it takes the one
// whose last stages have the fewest layers.
template <class Cost, class Join>
StageSplit best_split(const StageCosts& costs, double start, Cost cost, Join join) {
  const std::int64_t stages = costs.of_class().pp;
  const std::int64_t layers = costs.table().layers();
  const bool equal_layers = costs.table().equal_layers();
  const auto width = at(layers + 1);
  std::vector<double> least(width, kInfinity);  // of the stages so far, by their number of layers
  least[0] = start;
  std::vector<std::int64_t> taken(width * at(stages), 0);
  std::vector<double> row(width, kInfinity);
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    if (equal_layers) {
      for (std::int64_t l = 1; l <= layers; ++l) {
        row[at(l)] = costs.may_have(stage, l) ? cost(stage, std::int64_t{0}, l) : kInfinity;
      }
    }
    std::vector<double> next(width, kInfinity);
    for (std::int64_t end = stage + 1; end <= layers - (stages - 1 - stage); ++end) {
      if (stage == stages - 1 && end < layers) continue;
      for (std::int64_t l = 1; l <= end - stage; ++l) {
        const double before = least[at(end - l)];
        if (before == kInfinity || !costs.may_have(stage, l)) continue;
        const double own = equal_layers ? row[at(l)] : cost(stage, end - l, l);
        if (own == kInfinity) continue;
        const double value = join(before, own);
        if (value >= next[at(end)]) continue;
        next[at(end)] = value;
        taken[at(stage) * width + at(end)] = l;
      }
    }
    least = std::move(next);
  }
  StageSplit split{.value = least[at(layers)]};
  if (split.value == kInfinity) return split;
  split.layers.resize(at(stages));
  std::int64_t end = layers;
  for (std::int64_t stage = stages - 1; stage >= 0; --stage) {
    split.layers[at(stage)] = taken[at(stage) * width + at(end)];
    end -= split.layers[at(stage)];
  }
  return split;
}

}  // namespace stowage
