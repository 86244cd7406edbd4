#include "solvers/scatter/patterns/pattern_pool.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stowage {

PatternPool::PatternPool(const ScatterTable& table, Times times) : table_(table), times_(times) {
  for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
    for (int d = 0; d < static_cast<int>(table.configs().size()); ++d) {
      if (!table.holds(d, table.kinds()[static_cast<std::size_t>(kind)].first)) continue;
      add(d, {{.kind = kind, .count = 1}});
      patterns_.back().used = std::numeric_limits<std::int64_t>::max();
    }
  }
}

void PatternPool::learn(const WorkingStep& step) {
  for (const WorkingMicroBatch& batch : step) {
    for (const WorkingGroup& group : batch.groups) {
      std::vector<PatternAmount> amounts;
      std::vector<int> positions = group.positions;
      std::ranges::sort(positions);
      for (const int position : positions) {
        const int kind = table_.kind(position);
        if (amounts.empty() || amounts.back().kind != kind) amounts.push_back({.kind = kind});
        ++amounts.back().count;
      }
      if (amounts.empty() || knows(group.config, amounts)) continue;
      add(group.config, std::move(amounts));
      // Take the time from the plan, with the plan's rounding, since limits are met to the last
      // digit.
      if (times_ == Times::of_groups) patterns_.back().time = group.time;
    }
  }
}

bool PatternPool::knows(int config, const std::vector<PatternAmount>& amounts) const {
  return std::ranges::any_of(patterns_, [&](const Pattern& pattern) {
    return pattern.config == config && pattern.amounts == amounts;
  });
}

void PatternPool::add(int config, std::vector<PatternAmount> amounts) {
  Pattern pattern{.config = config, .amounts = std::move(amounts), .used = solves_};
  if (times_ == Times::of_groups) {
    pattern.time = table_.configs()[static_cast<std::size_t>(config)].overhead;
  }
  for (const PatternAmount& amount : pattern.amounts) {
    pattern.time += amount.count * table_.kind_cost(amount.kind, config);
  }
  if (times_ == Times::of_groups && table_.offloads()) {
    Load load = table_.empty_load(config);
    for (const PatternAmount& amount : pattern.amounts) {
      for (int i = 0; i < amount.count; ++i) load += table_.kind_load(amount.kind, config);
    }
    pattern.time = table_.time(config, load);
  }
  patterns_.push_back(std::move(pattern));
}

void PatternPool::begin_solve(std::size_t many, std::int64_t solves) {
  ++solves_;
  if (patterns_.size() < many) return;
  std::erase_if(patterns_, [&](const Pattern& pattern) { return pattern.used < solves_ - solves; });
}

void PatternPool::use(std::size_t index) {
  patterns_[index].used = std::max(patterns_[index].used, solves_);
}

}  // namespace stowage
