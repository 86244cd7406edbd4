#include "formulations/scatter_pattern.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

namespace stowage {
namespace {

constexpr int kSplits = 12;  // weights tried between the two capacities
// Bounds are raised by this, so that rounding cannot make them too low.
constexpr double kSafe = 1 + 1e-12;

// A set of sequences: a state it grew from, and copies of one item more.
struct State {
  Tokens tokens = 0;
  Ms time = 0;
  double worth = 0;
  std::int32_t from = -1;
  std::int32_t item = -1;
  std::int32_t copies = 0;
};

// Both capacities in one: what a set takes of `split` tokens and 1 - `split` time, 1 when full.
// With it, how much can be added to a set at most, filling up with the densest items and a part of
// one.
class Surrogate {
 public:
  Surrogate(Tokens capacity, Ms room) : capacity_(static_cast<double>(capacity)), room_(room) {}

  // Sorts the items by worth per weight, for the split with the least bound.
  void choose(std::vector<PatternItem>& items) {
    double least = std::numeric_limits<double>::infinity();
    double chosen = 0;
    for (int i = 0; i <= kSplits; ++i) {
      split_ = static_cast<double>(i) / kSplits;
      sort(items);
      const double bound = more(1, 0);
      if (bound < least) {
        least = bound;
        chosen = split_;
      }
    }
    split_ = chosen;
    sort(items);
  }

  double left(Tokens tokens, Ms time) const {
    return std::max(0.0, 1 - part(static_cast<double>(tokens), time));
  }
  // What items from `next` on are worth at most in what is left.
  double more(double left, std::size_t next) const {
    const auto begin = weight_.begin() + static_cast<std::ptrdiff_t>(next);
    const auto over = std::upper_bound(begin + 1, weight_.end(), weight_[next] + left);
    const auto last = static_cast<std::size_t>(over - weight_.begin()) - 1;
    const double whole = worth_[last] - worth_[next];
    if (over == weight_.end()) return whole;
    return whole + (left - (weight_[last] - weight_[next])) * density_[last];
  }

 private:
  double part(double tokens, Ms time) const {
    return (capacity_ > 0 ? split_ * tokens / capacity_ : 0) +
           (room_ > 0 ? (1 - split_) * time / room_ : 0);
  }
  double weight(const PatternItem& item) const {
    return std::max(part(static_cast<double>(item.tokens), item.time), 1e-300);
  }
  void sort(std::vector<PatternItem>& items) {
    std::ranges::stable_sort(items, std::greater<>{},
                             [&](const PatternItem& item) { return item.worth / weight(item); });
    weight_.assign(1, 0);
    worth_.assign(1, 0);
    density_.clear();
    for (const PatternItem& item : items) {
      weight_.push_back(weight_.back() + item.count * weight(item));
      worth_.push_back(worth_.back() + item.count * item.worth);
      density_.push_back(item.worth / weight(item));
    }
  }

  double capacity_;
  double room_;
  double split_ = 0;
  std::vector<double> weight_;   // of all items before the index
  std::vector<double> worth_;    // likewise
  std::vector<double> density_;  // of the item
};

class Search {
 public:
  Search(std::vector<PatternItem> items, Tokens capacity, Ms room, double floor,
         std::size_t most_states)
      : items_(std::move(items)),
        capacity_(capacity),
        room_(room),
        surrogate_(capacity, room),
        most_states_(most_states) {
    std::erase_if(items_, [&](const PatternItem& item) {
      return !(item.worth > 0) || item.count <= 0 || item.tokens > capacity || item.time > room;
    });
    for (PatternItem& item : items_) {
      if (item.tokens > 0) {
        item.count = static_cast<int>(std::min<Tokens>(item.count, capacity / item.tokens));
      }
      if (item.time * item.count > room) {
        item.count = std::min(item.count, static_cast<int>(room / item.time) + 1);
      }
    }
    best_ = floor;
    lost_ = floor;
  }

  BestPattern run() {
    surrogate_.choose(items_);
    pool_.push_back({});
    live_.push_back(0);
    for (std::size_t i = 0; i < items_.size() && !live_.empty(); ++i) grow(i);
    BestPattern best{.worth = best_, .most = std::max(best_, lost_)};
    for (int s = best_state_; s > 0; s = pool_[at(s)].from) {
      const State& state = pool_[at(s)];
      best.amounts.push_back({items_[at(state.item)].kind, state.copies});
    }
    std::ranges::sort(best.amounts, {}, &PatternAmount::kind);
    return best;
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  // What a state is worth at most with items from `next` on.
  double bound(const State& state, std::size_t next) const {
    if (next == items_.size()) return state.worth;
    return (state.worth + surrogate_.more(surrogate_.left(state.tokens, state.time), next)) * kSafe;
  }

  // Every state with 0, 1, 2, ... copies of item i; then only those worth keeping.
  void grow(std::size_t i) {
    const PatternItem& item = items_[i];
    const std::size_t before = live_.size();
    for (std::size_t n = 0; n < before; ++n) {
      const std::int32_t from = live_[n];
      State state = pool_[at(from)];
      state.from = from;
      state.item = static_cast<std::int32_t>(i);
      state.copies = 0;
      while (state.copies < item.count) {
        ++state.copies;
        state.tokens += item.tokens;
        state.time += item.time;
        state.worth += item.worth;
        if (state.tokens > capacity_ || state.time > room_ || bound(state, i) <= best_) break;
        pool_.push_back(state);
        live_.push_back(static_cast<std::int32_t>(pool_.size() - 1));
        if (state.worth > best_) {
          best_ = state.worth;
          best_state_ = live_.back();
        }
      }
    }
    std::erase_if(live_, [&](std::int32_t s) { return bound(pool_[at(s)], i + 1) <= best_; });
    drop_dominated();
    if (live_.size() > most_states_) drop_worst(i + 1);
  }

  // Of states with the same tokens, a slower one must be worth more.
  void drop_dominated() {
    std::ranges::sort(live_, [&](std::int32_t a, std::int32_t b) {
      const State& x = pool_[at(a)];
      const State& y = pool_[at(b)];
      if (x.tokens != y.tokens) return x.tokens < y.tokens;
      if (x.time != y.time) return x.time < y.time;
      if (x.worth != y.worth) return x.worth > y.worth;
      return a < b;
    });
    std::size_t kept = 0;
    for (const std::int32_t s : live_) {
      const State& state = pool_[at(s)];
      if (kept > 0) {
        const State& last = pool_[at(live_[kept - 1])];
        if (last.tokens == state.tokens && last.worth >= state.worth) continue;
      }
      live_[kept++] = s;
    }
    live_.resize(kept);
  }

  void drop_worst(std::size_t next) {
    std::ranges::sort(live_, [&](std::int32_t a, std::int32_t b) {
      const double x = bound(pool_[at(a)], next);
      const double y = bound(pool_[at(b)], next);
      return x != y ? x > y : a < b;
    });
    lost_ = std::max(lost_, bound(pool_[at(live_[most_states_])], next));
    live_.resize(most_states_);
  }

  std::vector<PatternItem> items_;
  Tokens capacity_;
  Ms room_;
  Surrogate surrogate_;
  std::size_t most_states_;
  std::vector<State> pool_;
  std::vector<std::int32_t> live_;
  double best_ = 0;
  double lost_ = 0;  // bound of what was dropped for want of space
  std::int32_t best_state_ = 0;
};

}  // namespace

BestPattern best_pattern(std::vector<PatternItem> items, Tokens capacity, Ms room, double floor,
                         std::size_t most_states) {
  return Search(std::move(items), capacity, room, floor, most_states).run();
}

}  // namespace stowage
