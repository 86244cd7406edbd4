#include "instances/order/memory/memory_reuse.h"

#include "instances/numeric/numbers.h"

namespace stowage {

std::vector<OrderReuse> reuses_of(const OrderTable& table, std::span<const int> order) {
  std::vector<std::size_t> left;  // by tensor: operators that touch it and have not run
  for (int t = 0; t < table.tensors(); ++t) left.push_back(table.touchers(t).size());
  std::vector<OrderReuse> all;
  for (const int op : order) {
    for (const int t : table.touched(op)) --left[at(t)];
    const auto ends = [&](int t) { return left[at(t)] == 0 && !table.stays(t); };
    const std::vector<OrderReuse> its = table.reuses_at(op, ends);
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

std::vector<Bytes> added_by(const OrderTable& table, std::span<const OrderReuse> reuses) {
  std::vector<Bytes> added;
  for (int op = 0; op < table.operators(); ++op) added.push_back(table.added(op));
  for (const OrderReuse& its : reuses) {
    const int made = static_cast<int>(its.tensor);
    added[at(table.producer(made))] -= table.size(made);
  }
  return added;
}

}  // namespace stowage
