#include "heuristics/layout/construct/buffer_orders.h"

#include <algorithm>
#include <bit>

#include "instances/layout/neighbours.h"
#include "instances/numeric/radix_sort.h"

namespace stowage {
namespace {

// Range maximum query over the loads of the sections. Each section stores the maxima to its block's
// borders, and a sparse table over the blocks stores maxima of power-of-two widths.
class LargestLoad {
 public:
  explicit LargestLoad(const LayoutTable& table) {
    const auto sections = static_cast<std::size_t>(table.sections());
    loads_.resize(sections);
    for (std::size_t s = 0; s < sections; ++s) loads_[s] = table.load(static_cast<int>(s));
    from_start_ = loads_;
    to_end_ = loads_;
    for (std::size_t s = 1; s < sections; ++s) {
      if (s % kBlock != 0) from_start_[s] = std::max(from_start_[s - 1], from_start_[s]);
    }
    for (std::size_t s = sections; s-- > 1;) {
      if (s % kBlock != 0) to_end_[s - 1] = std::max(to_end_[s - 1], to_end_[s]);
    }
    blocks_.emplace_back();
    for (std::size_t s = 0; s < sections; s += kBlock) blocks_[0].push_back(to_end_[s]);
    for (std::size_t width = 1; 2 * width <= blocks_[0].size(); width *= 2) {
      const std::vector<Bytes>& half = blocks_.back();
      std::vector<Bytes> whole(half.size() - width);
      for (std::size_t k = 0; k < whole.size(); ++k) whole[k] = std::max(half[k], half[k + width]);
      blocks_.push_back(std::move(whole));
    }
  }

  Bytes in(SectionRange range) const {
    const auto first = static_cast<std::size_t>(range.first);
    const auto last = static_cast<std::size_t>(range.last) - 1;  // inclusive
    const std::size_t from = first / kBlock + 1;
    const std::size_t to = last / kBlock;
    if (from > to) return *std::max_element(&loads_[first], &loads_[last] + 1);
    Bytes load = std::max(to_end_[first], from_start_[last]);
    if (from < to) {
      const auto level = static_cast<std::size_t>(std::bit_width(to - from)) - 1;
      const std::vector<Bytes>& maxima = blocks_[level];
      load = std::max({load, maxima[from], maxima[to - (std::size_t{1} << level)]});
    }
    return load;
  }

 private:
  static constexpr std::size_t kBlock = 32;

  std::vector<Bytes> loads_;
  std::vector<Bytes> from_start_;  // maximum from the start of the block to the section
  std::vector<Bytes> to_end_;      // maximum from the section to the end of the block
  std::vector<std::vector<Bytes>> blocks_;
};

std::vector<double> largest_loads(const LayoutTable& table) {
  const LargestLoad largest(table);
  std::vector<double> all(static_cast<std::size_t>(table.buffers()), 0);
  for (int b = 0; b < table.buffers(); ++b) {
    Bytes load = 0;
    for (const SectionRange& range : table.ranges(b)) load = std::max(load, largest.in(range));
    all[static_cast<std::size_t>(b)] = static_cast<double>(load);
  }
  return all;
}

std::vector<double> values(const LayoutTable& table, char key) {
  if (key == 'T') return largest_loads(table);
  std::vector<double> all(static_cast<std::size_t>(table.buffers()), 0);
  if (key == 'O') {
    const std::vector<int> counts = overlaps(table);
    std::ranges::copy(counts, all.begin());
    return all;
  }
  for (int b = 0; b < table.buffers(); ++b) {
    double& value = all[static_cast<std::size_t>(b)];
    const auto size = static_cast<double>(table.size(b));
    const auto steps = static_cast<double>(table.steps(b));
    switch (key) {
      case 'A':
        value = size * steps;
        break;
      case 'C':
        for (const SectionRange& range : table.ranges(b)) value += range.last - range.first;
        break;
      case 'L':
        value = -static_cast<double>(table.lower(b));
        break;
      case 'U':
        value = static_cast<double>(table.upper(b));
        break;
      case 'W':
        value = steps;
        break;
      case 'Z':
        value = size;
        break;
    }
  }
  return all;
}

}  // namespace

std::vector<int> static_order(const LayoutTable& table, std::string_view keys) {
  struct Placed {
    double value = 0;
    int buffer = 0;
  };
  std::vector<Placed> order;
  order.reserve(static_cast<std::size_t>(table.buffers()));
  for (int b = 0; b < table.buffers(); ++b) {
    if (!table.idle(b) && !table.pinned(b)) order.push_back({0, b});
  }
  for (std::size_t k = keys.size(); k-- > 0;) {
    const std::vector<double> column = values(table, keys[k]);
    for (Placed& placed : order) placed.value = column[static_cast<std::size_t>(placed.buffer)];
    radix_sort(order, [](const Placed& placed) { return ~sort_key(placed.value); });
  }
  std::vector<int> buffers;
  buffers.reserve(order.size());
  for (const Placed& placed : order) buffers.push_back(placed.buffer);
  return buffers;
}

}  // namespace stowage
