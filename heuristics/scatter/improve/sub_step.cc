#include "heuristics/scatter/improve/sub_step.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace stowage {

SubStep::SubStep(const ScatterTable& table, std::vector<std::size_t> chosen,
                 const WorkingStep& step)
    : chosen_(std::move(chosen)), table_(table) {
  for (const std::size_t index : chosen_) {
    const std::vector<int> own = positions_of(step[index]);
    positions_.insert(positions_.end(), own.begin(), own.end());
    before_ += step[index].makespan;
  }
  std::ranges::sort(positions_);
  if (table.longest_weight() == 0) return;
  Ms longest = 0;
  for (std::size_t b = 0; b < step.size(); ++b) {
    Ms& own = std::ranges::count(chosen_, b) > 0 ? longest : longest_elsewhere_;
    own = std::max(own, step[b].makespan);
  }
  before_ = table.step_ms(before_, std::max(longest, longest_elsewhere_));
}

WorkingStep SubStep::own(const WorkingStep& step) const {
  WorkingStep own;
  for (const std::size_t index : chosen_) {
    own.push_back(step[index]);
    for (WorkingGroup& group : own.back().groups) {
      for (int& position : group.positions) {
        const auto place = std::ranges::lower_bound(positions_, position);
        position = static_cast<int>(place - positions_.begin());
      }
    }
  }
  return own;
}

void SubStep::replace(WorkingStep planned, WorkingStep& step) const {
  std::vector<std::size_t> order = chosen_;
  std::ranges::sort(order, std::greater<>{});
  for (const std::size_t index : order) {
    step.erase(step.begin() + static_cast<std::ptrdiff_t>(index));
  }
  for (WorkingMicroBatch& batch : planned) {
    for (WorkingGroup& group : batch.groups) {
      for (int& position : group.positions) {
        position = positions_[static_cast<std::size_t>(position)];
      }
    }
    step.push_back(std::move(batch));
  }
}

}  // namespace stowage
