// Ruins of the local search: the sequences of a few replicas are dealt anew, the slowest among
// them.
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

#include "heuristics/assign/improve/local_search.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

// Steps after each ruin. The limit is low because the replicas involved are few and nearly even.
constexpr int kStepsAfterRuin = 64;

}  // namespace

int AssignSearch::ruin(int rounds, std::uint64_t seed, const Budget& budget) {
  std::mt19937_64 random(seed);
  const auto replicas = static_cast<int>(draft_.replicas.size());
  std::vector<int> all(draft_.replicas.size());
  std::iota(all.begin(), all.end(), 0);
  double work = params_.sequences_per_ruin * rounds;
  int round = 0;
  for (; round < rounds && work > 0 && replicas > 1 && !budget.exhausted(); ++round) {
    if (level(all)) break;
    const int slowest = slowest_of(all);
    std::vector<int> chosen{slowest};
    const auto others = 1 + static_cast<int>(draw(random, 3));
    for (int k = 0; k < others; ++k) {
      const auto other = static_cast<int>(draw(random, static_cast<std::uint64_t>(replicas)));
      if (std::ranges::find(chosen, other) == chosen.end()) chosen.push_back(other);
    }
    if (chosen.size() < 2) continue;
    const Ms before = at(slowest).time;
    std::vector<std::pair<double, int>> order;
    std::vector<WorkingReplica> kept;
    for (const int r : chosen) {
      for (const Member& member : summary(r).members) {
        const double length = static_cast<double>(table_.length(member.position));
        order.emplace_back(length * (0.75 + 0.5 * draw_unit(random)), member.position);
      }
      kept.push_back(std::move(at(r)));
    }
    std::ranges::sort(order, std::greater<>{});
    work -= static_cast<double>(order.size());
    std::vector<LoadSum> loads(chosen.size());
    std::vector<std::vector<int>> sets(chosen.size());
    bool dealt = true;
    for (const auto& [key, position] : order) {
      std::size_t home = chosen.size();
      Ms least = kInfinity;
      for (std::size_t k = 0; k < chosen.size(); ++k) {
        const int g = kept[k].scheme;
        if (!table_.holds(g, position)) continue;
        LoadSum load = loads[k];
        load.add(table_, g, position);
        // A fixed number of rows is enforced when the replica is packed, not in this estimate.
        const Ms time = even_time(table_.schemes()[static_cast<std::size_t>(g)], load,
                                  counts_.fixed() ? RowCounts{} : counts_);
        if (time < least) {
          least = time;
          home = k;
        }
      }
      if (home == chosen.size()) {
        dealt = false;
        break;
      }
      loads[home].add(table_, kept[home].scheme, position);
      sets[home].push_back(position);
    }
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      at(chosen[k]).scheme = kept[k].scheme;
      if (!dealt) continue;
      std::ranges::sort(sets[k]);
      WorkingReplica made;
      dealt = set(chosen[k], std::move(sets[k]), made);
      at(chosen[k]) = std::move(made);
      at(chosen[k]).scheme = kept[k].scheme;
    }
    if (dealt) {
      for (const int r : chosen) refresh(r);
      improve(chosen, kStepsAfterRuin, budget);
    }
    if (!dealt || at(slowest_of(chosen)).time >= before * kPlannerFaster) {
      for (std::size_t k = 0; k < chosen.size(); ++k) {
        at(chosen[k]) = std::move(kept[k]);
        refresh(chosen[k]);
      }
    } else {
      improve(kStepsAfterRuin, budget);
    }
  }
  return round;
}

}  // namespace stowage
