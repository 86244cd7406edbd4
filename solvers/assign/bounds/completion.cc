#include "solvers/assign/bounds/completion.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <unordered_set>
#include <utility>

#include "formulations/assign/lp/pattern_time.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// A share is tried if it fits within kFits times the time. A share within kSurely times the time
// fits however its sum was rounded.
constexpr double kFits = 1 + 1e-9;
constexpr double kSurely = 1 + 5e-10;
// Largest number of groups of replicas that a remembered state distinguishes.
constexpr std::size_t kMaxGroups = 4;
// Nodes between two reads of the clock.
constexpr std::int64_t kClockNodes = 4096;
// Search for prices: for each scheme, kPriceSteps steps of the factor kPriceStep in both directions
// from even prices, in kPriceRounds rounds over the schemes.
constexpr int kPriceSteps = 10;
constexpr double kPriceStep = 1.07;
constexpr int kPriceRounds = 2;
// Dual feasible functions: the largest number of steps of a staircase, and the thresholds of small
// sequences.
constexpr std::int64_t kMaxSteps = 4;
constexpr std::array kSmall = {0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45};
// Sums below kFloor count as zero, and relative differences below kRounding count as rounding.
constexpr double kFloor = 1e-12;
constexpr double kRounding = 1e-10;

using Set = std::uint64_t;  // set of positions

constexpr Set one(int position) { return Set{1} << position; }
int first_of(Set set) { return std::countr_zero(set); }
int last_of(Set set) { return std::bit_width(set) - 1; }

struct Load {
  Tokens tokens = 0;
  Ms work = 0;
  Ms longest = 0;  // work of the longest sequence
  int sequences = 0;
};

// Returns a lower bound on T of a share: its rows are equally long, but no shorter than its longest
// sequence.
Ms least_time(const Scheme& scheme, const Load& load) {
  const Tokens least = (load.tokens + scheme.max_tokens - 1) / scheme.max_tokens;
  Ms best = kInfinity;
  for (int rows = std::max(1, static_cast<int>(least)); rows <= load.sequences; ++rows) {
    if (scheme.pp == 1) return load.work + rows * scheme.fixed_ms;
    const Ms row = std::max(load.work / rows, load.longest) + scheme.fixed_ms;
    best = std::min(best, load.work + rows * scheme.fixed_ms + (scheme.pp - 1) * row);
    if (load.work <= load.longest * rows) break;
  }
  return best;
}

class Filling {
 public:
  Filling(const AssignTable& table, int strategy, Ms time, std::int64_t nodes, const Budget& budget)
      : table_(table),
        groups_(table.groups(strategy)),
        time_(time),
        most_nodes_(nodes),
        budget_(budget) {
    for (const SchemeGroup& group : groups_) {
      held_.push_back(0);
      for (int i = 0; i < table_.size(); ++i) {
        work_.push_back(table_.work(i, group.scheme));
        if (table_.holds(group.scheme, i)) held_.back() |= one(i);
      }
    }
    for (int i = 0; i < table_.size(); ++i) {
      const bool alike = i > 0 && table_.kind(i) == table_.kind(i - 1);
      longer_.push_back(alike ? longer_.back() : one(i) - 1);
    }
  }

  Completion run() {
    Completion out;
    if (groups_.size() > kMaxGroups) return out;
    set_prices();
    for (const SchemeGroup& group : groups_) left_.push_back(group.count);
    const bool found = settle(left_of_all());
    out.nodes = nodes_;
    out.end = found   ? Completion::End::found
              : over_ ? Completion::End::open
                      : Completion::End::none;
    if (found) out.shares = shares();
    return out;
  }

 private:
  struct Share {
    Set set = 0;
    double worth = 0;  // sum of the prices of its sequences
  };
  struct Known {
    Set left = 0;
    std::array<int, kMaxGroups> replicas{};
    bool operator==(const Known&) const = default;
  };
  struct KnownHash {
    std::size_t operator()(const Known& known) const {
      std::uint64_t hash = known.left;
      for (const int count : known.replicas) {
        hash = (hash ^ static_cast<std::uint64_t>(count)) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29U;
      }
      return hash;
    }
  };

  Ms work_of(std::size_t g, int i) const { return work_[g * at(table_.size()) + at(i)]; }
  const Scheme& scheme(std::size_t g) const { return table_.schemes()[at(groups_[g].scheme)]; }

  // One rule of prices: a price for each sequence and an offer for each replica. The prices of the
  // sequences that a replica can hold sum to at most its offer.
  struct Prices {
    std::vector<double> offer;  // offer of a replica of each group
    // [group][position], infinite if the replica cannot hold the sequence
    std::vector<std::vector<double>> price;
  };

