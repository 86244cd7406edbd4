#include "heuristics/assign/published/hydraulis.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "heuristics/assign/construct/dispatch.h"
#include "heuristics/assign/published/baselines.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/ticker.h"

namespace stowage {
namespace {

// Random orders of the sequences, as in the paper's section 4.2.
constexpr int kOrders = 50;
// Row counts tried for each replica, as in the published code.
constexpr int kMaxRowCounts = 20;
// Visits of replicas between two reads of the clock.
constexpr std::int64_t kDispatchLooks = 1 << 18;

class Hydraulis {
 public:
  Hydraulis(const AssignTable& table, HydraulisScore score, const RowPacker& packer,
            const Budget& budget)
      : table_(table), score_(score), packer_(packer), budget_(budget) {}

  std::optional<AssignWorkingPlan> plan(int strategy, std::uint64_t seed) {
    schemes_.clear();
    for (const int group : groups_of_replicas(table_, strategy)) {
      schemes_.push_back(table_.groups(strategy)[static_cast<std::size_t>(group)].scheme);
    }
    AssignWorkingPlan draft{.strategy = strategy};
    const Dispatch sets = stage_one(seed);
    if (sets.empty()) return std::nullopt;
    for (std::size_t r = 0; r < sets.size(); ++r) {
      auto replica = stage_two(schemes_[r], sets[r]);
      if (!replica) return std::nullopt;
      draft.replicas.push_back(std::move(*replica));
    }
    if (!settle_rows(table_, draft, budget_)) return std::nullopt;
    return draft;
  }

  Ms score(const AssignWorkingPlan& draft) const {
    Ms worst = 0;
    for (const WorkingReplica& replica : draft.replicas) {
      worst = std::max(worst, score(replica.scheme, replica.rows));
    }
    return worst;
  }

 private:
  Ms score(int scheme, const std::vector<WorkingRow>& rows) const {
    if (score_ == HydraulisScore::modelled || rows.empty()) return time_of(table_, scheme, rows);
    const Scheme& s = table_.schemes()[static_cast<std::size_t>(scheme)];
    const WorkingRow& longest = *std::ranges::max_element(rows, {}, &WorkingRow::work);
    return (static_cast<double>(rows.size()) + s.pp - 1) * (longest.work + s.fixed_ms);
  }

  // Returns the best dispatch of several random orders. Returns an empty list if the budget ends
  // before the first order is assigned.
  Dispatch stage_one(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::vector<int> order(static_cast<std::size_t>(table_.size()));
    Dispatch best;
    Ms least = kInfinity;
    for (int k = 0; k < kOrders && (k == 0 || !budget_.exhausted()); ++k) {
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[draw(random, i)]);
      }
      Dispatch sets(schemes_.size());
      const Ms slowest = deal(order, sets);
      if (slowest < least) {
        least = slowest;
        best = std::move(sets);
      }
    }
    for (std::vector<int>& set : best) std::ranges::sort(set);
    return best;
  }

  // Assigns the sequences in this order. Returns the time of the slowest replica in ms, or
  // kInfinity if the budget ends first.
  Ms deal(const std::vector<int>& order, Dispatch& sets) const {
    std::vector<LoadSum> loads(schemes_.size());
    Ms slowest = 0;
    PollEvery ticker(budget_, kDispatchLooks);
    for (const int position : order) {
      if (ticker.exhausted(std::ssize(schemes_))) return kInfinity;
      std::size_t home = 0;
      Ms least = kInfinity;
      for (std::size_t r = 0; r < schemes_.size(); ++r) {
        if (!table_.holds(schemes_[r], position)) continue;
        const Ms f = table_.work(position, schemes_[r]);
        const int pp = table_.schemes()[static_cast<std::size_t>(schemes_[r])].pp;
        const Ms time = loads[r].work + f + (pp - 1) * std::max(loads[r].longest, f);
        if (std::max(slowest, time) < least) {
          least = std::max(slowest, time);
          home = r;
        }
      }
      slowest = least;
      loads[home].add(table_, schemes_[home], position);
      sets[home].push_back(position);
    }
    return slowest;
  }

  std::optional<WorkingReplica> stage_two(int scheme, const std::vector<int>& set) const {
    if (set.empty()) return WorkingReplica{.scheme = scheme};
    Tokens tokens = 0;
    for (const int position : set) tokens += table_.length(position);
    const Tokens cap = table_.schemes()[static_cast<std::size_t>(scheme)].max_tokens;
    const auto first = static_cast<int>(tokens / cap + (tokens % cap != 0));
    std::optional<WorkingReplica> best;
    Ms least = kInfinity;
    const auto most = static_cast<int>(set.size());
    for (int rows = first; rows <= most && (rows < first + kMaxRowCounts || !best); ++rows) {
      if (rows > first && budget_.exhausted()) break;
      auto packed = packer_(table_, scheme, set, rows);
      if (!packed || !(score(scheme, *packed) < least)) continue;
      least = score(scheme, *packed);
      const Ms time = time_of(table_, scheme, *packed);
      best = WorkingReplica{scheme, std::move(*packed), time};
    }
    return best;
  }

  const AssignTable& table_;
  HydraulisScore score_;
  const RowPacker& packer_;
  const Budget& budget_;
  std::vector<int> schemes_;  // scheme of each replica
};

}  // namespace

std::optional<AssignWorkingPlan> hydraulis(const AssignTable& table, HydraulisScore score,
                                           const RowPacker& packer, std::uint64_t seed,
                                           const Budget& budget) {
  Hydraulis planner(table, score, packer, budget);
  std::optional<AssignWorkingPlan> best;
  bool tried = false;
  for (int strategy = 0; strategy < table.strategies(); ++strategy) {
    if (!table.usable(strategy)) continue;
    if (tried && budget.exhausted()) break;
    tried = true;
    auto draft = planner.plan(strategy, seed);
    if (draft && (!best || planner.score(*draft) < planner.score(*best))) best = std::move(draft);
  }
  return best;
}

}  // namespace stowage
