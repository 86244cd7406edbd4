#include "solvers/layout_probe.h"

#include <algorithm>

#include "heuristics/layout_orders.h"

namespace stowage {
namespace {

constexpr std::int64_t kClockNodes = 256;  // between two looks at the clock

// Measured on the MiniMalloc set and on guillotine cuts; each solves something the others do not.
constexpr const char* kOrders[] = {"TCA", "TLZ", "TOU", "UOZ", "WTZ", "ATW"};

}  // namespace

LayoutProbe::LayoutProbe(const LayoutTable& table, const LayoutNeighbours& neighbours,
                         const std::vector<std::vector<int>>& orders, Bytes capacity)
    : table_(table),
      neighbours_(neighbours),
      orders_(orders),
      capacity_(capacity),
      turn_nodes_(std::max(kClockNodes, 2 * static_cast<std::int64_t>(table.buffers()))),
      turn_left_(turn_nodes_) {}

std::vector<std::vector<int>> LayoutProbe::portfolio(const LayoutTable& table) {
  std::vector<std::vector<int>> orders;
  for (const char* keys : kOrders) {
    std::vector<int> order = static_order(table, keys);
    if (std::ranges::find(orders, order) == orders.end()) orders.push_back(std::move(order));
  }
  return orders;
}

LayoutTree::End LayoutProbe::round(Budget& budget) {
  while (!budget.exhausted()) {
    if (turn_ == trees_.size()) {
      trees_.push_back(
          std::make_unique<LayoutTree>(table_, neighbours_, orders_[turn_], capacity_));
    }
    LayoutTree& tree = *trees_[turn_];
    const std::int64_t before = tree.nodes();
    const LayoutTree::End end = tree.run(std::min({kClockNodes, turn_left_, budget.nodes_left()}));
    budget.count_nodes(tree.nodes() - before);
    turn_left_ -= tree.nodes() - before;
    if (end != LayoutTree::End::open) return end;
    if (turn_left_ > 0) continue;
    turn_left_ = turn_nodes_;
    if (++turn_ == orders_.size()) {
      turn_ = 0;
      turn_nodes_ *= 2;
      turn_left_ = turn_nodes_;
      return LayoutTree::End::open;
    }
  }
  return LayoutTree::End::open;
}

}  // namespace stowage
