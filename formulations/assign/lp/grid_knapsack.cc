#include "formulations/assign/lp/grid_knapsack.h"

#include <algorithm>

namespace stowage {

void GridKnapsack::add(std::size_t weight, float price) {
  weight = std::min(weight, width_);
  const std::size_t first = items() * width_;
  if (layers_.size() < first + 2 * width_) layers_.resize(first + 2 * width_);
  // The arrays do not overlap, so that the compiler may vectorise the loop.
  const float* __restrict before = layers_.data() + first;
  float* __restrict after = layers_.data() + first + width_;
  std::copy_n(before, weight, after);
  for (std::size_t room = weight; room < width_; ++room) {
    after[room] = std::max(before[room], before[room - weight] + price);
  }
  weights_.push_back(weight);
}

std::vector<std::size_t> GridKnapsack::held(std::size_t count, std::size_t room) const {
  std::vector<std::size_t> held;
  for (std::size_t i = count; i-- > 0;) {
    if (layers_[(i + 1) * width_ + room] == layers_[i * width_ + room]) continue;
    held.push_back(i);
    room -= weights_[i];
  }
  std::ranges::reverse(held);
  return held;
}

}  // namespace stowage
