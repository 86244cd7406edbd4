#include "solvers/scatter/exact/subset_dp.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "formulations/scatter/bounds.h"
#include "instances/numeric/numbers.h"
#include "solvers/scatter/exact/subset_index.h"

namespace stowage {
namespace {

constexpr std::size_t kMaxTimes = std::size_t{1}
                                  << 22;    // entries of sets times configurations, 32 MiB
constexpr double kMaxPairs = 1e9;           // pairs of sets
constexpr double kCaps = 4;                 // typical number of caps on the longest makespan
constexpr double kSecondsPerPair = 1.2e-9;  // upper estimate
constexpr std::int64_t kPairsPerNode = std::int64_t{1} << 20;
constexpr std::int64_t kPairsPerLook = std::int64_t{1} << 16;  // between two readings of the clock
// Relative; far above the rounding errors of sums of few times.
constexpr double kSubsetRounding = 1e-9;

// A set at a configuration where it fits.
struct Candidate {
  Ms time = 0;
  std::uint32_t set = 0;
  std::int32_t config = 0;
};

class Search {
 public:
  Search(const ScatterTable& table, SubsetIndex sets, Ms upper, Budget& budget)
      : table_(table),
        sets_(std::move(sets)),
        upper_(upper * (1 + kSubsetRounding)),
        budget_(budget),
        box_(sets_) {}

  std::optional<WorkingStep> run() {
    list_candidates();
    if (!within_reach(pairs_to_try())) return std::nullopt;
    std::ranges::sort(candidates_, {},
                      [](const Candidate& c) { return std::tuple(c.time, c.set, c.config); });
    if (!find_makespans()) return std::nullopt;
    if (table_.longest_weight() > 0) return over_caps();
    if (!chain(kInfinity)) return std::nullopt;
    return recovered();
  }

 private:
  // Solves a pipeline step, where the longest makespan counts additionally. Computes the least sum
  // of makespans below one cap after another. With a smaller cap the sum does not decrease. So a
  // better step must have a longest makespan below the difference that the best step leaves for it,
  // which is the next cap.
  std::optional<WorkingStep> over_caps() {
    std::optional<WorkingStep> best;
    Ms cap = kInfinity;
    Ms least = upper_;
    do {
      if (!chain(cap)) return std::nullopt;
      const std::size_t all = sets_.size() - 1;
      if (step_[all] == kInfinity) break;
      const Ms sum = step_[all];
      cap = 0;
      for (std::size_t left = all; left != 0; left -= from_[left]) {
        cap = std::max(cap, makespan_[from_[left]]);
      }
      if (const Ms then = table_.step_ms(sum, cap); then <= least) {
        least = then;
        best = recovered();
        if (!best) return std::nullopt;
      }
      cap = std::min(cap, (least - sum) / table_.longest_weight() * (1 + kSubsetRounding));
    } while (cap >= alone_ * (1 - kSubsetRounding));
    return best;
  }

