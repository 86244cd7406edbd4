// The profile LP [X1 to X4 of formulations/README.md] with the patterns that are known: the
// restricted master of a box of makespans, low[m] <= T_m <= high[m].
//
//   ScatterProfileMaster master(table, low, high, upper);
//   master.offer(0, level, amounts, time, 17);   // pattern 17 may be used in micro-batch 0
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
#include "instances/scatter/table.h"

namespace stowage {

class ScatterProfileMaster {
 public:
  // `table` must outlive this. It always has a solution once each kind of sequence is in a pattern:
  // devices that are not there have a price beyond all makespans.
  ScatterProfileMaster(const ScatterTable& table, std::span<const Ms> low, std::span<const Ms> high,
                       Ms upper);

  // A column: a pattern of one degree in one micro-batch, whose sequences take `time` ms. None if
  // it does not fit into the longest makespan of the box. `id` is what used() calls it.
  void offer(std::size_t batch, int level, std::span<const PatternAmount> amounts, Ms time,
             std::size_t id);

  const milp::Model& model() const { return model_; }
  std::size_t batches() const { return batches_.size(); }

  // Of a solution: the makespans, and the patterns in use, some more than once.
  std::vector<Ms> makespans(std::span<const double> values) const;
  std::vector<std::size_t> used(std::span<const double> values) const;

  // The prices of a dual solution, in ms. Right up to the tolerances of the solver.
  ProfileNode prices(std::span<const double> duals) const;

 private:
  struct Place {  // of a degree in a micro-batch
    int group_row = 0;
    int time_row = 0;
  };
  struct Batch {
    Ms low = 0;
    Ms high = 0;
    int weight = 0;  // variable: how much of it is at the high end
    std::vector<Place> places;
  };

  // The makespan counts `times` times.
  void add_batch(Ms low, Ms high, double times);
  Ms room(const Batch& batch, std::size_t level) const;

  const ScatterTable& table_;
  Ms upper_;
  milp::Model model_;
  std::vector<Batch> batches_;
  std::size_t first_pattern_ = 0;      // variable
  std::vector<std::size_t> patterns_;  // ids, by variable from the first on
};

}  // namespace stowage
