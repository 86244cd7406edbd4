// Computes the bottleneck of an order: the operator with the largest need, the tensors that are
// alive while it runs, and any move of one operator across it that would lower the peak.
#include <algorithm>
#include <span>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/order/json/json.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/memory/lifetimes.h"
#include "instances/order/memory/memory_reuse.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/memory/transfer_times.h"
#include "instances/order/plan_builder.h"
#include "instances/order/planning_table.h"
#include "solvers/explain/family_explain.h"
#include "solvers/order/explain/explain.h"
#include "solvers/order/params.h"

namespace stowage {
namespace {

using order_fixed::kListedChanges;
using order_fixed::kListedTensors;
using order_fixed::kMovedOver;

std::string plain_name(const std::string& id, std::int64_t index) {
  return id.empty() ? std::to_string(index) : id;
}

class PeakOfOrder {
 public:
  PeakOfOrder(const OrderInstance& instance, const OrderPlan& plan)
      : instance_(instance),
        table_(instance),
        order_(plan.order.begin(), plan.order.end()),
        transfers_(plan.transfers),
        step_(peak_step(table_, plan.order, transfers_)),
        lives_(lifetimes(table_, plan.order, transfers_)) {}

  const OrderTable& table() const { return table_; }

  // Returns the tensors that are alive before the operator at the peak runs, the largest first.
  std::vector<TensorLife> alive() const {
    std::vector<TensorLife> alive;
    for (const TensorLife& life : lives_) {
      const bool made_now = table_.producer(life.tensor) == order_[at(step_)];
      if (life.at(step_) && !made_now && table_.size(life.tensor) > 0) alive.push_back(life);
    }
    std::ranges::stable_sort(alive, [this](const TensorLife& a, const TensorLife& b) {
      return table_.size(a.tensor) > table_.size(b.tensor);
    });
    return alive;
  }

  Finding at_peak() const {
    const int op = order_[at(step_)];
    Bytes made = 0;
    for (const int t : table_.written(op)) made += table_.size(t);
    const Bytes workspace = table_.added(op) - made;
    const Bytes need = needs_of(table_, order_, transfers_)[at(step_)];
    const Bytes added = added_by(table_, reuses_of(table_, order_))[at(op)];
    const Bytes reused = table_.added(op) - added;
    return {"/order/" + std::to_string(step_),
            "operator " + operator_name(op) + " at step " + std::to_string(step_) + " needs " +
                std::to_string(need) + " bytes: " + std::to_string(need - added) + " are live, " +
                std::to_string(made - reused) + " are its outputs, " + std::to_string(workspace) +
                " its workspace" +
                (reused > 0 ? "; " + std::to_string(reused) +
                                  " bytes of its outputs take the memory of tensors that end here"
                            : "")};
  }

  Finding life(const TensorLife& life) const {
    const int t = life.tensor;
    const bool back = std::ranges::any_of(transfers_, [&](const OrderTransfer& transfer) {
      return transfer.tensor == t && transfer.in == life.first;
    });
    const bool input = !back && table_.producer(t) == OrderTable::kNobody;
    return {"/order/" + std::to_string(life.first),
            "tensor " + plain_name(instance_.tensors[at(t)].id, t) + " of " +
                plain_count(table_.size(t), "byte") +
                (input ? " is there from the start"
                       : (back ? " comes back from the host at step " : " is made at step ") +
                             std::to_string(life.first)) +
                (table_.stays(t) && life.last == std::ssize(order_) - 1
                     ? " and stays to the end"
                     : " and last touched at step " + std::to_string(life.last))};
  }

  // Returns the repeated runs and the bytes that each run makes.
  std::vector<Finding> again() const {
    std::vector<Finding> again;
    const std::vector<std::int64_t> all(order_.begin(), order_.end());
    for (const std::int64_t step : steps_again(table_, all)) {
      const int op = order_[at(step)];
      Bytes made = 0;
      for (const int t : table_.written(op)) made += table_.size(t);
      again.push_back({"/order/" + std::to_string(step),
                       "operator " + operator_name(op) + " runs again at step " +
                           std::to_string(step) + ", for " + plain_number(table_.ms(op)) +
                           " ms, and makes " + plain_count(made, "byte") + " anew"});
    }
    return again;
  }

  // Returns the stalls: the runs that wait for transfers.
  std::vector<Finding> stalls() const {
    std::vector<Finding> stalls;
    const TransferTimes times = transfer_times(table_, order_, transfers_);
    Ms before = 0;
    for (std::size_t step = 0; step < order_.size(); ++step) {
      const Ms wait = times.runs[step].begin - before;
      before = times.runs[step].end;
      if (wait <= 0) continue;
      stalls.push_back({"/order/" + std::to_string(step),
                        "operator " + operator_name(order_[step]) + " at step " +
                            std::to_string(step) + " waits " + plain_number(wait) +
                            " ms for transfers: " + awaited(static_cast<std::int64_t>(step))});
    }
    return stalls;
  }

