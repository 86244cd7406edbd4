#include "formulations/scatter/lp/step_lp.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "formulations/scatter/packing.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

// Largest area of an initial column, per least area of its sequence.
constexpr double kWasteful = 2.6;

}  // namespace

ScatterStepLp::ScatterStepLp(const ScatterTable& table, std::vector<StepItem> items,
                             std::vector<Ms> grid, std::int64_t fewest,
                             std::vector<std::size_t> present)
    : table_(&table),
      items_(std::move(items)),
      grid_(std::move(grid)),
      fewest_(fewest),
      present_(std::move(present)) {
  for (const StepItem& item : items_) cover_row_.push_back(add_row(item.count, {}));
  count_row_ = add_row(static_cast<double>(fewest), {});
  const auto devices = static_cast<double>(table_->devices());
  cells_.resize(grid_.size() * table_->configs().size());
  for (int i = 0; i < intervals(); ++i) {
    const bool endless = i + 1 == intervals();
    for (int w = 0; w < modes(); ++w) {
      low_.push_back(add_column(grid_[at(i)]));
      low_row_.push_back(add_row(0, {{low_.back(), devices}}));
      high_.push_back(endless ? -1 : add_column(grid_[at(i) + 1]));
      high_row_.push_back(endless ? -1 : add_row(0, {{high_.back(), devices}}));
      link_row_.emplace_back(items_.size(), -1);
      model_.add_term(count_row_, {low_.back(), 1});
      if (!endless) model_.add_term(count_row_, {high_.back(), 1});
    }
    for (int d = 0; d < configs(); ++d) {
      Cell& here = cell(i, d);
      here.share.assign(items_.size(), -1);
      const GroupConfig& config = table_->configs()[at(d)];
      const std::size_t own = strip(i, table_->mode(d));
      bool used = false;
      for (int k = 0; k < static_cast<int>(items_.size()); ++k) used = used || allowed(k, d, i);
      if (!used) continue;
      here.groups_low = add_column(0);
      model_.add_term(low_row_[own], {here.groups_low, -config.weighted_devices});
      std::vector<milp::Term> token_terms{{here.groups_low, 1}};
      std::vector<milp::Term> time_terms;
      if (!endless) {
        here.groups_high = add_column(0);
        model_.add_term(high_row_[own], {here.groups_high, -config.weighted_devices});
        token_terms.push_back({here.groups_high, 1});
        time_terms = {{here.groups_low, (grid_[at(i)] - config.overhead) / room(i, d)},
                      {here.groups_high, 1}};
        here.time_row = add_row(0, std::move(time_terms));
      }
      here.token_row = add_row(0, std::move(token_terms));
    }
    for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
      double least = kInfinity;
      const auto area = [&](int d) {
        return table_->configs()[at(d)].weighted_devices * items_[at(k)].cost[at(d)];
      };
      for (int d = 0; d < configs(); ++d) {
        if (allowed(k, d, i)) least = std::min(least, area(d));
      }
      for (int d = 0; d < configs(); ++d) {
        if (allowed(k, d, i) && area(d) <= least * kWasteful) add_share(i, d, k);
      }
    }
  }
}

