#include "formulations/order/swap.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/order/memory/running_memory.h"

namespace stowage {
namespace {

// A tensor that is used before and after the peak, but not at it.
struct Saved {
  int tensor = 0;
  std::int64_t made = 0;
  std::int64_t behind = 0;  // step of the last use before the peak
  // Step of the first use after the peak; the number of steps if it has no later use.
  std::int64_t before = 0;
};

std::vector<Saved> saved_across(const OrderTable& table, std::span<const int> order,
                                std::int64_t peak) {
  const auto steps = static_cast<std::int64_t>(order.size());
  std::vector<std::int64_t> step_of(order.size());
  for (std::int64_t k = 0; k < steps; ++k) step_of[at(order[at(k)])] = k;
  std::vector<Saved> all;
  for (int t = 0; t < table.tensors(); ++t) {
    const int writer = table.producer(t);
    if (writer == OrderTable::kNobody || table.size(t) == 0) continue;
    Saved saved{t, step_of[at(writer)], step_of[at(writer)], steps};
    if (saved.made >= peak) continue;
    bool at_peak = false;
    for (const int op : table.touchers(t)) {
      const std::int64_t step = step_of[at(op)];
      at_peak = at_peak || step == peak;
      if (step < peak) saved.behind = std::max(saved.behind, step);
      if (step > peak) saved.before = std::min(saved.before, step);
    }
    const bool needed = saved.before < steps || table.stays(t);
    if (needed && !at_peak && peak < std::min(saved.before, steps - 1)) all.push_back(saved);
  }
  std::ranges::stable_sort(all, {}, &Saved::made);
  return all;
}

}  // namespace

SwapLp build_swap_lp(const OrderTable& table, std::span<const int> order) {
  SwapLp lp;
  if (order.empty()) return lp;
  const std::vector<Bytes> needs = needs_of(table, order);
  const auto peak = static_cast<std::int64_t>(std::ranges::max_element(needs) - needs.begin());
  const std::vector<Saved> saved = saved_across(table, order, peak);
  if (saved.size() > kMaxSwapTensors) {
    for (const Saved& its : saved) lp.tensors.push_back(its.tensor);
  }
  if (saved.empty() || saved.size() > kMaxSwapTensors) return lp;
  std::vector<Ms> begins = {0};
  for (const int op : order) begins.push_back(begins.back() + table.ms(op));
  // The unit is the largest tensor. Otherwise the coefficients would exceed the solvers' range.
  double unit = 1;
  Ms all_ms = 0;
  for (const Saved& its : saved) {
    unit = std::max(unit, static_cast<double>(table.size(its.tensor)));
    all_ms += table.ms(table.producer(its.tensor));
  }
  std::vector<milp::Term> terms;
  for (const Saved& its : saved) {
    const int fraction =
        lp.model.add_variable({.name = "alpha_" + std::to_string(its.tensor),
                               .upper = 1,
                               .objective = -table.ms(table.producer(its.tensor))});
    lp.tensors.push_back(its.tensor);
    lp.behind.push_back(its.behind);
    lp.fraction.push_back(fraction);
    terms.push_back({fraction, static_cast<double>(table.size(its.tensor)) / unit});
  }
  lp.model.set_offset(all_ms);
  // M1: the tensors made up to here are sent before the next one is made, and the last ones before
  // the peak.
  for (std::size_t k = 0; k < saved.size(); ++k) {
    const bool last = k + 1 == saved.size();
    if (!last && saved[k + 1].made == saved[k].made) continue;
    const Ms end = last ? begins[at(peak)] : begins[at(saved[k + 1].made + 1)];
    const Ms time = end - begins[at(saved.front().made + 1)];
    lp.model.add_row(
        {.name = "M1_" + std::to_string(k),
         .upper = std::max(0.0, time) * table.host()->out_bytes_per_ms / unit,
         .terms = {terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(k) + 1}});
  }
  // M2: the tensors needed up to here are fetched by then.
  std::vector<std::size_t> by_use(saved.size());
  for (std::size_t k = 0; k < by_use.size(); ++k) by_use[k] = k;
  std::ranges::stable_sort(by_use, {}, [&](std::size_t k) { return saved[k].before; });
  std::vector<milp::Term> back;
  for (std::size_t k = 0; k < by_use.size(); ++k) {
    back.push_back(terms[by_use[k]]);
    const std::int64_t use = saved[by_use[k]].before;
    if (k + 1 < by_use.size() && saved[by_use[k + 1]].before == use) continue;
    const Ms time = begins[at(use)] - begins[at(peak + 1)];
    lp.model.add_row({.name = "M2_" + std::to_string(k),
                      .upper = time * table.host()->in_bytes_per_ms / unit,
                      .terms = back});
  }
  if (table.host()->capacity) {
    lp.model.add_row({.name = "M3",
                      .upper = static_cast<double>(*table.host()->capacity) / unit,
                      .terms = std::move(terms)});
  }
  return lp;
}

}  // namespace stowage