  // Tries moves of one operator from before the peak to after it or the other way, as far as
  // precedences allow.
  Moves moves() const {
    Moves moves;
    const Bytes peak = peak_of(table_, order_);
    const std::int64_t first = std::max<std::int64_t>(0, step_ - kMovedOver);
    const std::int64_t last = std::min<std::int64_t>(std::ssize(order_) - 1, step_ + kMovedOver);
    moves.all = first == 0 && last == std::ssize(order_) - 1;
    for (std::int64_t from = first; from <= last; ++from) {
      if (from == step_) continue;
      const std::optional<std::int64_t> to = across(from);
      if (!to) continue;
      std::vector<int> moved = order_;
      const auto begin = moved.begin();
      if (from < *to) {
        std::rotate(begin + from, begin + from + 1, begin + *to + 1);
      } else {
        std::rotate(begin + *to, begin + from, begin + from + 1);
      }
      ++moves.tried;
      const auto gain = static_cast<double>(peak - peak_of(table_, moved));
      if (gain <= moves.best_gain) continue;
      moves.best_gain = gain;
      moves.best_text = "move operator " + operator_name(order_[at(from)]) + " from step " +
                        std::to_string(from) + " to " + std::to_string(*to);
    }
    return moves;
  }

 private:
  // Returns the tensors that a step waits for, as in "tensor a out, tensor b in".
  std::string awaited(std::int64_t step) const {
    std::string names;
    const auto touched = table_.touched(order_[at(step)]);
    const auto add = [&](std::int64_t t, const char* way) {
      names += (names.empty() ? "tensor " : ", tensor ") +
               plain_name(instance_.tensors[at(t)].id, t) + way;
    };
    for (const OrderTransfer& its : transfers_) {
      if (its.freed == step && its.out) add(its.tensor, " out");
      const bool used = std::ranges::find(touched, static_cast<int>(its.tensor)) != touched.end();
      if (used && its.in <= step && first_touch(its) == step) add(its.tensor, " in");
    }
    return names;
  }
  std::int64_t first_touch(const OrderTransfer& transfer) const {
    std::int64_t step = transfer.in;
    const auto touches = [&] {
      const auto touched = table_.touched(order_[at(step)]);
      return std::ranges::find(touched, static_cast<int>(transfer.tensor)) != touched.end();
    };
    while (step < std::ssize(order_) && !touches()) ++step;
    return step;
  }

  std::string operator_name(int op) const { return plain_name(instance_.operators[at(op)].id, op); }

  // Returns the step just across the peak, or nullopt if the precedences forbid the move.
  std::optional<std::int64_t> across(std::int64_t from) const {
    const int op = order_[at(from)];
    const auto waits = from < step_ ? table_.behind(op) : table_.before(op);
    const std::int64_t least = std::min(from, step_);
    const std::int64_t most = std::max(from, step_);
    for (std::int64_t k = least; k <= most; ++k) {
      if (k != from && std::ranges::find(waits, order_[at(k)]) != waits.end()) return std::nullopt;
    }
    return step_;
  }

  const OrderInstance& instance_;
  OrderTable table_;
  std::vector<int> order_;
  std::vector<OrderTransfer> transfers_;
  std::int64_t step_;
  std::vector<TensorLife> lives_;
};

}  // namespace

Bottleneck binding_of(const OrderInstance& instance, const OrderPlan& plan) {
  Bottleneck binding;
  if (plan.order.empty() || plan.peak_bytes == 0) return binding;
  const PeakOfOrder peak(instance, plan);
  binding.parts.push_back(peak.at_peak());
  for (const TensorLife& life : peak.alive()) {
    if (binding.parts.size() > kListedTensors) break;
    binding.parts.push_back(peak.life(life));
  }
  for (Finding& run : peak.again()) binding.parts.push_back(std::move(run));
  for (Finding& stall : peak.stalls()) {
    if (binding.parts.size() > 2 * kListedTensors) break;
    binding.parts.push_back(std::move(stall));
  }
  // Moves are defined for plain orders with the objective peak: no transfers and no repeated runs.
  const bool moved = instance.objective == OrderObjective::peak && plan.transfers.empty() &&
                     plan.order.size() == instance.operators.size();
  if (moved) binding.moves = peak.moves();
  return binding;
}

// Sets the size of a tensor to 0. It and what its writer makes of its size then share no memory.
static void empty_tensor(OrderInstance& graph, int tensor) {
  graph.tensors[at(tensor)].size = 0;
  for (OrderOperator& op : graph.operators) {
    std::erase_if(op.in_place, [&](std::int64_t on) {
      return std::ranges::none_of(op.writes, [&](std::int64_t made) {
        return round_up(graph.tensors[at(made)].size, graph.alignment) ==
               round_up(graph.tensors[at(on)].size, graph.alignment);
      });
    });
  }
}

// Returns changes that set the size of a tensor to 0, for tensors that are alive at the peak and
// not made there. The gain of a change bounds the gain of recomputing or offloading the tensor.
std::vector<Change> changes_of(const OrderInstance& instance, const OrderPlan& plan) {
  std::vector<Change> changes;
  if (plan.order.empty()) return changes;
  const PeakOfOrder peak(instance, plan);
  for (const TensorLife& life : peak.alive()) {
    if (changes.size() == kListedChanges) break;
    const int t = life.tensor;
    OrderInstance changed = at_length(instance, longest_of(instance));
    empty_tensor(changed, t);
    OrderPlan start =
        compose_order(changed, OrderTable(changed),
                      std::vector<int>(plan.order.begin(), plan.order.end()), plan.transfers);
    start.instance_hash = instance_hash(changed);
    changes.push_back({"/tensors/" + std::to_string(t),
                       "tensor " + plain_name(instance.tensors[at(t)].id, t) + " of " +
                           plain_count(peak.table().size(t), "byte") + " recomputed or offloaded",
                       std::move(changed), Plan(std::move(start))});
  }
  return changes;
}

}  // namespace stowage
