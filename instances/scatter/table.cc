#include "instances/scatter/table.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "instances/numbers.h"
#include "instances/scatter/cost_model.h"

namespace stowage {
namespace {

// Ids by falling length, ties by id. Counted where lengths are not much larger than their number:
// a million sequences then take a tenth of what sorting takes.
std::vector<std::int64_t> longest_first(const std::vector<Tokens>& lengths) {
  std::vector<std::int64_t> order(lengths.size());
  const Tokens longest = lengths.empty() ? 0 : std::ranges::max(lengths);
  if (longest / 16 < static_cast<Tokens>(lengths.size()) + 1024) {
    std::vector<std::size_t> next(static_cast<std::size_t>(longest) + 2, 0);
    for (const Tokens length : lengths) ++next[static_cast<std::size_t>(longest - length) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t id = 0; id < lengths.size(); ++id) {
      order[next[static_cast<std::size_t>(longest - lengths[id])]++] =
          static_cast<std::int64_t>(id);
    }
    return order;
  }
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>{},
                           [&](std::int64_t id) { return lengths[static_cast<std::size_t>(id)]; });
  return order;
}

}  // namespace

ScatterTable::ScatterTable(const ScatterInstance& instance)
    : devices_(instance.cluster.devices), device_tokens_(tokens_per_device(instance)) {
  least_overhead_ = kInfinity;
  for (const int degree : instance.cluster.degrees) {
    levels_.push_back(
        {degree, group_overhead_ms(instance, degree), group_capacity(instance, degree)});
    least_overhead_ = std::min(least_overhead_, levels_.back().overhead);
  }
  const std::vector<Tokens> padded = padded_lengths(instance);
  const std::vector<std::int64_t> order = longest_first(padded);
  ids_.reserve(order.size());
  kind_of_.reserve(order.size());
  std::vector<Ms> costs(levels_.size());
  for (const std::int64_t id : order) {
    const Tokens length = padded[static_cast<std::size_t>(id)];
    if (kinds_.empty() || kinds_.back().length != length) {
      for (std::size_t level = 0; level < levels_.size(); ++level) {
        costs[level] = sequence_ms(instance, length, levels_[level].degree);
      }
    }
    append(id, length, costs);
  }
}

ScatterTable ScatterTable::part(std::span<const int> positions, int devices) const {
  ScatterTable part;
  part.devices_ = devices;
  part.device_tokens_ = device_tokens_;
  part.least_overhead_ = kInfinity;
  for (const Level& level : levels_) {
    if (level.degree > devices) break;
    part.levels_.push_back(level);
    part.least_overhead_ = std::min(part.least_overhead_, level.overhead);
  }
  for (const int position : positions) {
    const std::size_t row = at(kind(position)) * levels_.size();
    part.append(position, length(position), {cost_.data() + row, part.levels_.size()});
  }
  return part;
}

void ScatterTable::append(std::int64_t id, Tokens length, std::span<const Ms> costs) {
  if (kinds_.empty() || kinds_.back().length != length) {
    Kind next{length, size(), 0, kInfinity};
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      cost_.push_back(costs[level]);
      if (length <= levels_[level].capacity) {
        next.area = std::min(next.area, levels_[level].degree * costs[level]);
      }
    }
    kinds_.push_back(next);
  }
  ++kinds_.back().count;
  kind_of_.push_back(static_cast<int>(kinds_.size()) - 1);
  ids_.push_back(id);
}

Tokens ScatterTable::total_tokens() const {
  Tokens tokens = 0;
  for (const Kind& kind : kinds_) tokens += kind.length * kind.count;
  return tokens;
}

double ScatterTable::total_area() const {
  double area = 0;
  for (const Kind& kind : kinds_) area += kind.area * kind.count;
  return area;
}

Ms ScatterTable::alone(int kind) const {
  Ms least = kInfinity;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (kinds_[at(kind)].length > levels_[level].capacity) continue;
    least = std::min(least, levels_[level].overhead + kind_cost(kind, static_cast<int>(level)));
  }
  return least;
}

}  // namespace stowage