  // Lists every group that a plan of at most `upper` can have. Each other micro-batch lasts at
  // least the least overhead, and the step's device-time with this group must fit. A configuration
  // that is not faster than a smaller configuration is left out.
  void list_candidates() {
    const auto configs = table_.configs().size();
    const Ms least = table_.least_overhead();
    const int others = std::max(0, least_micro_batches(table_) - 1);
    const Ms together = upper_ - others * least * (1 - kSubsetRounding);
    for (int kind = 0; kind < static_cast<int>(table_.kinds().size()); ++kind) {
      alone_ = std::max(alone_, table_.alone(kind));
    }
    // The longest makespan is at least the time of this group.
    const Ms limit =
        table_.longest_weight() == 0 ? together : together / (1 + table_.longest_weight());
    const auto idle_beside = [&](Ms whole) {  // device-ms
      const Ms sum = table_.longest_weight() == 0
                         ? together
                         : together - table_.longest_weight() * std::max(whole, alone_) *
                                          (1 - kSubsetRounding);
      return (sum - least * (1 - kSubsetRounding)) * table_.devices() -
             table_.total_area() * (1 - kSubsetRounding);
    };
    // By set, and by configuration if each pads sequences on its own.
    const std::size_t paddings = table_.pads_by_form() ? configs : 1;
    std::vector<Tokens> tokens(sets_.size() * paddings, 0);
    std::vector<Ms> times(sets_.size() * configs, 0);
    std::vector<Ms> transfers(table_.additive() ? 0 : times.size(), 0);
    area_.assign(sets_.size(), 0);
    SetCounts counts;
    std::vector<Ms> fastest;  // by recomputation mode
    for (std::size_t set = 1; set < sets_.size(); ++set) {
      sets_.read(set, counts);
      std::size_t kind = 0;
      while (counts[kind] == 0) ++kind;
      const std::size_t less = set - sets_.place(kind);
      const Tokens longest = table_.kinds()[kind].length;
      const std::int64_t sequences = std::accumulate(counts.begin(), counts.end(), 0);
      area_[set] = area_[less] + table_.kinds()[kind].area;
      fastest.assign(at(table_.recomputations()), kInfinity);
      for (std::size_t config = 0; config < configs; ++config) {
        const GroupConfig& own = table_.configs()[config];
        Ms& time = times[set * configs + config];
        const Load load = table_.kind_load(static_cast<int>(kind), static_cast<int>(config));
        time = times[less * configs + config] + load.compute;
        Ms longer = time;
        if (!transfers.empty()) {
          Ms& transfer = transfers[set * configs + config];
          transfer = transfers[less * configs + config] + load.transfer;
          longer = std::max(longer, transfer);
        }
        const std::size_t own_tokens = config % paddings;
        Tokens& held = tokens[set * paddings + own_tokens];
        held = std::min(tokens[less * paddings + own_tokens] + own.padded(longest), kMaxExact);
        const Ms transfer = transfers.empty() ? time : transfers[set * configs + config];
        const Load row = table_.row_load(static_cast<int>(config), held);
        if (own.row_multiple > 1) longer = std::max(time + row.compute, transfer + row.transfer);
        Ms whole = table_.measured()
                       ? table_.time(static_cast<int>(config), Load{time, transfer} + row)
                       : own.overhead + longer;
        if (table_.offloads()) {
          Load all = table_.empty_load(static_cast<int>(config));
          all += Load{time, transfer, static_cast<double>(held)} + row;
          whole = table_.time(static_cast<int>(config), all);
        }
        if (own.degree > table_.devices()) continue;
        if (longest > own.longest || sequences > own.sequences) continue;
        const auto beside = checked_mul(sequences, own.sequence_tokens);
        if (!beside || held > own.capacity - *beside || held > own.most_tokens) {
          continue;
        }
        Ms& before = fastest[at(table_.mode(static_cast<int>(config)))];
        if (whole > limit || whole >= before) continue;
        before = whole;
        const double more = own.degree * (whole - least) * (1 - kSubsetRounding) - area_[set];
        if (more > idle_beside(whole)) continue;
        candidates_.push_back(
            {whole, static_cast<std::uint32_t>(set), static_cast<std::int32_t>(config)});
      }
    }
  }