ScatterStepLp ScatterStepLp::on_finer_grid(std::vector<Ms> grid, std::span<const double> duals,
                                           Origin& origin) const {
  ScatterStepLp finer(*table_, items_, std::move(grid), fewest_, present_);
  for (std::size_t c = 0; c < conditions_.size(); ++c) {
    finer.add_condition(conditions_[c], penalty_[c]);
  }
  // Rows added after the solution have no price.
  const auto priced = [&](int row) {
    return row >= 0 && at(row) < duals.size() && duals[at(row)] > 0;
  };
  std::vector<std::pair<int, int>> same_variable;  // indices in this LP and in the finer one
  std::vector<std::pair<int, int>> same_row;
  int old = 0;
  for (int i = 0; i < finer.intervals(); ++i) {
    while (old + 1 < intervals() && grid_[at(old) + 1] <= finer.grid_[at(i)]) ++old;
    for (int w = 0; w < modes(); ++w) {
      for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
        if (priced(link_row_[strip(old, w)][at(k)])) finer.add_link(i, w, k);
      }
    }
    for (int d = 0; d < configs(); ++d) {
      const Cell& from = cell(old, d);
      if (finer.cell(i, d).groups_low < 0) continue;
      for (const Cell::Packing& packing : from.packing) {
        if (!priced(packing.row)) continue;
        if (packing.what.resource == Resource::time &&
            (i + 1 == finer.intervals() || packing.what.threshold * 2 > finer.room(i, d))) {
          continue;
        }
        finer.add_packing(i, d, packing.what);
      }
    }
    // The last part of a split interval takes the interval's place in the basis.
    const bool last = i + 1 == finer.intervals() || old + 1 == intervals() ||
                      finer.grid_[at(i) + 1] == grid_[at(old) + 1];
    if (!last) continue;
    for (int w = 0; w < modes(); ++w) {
      const std::size_t here = strip(old, w);
      const std::size_t there = strip(i, w);
      same_variable.emplace_back(low_[here], finer.low_[there]);
      same_variable.emplace_back(high_[here], finer.high_[there]);
      same_row.emplace_back(low_row_[here], finer.low_row_[there]);
      same_row.emplace_back(high_row_[here], finer.high_row_[there]);
      for (std::size_t k = 0; k < items_.size(); ++k) {
        same_row.emplace_back(link_row_[here][k], finer.link_row_[there][k]);
      }
    }
    for (int d = 0; d < configs(); ++d) {
      const Cell& from = cell(old, d);
      const Cell& to = finer.cell(i, d);
      same_variable.emplace_back(from.groups_low, to.groups_low);
      same_variable.emplace_back(from.groups_high, to.groups_high);
      same_row.emplace_back(from.time_row, to.time_row);
      same_row.emplace_back(from.token_row, to.token_row);
      for (std::size_t k = 0; k < items_.size(); ++k) {
        same_variable.emplace_back(from.share[k], to.share[k]);
      }
      std::size_t next = 0;
      for (const Cell::Packing& packing : from.packing) {
        if (next < to.packing.size() && priced(packing.row)) {
          same_row.emplace_back(packing.row, to.packing[next++].row);
        }
      }
    }
  }
  for (std::size_t k = 0; k < items_.size(); ++k) {
    same_row.emplace_back(cover_row_[k], finer.cover_row_[k]);
  }
  same_row.emplace_back(count_row_, finer.count_row_);
  for (std::size_t c = 0; c < conditions_.size(); ++c) {
    same_row.emplace_back(condition_row_[c], finer.condition_row_[c]);
  }
  origin.variable.assign(finer.model_.variables().size(), -1);
  origin.row.assign(finer.model_.rows().size(), -1);
  for (const auto& [from, to] : same_variable) {
    if (from >= 0 && to >= 0) origin.variable[at(to)] = from;
  }
  for (const auto& [from, to] : same_row) {
    if (from >= 0 && to >= 0) origin.row[at(to)] = from;
  }
  return finer;
}

// Prices of the first basis: the least overhead for a micro-batch, and the makespan beyond it for
// the devices. A device's price goes to the time of groups or, in the last interval, to their
// tokens.
std::vector<std::pair<int, int>> ScatterStepLp::first_basis() const {
  std::vector<std::pair<int, int>> basis{{low_[0], count_row_}};
  std::vector<double> least(items_.size(), kInfinity);
  std::vector<int> share(items_.size(), -1);
  for (int i = 0; i < intervals(); ++i) {
    const bool endless = i + 1 == intervals();
    for (int w = 0; w < modes(); ++w) {
      const std::size_t own = strip(i, w);
      if (own > 0) basis.emplace_back(low_[own], low_row_[own]);
      if (!endless) basis.emplace_back(high_[own], high_row_[own]);
    }
    const double low = grid_[at(i)] - grid_[0];
    for (int d = 0; d < configs(); ++d) {
      const Cell& here = cell(i, d);
      if (here.groups_low < 0) continue;
      const GroupConfig& config = table_->configs()[at(d)];
      double time = 0;  // price of a ms, and of a token
      double token = 0;
      if (endless) {
        token = config.weighted_devices * low / static_cast<double>(config.capacity);
        basis.emplace_back(here.groups_low, here.token_row);
      } else {
        time = config.weighted_devices * (grid_[at(i) + 1] - grid_[0]) / room(i, d);
        const double from_low = config.weighted_devices * low / (grid_[at(i)] - config.overhead);
        const bool by_low = grid_[at(i)] > config.overhead && from_low < time;
        if (by_low) time = from_low;
        basis.emplace_back(by_low ? here.groups_low : here.groups_high, here.time_row);
      }
      for (std::size_t k = 0; k < items_.size(); ++k) {
        if (here.share[k] < 0) continue;
        const double price = time * items_[k].cost[at(d)] + token * held(static_cast<int>(k), d);
        if (price >= least[k]) continue;
        least[k] = price;
        share[k] = here.share[k];
      }
    }
  }
  for (std::size_t k = 0; k < items_.size(); ++k) {
    if (share[k] >= 0) basis.emplace_back(share[k], cover_row_[k]);
  }
  return basis;
}

void ScatterStepLp::add_condition(const StepCondition& condition, double penalty) {
  const double sign = condition.at_least ? 1 : -1;
  const int row = add_row(sign * static_cast<double>(condition.count), {});
  for (int i = 0; i < intervals(); ++i) {
    const bool endless = i + 1 == intervals();
    const bool applies = condition.at_least ? endless || grid_[at(i) + 1] > condition.from
                                            : grid_[at(i)] >= condition.from;
    if (!applies) continue;
    for (int w = 0; w < modes(); ++w) {
      model_.add_term(row, {low_[strip(i, w)], sign});
      if (!endless) model_.add_term(row, {high_[strip(i, w)], sign});
    }
  }
  if (!condition.at_least) model_.add_term(row, {add_column(penalty), 1});
  conditions_.push_back(condition);
  condition_row_.push_back(row);
  penalty_.push_back(penalty);
}

