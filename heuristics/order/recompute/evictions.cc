#include "heuristics/order/recompute/evictions.h"

#include <algorithm>

#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/order/memory/running_memory.h"

namespace stowage {

std::vector<int> with_runs(std::span<const int> steps, std::span<const int> runs,
                           std::size_t before) {
  std::vector<int> all(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(before));
  all.insert(all.end(), runs.begin(), runs.end());
  all.insert(all.end(), steps.begin() + static_cast<std::ptrdiff_t>(before), steps.end());
  return all;
}

Evictions::Evictions(const OrderTable& table, const EvictionParams& params, Ms longest_ms)
    : table_(table),
      params_(params),
      longest_ms_(longest_ms),
      uses_(at(table.tensors())),
      first_run_(at(table.operators())),
      needed_(at(table.tensors())) {}

Ms Evictions::time_of(std::span<const int> steps) const {
  Ms ms = 0;
  for (const int op : steps) ms += table_.ms(op);
  return ms;
}

bool Evictions::valid(std::span<const int> steps) const {
  std::vector<char> ran(at(table_.operators()), 0);
  for (const int op : steps) {
    const auto has_run = [&](int other) { return ran[at(other)] != 0; };
    if (has_run(op)) {
      if (!table_.may_rerun(op) || std::ranges::any_of(table_.closed_by(op), has_run)) return false;
      continue;
    }
    if (!std::ranges::all_of(table_.before(op), has_run)) return false;
    ran[at(op)] = 1;
  }
  return true;
}

// Computes the same needs as needs_of(), but keeps only their excess.
Evictions::Excess Evictions::excess_of(std::span<const int> steps, Bytes capacity) {
  ++counted_;
  Excess excess;
  Bytes live = table_.at_end();
  for (int t = 0; t < table_.tensors(); ++t) needed_[at(t)] = table_.stays(t) ? 1 : 0;
  for (std::size_t k = steps.size(); k-- > 0;) {
    const int op = steps[k];
    for (const int t : table_.written(op)) {
      if (needed_[at(t)] != 0) live -= table_.size(t);
      needed_[at(t)] = 0;
    }
    for (const int t : table_.touched(op)) {
      if (needed_[at(t)] == 0) live += table_.size(t);
      needed_[at(t)] = 1;
    }
    const Bytes need = live + table_.need(op);
    if (need >= excess.peak) {
      excess.peak = need;
      excess.worst = k;
    }
    if (need > capacity) excess.bytes += static_cast<double>(need - capacity);
  }
  return excess;
}

void Evictions::list_uses(std::span<const int> steps) {
  for (std::vector<Use>& uses : uses_) uses.clear();
  std::ranges::fill(first_run_, steps.size());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    first_run_[at(steps[k])] = std::min(first_run_[at(steps[k])], k);
    for (const int t : table_.written(steps[k])) uses_[at(t)].push_back({k, true});
    for (const int t : table_.touched(steps[k])) uses_[at(t)].push_back({k, false});
  }
}

// Returns true if the tensor is in memory before the step because that step or a later one uses it.
bool Evictions::alive_at(int tensor, std::size_t step) const {
  const std::vector<Use>& uses = uses_[at(tensor)];
  const auto next = std::ranges::lower_bound(uses, step, {}, &Use::step);
  return next == uses.end() ? table_.stays(tensor) : !next->writes;
}

bool Evictions::may_run_at(int op, std::size_t step) const {
  return may_run_again(op) && std::ranges::none_of(table_.closed_by(op), [&](int update) {
           return first_run_[at(update)] < step;
         });
}

// Appends the operators that must run again before the step so that `op` can run there, then `op`.
void Evictions::chain_to(int op, std::size_t step, int depth, std::vector<int>& runs) const {
  if (std::ranges::find(runs, op) != runs.end()) return;
  if (depth > 0) {
    for (const int t : table_.touched(op)) {
      const int writer = table_.producer(t);
      if (writer == OrderTable::kNobody || alive_at(t, step) || !may_run_at(writer, step)) continue;
      chain_to(writer, step, depth - 1, runs);
    }
  }
  runs.push_back(op);
}

std::vector<std::vector<int>> Evictions::chains_to(std::span<const int> steps, int tensor,
                                                   std::size_t before) {
  std::vector<std::vector<int>> all;
  const int writer = table_.producer(tensor);
  if (writer == OrderTable::kNobody || !may_run_again(writer)) return all;
  list_uses(steps);
  if (!may_run_at(writer, before)) return all;
  for (int depth = 0; depth <= params_.depth; ++depth) {
    std::vector<int> runs;
    chain_to(writer, before, depth, runs);
    if (!all.empty() && runs == all.back()) break;
    all.push_back(std::move(runs));
  }
  return all;
}

