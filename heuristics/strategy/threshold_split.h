// Stages of one class and layout by a threshold on the slowest one.
//
//   const StageOptions options(costs);
//   const std::vector<StagePlan> stages = stages_by_thresholds(costs, options, {}, best_known_ms);
//
// For each time that the slowest stage may take, a dynamic programme finds the split with the least
// sum of the stages' times (Alpa, arXiv 2201.12023, section 5.2). With v chunks the steady state
// of the step is sum / v + (m - 1/v) max, so that it is found exactly. Exchanges of states and the
// longest sequence are not in it.
//
// Thread safety: its functions read their arguments and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "instances/strategy/compose.h"
#include "instances/strategy/table.h"

namespace stowage {

// The time of each stage with any layers and any choice; infinite where it does not fit the memory.
class StageOptions {
 public:
  // `costs` must outlive this.
  explicit StageOptions(const StageCosts& costs);

  struct Option {
    Ms ms = 0;
    StageChoice choice;
  };
  // The quickest choice that fits, or of one of the table's choices alone.
  Option of(std::int64_t stage, std::int64_t first, std::int64_t layers,
            std::optional<std::size_t> only) const;
  // Each time that some stage takes, ascending.
  std::vector<Ms> times(std::optional<std::size_t> only) const;

 private:
  std::size_t place(std::int64_t stage, std::int64_t first, std::int64_t layers) const;

  const StageCosts& costs_;
  const std::int64_t layers_;
  const std::int64_t firsts_;          // layers that a stage may begin with, as far as they differ
  std::vector<std::vector<Ms>> ms_;    // by choice of the table, stage, first and layers
  std::vector<std::size_t> quickest_;  // choice
};

// The stages with the least steady state, each with its quickest choice or all with the choice
// `only`, which is an index of the table's choices. Empty if none is below `below`.
std::vector<StagePlan> stages_by_thresholds(const StageCosts& costs, const StageOptions& options,
                                            std::optional<std::size_t> only, Ms below);

}  // namespace stowage
