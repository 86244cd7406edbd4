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

  // Returns which tensors an operator that has not run touches, or the end needs.
  std::vector<bool> needed() const {
    std::vector<bool> all;
    for (std::int64_t t = 0; t < tensors_; ++t) {
      const OrderTensor& tensor = instance_.tensors[static_cast<std::size_t>(t)];
      bool needed = tensor.output;
      for (std::int64_t i = 0; i < operators_; ++i) {
        needed = needed || (!done_[static_cast<std::size_t>(i)] && touches(i, t));
      }
      all.push_back(needed);
    }
    return all;
  }

  // Returns the most bytes of outputs of operator i, which is the last that ran, that lie on
  // tensors of its `in_place` that were needed before it and are not any more: every way to pair
  // them is tried.
  Bytes saved(std::int64_t i, const std::vector<bool>& before) const {
    const std::vector<bool> after = needed();
    std::vector<std::int64_t> ended;
    for (std::int64_t t = 0; t < tensors_; ++t) {
      const auto k = static_cast<std::size_t>(t);
      if (has(op(i).in_place, t) && before[k] && !after[k]) ended.push_back(t);
    }
    std::vector<std::int64_t> made;
    for (std::int64_t t = 0; t < tensors_; ++t) {
      if (has(op(i).writes, t)) made.push_back(t);
    }
    return most_saved(made, ended);
  }
  Bytes most_saved(std::vector<std::int64_t> made, const std::vector<std::int64_t>& ended) const {
    if (made.empty()) return 0;
    const std::int64_t first = made.back();
    made.pop_back();
    Bytes most = most_saved(made, ended);
    for (std::size_t k = 0; k < ended.size(); ++k) {
      if (size(ended[k]) != size(first)) continue;
      std::vector<std::int64_t> rest = ended;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      most = std::max(most, size(first) + most_saved(made, rest));
    }
    return most;
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
      const std::vector<bool> before = needed();
      done_[static_cast<std::size_t>(i)] = true;
      need -= saved(i, before);
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
