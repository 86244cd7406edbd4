#include "heuristics/assign/improve/local_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

// Two sums of the same times may differ by this share of T through rounding.
constexpr double kRounding = 1e-9;
// Replicas count as level if the slowest exceeds their mean by at most this share.
constexpr double kLevel = 1e-6;
// If one step visits at most this number of exchanges, each replica gets at least kTurns steps.
constexpr double kSmallStep = 1e5;
constexpr int kTurns = 4;
// Rows of a replica that are tried for a moved sequence. Replicas with thousands of short rows have
// more.
constexpr std::size_t kRowsTried = 512;

void erase(WorkingRow& row, const AssignTable& table, int scheme, int position) {
  row.positions.erase(std::ranges::find(row.positions, position));
  row.tokens -= table.length(position);
  row.work = 0;  // the sum is recomputed, because differences of sums accumulate rounding
  for (const int left : row.positions) row.work += table.work(left, scheme);
}

}  // namespace

AssignSearch::AssignSearch(const AssignTable& table, const RowCounts& counts,
                           AssignWorkingPlan draft, const AssignSearchParams& params)
    : table_(table),
      counts_(counts),
      params_(params),
      draft_(std::move(draft)),
      summaries_(draft_.replicas.size()),
      may_empty_(table.constraints().allow_empty) {
  for (int r = 0; r < static_cast<int>(draft_.replicas.size()); ++r) refresh(r);
}

const Scheme& AssignSearch::scheme(int replica) const {
  return table_.schemes()[static_cast<std::size_t>(at(replica).scheme)];
}

void AssignSearch::refresh(int replica) {
  WorkingReplica& r = at(replica);
  std::erase_if(r.rows, [](const WorkingRow& row) { return row.positions.empty(); });
  Summary& s = summaries_[static_cast<std::size_t>(replica)];
  s = {};
  for (std::size_t j = 0; j < r.rows.size(); ++j) {
    const Ms time = r.rows[j].work + scheme(replica).fixed_ms;
    s.sum += time;
    if (time > s.longest) {
      s.second = std::exchange(s.longest, time);
      s.longest_row = static_cast<int>(j);
    } else {
      s.second = std::max(s.second, time);
    }
    for (const int position : r.rows[j].positions) {
      s.members.push_back({position, static_cast<int>(j)});
      s.load.add(table_, r.scheme, position);
    }
  }
  std::ranges::sort(s.members, {}, &Member::position);
  r.time = s.sum + (scheme(replica).pp - 1) * s.longest;
}

Ms AssignSearch::time_with(int replica, int row, Ms change) const {
  const Summary& s = summary(replica);
  const Ms others = row == s.longest_row ? s.second : s.longest;
  const Ms own = at(replica).rows[static_cast<std::size_t>(row)].work + scheme(replica).fixed_ms;
  return s.sum + change + (scheme(replica).pp - 1) * std::max(others, own + change);
}

// Returns the time of the replica without the sequence. Returns nullopt if the sequence is alone in
// a row that must stay.
std::optional<Ms> AssignSearch::time_without(int replica, const Member& member) const {
  const WorkingReplica& r = at(replica);
  const WorkingRow& row = r.rows[static_cast<std::size_t>(member.row)];
  if (row.positions.size() > 1) {
    return time_with(replica, member.row, -table_.work(member.position, r.scheme));
  }
  if (counts_.fixed() || (r.rows.size() == 1 && !may_empty_)) return std::nullopt;
  return time_with(replica, member.row, -(row.work + scheme(replica).fixed_ms));
}

void AssignSearch::consider_moves(int slowest, int target, Change& best) const {
  const WorkingReplica& to = at(target);
  const Scheme& cost = scheme(target);
  const Summary& load = summary(target);
  const Member* last = nullptr;
  for (const Member& mine : summary(slowest).members) {
    const bool twin = last != nullptr && last->row == mine.row &&
                      table_.kind(last->position) == table_.kind(mine.position);
    last = &mine;
    if (twin || !table_.holds(to.scheme, mine.position)) continue;
    const Ms added = table_.work(mine.position, to.scheme);
    if (at(target).time + added >= best.time) continue;
    const auto without = time_without(slowest, mine);
    if (!without || *without >= best.time) continue;
    const Tokens room = cost.max_tokens - table_.length(mine.position);
    // T if the bubble does not grow
    const Ms least = load.sum + added + (cost.pp - 1) * load.longest;
    const std::size_t tried = std::min(to.rows.size(), kRowsTried);
    for (std::size_t j = 0; j < tried; ++j) {
      if (to.rows[j].tokens > room) continue;
      const Ms there = time_with(target, static_cast<int>(j), added);
      const Ms time = std::max(*without, there);
      if (time < best.time) {
        best = {.time = time, .target = target, .mine = mine, .row = static_cast<int>(j)};
      }
      if (cost.pp == 1 || there <= least) break;  // no row gives a shorter T
    }
    if (counts_.fixed()) continue;
    const Ms alone = added + cost.fixed_ms;
    const Ms opened = load.sum + alone + (cost.pp - 1) * std::max(load.longest, alone);
    if (std::max(*without, opened) < best.time) {
      best = {.time = std::max(*without, opened),
              .target = target,
              .mine = mine,
              .row = static_cast<int>(to.rows.size())};
    }
  }
}

