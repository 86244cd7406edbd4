#include "heuristics/assign/construct/chunk_planner.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "heuristics/assign/construct/row_packing.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Groups of replicas that are tried for each sequence after the budget is exhausted.
constexpr std::size_t kFewGroups = 8;
// Rows are packed after kFirstPacked moves, and then at each power of it.
constexpr int kFirstPacked = 8;
// Visits of sequences by all moves together, so that large instances end within seconds.
constexpr std::int64_t kMaxLooks = 20'000'000;

}  // namespace

std::optional<std::vector<ReplicaChoice>> ChunkPlanner::plan(int strategy, bool needed,
                                                             const Budget& budget) {
  loads_.clear();
  for (const SchemeGroup& group : step_.table().groups(strategy)) {
    loads_.resize(loads_.size() + at(group.count), {.scheme = group.scheme});
  }
  if (!deal(step_.table().groups(strategy), needed, budget)) return std::nullopt;
  best_.reset();
  pack(needed, budget);
  std::int64_t looks = kMaxLooks;  // each move visits all sequences
  int next = kFirstPacked;
  for (int move = 1; move <= params_.moves && looks > 0; ++move, looks -= step_.items()) {
    if (budget.exhausted() || !improve()) break;
    if (move != next) continue;
    next *= kFirstPacked;
    pack(false, budget);
  }
  // Moves follow an estimate. If the budget ended them, the result may be worse than the start.
  if (!budget.exhausted()) pack(false, budget);
  return std::move(best_);
}

// Assigns the items, longest first, to the replica that then ends first. One replica per group is
// tried: the replica that ends first so far. Returns false if an item fits no replica, or if the
// budget ends and no plan is `needed`.
bool ChunkPlanner::deal(const std::vector<SchemeGroup>& groups, bool needed, const Budget& budget) {
  std::vector<std::set<std::pair<Ms, std::size_t>>> queues(groups.size());
  std::size_t replica = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (int n = 0; n < groups[g].count; ++n) queues[g].insert({0, replica++});
  }
  std::vector<std::size_t> looked_at(groups.size());
  std::iota(looked_at.begin(), looked_at.end(), std::size_t{0});
  constexpr std::size_t kBetweenLooks = 4096;  // items between two reads of the clock
  // visits of groups before the clock is read: some milliseconds
  constexpr std::size_t kFreeLooks = 400'000;
  std::size_t since = 0;
  std::size_t looks = 0;
  std::optional<std::size_t> holder;  // set when the budget is exhausted
  std::size_t next = 0;
  for (std::int64_t item = 0; item < step_.items(); ++item, ++since) {
    looks += looked_at.size();
    if (since >= kBetweenLooks || looks > kFreeLooks) {
      since = 0;
      const bool late = budget.exhausted();
      if (!needed && late) return false;
      if (looks > kFreeLooks && late && !holder) holder = holder_of(groups);
      if (looks > kFreeLooks) looks = 0;
    }
    if (holder && groups.size() > kFewGroups) {  // tries a few groups in rotation
      looked_at.assign(1, *holder);
      while (looked_at.size() < kFewGroups) looked_at.push_back(next++ % groups.size());
    }
    std::size_t home = groups.size();
    Ms least = kInfinity;
    for (const std::size_t g : looked_at) {
      if (!step_.admits(groups[g].scheme, item)) continue;
      const Ms time = exchanged(loads_[queues[g].begin()->second], -1, item);
      if (time < least) {
        least = time;
        home = g;
      }
    }
    if (home == groups.size()) return false;
    const std::size_t chosen = queues[home].begin()->second;
    queues[home].erase(queues[home].begin());
    queues[home].insert({least, chosen});
    add(loads_[chosen], item);
  }
  return true;
}

// Returns the group on which the longest sequence ends first. This group admits all other
// sequences as well.
std::size_t ChunkPlanner::holder_of(const std::vector<SchemeGroup>& groups) const {
  std::size_t best = 0;
  Ms least = kInfinity;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!step_.admits(groups[g].scheme, 0)) continue;
    ChunkedLoad load{.scheme = groups[g].scheme};
    count(load, 0);
    if (estimate(load) >= least) continue;
    least = estimate(load);
    best = g;
  }
  return best;
}

// Returns items of different lengths as candidates, at most params_.candidates, spread over all
// lengths.
std::vector<std::int64_t> ChunkPlanner::candidates(const ChunkedLoad& load) const {
  std::vector<std::int64_t> distinct;
  for (const std::int64_t item : load.items) {
    const bool repeats = !distinct.empty() && !step_.is_cut(item) &&
                         !step_.is_cut(distinct.back()) &&
                         step_.table().kind(step_.position(distinct.back())) ==
                             step_.table().kind(step_.position(item));
    if (!repeats) distinct.push_back(item);
  }
  const std::size_t most = at(params_.candidates);
  if (distinct.size() <= most) return distinct;
  std::vector<std::int64_t> spread;
  for (std::size_t k = 0; k < most; ++k) {
    spread.push_back(distinct[k * (distinct.size() - 1) / (most - 1)]);
  }
  return spread;
}

