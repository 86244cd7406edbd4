#include "tests/oracles/order/brute_force_host.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace stowage {
namespace {

struct Stay {
  std::int64_t tensor = 0;
  std::int64_t out = 0, freed = 0, in = 0;
  std::int64_t held_to = 0;  // the last step at which the host has it
};

bool contains(const std::vector<std::int64_t>& list, std::int64_t item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

class EveryTransfer {
 public:
  explicit EveryTransfer(const OrderInstance& instance) : instance_(instance) {}

  std::optional<double> run() {
    order_.resize(instance_.operators.size());
    std::iota(order_.begin(), order_.end(), 0);
    do {
      if (keeps_precedences()) try_order();
    } while (std::next_permutation(order_.begin(), order_.end()));
    return best_;
  }

 private:
  const OrderOperator& op(std::int64_t i) const {
    return instance_.operators[static_cast<std::size_t>(i)];
  }
  std::int64_t steps() const { return static_cast<std::int64_t>(order_.size()); }
  std::int64_t tensors() const { return static_cast<std::int64_t>(instance_.tensors.size()); }
  const OrderTensor& tensor(std::int64_t t) const {
    return instance_.tensors[static_cast<std::size_t>(t)];
  }
  Bytes rounded(Bytes size) const {
    return (size + instance_.alignment - 1) / instance_.alignment * instance_.alignment;
  }
  bool touches(std::int64_t i, std::int64_t t) const {
    return contains(op(i).reads, t) || contains(op(i).updates, t);
  }
  bool stays(std::int64_t t) const {
    bool touched = false;
    for (std::int64_t i = 0; i < steps(); ++i) touched = touched || touches(i, t);
    return tensor(t).output || (tensor(t).input && !touched);
  }

  bool precedes(std::int64_t a, std::int64_t b) const {
    if (contains(op(b).after, a)) return true;
    for (std::int64_t t = 0; t < tensors(); ++t) {
      if (!touches(b, t)) continue;
      if (contains(op(a).writes, t)) return true;
      const bool updates = contains(op(a).updates, t) || contains(op(b).updates, t);
      if (touches(a, t) && updates && a < b) return true;
    }
    return false;
  }
  bool keeps_precedences() const {
    for (std::size_t k = 0; k < order_.size(); ++k) {
      for (std::size_t j = k + 1; j < order_.size(); ++j) {
        if (precedes(order_[j], order_[k])) return false;
      }
    }
    return true;
  }

  void try_order() {
    choices_.assign(instance_.tensors.size(), {});
    for (std::int64_t t = 0; t < tensors(); ++t) list_stays(t);
    stays_.clear();
    choose(0);
  }

  // Lists all ways for a tensor to be off-device once.
  void list_stays(std::int64_t t) {
    // The steps that write or use it; -1 for an input.
    std::vector<std::int64_t> uses;
    std::vector<bool> changes;
    if (tensor(t).input) {
      uses.push_back(-1);
      changes.push_back(true);
    }
    for (std::int64_t k = 0; k < steps(); ++k) {
      const std::int64_t i = order_[static_cast<std::size_t>(k)];
      if (!touches(i, t) && !contains(op(i).writes, t)) continue;
      uses.push_back(k);
      changes.push_back(contains(op(i).writes, t) || contains(op(i).updates, t));
    }
    for (std::size_t k = 0; k < uses.size(); ++k) {
      const bool last = k + 1 == uses.size();
      if (last && !stays(t)) continue;
      const std::int64_t back = last ? steps() - 1 : uses[k + 1];
      std::size_t made = k;
      while (!changes[made]) --made;
      for (std::int64_t freed = std::max<std::int64_t>(1, uses[k] + 1); freed < back; ++freed) {
        for (std::int64_t out = uses[made] + 1; out <= freed; ++out) {
          for (std::int64_t in = freed + 1; in <= back; ++in) {
            choices_[static_cast<std::size_t>(t)].push_back({t, out, freed, in, back});
          }
        }
      }
    }
  }

  void choose(std::int64_t t) {
    if (t == tensors()) return try_queues();
    choose(t + 1);
    if (stays_.size() == kMaxOracleTransfers) return;
    for (const Stay& stay : choices_[static_cast<std::size_t>(t)]) {
      stays_.push_back(stay);
      choose(t + 1);
      stays_.pop_back();
    }
  }

  // Tries the transfers of one step in any order.
  void try_queues() {
    if (!fits()) return;
    std::vector<std::size_t> queue(stays_.size());
    std::iota(queue.begin(), queue.end(), 0);
    do {
      time(queue);
    } while (std::next_permutation(queue.begin(), queue.end()));
  }

  // Sets peak_.
  bool fits() {
    peak_ = 0;
    Bytes start = 0;
    for (std::int64_t t = 0; t < tensors(); ++t) {
      if (tensor(t).input) start += rounded(tensor(t).size);
    }
    peak_ = start;
    for (std::int64_t k = 0; k < steps(); ++k) {
      Bytes need = rounded(op(order_[static_cast<std::size_t>(k)]).workspace);
      Bytes host = 0;
      for (const Stay& stay : stays_) {
        if (stay.out <= k && k <= stay.held_to) host += rounded(tensor(stay.tensor).size);
      }
      if (instance_.host->capacity && host > *instance_.host->capacity) return false;
      for (std::int64_t t = 0; t < tensors(); ++t) {
        if (there(t, k)) need += rounded(tensor(t).size);
      }
      if (instance_.capacity && need > *instance_.capacity) return false;
      peak_ = std::max(peak_, need);
    }
    return !instance_.capacity || start <= *instance_.capacity;
  }

  bool there(std::int64_t t, std::int64_t k) const {
    for (const Stay& stay : stays_) {
      if (stay.tensor == t && stay.freed <= k && k < stay.in) return false;
    }
    std::int64_t made = tensor(t).input ? -1 : steps();
    std::int64_t gone = -1;
    for (std::int64_t j = 0; j < steps(); ++j) {
      const std::int64_t i = order_[static_cast<std::size_t>(j)];
      if (contains(op(i).writes, t)) made = gone = j;
      if (touches(i, t)) gone = j;
    }
    return made <= k && (stays(t) || k <= gone);
  }

  void time(const std::vector<std::size_t>& queue) {
    Ms now = 0;
    Ms work = 0;
    Ms out_channel = 0;
    Ms in_channel = 0;
    std::vector<Ms> out_end(stays_.size(), 0);
    std::vector<Ms> in_end(stays_.size(), 0);
    const auto bytes = [&](std::size_t k) {
      return static_cast<double>(rounded(tensor(stays_[k].tensor).size));
    };
    for (std::int64_t step = 0; step < steps(); ++step) {
      const std::int64_t i = order_[static_cast<std::size_t>(step)];
      for (const std::size_t k : queue) {
        if (stays_[k].out != step) continue;
        out_channel = std::max(out_channel, now) + bytes(k) / instance_.host->out_bytes_per_ms;
        out_end[k] = out_channel;
      }
      for (const std::size_t k : queue) {
        if (stays_[k].freed == step) now = std::max(now, out_end[k]);
      }
      for (const std::size_t k : queue) {
        if (stays_[k].in != step) continue;
        in_channel = std::max(in_channel, now) + bytes(k) / instance_.host->in_bytes_per_ms;
        in_end[k] = in_channel;
      }
      for (const std::size_t k : queue) {
        if (touches(i, stays_[k].tensor) && stays_[k].in <= step) now = std::max(now, in_end[k]);
      }
      now += op(i).ms;
      work += op(i).ms;
    }
    now = std::max(now, in_channel);
    const bool timed = instance_.objective == OrderObjective::time;
    if (!timed && now > work) return;
    const double value = timed ? now : static_cast<double>(peak_);
    if (!best_ || value < *best_) best_ = value;
  }

  const OrderInstance& instance_;
  std::vector<std::int64_t> order_;
  std::vector<std::vector<Stay>> choices_;  // by tensor
  std::vector<Stay> stays_;                 // the chosen stays
  Bytes peak_ = 0;
  std::optional<double> best_;
};

}  // namespace

std::optional<double> brute_force_host(const OrderInstance& instance) {
  return EveryTransfer(instance).run();
}

}  // namespace stowage
