#include "heuristics/order/orders.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/order/memory/running_memory.h"

namespace stowage {
namespace {

// Returns the only operator that has yet to touch the tensor. Requires touches_left(tensor) == 1.
int last_toucher(const OrderMemory& memory, int tensor) {
  const auto touchers = memory.table().touchers(tensor);
  return *std::ranges::find_if(touchers, [&](int op) { return !memory.done(op); });
}

// Calls changed(other) for the operators that became ready when `op` ran, and for the operators
// whose growth the run of `op` changed.
template <class Changed>
void for_changed(const OrderMemory& memory, int op, Changed changed) {
  for (const int next : memory.table().behind(op)) {
    if (memory.ready(next)) changed(next);
  }
  for (const int t : memory.table().touched(op)) {
    if (memory.touches_left(t) == 1) changed(last_toucher(memory, t));
  }
}

class ListScheduler {
 public:
  explicit ListScheduler(const OrderTable& table)
      : table_(table), memory_(table), growth_(at(table.operators()), 0) {}

  std::vector<int> run() {
    std::vector<int> order;
    for (int op = 0; op < table_.operators(); ++op) {
      if (memory_.ready(op)) insert(op);
    }
    while (!ready_.empty()) {
      const int op = std::get<2>(*ready_.begin());
      ready_.erase(ready_.begin());
      memory_.run(op);
      order.push_back(op);
      for_changed(memory_, op, [&](int other) {
        if (!memory_.ready(other)) return;
        ready_.erase({growth_[at(other)], -readers(other), other});
        insert(other);
      });
    }
    return order;
  }

 private:
  std::int64_t readers(int op) const {
    std::int64_t count = 0;
    for (const int t : table_.written(op)) count += std::ssize(table_.touchers(t));
    return count;
  }

  void insert(int op) {
    growth_[at(op)] = memory_.growth(op);
    ready_.insert({growth_[at(op)], -readers(op), op});
  }

  const OrderTable& table_;
  OrderMemory memory_;
  std::vector<Bytes> growth_;  // growth of each operator, as stored in ready_
  std::set<std::tuple<Bytes, std::int64_t, int>> ready_;
};

// Sums over the predecessors of an operator, counted once per path, capped at kMost.
struct Weight {
  static constexpr std::int64_t kMost = std::int64_t{1} << 60;
  std::int64_t readers = 0;  // touchers of each written tensor beyond the first
  Bytes bytes = 0;

  static std::int64_t sum(std::int64_t a, std::int64_t b) { return std::min(kMost, a + b); }
};

}  // namespace

std::vector<int> list_order(const OrderTable& table) { return ListScheduler(table).run(); }

std::vector<int> depth_first_order(const OrderTable& table) {
  std::vector<Weight> weight(at(table.operators()));
  for (const int op : table.program_order()) {
    Weight& its = weight[at(op)];
    for (const int t : table.written(op)) {
      its.bytes = Weight::sum(its.bytes, table.size(t));
      its.readers += std::max<std::int64_t>(0, std::ssize(table.touchers(t)) - 1);
    }
    for (const int first : table.before(op)) {
      its.bytes = Weight::sum(its.bytes, weight[at(first)].bytes);
      its.readers = Weight::sum(its.readers, weight[at(first)].readers);
    }
  }
  std::vector<int> order;
  std::vector<bool> seen(at(table.operators()), false);
  // Operators left to visit; true if all predecessors of the operator are in the order.
  std::vector<std::pair<int, bool>> stack;
  const auto visit = [&](int root) {
    stack.emplace_back(root, false);
    while (!stack.empty()) {
      auto& [op, opened] = stack.back();
      if (opened) {
        order.push_back(op);
        stack.pop_back();
        continue;
      }
      if (seen[at(op)]) {
        stack.pop_back();
        continue;
      }
      seen[at(op)] = true;
      opened = true;
      std::vector<int> first(table.before(op).begin(), table.before(op).end());
      std::ranges::stable_sort(first, [&](int a, int b) {
        const Weight& x = weight[at(a)];
        const Weight& y = weight[at(b)];
        return std::tie(x.readers, x.bytes) > std::tie(y.readers, y.bytes);
      });
      for (auto it = first.rbegin(); it != first.rend(); ++it) {
        if (!seen[at(*it)]) stack.emplace_back(*it, false);
      }
    }
  };
  for (const int op : table.program_order()) {
    if (table.behind(op).empty()) visit(op);
  }
  return order;
}

std::vector<int> online_order(const OrderTable& table) {
  OrderMemory memory(table);
  std::vector<int> order;
  for (int op = 0; op < table.operators(); ++op) {
    if (memory.ready(op)) order.push_back(op);
  }
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int op = order[k];
    memory.run(op);
    for (const int next : table.behind(op)) {
      if (memory.ready(next)) order.push_back(next);
    }
  }
  return order;
}

std::vector<int> commit_order(const OrderTable& table, std::span<const int> base) {
  OrderMemory memory(table);
  std::vector<int> order;
  // ready operators that do not raise the live bytes, by need
  std::set<std::pair<Bytes, int>> free;
  Bytes peak = table.at_start();
  for (int op = 0; op < table.operators(); ++op) {
    peak = std::max(peak, table.need(op));
    if (memory.ready(op) && memory.growth(op) <= 0) free.insert({table.need(op), op});
  }
  const auto run = [&](int op) {
    peak = std::max(peak, memory.need(op));
    free.erase({table.need(op), op});
    memory.run(op);
    order.push_back(op);
    for_changed(memory, op, [&](int other) {
      if (memory.ready(other) && memory.growth(other) <= 0) {
        free.insert({table.need(other), other});
      }
    });
  };
  for (const int next : base) {
    while (!free.empty() && memory.live() + free.begin()->first <= peak) run(free.begin()->second);
    if (!memory.done(next)) run(next);
  }
  return order;
}

}  // namespace stowage