// Applies the move or swap after which the slower of the two replicas is fastest. Returns false
// if no change helps.
bool ChunkPlanner::improve() {
  std::vector<std::pair<Ms, std::size_t>> order;
  for (std::size_t r = 0; r < loads_.size(); ++r) order.emplace_back(estimate(loads_[r]), r);
  std::ranges::sort(order);
  if (order.size() < 2) return false;
  const auto [slowest, from] = order.back();
  order.pop_back();
  order.resize(std::min(order.size(), at(params_.targets)));
  const std::vector<std::int64_t> mine = candidates(loads_[from]);
  Ms least = slowest * (1 - 1e-9);
  std::size_t to = loads_.size();
  std::int64_t out = -1;
  std::int64_t in = -1;
  for (const auto& [time, r] : order) {
    std::vector<std::int64_t> theirs = candidates(loads_[r]);
    theirs.push_back(-1);
    for (const std::int64_t a : mine) {
      if (!step_.admits(loads_[r].scheme, a)) continue;
      for (const std::int64_t b : theirs) {
        if (b >= 0 && !step_.admits(loads_[from].scheme, b)) continue;
        const Ms there = exchanged(loads_[r], b, a);
        if (there >= least) continue;
        const Ms both = std::max(there, exchanged(loads_[from], a, b));
        if (both >= least) continue;
        least = both;
        to = r;
        out = a;
        in = b;
      }
    }
  }
  if (to == loads_.size()) return false;
  remove(loads_[from], out);
  if (in >= 0) {
    remove(loads_[to], in);
    add(loads_[from], in);
  }
  add(loads_[to], out);
  return true;
}

// Returns the best packing into rows found, and its time in `best`. Row counts are tried outwards
// from the estimate as long as equally long rows would beat the best packing.
std::optional<std::vector<WorkingRow>> ChunkPlanner::rows_of(const ChunkedLoad& load, bool needed,
                                                             const Budget& budget, Ms& best) const {
  std::vector<int> positions;
  for (auto item = load.items.lower_bound(step_.cuts()); item != load.items.end(); ++item) {
    positions.push_back(step_.position(*item));
  }
  best = kInfinity;
  std::optional<std::vector<WorkingRow>> made;
  if (positions.empty()) {
    best = even(load, 0);
    return std::vector<WorkingRow>();
  }
  const Scheme& scheme = step_.scheme(load.scheme);
  const std::int64_t guess = best_rows(load);
  const auto attempt = [&](std::int64_t rows) {
    auto packed = fit_rows(step_.table(), load.scheme, positions, static_cast<int>(rows));
    if (!packed) return false;
    Ms longest_row = load.cut.longest;
    Ms sum = load.cut.sum;
    for (const WorkingRow& row : *packed) {
      sum += row.work + scheme.fixed_ms;
      longest_row = std::max(longest_row, row.work + scheme.fixed_ms);
    }
    const Ms time = sum + (scheme.pp - 1) * longest_row;
    if (time < best) {
      best = time;
      made = std::move(packed);
    }
    return true;
  };
  const auto worth = [&](std::int64_t rows) {
    if ((made || !needed) && budget.exhausted()) return false;
    return rows <= load.packed.sequences && (!made || even(load, rows) < best);
  };
  for (std::int64_t rows = guess; worth(rows) && (!made || rows < guess + params_.row_counts);) {
    rows = attempt(rows) || made ? rows + 1
                                 : count_after_failure(step_.table(), load.scheme, positions, {},
                                                       static_cast<int>(rows));
  }
  for (std::int64_t rows = guess - 1; rows > 0 && rows > guess - params_.row_counts && worth(rows);
       --rows) {
    if (!attempt(rows)) break;
  }
  return made;
}

// Packs the rows of the present loads, and keeps the plan if it is not slower.
void ChunkPlanner::pack(bool needed, const Budget& budget) {
  std::vector<ReplicaChoice> choices;
  Ms slowest = 0;
  for (const ChunkedLoad& load : loads_) {
    ReplicaChoice& choice = choices.emplace_back(ReplicaChoice{.scheme = load.scheme});
    for (const std::int64_t item : load.items) {
      if (step_.is_cut(item)) choice.rows.push_back({step_.id(item)});
    }
    Ms time = 0;
    if (!needed && budget.exhausted()) return;
    const auto rows = rows_of(load, needed, budget, time);
    if (!rows) return;
    for (const WorkingRow& row : *rows) {
      choice.rows.emplace_back();
      for (const int position : row.positions) {
        choice.rows.back().push_back(step_.id(step_.cuts() + position));
      }
    }
    slowest = std::max(slowest, time);
  }
  if (best_ && slowest > time_) return;
  time_ = slowest;
  best_ = std::move(choices);
}

}  // namespace stowage
