#include "heuristics/order/recompute/offload.h"

#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/order/memory/running_memory.h"

namespace stowage {
namespace {

// Adds `count`, which may be negative, to the steps of all intervals that begin at step `before` or
// later.
void shift(std::vector<OffloadInterval>& offload_intervals, std::int64_t before,
           std::int64_t count) {
  for (OffloadInterval& away : offload_intervals) {
    if (away.behind >= before) away.behind += count;
  }
}

}  // namespace

Offload::Offload(const OrderInstance& instance, const OrderTable& table,
                 const OrderHeuristicParams& params)
    : instance_(instance),
      table_(table),
      params_(params.offload),
      halvings_(params.eviction.halvings),
      channels_(instance, table),
      evictions_(table, params.eviction) {}

// If the objective is the peak, a layout is acceptable only if no run waits for a transfer.
bool Offload::good(const TransferChannels::Layout& layout) const {
  return layout.held && (timed() || layout.stall_ms <= 0);
}

// Returns the plan of these steps and of those intervals that are possible in them.
Offload::Choice Offload::laid(std::vector<int> steps,
                              std::vector<OffloadInterval> offload_intervals, Bytes capacity) {
  ++counted_;
  channels_.look_at(steps);
  std::erase_if(offload_intervals,
                [&](const OffloadInterval& away) { return !channels_.possible(away); });
  Choice choice{.steps = std::move(steps), .offload_intervals = std::move(offload_intervals)};
  choice.layout = channels_.lay(choice.offload_intervals, capacity, timed());
  return choice;
}

// Tries to offload or rematerialize each tensor that lives across the step, the largest tensors
// first.
void Offload::look_at(const Choice& now, std::int64_t step, Bytes capacity, By by,
                      std::mt19937_64* random, Choice& best) {
  channels_.look_at(now.steps);
  struct InTheWay {
    OffloadInterval away;
    std::int64_t before;
  };
  std::vector<InTheWay> all;
  for (int t = 0; t < table_.tensors(); ++t) {
    if (table_.size(t) == 0) continue;
    const std::int64_t behind = channels_.last_use_before(t, step);
    const OffloadInterval away{t, behind};
    if (behind == TransferChannels::kNone ||
        std::ranges::find(now.offload_intervals, away) != now.offload_intervals.end())
      continue;
    all.push_back({away, channels_.back_before(away)});
  }
  std::ranges::stable_sort(all, [&](const InTheWay& a, const InTheWay& b) {
    return table_.size(a.away.tensor) > table_.size(b.away.tensor);
  });
  if (std::ssize(all) > params_.tensors) all.resize(at(params_.tensors));
  const auto offer = [&](Choice choice) {
    const double gain = now.layout.excess - choice.layout.excess;
    if (gain <= 0 || !good(choice.layout)) return;
    const double blur = random == nullptr ? 1 : 0.5 + draw_unit(*random);
    const Ms cost = choice.layout.time_ms - now.layout.time_ms;
    choice.score = gain * blur;
    if (by != By::bytes) {
      constexpr Ms kFree = order_fixed::kFreeRun;
      choice.score /= std::max(cost, table_.work_ms() * kFree + kFree);
    }
    if (choice.score > best.score) best = std::move(choice);
  };
  for (const InTheWay& its : all) {
    if (by != By::cost_of_runs) {
      std::vector<OffloadInterval> offload_intervals = now.offload_intervals;
      offload_intervals.push_back(its.away);
      offer(laid(now.steps, std::move(offload_intervals), capacity));
    }
    for (const std::vector<int>& runs :
         evictions_.chains_to(now.steps, its.away.tensor, at(its.before))) {
      std::vector<OffloadInterval> shifted = now.offload_intervals;
      shift(shifted, its.before, std::ssize(runs));
      offer(laid(with_runs(now.steps, runs, at(its.before)), std::move(shifted), capacity));
    }
  }
}

bool Offload::relieve(Choice& now, Bytes capacity, By by, const Budget& budget,
                      std::mt19937_64* random) {
  while (now.layout.excess > 0 && !budget.exhausted()) {
    std::vector<std::int64_t> full;
    for (std::int64_t k = 0; k < std::ssize(now.steps); ++k) {
      if (now.layout.needs[at(k)] > capacity) full.push_back(k);
    }
    std::ranges::stable_sort(full, [&](std::int64_t a, std::int64_t b) {
      return now.layout.needs[at(a)] > now.layout.needs[at(b)];
    });
    if (std::ssize(full) > params_.steps) full.resize(at(params_.steps));
    Choice best;
    for (const std::int64_t step : full) {
      look_at(now, step, capacity, by, random, best);
      if (best.score > 0 || budget.exhausted()) break;
    }
    if (best.score <= 0) return false;
    now = std::move(best);
  }
  return now.layout.excess <= 0;
}

std::vector<std::size_t> Offload::runs_again(std::span<const int> steps) const {
  std::vector<char> ran(at(table_.operators()), 0);
  std::vector<std::size_t> again;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (ran[at(steps[k])] != 0) again.push_back(k);
    ran[at(steps[k])] = 1;
  }
  return again;
}

