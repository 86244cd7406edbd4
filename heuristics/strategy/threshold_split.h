// Splits the layers into stages of one class and layout, by a threshold on the slowest stage.
//
//   const StageOptions options(costs);
//   const std::vector<StagePlan> stages = stages_by_thresholds(costs, options, {}, best_known_ms);
//
// A dynamic program finds the split with the least sum of the stages' times for each time that the
// slowest stage may take (Alpa, arXiv 2201.12023, section 5.2). With v chunks the steady state of
// the step is sum / v + (m - 1/v) max, so the split with the least steady state is found exactly.
// Exchanges of model states and the longest sequence are not included.
//
// Thread safety: the functions read their arguments and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"

namespace stowage {

// Table of the time of each stage with each number of layers and each choice; infinite if the stage
// does not fit the memory.
class StageOptions {
 public:
  // `costs` must outlive this object.
  explicit StageOptions(const StageCosts& costs);

  struct Option {
    Ms ms = 0;
    StageChoice choice;
  };
  // Returns the quickest choice that fits; if `only` is given, that choice of the table.
  Option of(std::int64_t stage, std::int64_t first, std::int64_t layers,
            std::optional<std::size_t> only) const;
  // Returns all different finite stage times, ascending.
  std::vector<Ms> times(std::optional<std::size_t> only) const;

 private:
  std::size_t place(std::int64_t stage, std::int64_t first, std::int64_t layers) const;

  const StageCosts& costs_;
  const std::int64_t layers_;
  const std::int64_t firsts_;  // number of different first layers: 1 if all layers are equal
  // time by choice of the table, then by stage, first layer and layers
  std::vector<std::vector<Ms>> ms_;
  std::vector<std::size_t> quickest_;  // index of the quickest choice
};

// Returns the stages with the least steady state, each with its quickest choice, or all with the
// choice `only`, an index of the table's choices. Returns an empty list if no steady state is below
// `below`.
std::vector<StagePlan> stages_by_thresholds(const StageCosts& costs, const StageOptions& options,
                                            std::optional<std::size_t> only, Ms below);

}  // namespace stowage
