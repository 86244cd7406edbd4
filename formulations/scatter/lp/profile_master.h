// The profile LP [X1 to X4 of docs/theory/scatter.md] with the known patterns: the restricted
// master of a box of makespans, low[m] <= T_m <= high[m].
//
//   ScatterProfileMaster master(table, low, high, upper);
//   master.offer(0, config, amounts, time, 17);   // pattern 17 may be used in micro-batch 0
//   const ProfileNode prices = master.prices(solution_of(master.model()).duals);
//
// Costs are in units of `upper`.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "formulations/scatter/pattern.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

class ScatterProfileMaster {
 public:
  // `table` must outlive this. The LP always has a solution once each kind of sequence is in a
  // pattern, because missing devices have a price beyond all makespans.
  ScatterProfileMaster(const ScatterTable& table, std::span<const Ms> low, std::span<const Ms> high,
                       Ms upper);

  // Adds a column: a pattern of one degree in one micro-batch, whose sequences take `time` ms. Adds
  // no column if the pattern exceeds the longest makespan of the box. used() returns `id`.
  void offer(std::size_t batch, int config, std::span<const PatternAmount> amounts, Ms time,
             std::size_t id);

  const milp::Model& model() const { return model_; }
  std::size_t batches() const { return batches_.size(); }

  // Return the makespans of a solution, and its patterns, some of them several times.
  std::vector<Ms> makespans(std::span<const double> values) const;
  std::vector<std::size_t> used(std::span<const double> values) const;

  // Returns the prices of a dual solution in ms, up to the tolerances of the solver.
  ProfileNode prices(std::span<const double> duals) const;

 private:
  struct Place {  // rows of a degree in a micro-batch
    int group_row = 0;
    int time_row = 0;
  };
  struct Batch {
    Ms low = 0;
    Ms high = 0;
    int weight = 0;  // variable: share of the micro-batch at the high end
    std::vector<Place> places;
  };

  // The makespan counts `times` times in the objective.
  void add_batch(Ms low, Ms high, double times);
  Ms room(const Batch& batch, std::size_t config) const;

  const ScatterTable& table_;
  Ms upper_;
  milp::Model model_;
  std::vector<Batch> batches_;
  std::size_t first_pattern_ = 0;      // variable of the first pattern
  std::vector<std::size_t> patterns_;  // ids, by variable
};

}  // namespace stowage
