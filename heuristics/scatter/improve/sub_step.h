// A sub-problem of chosen micro-batches of a step, and the way back. Not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/scatter/working_plan.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

class SubStep {
 public:
  SubStep(const ScatterTable& table, std::vector<std::size_t> chosen, const WorkingStep& step);

  ScatterTable part() const {
    return table_.part(positions_, table_.devices(), longest_elsewhere_);
  }
  // Returns the present time in ms of the chosen micro-batches, as step_ms() of the part computes
  // it.
  Ms before() const { return before_; }

  // Returns the chosen micro-batches with positions of part().
  WorkingStep own(const WorkingStep& step) const;

  // Returns true if the number of micro-batches stays a multiple of the required number after the
  // replacement.
  bool may_replace(const WorkingStep& planned) const {
    const auto change =
        static_cast<std::int64_t>(planned.size()) - static_cast<std::int64_t>(chosen_.size());
    return change % table_.multiple() == 0;
  }

  // Removes the chosen micro-batches from the step and appends `planned`, which has positions of
  // part().
  void replace(WorkingStep planned, WorkingStep& step) const;

 private:
  std::vector<std::size_t> chosen_;
  const ScatterTable& table_;
  std::vector<int> positions_;
  Ms longest_elsewhere_ = 0;  // longest makespan of the other micro-batches
  Ms before_ = 0;
};

}  // namespace stowage