void AssignSearch::consider_swaps(int slowest, int target, Change& best) const {
  const WorkingReplica& from = at(slowest);
  const WorkingReplica& to = at(target);
  const std::vector<Member>& others = summary(target).members;
  const Ms slack = kRounding * from.time;
  const std::ptrdiff_t partners = params_.partners;
  const Member* last = nullptr;
  for (const Member& mine : summary(slowest).members) {
    const bool twin = last != nullptr && last->row == mine.row &&
                      table_.kind(last->position) == table_.kind(mine.position);
    last = &mine;
    if (twin || !table_.holds(to.scheme, mine.position)) continue;
    // A swap can help only if the sequence taken in return is shorter.
    auto first = std::ranges::upper_bound(others, mine.position, {}, &Member::position);
    auto end = others.end();
    if (end - first > partners) {
      // If the works of the partner on both schemes sum to `even`, both replicas have equal T.
      // Partners around this value are tried.
      const Ms even = to.time - from.time + table_.work(mine.position, from.scheme) +
                      table_.work(mine.position, to.scheme);
      const auto middle = std::ranges::partition_point(first, end, [&](const Member& other) {
        return table_.work(other.position, from.scheme) + table_.work(other.position, to.scheme) >
               even;
      });
      first = middle - std::min(middle - first, partners / 2);
      end = first + std::min(end - first, partners);
    }
    const Tokens length = table_.length(mine.position);
    const Ms leaves = table_.work(mine.position, from.scheme);
    const Ms enters = table_.work(mine.position, to.scheme);
    // T falls by at most pp times the decrease of a row, and rises by at least the increase of a
    // row.
    const Ms most = leaves - (from.time - best.time) / scheme(slowest).pp + slack;
    const Ms least = enters - (best.time - to.time) - slack;
    if (most < 0) return;  // the following sequences are shorter
    first = std::partition_point(first, end, [&](const Member& other) {
      return table_.work(other.position, from.scheme) > most;
    });
    end = std::partition_point(first, end, [&](const Member& other) {
      return table_.work(other.position, to.scheme) >= least;
    });
    for (auto other = first; other != end; ++other) {
      const Tokens change = length - table_.length(other->position);
      if (change == 0) continue;
      const WorkingRow& row = to.rows[static_cast<std::size_t>(other->row)];
      if (row.tokens + change > scheme(target).max_tokens) continue;
      const Ms after =
          time_with(slowest, mine.row, table_.work(other->position, from.scheme) - leaves);
      if (after >= best.time) continue;
      const Ms there =
          time_with(target, other->row, enters - table_.work(other->position, to.scheme));
      if (std::max(after, there) >= best.time) continue;
      best = {.time = std::max(after, there), .target = target, .mine = mine, .other = *other};
    }
  }
}

// Considers moves and swaps from the longest row to another row of the same replica, which shorten
// only the bubble.
void AssignSearch::consider_inside(int slowest, Change& best) const {
  const WorkingReplica& r = at(slowest);
  const Scheme& cost = scheme(slowest);
  const Summary& s = summary(slowest);
  if (cost.pp == 1 || r.rows.size() < 2) return;
  const WorkingRow& longest = r.rows[static_cast<std::size_t>(s.longest_row)];
  const auto time = [&](Ms shorter, Ms longer) {  // T if both rows change and the others stay
    return s.sum + (cost.pp - 1) * std::max({shorter, longer, r.rows.size() > 2 ? s.second : 0.0});
  };
  for (const int position : longest.positions) {
    const Ms moved = table_.work(position, r.scheme);
    for (std::size_t j = 0; j < r.rows.size(); ++j) {
      const WorkingRow& row = r.rows[j];
      if (static_cast<int>(j) == s.longest_row) continue;
      const Member mine{position, s.longest_row};
      const Ms there = row.work + cost.fixed_ms;
      if (longest.positions.size() > 1 && row.tokens + table_.length(position) <= cost.max_tokens) {
        const Ms after = time(s.longest - moved, there + moved);
        if (after < best.time) {
          best = {.time = after, .target = slowest, .mine = mine, .row = static_cast<int>(j)};
        }
      }
      for (const int other : row.positions) {
        const Ms back = table_.work(other, r.scheme);
        const Tokens change = table_.length(position) - table_.length(other);
        if (change <= 0 || row.tokens + change > cost.max_tokens) continue;
        const Ms after = time(s.longest - moved + back, there + moved - back);
        if (after < best.time) {
          best = {.time = after,
                  .target = slowest,
                  .mine = mine,
                  .other = {other, static_cast<int>(j)}};
        }
      }
    }
  }
}

