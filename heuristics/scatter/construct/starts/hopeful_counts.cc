#include "heuristics/scatter/construct/starts/hopeful_counts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "heuristics/scatter/construct/chunking.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Device-time of a plan per device-time of its sequences, assumed.
constexpr double kEvenLoss = 1.03;
constexpr int kMaxHopeful = 64;  // micro-batch counts considered, per fewest micro-batches
// Counts tried, per best count.
constexpr std::array<double, 5> kHopefulShares = {1, 0.8, 1.25, 0.6, 1.6};

}  // namespace

std::vector<int> hopeful_counts(const ScatterTable& table) {
  if (table.size() == 0) return {};
  const Ms even = kEvenLoss * table.total_area() / table.devices();
  Ms alone = table.longest_elsewhere();
  for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
    alone = std::max(alone, table.alone(kind));
  }
  const Ms overhead = table.least_overhead();
  const auto step_of = [&](int count) {
    return table.step_ms(count * overhead + even, std::max(alone, overhead + even / count));
  };
  const int fewest = std::max(1, fewest_micro_batches(table));
  const int most = std::max(fewest, std::min(table.size(), kMaxHopeful * fewest));
  int best = fewest;
  for (int count = fewest; count <= most; ++count) {
    if (step_of(count) < step_of(best)) best = count;
  }
  std::vector<int> counts;
  for (const double share : kHopefulShares) {
    const int count = std::clamp(static_cast<int>(std::lround(share * best)), fewest, most);
    if (std::ranges::count(counts, count) == 0) counts.push_back(count);
  }
  return counts;
}

}  // namespace stowage
