#include "instances/assign/planning_table.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace stowage {
namespace {

// Returns the ids from the longest sequence to the shortest, ties by id.
std::vector<std::int64_t> longest_first(const std::vector<Tokens>& padded) {
  std::vector<std::int64_t> ids(padded.size());
  const Tokens longest = padded.empty() ? 0 : *std::ranges::max_element(padded);
  if (longest <= 4 * std::ssize(padded)) {  // counted, in linear time
    std::vector<std::size_t> next(static_cast<std::size_t>(longest) + 2, 0);  // by length
    const auto by_length = [&](Tokens length) {
      return static_cast<std::size_t>(longest - length);
    };
    for (const Tokens length : padded) ++next[by_length(length) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t id = 0; id < padded.size(); ++id) {
      ids[next[by_length(padded[id])]++] = static_cast<std::int64_t>(id);
    }
    return ids;
  }
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids, [&](std::int64_t a, std::int64_t b) {
    return padded[static_cast<std::size_t>(a)] > padded[static_cast<std::size_t>(b)];
  });
  return ids;
}

}  // namespace

AssignTable::AssignTable(const AssignInstance& instance)
    : schemes_(instance.schemes), constraints_(instance.constraints) {
  for (const Strategy& strategy : instance.strategies) {
    groups_.emplace_back();
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      if (strategy.replicas[g] > 0) {
        groups_.back().push_back({static_cast<int>(g), strategy.replicas[g]});
      }
    }
  }
  const std::vector<Tokens> padded = padded_lengths(instance);
  ids_ = longest_first(padded);
  kind_of_.reserve(ids_.size());
  for (int position = 0; position < size(); ++position) {
    const Tokens length = padded[static_cast<std::size_t>(id(position))];
    if (kinds_.empty() || kinds_.back().length != length) {
      kinds_.push_back({length, position, 0});
      const auto s = static_cast<double>(length);
      for (const Scheme& scheme : schemes_) {
        work_.push_back(scheme.quadratic_ms * s * s + scheme.linear_ms * s);
      }
    }
    ++kinds_.back().count;
    kind_of_.push_back(static_cast<int>(kinds_.size()) - 1);
    total_tokens_ += length;
  }
}

int AssignTable::replicas(int strategy) const {
  int sum = 0;
  for (const SchemeGroup& group : groups(strategy)) sum += group.count;
  return sum;
}

bool AssignTable::usable(int strategy) const {
  return size() == 0 || std::ranges::any_of(groups(strategy), [&](const SchemeGroup& group) {
           return holds(group.scheme, 0);
         });
}

}  // namespace stowage
