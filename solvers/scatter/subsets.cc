#include "solvers/scatter/subsets.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "formulations/scatter/bounds.h"
#include "instances/numbers.h"

namespace stowage {
namespace {

constexpr std::size_t kMostTimes = std::size_t{1} << 22;  // of a set on a degree, 32 MiB
constexpr double kMostPairs = 2.5e8;                      // of sets, some 0.3 s
constexpr std::int64_t kPairsPerNode = std::int64_t{1} << 20;
constexpr std::int64_t kPairsPerLook = std::int64_t{1} << 16;  // at the clock
constexpr double kRounding = 1e-9;  // relative; far more than sums of few times can be off

using Counts = std::vector<int>;  // sequences of each kind

// Sets of sequences as numbers: the counts are the digits, kind 0 has the highest place. A part of
// a set has a smaller number than the set.
class Sets {
 public:
  // Nothing if there are more than so many.
  static std::optional<Sets> of(const ScatterTable& table, std::size_t most) {
    Sets sets;
    std::size_t size = 1;
    for (const Kind& kind : table.kinds()) {
      sets.all_.push_back(kind.count);
      size *= at(kind.count) + 1;
      if (size > most) return std::nullopt;
    }
    std::size_t place = size;
    for (const int count : sets.all_) sets.places_.push_back(place /= at(count) + 1);
    return sets;
  }

  const Counts& all() const { return all_; }
  std::size_t size() const { return all_.empty() ? 1 : places_[0] * (at(all_[0]) + 1); }
  std::size_t place(std::size_t kind) const { return places_[kind]; }

  void read(std::size_t set, Counts& counts) const {
    counts.resize(all_.size());
    for (std::size_t kind = 0; kind < all_.size(); ++kind) {
      counts[kind] = static_cast<int>(set / places_[kind]);
      set %= places_[kind];
    }
  }

 private:
  Counts all_;
  std::vector<std::size_t> places_;
};

// All sets of at most so many of each kind, ascending: each is one of `high` and one of `low`.
class Box {
 public:
  explicit Box(const Sets& sets) : sets_(sets) {}

  void become(const Counts& most) {
    const std::size_t half = most.size() / 2;
    list(most, 0, half, high_);
    list(most, half, most.size(), low_);
  }
  std::size_t size() const { return high_.size() * low_.size(); }

  template <class Visit>
  void visit(Visit visit) const {
    for (const std::uint32_t high : high_) {
      for (const std::uint32_t low : low_) visit(std::size_t{high} + low);
    }
  }

 private:
  void list(const Counts& most, std::size_t from, std::size_t to, std::vector<std::uint32_t>& all) {
    all.assign(1, 0);
    for (std::size_t kind = to; kind-- > from;) {  // the highest digit last, so that they ascend
      const std::size_t before = all.size();
      for (int count = 1; count <= most[kind]; ++count) {
        const auto more = static_cast<std::uint32_t>(at(count) * sets_.place(kind));
        for (std::size_t i = 0; i < before; ++i) all.push_back(all[i] + more);
      }
    }
  }

  const Sets& sets_;
  std::vector<std::uint32_t> high_;
  std::vector<std::uint32_t> low_;
};

// A set on a degree on which it fits.
struct Candidate {
  Ms time = 0;
  std::uint32_t set = 0;
  std::int32_t level = 0;
};

class Search {
 public:
  Search(const ScatterTable& table, Sets sets, Ms upper, Budget& budget)
      : table_(table),
        sets_(std::move(sets)),
        upper_(upper * (1 + kRounding)),
        budget_(budget),
        box_(sets_) {}

  std::optional<StepDraft> run() {
    list_candidates();
    if (pairs_to_try() > kMostPairs) return std::nullopt;
    std::ranges::sort(candidates_, {},
                      [](const Candidate& c) { return std::tuple(c.time, c.set, c.level); });
    if (!sweep(sets_.all(), kInfinity)) return std::nullopt;
    makespan_.swap(first_);
    if (!chain()) return std::nullopt;
    return recovered();
  }

 private:
  // Every group that a plan of at most `upper` can have. A degree that is not faster than a smaller
  // one is left out.
  void list_candidates() {
    const auto levels = table_.levels().size();
    const Ms others = std::max(0, least_micro_batches(table_) - 1) * table_.least_overhead();
    const Ms limit = upper_ - others * (1 - kRounding);
    std::vector<Tokens> tokens(sets_.size(), 0);
    std::vector<Ms> times(sets_.size() * levels, 0);
    area_.assign(sets_.size(), 0);
    Counts counts;
    for (std::size_t set = 1; set < sets_.size(); ++set) {
      sets_.read(set, counts);
      std::size_t kind = 0;
      while (counts[kind] == 0) ++kind;
      const std::size_t less = set - sets_.place(kind);
      tokens[set] = std::min(tokens[less] + table_.kinds()[kind].length, kMaxExact);
      area_[set] = area_[less] + table_.kinds()[kind].area;
      Ms fastest = kInfinity;
      for (std::size_t level = 0; level < levels; ++level) {
        const Level& own = table_.levels()[level];
        Ms& time = times[set * levels + level];
        time = times[less * levels + level] +
               table_.kind_cost(static_cast<int>(kind), static_cast<int>(level));
        const Ms whole = own.overhead + time;
        if (tokens[set] > own.capacity || own.degree > table_.devices()) continue;
        if (whole > limit || whole >= fastest) continue;
        fastest = whole;
        candidates_.push_back(
            {whole, static_cast<std::uint32_t>(set), static_cast<std::int32_t>(level)});
      }
    }
  }

