#include "heuristics/layout_orders.h"

#include "instances/layout_neighbours.h"

namespace stowage {
namespace {

// The largest load among the sections of each buffer, from a table of maxima over powers of two.
std::vector<double> largest_loads(const LayoutTable& table) {
  std::vector<std::vector<Bytes>> maxima(1);
  for (int s = 0; s < table.sections(); ++s) maxima[0].push_back(table.load(s));
  for (std::size_t width = 1; 2 * width <= maxima[0].size(); width *= 2) {
    const std::vector<Bytes>& half = maxima.back();
    std::vector<Bytes> whole(half.size() - width);
    for (std::size_t s = 0; s < whole.size(); ++s) whole[s] = std::max(half[s], half[s + width]);
    maxima.push_back(std::move(whole));
  }
  std::vector<double> largest(static_cast<std::size_t>(table.buffers()), 0);
  for (int b = 0; b < table.buffers(); ++b) {
    Bytes load = 0;
    for (const SectionRange& range : table.ranges(b)) {
      const auto first = static_cast<std::size_t>(range.first);
      const auto last = static_cast<std::size_t>(range.last);
      std::size_t level = 0;
      while ((std::size_t{2} << level) <= last - first) ++level;
      const std::size_t width = std::size_t{1} << level;
      load = std::max({load, maxima[level][first], maxima[level][last - width]});
    }
    largest[static_cast<std::size_t>(b)] = static_cast<double>(load);
  }
  return largest;
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
  std::vector<std::vector<double>> columns;
  for (const char key : keys) columns.push_back(values(table, key));
  std::vector<int> order;
  for (int b = 0; b < table.buffers(); ++b) {
    if (!table.idle(b) && !table.pinned(b)) order.push_back(b);
  }
  std::ranges::stable_sort(order, [&](int a, int b) {
    for (const std::vector<double>& column : columns) {
      const double va = column[static_cast<std::size_t>(a)];
      const double vb = column[static_cast<std::size_t>(b)];
      if (va != vb) return va > vb;
    }
    return false;
  });
  return order;
}

}  // namespace stowage
