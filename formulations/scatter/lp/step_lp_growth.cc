// Adds the rows and columns that a solution of ScatterStepLp violates.
#include <algorithm>
#include <cmath>
#include <utility>

#include "formulations/scatter/lp/step_lp.h"
#include "formulations/scatter/packing.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Rows are added if they are violated by more than this, columns if they gain more than kGain.
constexpr double kBroken = 1e-5;
constexpr double kGain = 1e-4;         // ms per group
constexpr std::int64_t kMaxSteps = 8;  // largest parameter of the first family of packing rows

// Returns the value of a variable, 0 if it was added after the solution.
double value_of(std::span<const double> values, int variable) {
  return at(variable) < values.size() ? values[at(variable)] : 0;
}

}  // namespace

int ScatterStepLp::add_rows(std::span<const double> values) {
  const int before = static_cast<int>(model_.rows().size());
  for (int i = 0; i < intervals(); ++i) {
    for (int w = 0; w < modes(); ++w) {
      const int high = high_[strip(i, w)];
      const double batches = values[at(low_[strip(i, w)])] + (high >= 0 ? values[at(high)] : 0);
      for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
        if (link_row_[strip(i, w)][at(k)] >= 0) continue;
        const StepItem& it = items_[at(k)];
        if (it.first != it.last) continue;
        double shares = 0;
        for (int d = 0; d < configs(); ++d) {
          const int share = cell(i, d).share[at(k)];
          if (share >= 0 && table_->mode(d) == w) shares += value_of(values, share);
        }
        if (shares > it.count * batches + kBroken) add_link(i, w, k);
      }
    }
    for (int d = 0; d < configs(); ++d) {
      if (cell(i, d).groups_low < 0) continue;
      separate(i, d, Resource::tokens, values);
      if (i + 1 < intervals()) separate(i, d, Resource::time, values);
    }
  }
  return static_cast<int>(model_.rows().size()) - before;
}

void ScatterStepLp::add_link(int interval, int mode, int item) {
  const double count = items_[at(item)].count;
  const std::size_t own = strip(interval, mode);
  std::vector<milp::Term> terms{{low_[own], count}};
  if (high_[own] >= 0) terms.push_back({high_[own], count});
  for (int d = 0; d < configs(); ++d) {
    const int share = cell(interval, d).share[at(item)];
    if (share >= 0 && table_->mode(d) == mode) terms.push_back({share, -1});
  }
  link_row_[own][at(item)] = add_row(0, std::move(terms));
}

void ScatterStepLp::add_packing(int interval, int config, const PackingPrice& what) {
  Cell& here = cell(interval, config);
  std::vector<milp::Term> terms{{here.groups_low, 1}};
  if (here.groups_high >= 0) terms.push_back({here.groups_high, 1});
  for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
    const int share = here.share[at(k)];
    if (share < 0) continue;
    const double value = packed(what, k, config, interval);
    if (value > 0) terms.push_back({share, -value});
  }
  here.packing.push_back({what, add_row(0, std::move(terms))});
}

// Appends the most violated packing row of this cell and resource. Returns false if no row is
// violated.
bool ScatterStepLp::separate(int interval, int config, Resource resource,
                             std::span<const double> values) {
  Cell& here = cell(interval, config);
  std::vector<std::pair<int, double>> present;  // item and share
  for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
    const int share = here.share[at(k)];
    if (share >= 0 && value_of(values, share) > 1e-9)
      present.emplace_back(k, value_of(values, share));
  }
  if (present.empty()) return false;
  const double groups =
      values[at(here.groups_low)] + (here.groups_high >= 0 ? values[at(here.groups_high)] : 0);
  PackingPrice best;
  double most = kBroken;
  const auto consider = [&](const PackingPrice& what) {
    double broken = -groups;
    for (const auto& [k, share] : present) broken += share * packed(what, k, config, interval);
    if (broken > most) {
      most = broken;
      best = what;
    }
  };
  for (std::int64_t steps = 1; steps <= kMaxSteps; ++steps) {
    consider({.resource = resource, .steps = steps});
  }
  const double all = resource == Resource::time
                         ? room(interval, config)
                         : static_cast<double>(table_->configs()[at(config)].capacity);
  for (const auto& [k, share] : present) {
    const double amount =
        resource == Resource::time ? items_[at(k)].cost[at(config)] : held(k, config);
    // Thresholds just above which this sequence counts 0, and from which it counts 1.
    for (const double threshold : {std::floor(amount * (1 - 1e-8)), std::floor(all - amount) + 1}) {
      if (threshold > 0 && threshold * 2 <= all) {
        consider({.resource = resource, .threshold = threshold});
      }
    }
  }
  if (most <= kBroken) return false;
  add_packing(interval, config, best);
  return true;
}

int ScatterStepLp::add_columns(std::span<const double> duals) {
  const int before = static_cast<int>(model_.variables().size());
  for (int i = 0; i < intervals(); ++i) {
    for (int d = 0; d < configs(); ++d) {
      const Cell& here = cell(i, d);
      if (here.groups_low < 0) continue;
      const auto capacity = static_cast<double>(table_->configs()[at(d)].capacity);
      for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
        if (here.share[at(k)] >= 0 || !allowed(k, d, i)) continue;
        const StepItem& it = items_[at(k)];
        double price = duals[at(here.token_row)] * held(k, d) / capacity;
        if (here.time_row >= 0) price += duals[at(here.time_row)] * it.cost[at(d)] / room(i, d);
        const int link = link_row_[strip(i, table_->mode(d))][at(k)];
        if (link >= 0) price += duals[at(link)];
        for (const Cell::Packing& packing : here.packing) {
          price += duals[at(packing.row)] * packed(packing.what, k, d, i);
        }
        if (duals[at(cover_row_[at(k)])] - price > kGain) add_share(i, d, k);
      }
    }
  }
  return static_cast<int>(model_.variables().size()) - before;
}

}  // namespace stowage
