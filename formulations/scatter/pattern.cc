#include "formulations/scatter/pattern.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr int kSplits = 12;  // weights tried between the two capacities
// Bounds are raised by this factor, so that rounding cannot make them too low.
constexpr double kSafe = 1 + 1e-12;

// The origin of a set: another set, and copies of one more item.
struct State {
  std::int32_t from = -1;
  std::int32_t item = -1;
  std::int32_t copies = 0;
};

// A set of sequences that may still grow.
struct Label {
  Tokens tokens = 0;
  Ms time = 0;
  double worth = 0;
  double bound = 0;  // upper bound on the worth of its supersets
  std::int32_t state = 0;
  std::int32_t count = 0;  // number of its sequences
};

bool before(const Label& a, const Label& b) {
  if (a.tokens != b.tokens) return a.tokens < b.tokens;
  if (a.time != b.time) return a.time < b.time;
  if (a.worth != b.worth) return a.worth > b.worth;
  return a.state < b.state;
}

// Surrogate of both capacities: a set takes its part of `split` tokens and 1 - `split` time, and is
// full at 1. more() bounds the worth that can be added to a set by adding the densest items and a
// fraction of the next item.
class Surrogate {
 public:
  Surrogate(Tokens capacity, Ms room) : capacity_(static_cast<double>(capacity)), room_(room) {}

  // Chooses the split with the least bound and sorts the items by worth per weight.
  void choose(std::vector<PatternItem>& items) {
    double least = kInfinity;
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
  // Returns a bound on the worth of items from `next` on in the remaining weight.
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
  std::vector<double> weight_;   // sum over all items before the index
  std::vector<double> worth_;    // sum over all items before the index
  std::vector<double> density_;  // of each item
};

class Search {
 public:
  Search(std::vector<PatternItem> items, Tokens capacity, Ms room, double floor,
         std::size_t most_states, std::int64_t most_sequences)
      : items_(std::move(items)),
        capacity_(capacity),
        room_(room),
        surrogate_(capacity, room),
        most_states_(most_states),
        most_sequences_(most_sequences) {
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
    live_.push_back({});
    for (std::size_t i = 0; i < items_.size() && !live_.empty(); ++i) {
      grow(i);
      drop_hopeless(i + 1);
      drop_dominated();
      if (live_.size() > most_states_) drop_worst();
    }
    BestPattern best{.worth = best_, .most = std::max(best_, lost_)};
    for (int s = best_state_; s > 0; s = pool_[at(s)].from) {
      const State& state = pool_[at(s)];
      best.amounts.push_back({items_[at(state.item)].kind, state.copies});
    }
    std::ranges::sort(best.amounts, {}, &PatternAmount::kind);
    return best;
  }

 private:
  // Returns a bound on the worth of the set extended by items from `next` on.
  double bound(const Label& set, std::size_t next) const {
    if (next == items_.size()) return set.worth;
    return (set.worth + surrogate_.more(surrogate_.left(set.tokens, set.time), next)) * kSafe;
  }

  // Extends every set by 0, 1, 2, ... copies of item i, in order.
  void grow(std::size_t i) {
    const PatternItem& item = items_[i];
    grown_ = live_;
    for (std::int32_t copies = 1; copies <= item.count && !grown_.empty(); ++copies) {
      std::size_t kept = 0;
      for (const Label& smaller : grown_) {
        Label set = smaller;
        set.tokens += item.tokens;
        set.time += item.time;
        set.worth += item.worth;
        if (++set.count > most_sequences_) continue;
        if (set.tokens > capacity_ || set.time > room_ || bound(set, i) <= best_) continue;
        // The label of the first copy names the set that it is added to.
        const std::int32_t from = copies == 1 ? smaller.state : pool_[at(smaller.state)].from;
        set.state = static_cast<std::int32_t>(pool_.size());
        pool_.push_back({from, static_cast<std::int32_t>(i), copies});
        if (set.worth > best_) {
          best_ = set.worth;
          best_state_ = set.state;
        }
        grown_[kept++] = set;
      }
      grown_.resize(kept);
      merged_.resize(live_.size() + kept);
      std::ranges::merge(live_, grown_, merged_.begin(), before);
      live_.swap(merged_);
    }
  }

  void drop_hopeless(std::size_t next) {
    std::erase_if(live_, [&](Label& set) {
      set.bound = bound(set, next);
      return set.bound <= best_;
    });
  }

  // Removes sets that are dominated: another set takes no more of both resources and is worth at
  // least as much.
  void drop_dominated() {
    steps_.clear();  // ascending in time and worth: the best of the sets of fewer tokens
    std::erase_if(live_, [&](const Label& set) {
      const auto after = std::ranges::upper_bound(steps_, set.time, {}, &Step::time);
      if (after != steps_.begin() && std::prev(after)->worth >= set.worth) return true;
      auto last = after;
      while (last != steps_.end() && last->worth <= set.worth) ++last;
      if (last == after) {
        steps_.insert(after, {set.time, set.worth});
      } else {
        *after = {set.time, set.worth};
        steps_.erase(after + 1, last);
      }
      return false;
    });
  }

  void drop_worst() {
    bounds_.clear();
    for (const Label& set : live_) bounds_.push_back(set.bound);
    const auto last = bounds_.begin() + static_cast<std::ptrdiff_t>(most_states_);
    std::ranges::nth_element(bounds_, last, std::greater<>{});
    lost_ = std::max(lost_, *last);
    // Of the sets with exactly this bound, keep as many as fit.
    auto ties = static_cast<std::ptrdiff_t>(most_states_) -
                std::count_if(bounds_.begin(), last, [&](double b) { return b > *last; });
    std::erase_if(live_, [&](const Label& set) {
      return set.bound < *last || (set.bound == *last && ties-- <= 0);
    });
  }

  struct Step {
    Ms time = 0;
    double worth = 0;
  };

  std::vector<PatternItem> items_;
  Tokens capacity_;
  Ms room_;
  Surrogate surrogate_;
  std::size_t most_states_;
  std::int64_t most_sequences_;
  std::vector<State> pool_;
  std::vector<Label> live_;  // in the order of before()
  std::vector<Label> grown_;
  std::vector<Label> merged_;
  std::vector<Step> steps_;
  std::vector<double> bounds_;
  double best_ = 0;
  double lost_ = 0;  // largest bound of the sets dropped for lack of space
  std::int32_t best_state_ = 0;
};

}  // namespace

BestPattern best_pattern(std::vector<PatternItem> items, Tokens capacity, Ms room, double floor,
                         std::size_t most_states, std::int64_t most_sequences) {
  return Search(std::move(items), capacity, room, floor, most_states, most_sequences).run();
}

}  // namespace stowage