void Evictions::try_drops(const std::vector<int>& steps, int tensor, std::size_t before,
                          Bytes capacity, const Excess& now, double blur, Drop& best) {
  std::vector<int> runs_before;
  for (int depth = 0; depth <= params_.depth; ++depth) {
    std::vector<int> runs;
    chain_to(table_.producer(tensor), before, depth, runs);
    if (runs == runs_before) break;
    const Excess left = excess_of(with_runs(steps, runs, before), capacity);
    const double gain = now.bytes - left.bytes;
    // If all times are zero, the cost is the number of runs.
    const double cost = table_.work_ms() > 0
                            ? time_of(runs) + table_.work_ms() * order_fixed::kFreeRun *
                                                  static_cast<double>(runs.size())
                            : static_cast<double>(runs.size());
    const double score = gain / cost * blur;
    if (gain > 0 && score > best.score) best = {runs, before, score, left};
    runs_before = std::move(runs);
  }
}

// Returns the tensors that live across the step without being touched there, each with the step
// before which it must be made again. Tensors with the most bytes per time of their writer come
// first.
std::vector<std::pair<int, std::size_t>> Evictions::in_the_way(std::span<const int> steps,
                                                               std::size_t worst,
                                                               std::size_t most) const {
  std::vector<std::pair<int, std::size_t>> all;
  for (int t = 0; t < table_.tensors(); ++t) {
    const std::vector<Use>& uses = uses_[at(t)];
    const int writer = table_.producer(t);
    if (writer == OrderTable::kNobody || table_.size(t) == 0) continue;
    const auto next = std::ranges::lower_bound(uses, worst, {}, &Use::step);
    if (next == uses.begin()) continue;  // the tensor is not in memory yet
    const bool to_the_end = next == uses.end();
    if (to_the_end ? !table_.stays(t) : next->writes || next->step == worst) continue;
    const std::size_t before = to_the_end ? steps.size() : next->step;
    if (may_run_at(writer, before)) all.emplace_back(t, before);
  }
  const auto worth = [this](const std::pair<int, std::size_t>& drop) {
    const Ms ms = table_.ms(table_.producer(drop.first));
    return static_cast<double>(table_.size(drop.first)) /
           std::max(ms, table_.work_ms() * order_fixed::kFreeRun);
  };
  if (all.size() > most) {
    if (table_.work_ms() > 0) {
      std::ranges::stable_sort(all,
                               [&](const auto& a, const auto& b) { return worth(a) > worth(b); });
    }
    all.resize(most);
  }
  return all;
}

// Returns the steps above the capacity, those with the largest needs first, at most params_.steps.
std::vector<std::size_t> Evictions::worst_steps(std::span<const int> steps, Bytes capacity) const {
  const std::vector<Bytes> needs = needs_of(table_, steps);
  std::vector<std::size_t> above;
  for (std::size_t k = 0; k < needs.size(); ++k) {
    if (needs[k] > capacity) above.push_back(k);
  }
  std::ranges::stable_sort(above,
                           [&](std::size_t a, std::size_t b) { return needs[a] > needs[b]; });
  if (std::ssize(above) > params_.steps) above.resize(at(params_.steps));
  return above;
}

bool Evictions::relieve(std::vector<int>& steps, Bytes capacity, const Budget& budget,
                        std::mt19937_64* random) {
  Excess now = excess_of(steps, capacity);
  while (now.bytes > 0 && !budget.exhausted()) {
    list_uses(steps);
    Drop best;
    const auto look_at = [&](std::size_t step, std::size_t most) {
      for (const auto& [tensor, before] : in_the_way(steps, step, most)) {
        const double blur = random == nullptr ? 1 : 0.5 + draw_unit(*random);
        try_drops(steps, tensor, before, capacity, now, blur, best);
      }
    };
    look_at(now.worst, at(params_.tensors));
    if (best.runs.empty()) {
      for (const std::size_t step : worst_steps(steps, capacity)) {
        if (!best.runs.empty() || budget.exhausted()) break;
        look_at(step, at(table_.tensors()));
      }
    }
    if (best.runs.empty()) return false;
    steps = with_runs(steps, best.runs, best.before);
    now = best.left;
  }
  return now.bytes <= 0;
}

void Evictions::drop_needless(std::vector<int>& steps, Bytes capacity) {
  std::vector<char> ran(at(table_.operators()), 0);
  std::vector<std::size_t> again;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (ran[at(steps[k])] != 0) again.push_back(k);
    ran[at(steps[k])] = 1;
  }
  std::ranges::stable_sort(again, [&](std::size_t a, std::size_t b) {
    return table_.ms(steps[a]) > table_.ms(steps[b]);
  });
  std::vector<char> gone(steps.size(), 0);
  const auto kept = [&] {
    std::vector<int> left;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (gone[k] == 0) left.push_back(steps[k]);
    }
    return left;
  };
  for (const std::size_t k : again) {
    gone[k] = 1;
    if (excess_of(kept(), capacity).bytes > 0) gone[k] = 0;
  }
  steps = kept();
}

}  // namespace stowage
