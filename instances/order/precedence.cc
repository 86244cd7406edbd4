#include "instances/order/precedence.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr int kNone = -1;

// The number of operators that each operator waits for, and the operators that wait for it.
struct Waiting {
  explicit Waiting(const std::vector<std::vector<int>>& before)
      : left(before.size()), behind(before.size()) {
    for (std::size_t op = 0; op < before.size(); ++op) {
      left[op] = before[op].size();
      for (const int first : before[op]) behind[at(first)].push_back(static_cast<int>(op));
    }
  }

  std::vector<std::size_t> left;
  std::vector<std::vector<int>> behind;
};

// Calls run(op) in the order of first_order(), until no operator is ready.
template <class Run>
void run_first(Waiting& waiting, Run run) {
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t op = 0; op < waiting.left.size(); ++op) {
    if (waiting.left[op] == 0) ready.push(static_cast<int>(op));
  }
  while (!ready.empty()) {
    const int op = ready.top();
    ready.pop();
    run(op);
    for (const int next : waiting.behind[at(op)]) {
      if (--waiting.left[at(next)] == 0) ready.push(next);
    }
  }
}

}  // namespace

std::vector<std::vector<int>> predecessors_of(const OrderInstance& instance) {
  const std::size_t count = instance.operators.size();
  std::vector<std::vector<int>> before(count);
  std::vector<int> writer(instance.tensors.size(), kNone);
  for (std::size_t op = 0; op < count; ++op) {
    for (const std::int64_t t : instance.operators[op].writes) writer[at(t)] = static_cast<int>(op);
  }
  std::vector<int> update(instance.tensors.size(), kNone);
  std::vector<std::vector<int>> readers(instance.tensors.size());
  for (std::size_t i = 0; i < count; ++i) {
    const OrderOperator& op = instance.operators[i];
    std::vector<int>& its = before[i];
    for (const std::int64_t first : op.after) its.push_back(static_cast<int>(first));
    const auto touch = [&](std::int64_t t) {
      if (writer[at(t)] != kNone) its.push_back(writer[at(t)]);
      if (update[at(t)] != kNone) its.push_back(update[at(t)]);
    };
    for (const std::int64_t t : op.reads) {
      touch(t);
      readers[at(t)].push_back(static_cast<int>(i));
    }
    for (const std::int64_t t : op.updates) {
      if (update[at(t)] == static_cast<int>(i)) continue;  // listed twice
      touch(t);
      for (const int reader : readers[at(t)]) {
        if (reader != static_cast<int>(i)) its.push_back(reader);
      }
      readers[at(t)].clear();
      update[at(t)] = static_cast<int>(i);
    }
    std::sort(its.begin(), its.end());
    its.erase(std::unique(its.begin(), its.end()), its.end());
  }
  return before;
}

std::optional<std::vector<int>> first_order(const std::vector<std::vector<int>>& before) {
  Waiting waiting(before);
  std::vector<int> order;
  order.reserve(before.size());
  run_first(waiting, [&](int op) { order.push_back(op); });
  if (order.size() < before.size()) return std::nullopt;
  return order;
}

std::vector<int> cycle_in(const std::vector<std::vector<int>>& before) {
  Waiting waiting(before);
  run_first(waiting, [](int) {});
  const auto stuck = [&](int op) { return waiting.left[at(op)] > 0; };
  int op = kNone;
  for (std::size_t i = 0; i < before.size() && op == kNone; ++i) {
    if (waiting.left[i] > 0) op = static_cast<int>(i);
  }
  if (op == kNone) return {};
  // Goes back from a stuck operator to one that it waits for, which is stuck too, until an operator
  // repeats.
  std::vector<int> path;
  std::vector<bool> seen(before.size(), false);
  while (!seen[at(op)]) {
    seen[at(op)] = true;
    path.push_back(op);
    op = *std::ranges::find_if(before[at(op)], stuck);
  }
  return {std::ranges::find(path, op), path.end()};
}

}  // namespace stowage
