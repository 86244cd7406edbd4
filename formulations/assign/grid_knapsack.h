// A knapsack whose room is a number of equal parts, filled item by item. Prices are whole numbers
// whose sum is at most kMostPaid: up to there floats hold whole numbers, so that sums are exact.
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
  static constexpr double kMostPaid = 1 << 24;

  explicit GridKnapsack(std::size_t parts) : width_(parts + 1), layers_(width_, 0) {}

  void clear() { weights_.clear(); }

  // Weights are in parts of the room; one of more parts than there are is never held.
  void add(std::size_t weight, float price);

  std::size_t items() const { return weights_.size(); }

  // The most that the items added so far pay in so much room.
  float value(std::size_t room) const { return layers_[items() * width_ + room]; }

  // Numbers of the items, in the order of adding, that pay the most in so much room if there are
  // only the first `count`.
  std::vector<std::size_t> held(std::size_t count, std::size_t room) const;

 private:
  std::size_t width_;
  std::vector<float> layers_;  // the most by items and room
  std::vector<std::size_t> weights_;
};

}  // namespace stowage
