#include "cli/commands/stream/remarks.h"

#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {

void StreamRemarks::put(std::int64_t index, StepRemarks remarks) {
  const std::lock_guard lock(mutex_);
  remarks_[index] = std::move(remarks);
}

StepRemarks StreamRemarks::take(std::int64_t index) {
  const std::lock_guard lock(mutex_);
  return std::move(remarks_.extract(index).mapped());
}

StreamStep unreadable_step(std::int64_t index, const std::string& place,
                           const std::vector<InputError>& errors) {
  std::string why = (place.empty() ? "" : place + ": ") + to_string(errors.front());
  if (errors.size() > 1) {
    why += " (and " + counted(std::ssize(errors) - 1, "more error") + ')';
  }
  StreamStep step{.index = index, .instance = ScatterInstance{}};
  Outcome& outcome = step.outcome.emplace();
  outcome.status = Status::error;
  outcome.bound = -kInfinity;
  outcome.detail = std::move(why);
  return step;
}

}  // namespace stowage
