// A knapsack whose room is a number of equal parts, filled item by item. Prices are integers whose
// sum is at most kMaxPaid. Floats represent integers exactly up to there, so that sums are exact.
//
//   GridKnapsack knapsack(2048);
//   for (...) knapsack.add(weight, price);
//   float paid = knapsack.value(2048);
//   std::vector<std::size_t> held = knapsack.held(knapsack.items(), 2048);
#pragma once

#include <cstddef>
#include <vector>

namespace stowage {

class GridKnapsack {
 public:
  static constexpr double kMaxPaid = 1 << 24;

  explicit GridKnapsack(std::size_t parts) : width_(parts + 1), layers_(width_, 0) {}

  void clear() { weights_.clear(); }

  // Adds an item. Weights are in parts of the room. An item heavier than the room is never taken.
  void add(std::size_t weight, float price);

  std::size_t items() const { return weights_.size(); }

  // Returns the largest value of the items added so far in `room` parts.
  float value(std::size_t room) const { return layers_[items() * width_ + room]; }

  // Returns the indices of the items, in the order of adding, that have the largest value in `room`
  // parts among the first `count` items.
  std::vector<std::size_t> held(std::size_t count, std::size_t room) const;

 private:
  std::size_t width_;
  std::vector<float> layers_;  // largest value, by items and room
  std::vector<std::size_t> weights_;
};

}  // namespace stowage