// Removes each repeated run and each interval without which the plan still fits and takes no more
// time.
void Offload::drop_needless(Choice& now, Bytes capacity) {
  const auto keep_if_good = [&](Choice other) {
    const bool better = good(other.layout) && other.layout.excess <= 0 &&
                        other.layout.time_ms <= now.layout.time_ms;
    if (better) now = std::move(other);
    return better;
  };
  std::vector<std::size_t> again = runs_again(now.steps);
  for (auto step = again.rbegin(); step != again.rend(); ++step) {
    std::vector<int> steps = now.steps;
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(*step));
    if (!evictions_.valid(steps)) continue;
    std::vector<OffloadInterval> offload_intervals = now.offload_intervals;
    std::erase_if(offload_intervals, [&](const OffloadInterval& away) {
      return away.behind == static_cast<std::int64_t>(*step);
    });
    shift(offload_intervals, static_cast<std::int64_t>(*step), -1);
    keep_if_good(laid(std::move(steps), std::move(offload_intervals), capacity));
  }
  for (std::size_t k = now.offload_intervals.size(); k-- > 0;) {
    std::vector<OffloadInterval> offload_intervals = now.offload_intervals;
    offload_intervals.erase(offload_intervals.begin() + static_cast<std::ptrdiff_t>(k));
    keep_if_good(laid(now.steps, std::move(offload_intervals), capacity));
    k = std::min(k, now.offload_intervals.size());
  }
}

OffloadPlan Offload::plan_of(Choice&& now) const {
  OffloadPlan plan{.steps = std::move(now.steps),
                   .offload_intervals = std::move(now.offload_intervals),
                   .transfers = std::move(now.layout.transfers),
                   .time_ms = now.layout.time_ms,
                   .peak = table_.at_start()};
  for (const Bytes need : now.layout.needs) plan.peak = std::max(plan.peak, need);
  return plan;
}

std::optional<OffloadPlan> Offload::within(std::span<const int> steps, Bytes capacity,
                                           const Budget& budget) {
  if (table_.at_start() > capacity) return std::nullopt;
  std::optional<OffloadPlan> best;
  for (const By by : {By::cost, By::bytes}) {
    Choice now = laid({steps.begin(), steps.end()}, {}, capacity);
    if (!relieve(now, capacity, by, budget, nullptr)) continue;
    drop_needless(now, capacity);
    if (!best || now.layout.time_ms < best->time_ms) best = plan_of(std::move(now));
    if (!timed()) break;
  }
  return best;
}

OffloadPlan Offload::lowest(std::span<const int> steps, Bytes goal, const Budget& budget) {
  OffloadPlan best = plan_of(laid({steps.begin(), steps.end()}, {}, kMaxExact));
  Bytes low = std::max(goal, table_.at_start());
  Bytes capacity = low;
  for (int k = 0; k < halvings_ && low < best.peak && !budget.exhausted(); ++k) {
    if (auto plan = within(steps, capacity, budget)) {
      best = *std::move(plan);
    } else {
      low = capacity + 1;
    }
    capacity = low + (best.peak - low) / 2;
  }
  return best;
}

std::optional<OffloadPlan> Offload::with_runs_again(std::span<const int> steps,
                                                    std::vector<OffloadInterval> offload_intervals,
                                                    Bytes capacity, const Budget& budget) {
  if (!timed()) {
    // Tensors leave as early and come back as late as possible while no run waits.
    Choice now = laid({steps.begin(), steps.end()}, std::move(offload_intervals), 0);
    if (!good(now.layout)) return std::nullopt;
    OffloadPlan plan = plan_of(std::move(now));
    return plan.peak > capacity ? std::nullopt : std::optional(std::move(plan));
  }
  Choice now = laid({steps.begin(), steps.end()}, std::move(offload_intervals), capacity);
  if (!good(now.layout) || !relieve(now, capacity, By::cost_of_runs, budget, nullptr)) {
    return std::nullopt;
  }
  return plan_of(std::move(now));
}

// Removes a random part of the intervals and of the repeated runs.
void Offload::thin_out(Choice& now, std::mt19937_64& random) const {
  const bool many = draw(random, 3) == 0;
  const auto goes = [&](std::size_t count) {
    return many ? draw(random, 2) == 0 : draw(random, count) < 2;
  };
  const std::size_t count = now.offload_intervals.size();
  std::erase_if(now.offload_intervals, [&](const OffloadInterval&) { return goes(count); });
  const std::vector<std::size_t> again = runs_again(now.steps);
  for (auto step = again.rbegin(); step != again.rend(); ++step) {
    if (!goes(again.size())) continue;
    now.steps.erase(now.steps.begin() + static_cast<std::ptrdiff_t>(*step));
    std::erase_if(now.offload_intervals, [&](const OffloadInterval& away) {
      return away.behind == static_cast<std::int64_t>(*step);
    });
    shift(now.offload_intervals, static_cast<std::int64_t>(*step), -1);
  }
}

std::int64_t Offload::improve(OffloadPlan& plan, Bytes capacity, std::int64_t most,
                              std::uint64_t seed, const Budget& budget) {
  std::mt19937_64 random(seed);
  const std::int64_t before = counted_;
  while (counted_ - before < most && !budget.exhausted()) {
    if (!timed() && plan.peak <= table_.at_start()) break;
    const Bytes most_bytes = timed() ? capacity : plan.peak - 1;
    Choice other{.steps = plan.steps, .offload_intervals = plan.offload_intervals};
    thin_out(other, random);
    other = laid(std::move(other.steps), std::move(other.offload_intervals), most_bytes);
    if (!evictions_.valid(other.steps) || !good(other.layout)) continue;
    const By by = draw(random, 3) == 0 ? By::bytes : By::cost;
    if (!relieve(other, most_bytes, by, budget, &random)) continue;
    drop_needless(other, most_bytes);
    OffloadPlan its = plan_of(std::move(other));
    if (timed() ? std::pair(its.time_ms, its.peak) < std::pair(plan.time_ms, plan.peak)
                : its.peak < plan.peak) {
      plan = std::move(its);
    }
  }
  return counted_ - before;
}

}  // namespace stowage
