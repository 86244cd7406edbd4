#include "formulations/scatter/bounds.h"

#include <algorithm>
#include <limits>

namespace stowage {
namespace {

bool divisibility_chain(const std::vector<Level>& levels) {
  for (std::size_t i = 1; i < levels.size(); ++i) {
    if (levels[i].degree % levels[i - 1].degree != 0) return false;
  }
  return true;
}

// At least as many sequences of `length` tokens or more as fit one micro-batch. A group of degree
// d holds floor(C d / length), which is superadditive in d: where each degree divides the next,
// taking the largest groups first is optimal; elsewhere N C / length is an upper bound.
Tokens most_together(const ScatterTable& table, Tokens length) {
  if (!divisibility_chain(table.levels())) return table.batch_capacity() / length;
  Tokens together = 0;
  int devices = table.devices();
  for (std::size_t i = table.levels().size(); i-- > 0;) {
    const Level& level = table.levels()[i];
    together += checked_mul(devices / level.degree, level.capacity / length).value_or(kMaxExact);
    together = std::min(together, kMaxExact);
    devices %= level.degree;
  }
  return together;
}

struct Pigeonhole {
  Tokens micro_batches = 0;  // at least so many makespans ...
  Ms makespan = 0;           // ... are at least so long
};

// One entry per kind: the sequences at least as long as it need that many micro-batches, and each
// of these lasts as long as the shortest of them alone.
std::vector<Pigeonhole> pigeonholes(const ScatterTable& table) {
  std::vector<Pigeonhole> all;
  for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
    const Kind& k = table.kinds()[static_cast<std::size_t>(kind)];
    const Tokens sequences = k.first + k.count;
    const Tokens together = most_together(table, k.length);
    all.push_back({(sequences + together - 1) / together, table.alone(kind)});
  }
  return all;
}

}  // namespace

int least_micro_batches(const ScatterTable& table) {
  const Tokens tokens = table.total_tokens();
  if (tokens == 0) return 0;
  const Tokens capacity = table.batch_capacity();
  Tokens least = tokens / capacity + (tokens % capacity != 0);
  for (const Pigeonhole& hole : pigeonholes(table)) least = std::max(least, hole.micro_batches);
  return static_cast<int>(least);
}

std::vector<NamedBound> scatter_bounds(const ScatterTable& table) {
  const int fewest = least_micro_batches(table);
  if (fewest == 0) return {{"area", 0}};
  Ms longest = 0;
  Ms apart = 0;
  Tokens counted = 0;  // makespans summed so far, longest first
  for (const Pigeonhole& hole : pigeonholes(table)) {
    longest = std::max(longest, hole.makespan);
    if (hole.micro_batches <= counted) continue;
    apart += static_cast<double>(hole.micro_batches - counted) * hole.makespan;
    counted = hole.micro_batches;
  }
  apart += static_cast<double>(fewest - counted) * table.least_overhead();
  std::vector<NamedBound> bounds{
      {"longest", longest},
      {"area", fewest * table.least_overhead() + table.total_area() / table.devices()},
      {"pigeonhole", apart}};
  std::ranges::stable_sort(bounds, {}, &NamedBound::value);
  return bounds;
}

}  // namespace stowage