void AssignSearch::apply(int slowest, const Change& change) {
  WorkingReplica& from = at(slowest);
  WorkingReplica& to = at(change.target);
  erase(from.rows[static_cast<std::size_t>(change.mine.row)], table_, from.scheme,
        change.mine.position);
  if (change.other.position >= 0) {
    WorkingRow& row = to.rows[static_cast<std::size_t>(change.other.row)];
    erase(row, table_, to.scheme, change.other.position);
    append(table_, to.scheme, change.mine.position, row);
    append(table_, from.scheme, change.other.position,
           from.rows[static_cast<std::size_t>(change.mine.row)]);
  } else {
    if (static_cast<std::size_t>(change.row) == to.rows.size()) to.rows.emplace_back();
    append(table_, to.scheme, change.mine.position, to.rows[static_cast<std::size_t>(change.row)]);
  }
  refresh(slowest);
  if (change.target != slowest) refresh(change.target);
}

bool AssignSearch::set(int replica, std::vector<int> positions, WorkingReplica& out) const {
  if (positions.empty() && !may_empty_) return false;
  auto made = best_rows(table_, at(replica).scheme, positions, counts_);
  if (!made) return false;
  out = std::move(*made);
  return true;
}

int AssignSearch::slowest_of(std::span<const int> replicas) const {
  return *std::ranges::max_element(replicas, {}, [&](int r) { return at(r).time; });
}

bool AssignSearch::level(std::span<const int> replicas) const {
  Ms sum = 0;
  Ms most = 0;
  for (const int r : replicas) {
    sum += at(r).time;
    most = std::max(most, at(r).time);
  }
  return most <= sum / static_cast<double>(replicas.size()) * (1 + kLevel);
}

void AssignSearch::improve(std::span<const int> replicas, int steps, const Budget& budget) {
  // A step with a hundred thousand sequences visits millions of exchanges, so large instances get
  // fewer steps. Every replica of a small instance gets its turns.
  const double partners = params_.partners;
  double each = static_cast<double>(table_.size()) * partners;
  if (each <= kSmallStep && replicas.size() == draft_.replicas.size()) {
    steps = std::max(steps, kTurns * static_cast<int>(replicas.size()));
  } else {
    each = 0;
  }
  double work = std::max(params_.work, each) * steps;
  for (; work > 0 && !budget.exhausted() && !level(replicas); --steps) {
    if (steps == 0) return;
    const int slowest = slowest_of(replicas);
    const auto sequences = static_cast<double>(summary(slowest).members.size());
    const auto others = static_cast<double>(replicas.size());
    Change best{.time = at(slowest).time * kPlannerFaster};
    consider_inside(slowest, best);
    for (const int target : replicas) {
      if (budget.exhausted()) break;
      if (target == slowest || at(target).time >= best.time) continue;
      consider_moves(slowest, target, best);
      consider_swaps(slowest, target, best);
    }
    work -= sequences * others * partners;
    if (best.target >= 0) {
      apply(slowest, best);
      continue;
    }
    work -= sequences * sequences * others;
    if (work < 0 || !repack(slowest, replicas)) return;
  }
}

void AssignSearch::close_ranks(const Budget& budget) {
  for (int r = 0; r < static_cast<int>(draft_.replicas.size()); ++r) {
    if (budget.exhausted()) return;
    WorkingReplica packed;
    if (at(r).rows.size() < 2 || !set(r, positions_of(at(r)), packed)) continue;
    if (packed.time > at(r).time * (1 + 1e-12) || packed.rows.size() >= at(r).rows.size()) continue;
    at(r) = std::move(packed);
    refresh(r);
  }
}

void AssignSearch::improve(int steps, const Budget& budget) {
  std::vector<int> all(draft_.replicas.size());
  std::iota(all.begin(), all.end(), 0);
  improve(all, steps, budget);
}

}  // namespace stowage