int ScatterStepLp::add_column(double objective) {
  return model_.add_variable({.objective = objective});
}

int ScatterStepLp::add_row(double lower, std::vector<milp::Term> terms) {
  return model_.add_row({.lower = lower, .terms = std::move(terms)});
}

double ScatterStepLp::room(int interval, int config) const {
  if (interval + 1 == intervals()) return kInfinity;
  return grid_[at(interval) + 1] - table_->configs()[at(config)].overhead;
}

double ScatterStepLp::held(int item, int config) const {
  return items_[at(item)].tokens[at(config)] +
         static_cast<double>(table_->configs()[at(config)].sequence_tokens);
}

bool ScatterStepLp::allowed(int item, int config, int interval) const {
  const StepItem& it = items_[at(item)];
  const bool all = present_.size() == table_->configs().size();
  if (!all && !std::ranges::binary_search(present_, at(config))) return false;
  if (table_->kinds()[at(it.first)].length > table_->configs()[at(config)].longest) return false;
  const double left = room(interval, config);
  return left > 0 && table_->kind_cost(it.first, config) <= left * kBoundFits;
}

double ScatterStepLp::packed(const PackingPrice& what, int item, int config, int interval) const {
  const StepItem& it = items_[at(item)];
  const bool time = what.resource == Resource::time;
  const double all =
      time ? room(interval, config) : static_cast<double>(table_->configs()[at(config)].capacity);
  double sum = 0;
  for (int kind = it.first; kind <= it.last; ++kind) {
    const DistinctLength& k = table_->kinds()[at(kind)];
    const GroupConfig& group = table_->configs()[at(config)];
    const Tokens tokens = group.padded(k.length) + group.sequence_tokens;
    const double amount = time ? table_->kind_cost(kind, config) : static_cast<double>(tokens);
    sum += k.count * packing_value(what, amount, all);
  }
  return sum / it.count;
}

void ScatterStepLp::add_share(int interval, int config, int item) {
  Cell& here = cell(interval, config);
  const StepItem& it = items_[at(item)];
  const int share = here.share[at(item)] = add_column(0);
  const auto in_row = [&](int row, double factor) {
    if (row >= 0 && factor != 0) model_.add_term(row, {share, factor});
  };
  in_row(cover_row_[at(item)], 1);
  if (here.time_row >= 0) in_row(here.time_row, -it.cost[at(config)] / room(interval, config));
  in_row(here.token_row,
         -held(item, config) / static_cast<double>(table_->configs()[at(config)].capacity));
  in_row(link_row_[strip(interval, table_->mode(config))][at(item)], -1);
  for (const Cell::Packing& packing : here.packing) {
    in_row(packing.row, -packed(packing.what, item, config, interval));
  }
}

CertificateLeaf ScatterStepLp::prices(std::span<const double> duals) const {
  const auto dual = [&](int row) { return row < 0 ? 0.0 : std::max(0.0, duals[at(row)]); };
  CertificateLeaf leaf{.micro_batch = dual(count_row_)};
  for (const int row : condition_row_) leaf.conditions.push_back(dual(row));
  leaf.values.assign(table_->kinds().size(), 0);
  for (std::size_t k = 0; k < items_.size(); ++k) {
    if (items_[k].first == items_[k].last) leaf.values[at(items_[k].first)] = dual(cover_row_[k]);
  }
  for (int i = 0; i < intervals(); ++i) {
    PriceInterval interval{.from = grid_[at(i)]};
    for (int d = 0; d < configs(); ++d) {
      const Cell& here = cell(i, d);
      DegreePrices prices;
      const auto capacity = static_cast<double>(table_->configs()[at(d)].capacity);
      if (here.time_row >= 0) prices.time = dual(here.time_row) / room(i, d);
      if (here.token_row >= 0) prices.tokens = dual(here.token_row) / capacity;
      for (const Cell::Packing& packing : here.packing) {
        PackingPrice what = packing.what;
        what.price = dual(packing.row);
        if (what.price > 0) prices.packing.push_back(what);
      }
      interval.degrees.push_back(std::move(prices));
    }
    leaf.intervals.push_back(std::move(interval));
  }
  return leaf;
}

std::vector<double> ScatterStepLp::micro_batches(std::span<const double> values) const {
  std::vector<double> out;
  for (int i = 0; i < intervals(); ++i) {
    out.push_back(0);
    for (int w = 0; w < modes(); ++w) {
      const int high = high_[strip(i, w)];
      out.back() += values[at(low_[strip(i, w)])] + (high >= 0 ? values[at(high)] : 0);
    }
  }
  return out;
}

}  // namespace stowage
