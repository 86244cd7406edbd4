// Moves of the local search that pack the sequences of two replicas anew.
#include <algorithm>
#include <tuple>
#include <utility>

#include "heuristics/assign/improve/local_search.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"

namespace stowage {

bool AssignSearch::try_repack(int slowest, const Repack& attempt) {
  const Ms before = at(slowest).time;
  std::vector<int> mine = positions_of(at(slowest));
  mine.erase(std::ranges::find(mine, attempt.mine));
  std::vector<int> theirs = positions_of(at(attempt.target));
  if (attempt.other >= 0) {
    theirs.erase(std::ranges::find(theirs, attempt.other));
    mine.insert(std::ranges::lower_bound(mine, attempt.other), attempt.other);
  }
  theirs.insert(std::ranges::lower_bound(theirs, attempt.mine), attempt.mine);
  WorkingReplica there;
  WorkingReplica here;
  if (!set(attempt.target, std::move(theirs), there) || there.time >= before * kPlannerFaster) {
    return false;
  }
  if (!set(slowest, std::move(mine), here) || here.time >= before * kPlannerFaster) return false;
  at(attempt.target) = std::move(there);
  at(slowest) = std::move(here);
  refresh(slowest);
  refresh(attempt.target);
  return true;
}

// Repacks the slowest replica, alone or with one sequence moved away or swapped. Tries the changes
// with the least even_time() first.
bool AssignSearch::repack(int slowest, std::span<const int> replicas) {
  const Ms before = at(slowest).time;
  WorkingReplica alone;
  if (set(slowest, positions_of(at(slowest)), alone) && alone.time < before * kPlannerFaster) {
    at(slowest) = std::move(alone);
    refresh(slowest);
    return true;
  }
  std::vector<Repack> attempts;
  const auto changed = [&](int replica, int out, int in) {
    const Summary& s = summary(replica);
    const int g = at(replica).scheme;
    LoadSum load = s.load;
    if (out >= 0) {
      load.tokens -= table_.length(out);
      load.work -= table_.work(out, g);
      --load.sequences;
      if (s.members.front().position == out) {
        load.longest = s.members.size() > 1 ? table_.work(s.members[1].position, g) : 0;
      }
    }
    if (in >= 0) load.add(table_, g, in);
    if (load.sequences == 0) return may_empty_ ? 0 : kInfinity;
    return even_time(scheme(replica), load, counts_);
  };
  for (const int target : replicas) {
    if (target == slowest || at(target).time >= before) continue;
    int last = -1;
    for (const Member& mine : summary(slowest).members) {
      if (last >= 0 && table_.kind(last) == table_.kind(mine.position)) continue;
      last = mine.position;
      if (!table_.holds(at(target).scheme, mine.position)) continue;
      const Ms moved =
          std::max(changed(slowest, mine.position, -1), changed(target, -1, mine.position));
      if (moved < before * kPlannerFaster) attempts.push_back({moved, target, mine.position, -1});
      int last_other = -1;
      const std::vector<Member>& others = summary(target).members;
      for (auto other = std::ranges::upper_bound(others, mine.position, {}, &Member::position);
           other != others.end(); ++other) {
        if (last_other >= 0 && table_.kind(last_other) == table_.kind(other->position)) continue;
        last_other = other->position;
        const Ms swapped = std::max(changed(slowest, mine.position, other->position),
                                    changed(target, other->position, mine.position));
        if (swapped < before * kPlannerFaster) {
          attempts.push_back({swapped, target, mine.position, other->position});
        }
      }
    }
  }
  const std::size_t tries = std::min(stowage::at(params_.repacks), attempts.size());
  std::ranges::partial_sort(attempts, attempts.begin() + static_cast<std::ptrdiff_t>(tries),
                            [](const Repack& a, const Repack& b) {
                              return std::tuple(a.time, a.target, a.mine, a.other) <
                                     std::tuple(b.time, b.target, b.mine, b.other);
                            });
  for (std::size_t k = 0; k < tries; ++k) {
    if (try_repack(slowest, attempts[k])) return true;
  }
  return false;
}

}  // namespace stowage