  double pairs_to_try() const {
    double pairs = 1;  // of a set and a part of it
    for (const int count : sets_.all()) pairs *= 0.5 * (count + 1.0) * (count + 2.0);
    pairs /= 2;
    Counts counts;
    for (const Candidate& candidate : candidates_) {
      sets_.read(candidate.set, counts);
      double beside = 1;
      for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        beside *= sets_.all()[kind] - counts[kind] + 1;
      }
      pairs += beside;
    }
    return pairs;
  }

  // Takes the candidates up to `last` that hold no more than `most` in turn. devices_[S]: the
  // fewest devices that hold S in groups of those taken so far; first_[S]: the time of the
  // candidate with which they became few enough. False if the budget ended it.
  bool sweep(const Counts& most, Ms last) {
    devices_.assign(sets_.size(), table_.devices() + 1);
    by_.assign(sets_.size(), 0);
    first_.assign(sets_.size(), kInfinity);
    devices_[0] = 0;
    Counts counts;
    for (std::size_t i = 0; i < candidates_.size() && candidates_[i].time <= last; ++i) {
      const Candidate& own = candidates_[i];
      sets_.read(own.set, counts);
      bool within = true;
      for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        counts[kind] = most[kind] - counts[kind];
        within = within && counts[kind] >= 0;
      }
      if (!within) continue;
      box_.become(counts);
      if (!count(box_.size())) return false;
      const int degree = table_.levels()[at(own.level)].degree;
      // Ascending, so that a set may stand in two groups of one kind.
      box_.visit([&](std::size_t rest) {
        const std::size_t set = rest + own.set;
        const int devices = devices_[rest] + degree;
        if (devices >= devices_[set]) return;
        if (first_[set] == kInfinity) first_[set] = own.time;
        devices_[set] = devices;
        by_[set] = static_cast<std::uint32_t>(i);
      });
    }
    return true;
  }

  // step_[S]: the least sum of makespans of S, whose last micro-batch is from_[S]. Micro-batches
  // come in the order of the longest sequence that each holds. False if the budget ended it.
  bool chain() {
    step_.assign(sets_.size(), kInfinity);
    from_.assign(sets_.size(), 0);
    step_[0] = 0;
    const std::size_t all = sets_.size() - 1;
    Counts counts;
    for (std::size_t done = 0; done < all; ++done) {
      const Ms spread = (area_[all] - area_[done]) / table_.devices() * (1 - kRounding);
      if (!(step_[done] + table_.least_overhead() + spread <= upper_)) continue;
      sets_.read(done, counts);
      for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        counts[kind] = sets_.all()[kind] - counts[kind];
      }
      std::size_t longest = 0;
      while (counts[longest] == 0) ++longest;
      --counts[longest];
      box_.become(counts);
      if (!count(box_.size())) return false;
      box_.visit([&](std::size_t more) {
        const std::size_t batch = more + sets_.place(longest);
        const Ms sum = step_[done] + makespan_[batch];
        if (sum >= step_[done + batch]) return;
        step_[done + batch] = sum;
        from_[done + batch] = static_cast<std::uint32_t>(batch);
      });
    }
    return true;
  }

  // Nothing if no plan of at most `upper` was found or the budget ended it.
  std::optional<StepDraft> recovered() {
    std::size_t left = sets_.size() - 1;
    if (step_[left] == kInfinity) return std::nullopt;
    std::vector<int> next;
    for (const Kind& kind : table_.kinds()) next.push_back(kind.first);
    StepDraft step;
    Counts counts;
    for (; left != 0; left -= from_[left]) {
      std::size_t batch = from_[left];
      sets_.read(batch, counts);
      if (!sweep(counts, makespan_[batch])) return std::nullopt;
      step.emplace_back();
      while (batch != 0) {
        const Candidate& group = candidates_[by_[batch]];
        sets_.read(group.set, counts);
        std::vector<int> positions;
        for (std::size_t kind = 0; kind < counts.size(); ++kind) {
          for (int i = 0; i < counts[kind]; ++i) positions.push_back(next[kind]++);
        }
        step.back().groups.push_back(group_of(table_, group.level, std::move(positions)));
        batch -= group.set;
      }
      step.back().makespan = slowest(step.back());
    }
    return step;
  }

  // False if the budget is exhausted.
  bool count(std::size_t pairs) {
    pairs_ += static_cast<std::int64_t>(pairs);
    if (pairs_ < next_look_) return true;
    next_look_ = pairs_ + kPairsPerLook;
    const std::int64_t nodes = pairs_ / kPairsPerNode;
    budget_.count_nodes(nodes - nodes_);
    nodes_ = nodes;
    return !budget_.exhausted();
  }

  const ScatterTable& table_;
  const Sets sets_;
  const Ms upper_;
  Budget& budget_;
  Box box_;
  std::vector<Candidate> candidates_;
  std::vector<double> area_;
  std::vector<int> devices_;
  std::vector<std::uint32_t> by_;  // the candidate that made it so few devices
  std::vector<Ms> first_;
  std::vector<Ms> makespan_;  // of a micro-batch of the set; infinite if there is none in reach
  std::vector<Ms> step_;
  std::vector<std::uint32_t> from_;
  std::int64_t pairs_ = 0;
  std::int64_t next_look_ = kPairsPerLook;
  std::int64_t nodes_ = 0;
};

}  // namespace

std::optional<StepDraft> best_of_subsets(const ScatterTable& table, Ms upper, Budget& budget) {
  std::optional<Sets> sets = Sets::of(table, kMostTimes / table.levels().size());
  if (!sets) return std::nullopt;
  return Search(table, *std::move(sets), upper, budget).run();
}

}  // namespace stowage
