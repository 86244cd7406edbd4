#include "heuristics/order/recompute/saved_tensors.h"

#include "instances/numeric/numbers.h"
#include "instances/order/memory/flow_network.h"

namespace stowage {
namespace {

// The network of one cut, and the tensors that it makes again.
class SavedCut {
 public:
  SavedCut(const OrderTable& table, std::span<const int> order, std::size_t split, Ms longest)
      : table_(table), longest_(longest), runs_first_(at(table.operators()), 0) {
    for (const int op : order.first(split)) runs_first_[at(op)] = 1;
    present_.assign(at(table.tensors()), 1);
    find(order.first(split));
  }

  // Appends the runs again that `op` needs, then `op`.
  void run(int op, std::vector<int>& steps) {
    for (const int t : table_.touched(op)) make(t, steps);
    steps.push_back(op);
  }
  // Appends the runs again that make the tensor, if it is not there.
  void make(int tensor, std::vector<int>& steps) {
    std::vector<int> todo = {tensor};
    while (!todo.empty()) {
      const int t = todo.back();
      if (present_[at(t)] != 0) {
        todo.pop_back();
        continue;
      }
      const int writer = table_.producer(t);
      const std::size_t before = todo.size();
      for (const int input : table_.touched(writer)) {
        if (present_[at(input)] == 0) todo.push_back(input);
      }
      if (todo.size() > before) continue;
      steps.push_back(writer);
      for (const int made : table_.written(writer)) present_[at(made)] = 1;
      todo.pop_back();
    }
  }

 private:
  bool runs_again(int op) const {
    return table_.may_rerun(op) && table_.closed_by(op).empty() && table_.ms(op) <= longest_;
  }
  bool needed_behind(int t) const {
    if (table_.stays(t)) return true;
    for (const int op : table_.touchers(t)) {
      if (runs_first_[at(op)] == 0) return true;
    }
    return false;
  }

  void find(std::span<const int> first) {
    FlowNetwork network;
    std::vector<int> node_of_op(at(table_.operators()), FlowNetwork::kNone);
    std::vector<int> node_of(at(table_.tensors()), FlowNetwork::kNone);
    for (const int op : first) {
      if (runs_again(op)) node_of_op[at(op)] = network.new_node();
    }
    for (int t = 0; t < table_.tensors(); ++t) {
      const int writer = table_.producer(t);
      const bool given = writer == OrderTable::kNobody;
      if (!given && runs_first_[at(writer)] == 0) continue;
      const bool needed = needed_behind(t);
      if (given && needed) continue;  // in memory in any case
      const int node = network.new_node();
      node_of[at(t)] = node;
      const int from = given ? FlowNetwork::kNone : node_of_op[at(writer)];
      network.add_arc(from == FlowNetwork::kNone ? FlowNetwork::kSource : from, node,
                      table_.size(t));
      if (needed) network.add_arc(node, FlowNetwork::kSink, FlowNetwork::kNoLimit);
      for (const int op : table_.touchers(t)) {
        if (node_of_op[at(op)] == FlowNetwork::kNone) continue;
        network.add_arc(node, node_of_op[at(op)], FlowNetwork::kNoLimit);
      }
    }
    network.push_all();
    // A tensor is made again if its writer is on the sink's side.
    for (int t = 0; t < table_.tensors(); ++t) {
      const int writer = table_.producer(t);
      if (node_of[at(t)] == FlowNetwork::kNone || writer == OrderTable::kNobody) continue;
      const int from = node_of_op[at(writer)];
      if (from != FlowNetwork::kNone && network.reaches_sink(from)) present_[at(t)] = 0;
    }
  }

  const OrderTable& table_;
  const Ms longest_;
  std::vector<char> runs_first_;  // operators before the split
  std::vector<char> present_;     // tensors that need not be made again, as far as known
};

}  // namespace

std::vector<int> with_saved_tensors(const OrderTable& table, std::span<const int> order,
                                    std::size_t split, Ms longest_ms) {
  SavedCut cut(table, order, split, longest_ms);
  std::vector<int> steps(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(split));
  for (const int op : order.subspan(split)) cut.run(op, steps);
  for (int t = 0; t < table.tensors(); ++t) {
    if (table.stays(t)) cut.make(t, steps);
  }
  return steps;
}

}  // namespace stowage