  double pairs_to_try() const {
    double pairs = 1;  // pairs of a set and a subset
    for (const int count : sets_.all()) pairs *= 0.5 * (count + 1.0) * (count + 2.0);
    pairs /= 3;  // in a chain of micro-batches the first one holds the longest sequence
    if (table_.longest_weight() > 0) pairs *= kCaps;
    SetCounts counts;
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

  // Returns true if the work fits the budget, since a partial search is useless.
  bool within_reach(double pairs) const {
    return pairs <= kMaxPairs && pairs * kSecondsPerPair <= budget_.seconds_left() &&
           pairs / kPairsPerNode <= static_cast<double>(budget_.nodes_left());
  }

  // Computes makespan_[S], the least makespan of S over all recomputation modes, and way_[S], its
  // mode.
  bool find_makespans() {
    makespan_.assign(sets_.size(), kInfinity);
    mode_.assign(sets_.size(), 0);
    for (int mode = 0; mode < table_.recomputations(); ++mode) {
      if (!sweep(mode, sets_.all(), kInfinity)) return false;
      for (std::size_t set = 0; set < sets_.size(); ++set) {
        if (first_[set] >= makespan_[set]) continue;
        makespan_[set] = first_[set];
        mode_[set] = mode;
      }
    }
    return true;
  }

  // Takes the candidates of the mode up to time `last` that hold at most `most`, one after another.
  // Computes devices_[S], the fewest devices that hold S in groups taken so far, and first_[S], the
  // time of the candidate at which they fit. Returns false if the budget ended the sweep.
  bool sweep(int mode, const SetCounts& most, Ms last) {
    devices_.assign(sets_.size(), table_.devices() + 1);
    by_.assign(sets_.size(), 0);
    first_.assign(sets_.size(), kInfinity);
    devices_[0] = 0;
    SetCounts counts;
    for (std::size_t i = 0; i < candidates_.size() && candidates_[i].time <= last; ++i) {
      const Candidate& own = candidates_[i];
      if (table_.mode(own.config) != mode) continue;
      sets_.read(own.set, counts);
      bool within = true;
      for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        counts[kind] = most[kind] - counts[kind];
        within = within && counts[kind] >= 0;
      }
      if (!within) continue;
      box_.become(counts);
      if (!count(box_.size())) return false;
      const int degree = table_.configs()[at(own.config)].degree;
      // Ascending, so that a group may occur twice.
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

  // Computes step_[S], the least sum of makespans of S, all below `cap`, and from_[S], its last
  // micro-batch. Micro-batches are ordered by their longest sequences. Returns false if the budget
  // ended the search.
  bool chain(Ms cap) {
    const Ms upper = upper_ - table_.longest_weight() * alone_ * (1 - kSubsetRounding);
    step_.assign(sets_.size(), kInfinity);
    from_.assign(sets_.size(), 0);
    step_[0] = 0;
    const std::size_t all = sets_.size() - 1;
    SetCounts counts;
    for (std::size_t done = 0; done < all; ++done) {
      const Ms spread = (area_[all] - area_[done]) / table_.devices() * (1 - kSubsetRounding);
      if (!(step_[done] + table_.least_overhead() + spread <= upper)) continue;
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
        if (!(makespan_[batch] < cap)) return;
        const Ms sum = step_[done] + makespan_[batch];
        if (sum >= step_[done + batch]) return;
        step_[done + batch] = sum;
        from_[done + batch] = static_cast<std::uint32_t>(batch);
      });
    }
    return true;
  }

  // Returns the step. Returns nullopt if no plan of at most `upper` exists or the budget ended the
  // search.
  std::optional<WorkingStep> recovered() {
    std::size_t left = sets_.size() - 1;
    if (step_[left] == kInfinity) return std::nullopt;
    std::vector<int> next;
    for (const DistinctLength& kind : table_.kinds()) next.push_back(kind.first);
    WorkingStep step;
    SetCounts counts;
    for (; left != 0; left -= from_[left]) {
      std::size_t batch = from_[left];
      sets_.read(batch, counts);
      if (!sweep(mode_[batch], counts, makespan_[batch])) return std::nullopt;
      step.emplace_back();
      while (batch != 0) {
        const Candidate& group = candidates_[by_[batch]];
        sets_.read(group.set, counts);
        std::vector<int> positions;
        for (std::size_t kind = 0; kind < counts.size(); ++kind) {
          for (int i = 0; i < counts[kind]; ++i) positions.push_back(next[kind]++);
        }
        step.back().groups.push_back(group_of(table_, group.config, std::move(positions)));
        batch -= group.set;
      }
      step.back().makespan = slowest(step.back());
    }
    return step;
  }

  // Counts the work. Returns false if the budget is exhausted.
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
  const SubsetIndex sets_;
  const Ms upper_;
  Budget& budget_;
  SetBox box_;
  std::vector<Candidate> candidates_;
  std::vector<double> area_;
  std::vector<int> devices_;
  std::vector<std::uint32_t> by_;  // the candidate that gave the fewest devices
  std::vector<Ms> first_;
  Ms alone_ = 0;              // bound on the longest makespan
  std::vector<Ms> makespan_;  // of a micro-batch of the set; infinite if none is feasible
  std::vector<int> mode_;     // recomputation mode of that makespan
  std::vector<Ms> step_;
  std::vector<std::uint32_t> from_;
  std::int64_t pairs_ = 0;
  std::int64_t next_look_ = kPairsPerLook;
  std::int64_t nodes_ = 0;
};

}  // namespace

std::optional<WorkingStep> best_of_subsets(const ScatterTable& table, Ms upper, Budget& budget) {
  // The search minimises devices of a set, so it cannot enforce rules on whole micro-batches or
  // their number.
  if (table.no_idle_ranks() || table.equal_sequences() || table.multiple() > 1) {
    return std::nullopt;
  }
  std::optional<SubsetIndex> sets = SubsetIndex::of(table, kMaxTimes / table.configs().size());
  if (!sets) return std::nullopt;
  return Search(table, *std::move(sets), upper, budget).run();
}

}  // namespace stowage