  // Adds the prices that are shares of the time a replica has for work, transformed by `share_of`.
  // If `rows_by_tokens` is true and pp is 1, each token also pays its part of a row's fixed time.
  void add_prices(bool rows_by_tokens, const std::function<double(double)>& share_of) {
    Prices made;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Scheme& s = scheme(g);
      const bool by_tokens = rows_by_tokens && s.pp == 1;
      const Ms work = by_tokens ? time_ : most_work(s, {}, 0, time_);
      const double offer = std::max(0.0, work) * kFits + kFloor;
      made.offer.push_back(offer);
      made.price.emplace_back();
      for (int i = 0; i < table_.size(); ++i) {
        Ms price = work_of(g, i);
        if (by_tokens) {
          price += s.fixed_ms * static_cast<double>(table_.length(i)) /
                   static_cast<double>(s.max_tokens);
        }
        const bool fits = fits_beside(g, {}, i);
        made.price.back().push_back(fits ? offer * share_of(price / offer) : kInfinity);
      }
    }
    even_out(made);
    prices_.push_back(std::move(made));
  }

  void set_prices() {
    const auto plainly = [](double share) { return share; };
    add_prices(false, plainly);
    add_prices(true, plainly);
    // Dual feasible functions keep sums of shares at most 1.
    for (std::int64_t steps = 1; steps <= kMaxSteps; ++steps) {
      add_prices(false, [steps](double share) { return part_of(steps, share); });
    }
    for (const double small : kSmall) {
      add_prices(false, [small](double share) {
        if (share > 1 - small + kFloor) return 1.0;
        return share < small ? 0.0 : share;
      });
    }
  }

  // Scales the groups so that the least offer is left over. All factors give valid prices.
  void even_out(Prices& prices) const {
    const auto scale = [&prices](std::size_t g, double factor) {
      if (!(factor > 0) || !std::isfinite(factor)) return;
      prices.offer[g] *= factor;
      for (double& price : prices.price[g]) price *= factor;
    };
    std::vector<int> all;
    for (const SchemeGroup& group : groups_) all.push_back(group.count);
    const Set everything = left_of_all();
    for (std::size_t g = 1; g < groups_.size(); ++g) scale(g, prices.offer[0] / prices.offer[g]);
    for (int round = 0; round < kPriceRounds && groups_.size() > 1; ++round) {
      for (std::size_t g = 1; g < groups_.size(); ++g) {
        int best = 0;
        double least = kInfinity;
        scale(g, std::pow(kPriceStep, -kPriceSteps));
        for (int k = -kPriceSteps; k <= kPriceSteps; ++k, scale(g, kPriceStep)) {
          double offered = 0;
          for (std::size_t h = 0; h < groups_.size(); ++h) offered += all[h] * prices.offer[h];
          const double room = room_for(prices, everything, all) / offered;
          if (room < least) {
            least = room;
            best = k;
          }
        }
        scale(g, std::pow(kPriceStep, best - kPriceSteps - 1));
      }
    }
  }

  Set left_of_all() const {
    return table_.size() == kMaxCompleted ? ~Set{0} : one(table_.size()) - 1;
  }

  // Returns the least price of the sequence among the groups that have replicas left.
  static double cheapest(const Prices& prices, int i, const std::vector<int>& replicas) {
    double least = kInfinity;
    for (std::size_t g = 0; g < replicas.size(); ++g) {
      if (replicas[g] > 0) least = std::min(least, prices.price[g][at(i)]);
    }
    return least;
  }

  // Returns the offer of the replicas that the sequences do not take. A negative value proves that
  // they do not fit.
  double room_for(const Prices& prices, Set left, const std::vector<int>& replicas) const {
    double room = 0;
    for (std::size_t g = 0; g < replicas.size(); ++g) room += replicas[g] * prices.offer[g];
    room *= 1 + kRounding;  // dual feasible functions may fill a replica exactly
    for (Set rest = left; rest != 0; rest &= rest - 1) {
      room -= cheapest(prices, first_of(rest), replicas);
    }
    return room;
  }

  Load with(Load load, std::size_t g, int i) const {
    const Ms own = work_of(g, i);
    load.tokens += table_.length(i);
    load.work += own;
    load.longest = std::max(load.longest, own);
    ++load.sequences;
    return load;
  }

  bool in_time(std::size_t g, const Load& load, double tolerance) const {
    return least_time(scheme(g), load) <= time_ * tolerance;
  }

  bool spend() {
    ++nodes_;
    if (nodes_ >= most_nodes_ || (nodes_ % kClockNodes == 0 && budget_.exhausted())) over_ = true;
    return !over_;
  }

  // Returns true if the replicas left can hold the sequences `left`. Also returns false if the
  // limits end the search.
  bool settle(Set left) {
    if (left == 0) return true;
    if (!spend()) return false;
    Known known{.left = left};
    std::ranges::copy(left_, known.replicas.begin());
    if (impossible_.contains(known)) return false;
    const Prices* tightest = nullptr;
    double least = kInfinity;  // room in units of a replica's offer
    double room = 0;
    for (const Prices& prices : prices_) {
      const double here = room_for(prices, left, left_);
      if (!(here >= 0)) return false;
      if (here / prices.offer[0] < least) {
        least = here / prices.offer[0];
        room = here;
        tightest = &prices;
      }
    }
    std::vector<double> worth(at(table_.size()), 0);
    for (Set rest = left; rest != 0; rest &= rest - 1) {
      worth[at(first_of(rest))] = cheapest(*tightest, first_of(rest), left_);
    }
    const int first = first_of(left);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (left_[g] == 0 || tightest->price[g][at(first)] == kInfinity) continue;
      std::vector<Share> found;
      const Search search{g, left, first, tightest->offer[g], room, worth, found};
      extend(search, left & ~one(first), with({}, g, first), {one(first), worth[at(first)]});
      if (over_) return false;
      std::ranges::stable_sort(found, std::greater{}, &Share::worth);
      --left_[g];
      for (const Share& share : found) {
        chosen_.emplace_back(g, share.set);
        if (settle(left & ~share.set)) return true;
        chosen_.pop_back();
        if (over_) return false;
      }
      ++left_[g];
    }
    impossible_.insert(known);
    return false;
  }

  // Arguments of the search for the shares of one replica.
  struct Search {
    std::size_t g = 0;
    Set left = 0;
    int first = 0;
    double offer = 0;  // offer of the replica
    double room = 0;   // part of the offer that may stay unused
    const std::vector<double>& worth;
    std::vector<Share>& found;
  };

  void extend(const Search& search, Set candidates, const Load& load, const Share& share) {
    if (!spend()) return;
    // Sequences are ordered by descending length: if a sequence fits, so do all after it.
    Set rest = candidates;
    while (rest != 0 && !fits_beside(search.g, load, first_of(rest))) rest &= rest - 1;
    double most = share.worth;
    for (Set each = rest; each != 0 && search.offer - most > search.room; each &= each - 1) {
      most += search.worth[at(first_of(each))];
    }
    if (search.offer - most > search.room) return;
    if (rest == 0) {
      if (full(search, load, share.set)) search.found.push_back(share);
      return;
    }
    const int i = first_of(rest);
    extend(search, rest & ~one(i), with(load, search.g, i),
           {share.set | one(i), share.worth + search.worth[at(i)]});
    // Continues without the sequence and without those of equal length.
    while (rest != 0 && table_.kind(first_of(rest)) == table_.kind(i)) rest &= rest - 1;
    if (!over_) extend(search, rest, load, share);
  }

  bool fits_beside(std::size_t g, const Load& load, int i) const {
    return (held_[g] & one(i)) != 0 && in_time(g, with(load, g, i), kFits);
  }

  // Returns true if no sequence can be added, and none can be exchanged for a longer one. It
  // suffices to test the shortest longer sequence: if it does not fit, no other does.
  bool full(const Search& search, const Load& load, Set set) const {
    const Set others = search.left & held_[search.g] & ~set;
    if (others == 0) return true;
    if (in_time(search.g, with(load, search.g, last_of(others)), kSurely)) return false;
    for (Set mine = set & ~one(search.first); mine != 0; mine &= mine - 1) {
      const int x = first_of(mine);
      const Set longer = others & longer_[at(x)];
      if (longer == 0) continue;
      Load other = with(load, search.g, last_of(longer));
      other.tokens -= table_.length(x);
      other.work -= work_of(search.g, x);
      --other.sequences;
      if (in_time(search.g, other, kSurely)) return false;
    }
    return true;
  }

  Dispatch shares() const {
    Dispatch out;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::size_t before = out.size();
      for (const auto& [group, set] : chosen_) {
        if (group != g) continue;
        out.emplace_back();
        for (Set rest = set; rest != 0; rest &= rest - 1) out.back().push_back(first_of(rest));
      }
      out.resize(before + at(groups_[g].count));
    }
    return out;
  }

  const AssignTable& table_;
  const std::vector<SchemeGroup>& groups_;
  Ms time_;
  std::int64_t most_nodes_;
  const Budget& budget_;
  std::vector<Ms> work_;     // work by group and position: [group][position]
  std::vector<Set> held_;    // sequences that each group's scheme admits
  std::vector<Set> longer_;  // longer sequences, by position
  std::vector<Prices> prices_;
  std::vector<int> left_;  // remaining replicas of each group
  std::vector<std::pair<std::size_t, Set>> chosen_;
  std::unordered_set<Known, KnownHash> impossible_;
  std::int64_t nodes_ = 0;
  bool over_ = false;
};

}  // namespace

Completion complete(const AssignTable& table, int strategy, Ms time, std::int64_t nodes,
                    const Budget& budget) {
  return Filling(table, strategy, time, nodes, budget).run();
}

}  // namespace stowage
