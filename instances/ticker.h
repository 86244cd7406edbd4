// When long loops look at the clock, which takes longer than their steps do. Not installed.
//
//   Ticker ticker(budget, 1 << 18);
//   for (...) if (ticker.exhausted(steps_of_this_round)) return std::nullopt;
#pragma once

#include <cstdint>

#include "instances/budget.h"

namespace stowage {

// Asks the budget once in so many steps, and not before.
class Ticker {
 public:
  // `budget` must outlive this.
  Ticker(const Budget& budget, std::int64_t every) : budget_(budget), every_(every) {}

  bool exhausted(std::int64_t steps) {
    since_ += steps;
    if (since_ < every_) return false;
    since_ = 0;
    return budget_.exhausted();
  }

 private:
  const Budget& budget_;
  const std::int64_t every_;
  std::int64_t since_ = 0;
};

// Lets so many steps be done whatever the budget says, and asks it before each piece of work then.
class FreeWork {
 public:
  // `budget` must outlive this.
  FreeWork(const Budget& budget, double steps) : budget_(budget), left_(steps) {}

  // Whether there is no time for a piece of so many steps.
  bool exhausted(double steps) {
    left_ -= steps;
    return left_ < 0 && budget_.exhausted();
  }

  const Budget& budget() const { return budget_; }

 private:
  const Budget& budget_;
  double left_;
};

}  // namespace stowage
