#include "tests/oracles/order/brute_force.h"

#include <algorithm>
#include <vector>

namespace stowage {
namespace {

bool has(const std::vector<std::int64_t>& list, std::int64_t item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

class EveryOrder {
 public:
  explicit EveryOrder(const OrderInstance& instance)
      : instance_(instance),
        operators_(static_cast<std::int64_t>(instance.operators.size())),
        tensors_(static_cast<std::int64_t>(instance.tensors.size())),
        done_(instance.operators.size(), false) {}

  std::optional<OrderPlan> run() {
    extend(live());
    return best_;
  }

 private:
  const OrderOperator& op(std::int64_t i) const {
    return instance_.operators[static_cast<std::size_t>(i)];
  }
  bool touches(std::int64_t i, std::int64_t t) const {
    return has(op(i).reads, t) || has(op(i).updates, t);
  }
  Bytes rounded(Bytes size) const {
    while (size % instance_.alignment != 0) ++size;
    return size;
  }
  Bytes size(std::int64_t t) const {
    return rounded(instance_.tensors[static_cast<std::size_t>(t)].size);
  }

  // Returns whether a must run before b.
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

  bool may_run(std::int64_t i) const {
    if (done_[static_cast<std::size_t>(i)]) return false;
    for (std::int64_t other = 0; other < operators_; ++other) {
      if (other != i && !done_[static_cast<std::size_t>(other)] && precedes(other, i)) return false;
    }
    return true;
  }

  // Returns the bytes of tensors that are written, and are outputs or still to be used.
  Bytes live() const {
    Bytes sum = 0;
    for (std::int64_t t = 0; t < tensors_; ++t) {
      const OrderTensor& tensor = instance_.tensors[static_cast<std::size_t>(t)];
      bool made = tensor.input;
      bool needed = tensor.output;
      bool touched = false;
      for (std::int64_t i = 0; i < operators_; ++i) {
        const bool ran = done_[static_cast<std::size_t>(i)];
        made = made || (ran && has(op(i).writes, t));
        needed = needed || (!ran && touches(i, t));
        touched = touched || touches(i, t);
      }
      if (tensor.input && !touched) needed = true;
      if (made && needed) sum += size(t);
    }
    return sum;
  }

  void extend(Bytes peak) {
    if (best_ && peak >= best_->peak_bytes) return;
    if (instance_.capacity && peak > *instance_.capacity) return;
    if (static_cast<std::int64_t>(order_.size()) == operators_) {
      best_ = OrderPlan{.name = instance_.name, .peak_bytes = peak, .order = order_};
      return;
    }
    for (std::int64_t i = 0; i < operators_; ++i) {
      if (!may_run(i)) continue;
      Bytes need = live() + rounded(op(i).workspace);
      for (std::int64_t t = 0; t < tensors_; ++t) {
        if (has(op(i).writes, t)) need += size(t);
      }
      done_[static_cast<std::size_t>(i)] = true;
      order_.push_back(i);
      extend(std::max(peak, need));
      order_.pop_back();
      done_[static_cast<std::size_t>(i)] = false;
    }
  }

  const OrderInstance& instance_;
  const std::int64_t operators_;
  const std::int64_t tensors_;
  std::vector<bool> done_;
  std::vector<std::int64_t> order_;
  std::optional<OrderPlan> best_;
};

}  // namespace

std::optional<OrderPlan> brute_force(const OrderInstance& instance) {
  return EveryOrder(instance).run();
}

}  // namespace stowage
