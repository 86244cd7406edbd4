#include "solvers/layout/tree/failed_states.h"

#include <algorithm>

#include "instances/numeric/numbers.h"
#include "solvers/layout/tree/state.h"

namespace stowage {
namespace {

// Sizes of the table, some megabytes. The memory is allocated when the first state fails.
constexpr std::size_t kEntries = std::size_t{1} << 16;
constexpr std::int64_t kBounds = std::int64_t{1} << 18;

std::size_t place_of(const StateKey& key) { return (key.first >> 40) & (kEntries - 1); }

}  // namespace

void FailedStates::add(const StateKey& key, std::span<const PassedOver> passed_over) {
  if (std::ssize(passed_over) > kBounds) return;
  if (entries_.empty()) {
    entries_.resize(kEntries);
    bounds_.resize(at(kBounds));
  }
  entries_[place_of(key)] = {key, written_, std::ssize(passed_over)};
  for (const PassedOver& each : passed_over) bounds_[at(written_++ % kBounds)] = each;
}

bool FailedStates::refutes(const StateKey& key, const LayoutState& state) const {
  if (entries_.empty()) return false;
  const Entry& entry = entries_[place_of(key)];
  if (entry.begin < 0 || entry.key != key || written_ - entry.begin > kBounds) return false;
  for (std::int64_t i = entry.begin; i < entry.begin + entry.count; ++i) {
    const PassedOver& each = bounds_[at(i % kBounds)];
    if (state.bound(each.buffer) < each.bound) return false;
  }
  return true;
}

}  // namespace stowage
