#include "kernels/ranks/communicator.h"

#include <numeric>

namespace stowage::kernels {
namespace {

// Returns the number of floats of each rank's rows.
std::vector<std::int64_t> row_counts(std::span<const std::int64_t> split, std::int64_t width) {
  std::vector<std::int64_t> counts;
  for (std::size_t r = 1; r < split.size(); ++r) {
    counts.push_back((split[r] - split[r - 1]) * width);
  }
  return counts;
}

}  // namespace

std::vector<std::int64_t> even_split(std::int64_t total, int ranks) {
  std::vector<std::int64_t> split(ranks + 1);
  for (int r = 0; r < ranks; ++r) {
    split[r + 1] = split[r] + total / ranks + (r < total % ranks ? 1 : 0);
  }
  return split;
}

std::int64_t sum_of(std::span<const std::int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

void scatter_rows(Communicator& world, std::span<const std::int64_t> split, std::int64_t width,
                  std::span<const float> all, std::span<float> mine) {
  world.scatter(all, row_counts(split, width), mine);
}

void gather_rows(Communicator& world, std::span<const std::int64_t> split, std::int64_t width,
                 std::span<const float> mine, std::span<float> all) {
  world.gather(mine, all, row_counts(split, width));
}

}  // namespace stowage::kernels
