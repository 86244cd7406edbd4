// Some micro-batches of a step as a step of their own, and back. Not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/scatter/draft.h"
#include "instances/scatter/table.h"

namespace stowage {

class SomeBatches {
 public:
  SomeBatches(const ScatterTable& table, std::vector<std::size_t> chosen, const StepDraft& step);

  ScatterTable part() const {
    return table_.part(positions_, table_.devices(), longest_elsewhere_);
  }
  // What they take together, as step_ms() of the part says it.
  Ms before() const { return before_; }

  // The chosen micro-batches with positions of part().
  StepDraft own(const StepDraft& step) const;

  // Whether the step then has as many micro-batches as a multiple of which is asked for.
  bool may_replace(const StepDraft& planned) const {
    const auto change =
        static_cast<std::int64_t>(planned.size()) - static_cast<std::int64_t>(chosen_.size());
    return change % table_.multiple() == 0;
  }

  // Takes them out of the step and puts what was planned with positions of part() at its end.
  void replace(StepDraft planned, StepDraft& step) const;

 private:
  std::vector<std::size_t> chosen_;
  const ScatterTable& table_;
  std::vector<int> positions_;
  Ms longest_elsewhere_ = 0;  // of the micro-batches that were not chosen
  Ms before_ = 0;
};

}  // namespace stowage
