#include "kernels/ranks/communicator.h"

namespace stowage::kernels {
namespace {

// What rank 0 exchanges with each rank, and what this rank exchanges with rank 0.
struct RootCounts {
  std::vector<std::int64_t> root;  // rank 0: one entry per rank; elsewhere all 0
  std::vector<std::int64_t> leaf;  // entry 0 only
};

RootCounts root_counts(const Communicator& world, std::span<const std::int64_t> split,
                       std::int64_t width) {
  RootCounts counts{.root = std::vector<std::int64_t>(world.size()),
                    .leaf = std::vector<std::int64_t>(world.size())};
  const auto part = [&](int r) { return (split[r + 1] - split[r]) * width; };
  if (world.rank() == 0) {
    for (int r = 0; r < world.size(); ++r) counts.root[r] = part(r);
  }
  counts.leaf[0] = part(world.rank());
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

void scatter_rows(Communicator& world, std::span<const std::int64_t> split, std::int64_t width,
                  std::span<const float> all, std::span<float> mine) {
  const RootCounts counts = root_counts(world, split, width);
  world.all_to_all_v(all, counts.root, mine, counts.leaf);
}

void gather_rows(Communicator& world, std::span<const std::int64_t> split, std::int64_t width,
                 std::span<const float> mine, std::span<float> all) {
  const RootCounts counts = root_counts(world, split, width);
  world.all_to_all_v(mine, counts.leaf, all, counts.root);
}

}  // namespace stowage::kernels
