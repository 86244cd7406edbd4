// The LP of ScatterPatternDive with the known patterns: computes how many devices micro-batches of
// given makespans lack.
//
//   ScatterPatternDiveMaster master(table, counts, devices);
//   master.add(0, config, amounts);    // variable 1: a pattern in micro-batch 0
//
// It minimises z such that every sequence is covered and the groups of micro-batch m take at most
// devices[m] + z devices. z may be negative.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "formulations/scatter/pattern.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

class ScatterPatternDiveMaster {
 public:
  // There are counts[k] sequences of kind k and devices[m] devices in micro-batch m. `table` must
  // outlive this.
  ScatterPatternDiveMaster(const ScatterTable& table, std::span<const int> counts,
                           std::span<const int> devices);

  // Adds a column: a pattern of kinds to cover, in one micro-batch. Variables are numbered from 1
  // in the order of these calls.
  void add(std::size_t batch, int config, std::span<const PatternAmount> amounts);

  const milp::Model& model() const { return model_; }

  // Return the dual values of a sequence by kind, and the dual prices of a device by micro-batch.
  std::vector<double> values(std::span<const double> duals) const;
  std::vector<double> prices(std::span<const double> duals) const;

 private:
  const ScatterTable& table_;
  milp::Model model_;
  std::vector<int> cover_row_;   // by kind; -1: no sequence to cover
  std::vector<int> device_row_;  // by micro-batch
};

}  // namespace stowage
