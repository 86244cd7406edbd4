#include "heuristics/order/recompute/reruns.h"

#include <algorithm>
#include <utility>

#include "heuristics/order/recompute/saved_tensors.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/order/memory/running_memory.h"

namespace stowage {

std::optional<std::vector<int>> evicted_within(const OrderTable& table, std::span<const int> order,
                                               Bytes capacity, const Budget& budget,
                                               const EvictionParams& params) {
  Evictions evictions(table, params);
  std::vector<int> steps(order.begin(), order.end());
  if (table.at_start() > capacity || !evictions.relieve(steps, capacity, budget)) {
    return std::nullopt;
  }
  evictions.drop_needless(steps, capacity);
  return steps;
}

void tell_cheap_plans(const OrderTable& table, std::span<const int> order, Bytes capacity,
                      const Budget& budget,
                      const std::function<bool(const std::vector<int>&)>& tell,
                      const EvictionParams& params) {
  if (table.at_start() > capacity || order.empty()) return;
  const std::vector<Bytes> needs = needs_of(table, order);
  const auto split = static_cast<std::size_t>(std::ranges::max_element(needs) - needs.begin());
  std::ptrdiff_t before = 0;  // operators that the attempt before let run again
  for (const double share : order_fixed::kLongestRuns) {
    const Ms longest = share * table.work_ms();
    const auto cheap = [&](int op) { return table.may_rerun(op) && table.ms(op) <= longest; };
    const std::ptrdiff_t count = std::ranges::count_if(order, cheap);
    if (count == before) continue;
    before = count;
    Evictions evictions(table, params, longest);
    for (const bool cut : {false, true}) {
      std::vector<int> steps(order.begin(), order.end());
      if (cut) steps = with_saved_tensors(table, order, split, longest);
      if (budget.exhausted() || !evictions.relieve(steps, capacity, budget)) continue;
      evictions.drop_needless(steps, capacity);
      if (tell(steps)) return;
    }
  }
}

std::vector<int> evicted_to(const OrderTable& table, std::span<const int> order, Bytes goal,
                            const Budget& budget, const EvictionParams& params) {
  std::vector<int> best(order.begin(), order.end());
  Bytes low = std::max(goal, table.at_start());
  Bytes peak = peak_of(table, best);
  // The greedy steps towards the goal may pass a lower peak than the steps towards a larger
  // capacity.
  Bytes capacity = low;
  for (int k = 0; k < params.halvings && low < peak && !budget.exhausted(); ++k) {
    std::vector<int> steps(order.begin(), order.end());
    const bool fits = Evictions(table, params).relieve(steps, capacity, budget);
    const Bytes reached = peak_of(table, steps);
    if (reached < peak) {
      peak = reached;
      best = std::move(steps);
    }
    if (!fits) low = capacity + 1;
    capacity = low + (peak - low) / 2;
  }
  Evictions(table, params).drop_needless(best, peak);
  return best;
}

RerunWalk::RerunWalk(const OrderTable& table, std::uint64_t seed,
                     const OrderHeuristicParams& params)
    : table_(table),
      farthest_(at(params.walk.distance)),
      evictions_(table, params.eviction),
      random_(seed) {}

// Removes some repeated runs: up to four single ones, or a contiguous range of them.
void RerunWalk::thin_out(std::vector<int>& steps) {
  std::vector<char> ran(at(table_.operators()), 0);
  std::vector<std::size_t> again;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (ran[at(steps[k])] != 0) again.push_back(k);
    ran[at(steps[k])] = 1;
  }
  if (again.empty()) return;
  std::vector<char> gone(steps.size(), 0);
  if (draw(random_, 2) == 0) {
    const std::uint64_t count = 1 + draw(random_, std::min<std::size_t>(4, again.size()));
    for (std::uint64_t k = 0; k < count; ++k) gone[again[draw(random_, again.size())]] = 1;
  } else {
    const std::size_t first = draw(random_, again.size());
    const std::size_t count = 1 + draw(random_, again.size());
    for (std::size_t k = first; k < std::min(again.size(), first + count); ++k) gone[again[k]] = 1;
  }
  std::size_t k = 0;
  std::erase_if(steps, [&](int) { return gone[k++] != 0; });
}

// Moves one step to another place if the precedences allow it.
void RerunWalk::move_one(std::vector<int>& steps) {
  if (steps.size() < 2) return;
  const std::size_t from = draw(random_, steps.size());
  const std::size_t least = from - std::min(from, farthest_);
  const std::size_t most = std::min(steps.size() - 1, from + farthest_);
  const std::size_t to = least + draw(random_, most - least + 1);
  std::vector<int> moved = steps;
  const auto begin = moved.begin();
  const auto a = static_cast<std::ptrdiff_t>(from);
  const auto b = static_cast<std::ptrdiff_t>(to);
  if (a < b) {
    std::rotate(begin + a, begin + a + 1, begin + b + 1);
  } else {
    std::rotate(begin + b, begin + a, begin + a + 1);
  }
  if (evictions_.valid(moved)) steps = std::move(moved);
}

std::vector<int> RerunWalk::changed(const std::vector<int>& steps) {
  std::vector<int> other = steps;
  const std::uint64_t kind = draw(random_, 3);
  if (kind != 0) thin_out(other);
  if (kind != 1) move_one(other);
  return other;
}

std::int64_t RerunWalk::improve(std::vector<int>& steps, const Goal& goal, std::int64_t most,
                                const Budget& budget) {
  const std::int64_t before = evictions_.counted();
  Bytes peak = peak_of(table_, steps);
  Ms ms = evictions_.time_of(steps);
  while (evictions_.counted() - before < most && !budget.exhausted()) {
    if (!goal.time && peak <= std::max(goal.least, table_.at_start())) break;
    const Bytes capacity = goal.time ? goal.capacity : peak - 1;
    std::vector<int> other = changed(steps);
    if (!evictions_.relieve(other, capacity, budget, &random_)) continue;
    evictions_.drop_needless(other, capacity);
    const Bytes its = peak_of(table_, other);
    const Ms time = evictions_.time_of(other);
    if (goal.time ? std::pair(time, its) > std::pair(ms, peak) : its >= peak) continue;
    steps = std::move(other);
    peak = its;
    ms = time;
  }
  return evictions_.counted() - before;
}

}  // namespace stowage
