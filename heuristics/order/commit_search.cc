#include "heuristics/order/commit_search.h"

#include <algorithm>

#include "heuristics/order/commit_walk.h"

namespace stowage {

template <class Steps>
CommitSearch::Found CommitSearch::walk(OrderMemory& memory, std::span<const int> targets,
                                       Bytes capacity, std::int64_t most_states,
                                       const Budget& budget) {
  graph_.begin(targets);
  return CommitWalk<Steps>(graph_, memory, targets, capacity).run(most_states, budget);
}

CommitSearch::Found CommitSearch::run(OrderMemory& memory, std::span<const int> targets,
                                      Bytes capacity, std::int64_t most_states,
                                      const Budget& budget) {
  std::vector<int> middle(targets.begin(), targets.end());
  std::vector<int> head;  // committed operators at the start, in order
  std::vector<int> tail;  // committed operators at the end, the last one first
  Found all;
  const auto take = [&](const Found& part, std::vector<int>& to) {
    to.insert(to.end(), part.steps.begin(), part.steps.end());
    std::vector<int> gone = part.steps;
    std::ranges::sort(gone);
    std::erase_if(middle, [&](int op) { return std::ranges::binary_search(gone, op); });
    all.states += part.states;
    all.end = part.end;
    all.least_overflow = part.least_overflow;
    all.from_end = part.from_end;
    all.between = part.between;
    return part.end == End::exhausted && !budget.exhausted();
  };
  for (bool first = true;; first = false) {
    const Found forward = walk<ForwardSteps>(memory, middle, capacity, most_states, budget);
    for (const int op : forward.steps) memory.run(op);
    if (!take(forward, head) || (!first && forward.steps.empty())) break;
    for (const int op : middle) memory.run(op);
    const Found backward = walk<BackwardSteps>(memory, middle, capacity, most_states, budget);
    for (auto op = middle.rbegin(); op != middle.rend(); ++op) memory.undo(*op);
    if (!take(backward, tail) || backward.steps.empty()) break;
  }
  for (auto op = head.rbegin(); op != head.rend(); ++op) memory.undo(*op);
  all.steps = std::move(head);
  if (all.end == End::found) all.steps.insert(all.steps.end(), tail.rbegin(), tail.rend());
  if (all.end == End::none) all.last.assign(tail.rbegin(), tail.rend());
  return all;
}

}  // namespace stowage
