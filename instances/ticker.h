// Limits how often long loops read the clock: one reading takes longer than one of their steps. Not
// installed.
//
//   PollEvery ticker(budget, 1 << 18);
//   for (...) if (ticker.exhausted(steps_of_this_round)) return std::nullopt;
#pragma once

#include <cstdint>

#include "instances/budget.h"

namespace stowage {

// Polls the budget once in every `every` steps.
class PollEvery {
 public:
  // `budget` must outlive this object.
  PollEvery(const Budget& budget, std::int64_t every) : budget_(budget), every_(every) {}

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

// Lets the first `steps` steps run with any budget. Afterwards it polls the budget before each
// piece of work.
class GuaranteedWork {
 public:
  // `budget` must outlive this object.
  GuaranteedWork(const Budget& budget, double steps) : budget_(budget), left_(steps) {}

  // Returns whether a piece of `steps` steps has to be left out: the free steps are used up and the
  // budget is exhausted.
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
