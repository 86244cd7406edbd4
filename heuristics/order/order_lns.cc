#include "heuristics/order/order_lns.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/order/memory/running_memory.h"

namespace stowage {
namespace {

// An order with the bytes that each step needs, and with a queue of the steps with the largest
// needs.
class Stretches {
 public:
  Stretches(const OrderTable& table, CommitSearch& search, std::vector<int>& order, int narrowest,
            const OrderLns::Effort& effort, const Budget& budget)
      : search_(search),
        narrowest_(at(narrowest)),
        order_(order),
        effort_(effort),
        budget_(budget),
        memory_(table),
        needs_(order.size()) {
    count(order.size());
  }

  std::int64_t states() const { return states_; }
  // Returns the first step with the largest need, and that need in bytes. Requires at least one
  // step.
  std::pair<std::size_t, Bytes> most() {
    while (needs_[at(-steps_.top().second)] != steps_.top().first) steps_.pop();
    return {at(-steps_.top().second), steps_.top().first};
  }

  // Replaces the first stretch around the step for which an order below the peak is found. Returns
  // false if no stretch has such an order.
  bool improve_around(std::size_t step, Bytes peak) {
    for (std::size_t width = narrowest_;; width *= 2) {
      // The step lies in the middle, near the end, or near the beginning of the stretch.
      for (const std::size_t before : {width / 2, width - width / 8, width / 8}) {
        const std::size_t from = step - std::min(step, before);
        if (states_ >= effort_.all_states || budget_.exhausted()) return false;
        if (replace(from, std::min(order_.size(), from + width), peak)) return true;
      }
      if (width >= order_.size() || width >= at(effort_.widest)) return false;
    }
  }

 private:
  void move_to(std::size_t step) {
    while (at_ < step) memory_.run(order_[at_++]);
    while (at_ > step) memory_.undo(order_[--at_]);
  }

  // Runs the steps before `to` and records the need of each.
  void count(std::size_t to) {
    while (at_ < to) {
      needs_[at_] = memory_.need(order_[at_]);
      steps_.push({needs_[at_], -static_cast<std::int64_t>(at_)});
      memory_.run(order_[at_++]);
    }
  }

  bool replace(std::size_t from, std::size_t to, Bytes peak) {
    move_to(from);
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(from);
    const std::vector<int> targets(begin, order_.begin() + static_cast<std::ptrdiff_t>(to));
    const CommitSearch::Found found =
        search_.run(memory_, targets, peak - 1,
                    std::min(effort_.states, effort_.all_states - states_), budget_);
    states_ += found.states;
    if (found.end != CommitSearch::End::found) return false;
    std::ranges::copy(found.steps, begin);
    count(to);
    return true;
  }

  CommitSearch& search_;
  const std::size_t narrowest_;
  std::vector<int>& order_;
  const OrderLns::Effort& effort_;
  const Budget& budget_;
  OrderMemory memory_;
  std::size_t at_ = 0;        // the step before which memory_ stands
  std::vector<Bytes> needs_;  // bytes that each step needs
  // Pairs of need and negated step, so that of equal needs the first step is on top. Outdated pairs
  // are skipped.
  std::priority_queue<std::pair<Bytes, std::int64_t>> steps_;
  std::int64_t states_ = 0;
};

}  // namespace

std::int64_t OrderLns::improve(std::vector<int>& order, const Effort& effort,
                               const Budget& budget) {
  Stretches stretches(table_, search_, order, narrowest_, effort, budget);
  while (!order.empty() && !budget.exhausted()) {
    const auto [step, peak] = stretches.most();
    if (peak <= std::max(effort.goal, table_.at_start())) break;
    if (!stretches.improve_around(step, peak)) break;
  }
  return stretches.states();
}

}  // namespace stowage
