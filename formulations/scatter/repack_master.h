// The LP behind ScatterRepack with the patterns that are known: how many devices do micro-batches
// of given makespans lack?
//
//   ScatterRepackMaster master(table, counts, devices);
//   master.add(0, level, amounts);    // variable 1: a pattern in micro-batch 0
//
// Minimise z subject to: every sequence is covered, and the groups of micro-batch m take at most
// devices[m] + z devices. z may be negative.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "formulations/scatter/pattern.h"
#include "instances/scatter/table.h"

namespace stowage {

class ScatterRepackMaster {
 public:
  // counts[k] sequences of kind k, devices[m] in micro-batch m. `table` must outlive this.
  ScatterRepackMaster(const ScatterTable& table, std::span<const int> counts,
                      std::span<const int> devices);

  // A column: a pattern of kinds that are to be covered, in one micro-batch. Variables count from 1
  // on in the order of these calls.
  void add(std::size_t batch, int level, std::span<const PatternAmount> amounts);

  const milp::Model& model() const { return model_; }

  // Of a dual solution: what a sequence of each kind is worth, and a device of each micro-batch.
  std::vector<double> values(std::span<const double> duals) const;
  std::vector<double> prices(std::span<const double> duals) const;

 private:
  const ScatterTable& table_;
  milp::Model model_;
  std::vector<int> cover_row_;   // by kind; -1: none to cover
  std::vector<int> device_row_;  // by micro-batch
};

}  // namespace stowage
