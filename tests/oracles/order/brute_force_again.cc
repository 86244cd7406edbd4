#include "tests/oracles/order/brute_force_again.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <unordered_map>
#include <vector>

namespace stowage {
namespace {

using State = std::uint64_t;  // two bits for the runs of each operator, then one for each tensor

bool has(const std::vector<std::int64_t>& list, std::int64_t item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

class EverySequence {
 public:
  EverySequence(const OrderInstance& instance, int most_runs)
      : instance_(instance),
        most_runs_(static_cast<State>(most_runs)),
        operators_(static_cast<std::int64_t>(instance.operators.size())),
        tensors_(static_cast<std::int64_t>(instance.tensors.size())),
        timed_(instance.objective == OrderObjective::time) {}

  std::optional<double> run() {
    State start = 0;
    Bytes inputs = 0;
    for (std::int64_t t = 0; t < tensors_; ++t) {
      if (!instance_.tensors[static_cast<std::size_t>(t)].input) continue;
      start |= tensor_bit(t);
      inputs += size(t);
    }
    if (too_much(inputs)) return std::nullopt;
    reach(start, timed_ ? 0 : static_cast<double>(inputs));
    while (!open_.empty()) {
      const auto [cost, state] = open_.top();
      open_.pop();
      if (cost > least_[state]) continue;
      if (complete(state)) return cost;
      for (std::int64_t t = 0; t < tensors_; ++t) {
        if ((state & tensor_bit(t)) != 0) reach(state & ~tensor_bit(t), cost);
      }
      for (std::int64_t i = 0; i < operators_; ++i) try_run(state, cost, i);
    }
    return std::nullopt;
  }

 private:
  struct Later {
    bool operator()(const std::pair<double, State>& a, const std::pair<double, State>& b) const {
      return a.first > b.first;
    }
  };

  const OrderOperator& op(std::int64_t i) const {
    return instance_.operators[static_cast<std::size_t>(i)];
  }
  State tensor_bit(std::int64_t t) const { return State{1} << (2 * operators_ + t); }
  State runs(State state, std::int64_t i) const { return (state >> (2 * i)) & 3U; }
  bool touches(std::int64_t i, std::int64_t t) const {
    return has(op(i).reads, t) || has(op(i).updates, t);
  }
  Bytes rounded(Bytes size) const {
    return (size + instance_.alignment - 1) / instance_.alignment * instance_.alignment;
  }
  Bytes size(std::int64_t t) const {
    return rounded(instance_.tensors[static_cast<std::size_t>(t)].size);
  }
  bool too_much(Bytes need) const { return instance_.capacity && need > *instance_.capacity; }

  void reach(State state, double cost) {
    const auto known = least_.find(state);
    if (known != least_.end() && known->second <= cost) return;
    least_[state] = cost;
    open_.push({cost, state});
  }

  // Returns whether a must run once before b.
  bool precedes(std::int64_t a, std::int64_t b) const {
    if (has(op(b).after, a)) return true;
    for (std::int64_t t = 0; t < tensors_; ++t) {
      if (!touches(b, t)) continue;
      if (has(op(a).writes, t)) return true;
      const bool one_updates = has(op(a).updates, t) || has(op(b).updates, t);
      if (touches(a, t) && one_updates && a < b) return true;
    }
    return false;
  }

  // Returns whether an update has changed the inputs or outputs of the first run of i.
  bool outdated(State state, std::int64_t i) const {
    for (std::int64_t u = 0; u < operators_; ++u) {
      if (runs(state, u) == 0) continue;
      for (const std::int64_t t : op(u).updates) {
        if (has(op(i).writes, t) || (touches(i, t) && u > i)) return true;
      }
    }
    return false;
  }

  bool complete(State state) const {
    for (std::int64_t i = 0; i < operators_; ++i) {
      if (runs(state, i) == 0) return false;
    }
    for (std::int64_t t = 0; t < tensors_; ++t) {
      const OrderTensor& tensor = instance_.tensors[static_cast<std::size_t>(t)];
      bool touched = false;
      for (std::int64_t i = 0; i < operators_; ++i) touched = touched || touches(i, t);
      const bool stays = tensor.output || (tensor.input && !touched);
      if (stays && (state & tensor_bit(t)) == 0) return false;
    }
    return true;
  }

  void try_run(State state, double cost, std::int64_t i) {
    if (runs(state, i) == 0) {
      for (std::int64_t a = 0; a < operators_; ++a) {
        if (a != i && precedes(a, i) && runs(state, a) == 0) return;
      }
    } else if (!op(i).recompute || runs(state, i) >= most_runs_ || outdated(state, i)) {
      return;
    }
    Bytes need = rounded(op(i).workspace);
    State next = state + (State{1} << (2 * i));
    for (std::int64_t t = 0; t < tensors_; ++t) {
      const bool there = (state & tensor_bit(t)) != 0;
      if (touches(i, t) && !there) return;
      if (has(op(i).writes, t)) next |= tensor_bit(t);
      if (there || has(op(i).writes, t)) need += size(t);
    }
    if (too_much(need)) return;
    reach(next, timed_ ? cost + op(i).ms : std::max(cost, static_cast<double>(need)));
  }

  const OrderInstance& instance_;
  const State most_runs_;
  const std::int64_t operators_;
  const std::int64_t tensors_;
  const bool timed_;
  std::unordered_map<State, double> least_;
  std::priority_queue<std::pair<double, State>, std::vector<std::pair<double, State>>, Later> open_;
};

}  // namespace

std::optional<double> brute_force_again(const OrderInstance& instance, int most_runs) {
  return EverySequence(instance, most_runs).run();
}

}  // namespace stowage
