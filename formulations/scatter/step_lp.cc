// Longer than 300 lines: one LP, whose rows and columns share their numbering.
#include "formulations/scatter/step_lp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "formulations/scatter/packing.h"

namespace stowage {
namespace {

// A sequence whose time is nearly all of the room might fit, for all that rounding can tell.
constexpr double kMightFit = 1 + 2e-9;
// Rows are added where they are broken by more than this, columns where they gain more.
constexpr double kBroken = 1e-5;
constexpr double kGain = 1e-4;          // ms per group's worth
constexpr double kSpread = 1.3;         // of the lengths that are merged
constexpr double kWasteful = 2.6;       // times the least area: degrees to begin with
constexpr std::int64_t kMostSteps = 8;  // packing rows of the first family

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Variables that came after the solution are not in it.
double value_of(std::span<const double> values, int variable) {
  return at(variable) < values.size() ? values[at(variable)] : 0;
}

}  // namespace

std::vector<StepItem> step_items(const ScatterTable& table, double resolution) {
  const double most_area = table.total_area() / resolution;
  const auto& kinds = table.kinds();
  const auto& levels = table.levels();
  const auto fits = [&](std::size_t kind) {
    std::size_t level = 0;
    while (level < levels.size() && levels[level].capacity < kinds[kind].length) ++level;
    return level;
  };
  std::vector<StepItem> items;
  for (std::size_t first = 0; first < kinds.size();) {
    std::size_t last = first;
    double area = kinds[first].area * kinds[first].count;
    while (last + 1 < kinds.size() && fits(last + 1) == fits(first) &&
           static_cast<double>(kinds[last + 1].length) * kSpread >=
               static_cast<double>(kinds[first].length) &&
           area + kinds[last + 1].area * kinds[last + 1].count <= most_area) {
      ++last;
      area += kinds[last].area * kinds[last].count;
    }
    StepItem item{.first = static_cast<int>(first), .last = static_cast<int>(last)};
    item.cost.resize(levels.size());
    for (std::size_t kind = first; kind <= last; ++kind) {
      const double count = kinds[kind].count;
      item.count += count;
      item.tokens += count * static_cast<double>(kinds[kind].length);
      for (std::size_t level = 0; level < levels.size(); ++level) {
        item.cost[level] +=
            count * table.kind_cost(static_cast<int>(kind), static_cast<int>(level));
      }
    }
    item.tokens /= item.count;
    for (Ms& cost : item.cost) cost /= item.count;
    items.push_back(std::move(item));
    first = last + 1;
  }
  return items;
}

ScatterStepLp::ScatterStepLp(const ScatterTable& table, std::vector<StepItem> items,
                             std::vector<Ms> grid, std::int64_t fewest)
    : table_(&table), items_(std::move(items)), grid_(std::move(grid)), fewest_(fewest) {
  for (const StepItem& item : items_) cover_row_.push_back(add_row(item.count, {}));
  count_row_ = add_row(static_cast<double>(fewest), {});
  const auto devices = static_cast<double>(table_->devices());
  cells_.resize(grid_.size() * table_->levels().size());
  for (int i = 0; i < intervals(); ++i) {
    const bool endless = i + 1 == intervals();
    low_.push_back(add_column(grid_[at(i)]));
    low_row_.push_back(add_row(0, {{low_[at(i)], devices}}));
    high_.push_back(endless ? -1 : add_column(grid_[at(i) + 1]));
    high_row_.push_back(endless ? -1 : add_row(0, {{high_[at(i)], devices}}));
    link_row_.emplace_back(items_.size(), -1);
    model_.add_term(count_row_, {low_[at(i)], 1});
    if (!endless) model_.add_term(count_row_, {high_[at(i)], 1});
    for (int d = 0; d < levels(); ++d) {
      Cell& here = cell(i, d);
      here.share.assign(items_.size(), -1);
      const Level& level = table_->levels()[at(d)];
      bool used = false;
      for (int k = 0; k < static_cast<int>(items_.size()); ++k) used = used || allowed(k, d, i);
      if (!used) continue;
      here.groups_low = add_column(0);
      model_.add_term(low_row_.back(), {here.groups_low, -double(level.degree)});
      std::vector<milp::Term> token_terms{{here.groups_low, 1}};
      std::vector<milp::Term> time_terms;
      if (!endless) {
        here.groups_high = add_column(0);
        model_.add_term(high_row_.back(), {here.groups_high, -double(level.degree)});
        token_terms.push_back({here.groups_high, 1});
        time_terms = {{here.groups_low, (grid_[at(i)] - level.overhead) / room(i, d)},
                      {here.groups_high, 1}};
        here.time_row = add_row(0, std::move(time_terms));
      }
      here.token_row = add_row(0, std::move(token_terms));
    }
    for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
      double least = std::numeric_limits<double>::infinity();
      const auto area = [&](int d) {
        return table_->levels()[at(d)].degree * items_[at(k)].cost[at(d)];
      };
      for (int d = 0; d < levels(); ++d) {
        if (allowed(k, d, i)) least = std::min(least, area(d));
      }
      for (int d = 0; d < levels(); ++d) {
        if (allowed(k, d, i) && area(d) <= least * kWasteful) add_share(i, d, k);
      }
    }
  }
}

ScatterStepLp ScatterStepLp::on_finer_grid(std::vector<Ms> grid, std::span<const double> duals,
                                           Origin& origin) const {
  ScatterStepLp finer(*table_, items_, std::move(grid), fewest_);
  for (std::size_t c = 0; c < conditions_.size(); ++c) {
    finer.add_condition(conditions_[c], penalty_[c]);
  }
  // Rows that came after the solution have no price.
  const auto priced = [&](int row) {
    return row >= 0 && at(row) < duals.size() && duals[at(row)] > 0;
  };
  std::vector<std::pair<int, int>> same_variable;  // here and there
  std::vector<std::pair<int, int>> same_row;
  int old = 0;
  for (int i = 0; i < finer.intervals(); ++i) {
    while (old + 1 < intervals() && grid_[at(old) + 1] <= finer.grid_[at(i)]) ++old;
    for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
      if (priced(link_row_[at(old)][at(k)])) finer.add_link(i, k);
    }
    for (int d = 0; d < levels(); ++d) {
      const Cell& from = cell(old, d);
      if (finer.cell(i, d).groups_low < 0) continue;
      for (const Cell::Packing& packing : from.packing) {
        if (!priced(packing.row)) continue;
        if (packing.what.resource == Resource::time &&
            packing.what.threshold * 2 > finer.room(i, d)) {
          continue;
        }
        finer.add_packing(i, d, packing.what);
      }
    }
    // Of the parts of a split interval, the last takes its place in the basis.
    const bool last = i + 1 == finer.intervals() || old + 1 == intervals() ||
                      finer.grid_[at(i) + 1] == grid_[at(old) + 1];
    if (!last) continue;
    same_variable.emplace_back(low_[at(old)], finer.low_[at(i)]);
    same_variable.emplace_back(high_[at(old)], finer.high_[at(i)]);
    same_row.emplace_back(low_row_[at(old)], finer.low_row_[at(i)]);
    same_row.emplace_back(high_row_[at(old)], finer.high_row_[at(i)]);
    for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
      same_row.emplace_back(link_row_[at(old)][at(k)], finer.link_row_[at(i)][at(k)]);
    }
    for (int d = 0; d < levels(); ++d) {
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

// Prices: the least overhead for a micro-batch, and what makespans have beyond it for the devices,
// all of which goes to the time of groups or, in the last interval, to their tokens.
std::vector<std::pair<int, int>> ScatterStepLp::first_basis() const {
  std::vector<std::pair<int, int>> basis{{low_[0], count_row_}};
  std::vector<double> least(items_.size(), std::numeric_limits<double>::infinity());
  std::vector<int> share(items_.size(), -1);
  for (int i = 0; i < intervals(); ++i) {
    const bool endless = i + 1 == intervals();
    if (i > 0) basis.emplace_back(low_[at(i)], low_row_[at(i)]);
    if (!endless) basis.emplace_back(high_[at(i)], high_row_[at(i)]);
    const double low = grid_[at(i)] - grid_[0];
    for (int d = 0; d < levels(); ++d) {
      const Cell& here = cell(i, d);
      if (here.groups_low < 0) continue;
      const Level& level = table_->levels()[at(d)];
      double time = 0;  // price of a ms, and of a token
      double token = 0;
      if (endless) {
        token = level.degree * low / static_cast<double>(level.capacity);
        basis.emplace_back(here.groups_low, here.token_row);
      } else {
        time = level.degree * (grid_[at(i) + 1] - grid_[0]) / room(i, d);
        const double from_low = level.degree * low / (grid_[at(i)] - level.overhead);
        const bool by_low = grid_[at(i)] > level.overhead && from_low < time;
        if (by_low) time = from_low;
        basis.emplace_back(by_low ? here.groups_low : here.groups_high, here.time_row);
      }
      for (std::size_t k = 0; k < items_.size(); ++k) {
        if (here.share[k] < 0) continue;
        const double price = time * items_[k].cost[at(d)] + token * items_[k].tokens;
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
    model_.add_term(row, {low_[at(i)], sign});
    if (!endless) model_.add_term(row, {high_[at(i)], sign});
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

double ScatterStepLp::room(int interval, int level) const {
  if (interval + 1 == intervals()) return std::numeric_limits<double>::infinity();
  return grid_[at(interval) + 1] - table_->levels()[at(level)].overhead;
}

bool ScatterStepLp::allowed(int item, int level, int interval) const {
  const StepItem& it = items_[at(item)];
  if (table_->kinds()[at(it.first)].length > table_->levels()[at(level)].capacity) return false;
  const double left = room(interval, level);
  return left > 0 && table_->kind_cost(it.first, level) <= left * kMightFit;
}

double ScatterStepLp::packed(const PackingPrice& what, int item, int level, int interval) const {
  const StepItem& it = items_[at(item)];
  const bool time = what.resource == Resource::time;
  const double all =
      time ? room(interval, level) : static_cast<double>(table_->levels()[at(level)].capacity);
  double sum = 0;
  for (int kind = it.first; kind <= it.last; ++kind) {
    const Kind& k = table_->kinds()[at(kind)];
    const double amount = time ? table_->kind_cost(kind, level) : static_cast<double>(k.length);
    sum += k.count * packing_value(what, amount, all);
  }
  return sum / it.count;
}

void ScatterStepLp::add_share(int interval, int level, int item) {
  Cell& here = cell(interval, level);
  const StepItem& it = items_[at(item)];
  const int share = here.share[at(item)] = add_column(0);
  const auto in_row = [&](int row, double factor) {
    if (row >= 0 && factor != 0) model_.add_term(row, {share, factor});
  };
  in_row(cover_row_[at(item)], 1);
  if (here.time_row >= 0) in_row(here.time_row, -it.cost[at(level)] / room(interval, level));
  in_row(here.token_row, -it.tokens / static_cast<double>(table_->levels()[at(level)].capacity));
  in_row(link_row_[at(interval)][at(item)], -1);
  for (const Cell::Packing& packing : here.packing) {
    in_row(packing.row, -packed(packing.what, item, level, interval));
  }
}

int ScatterStepLp::add_rows(std::span<const double> values) {
  const int before = static_cast<int>(model_.rows().size());
  for (int i = 0; i < intervals(); ++i) {
    const double batches =
        values[at(low_[at(i)])] + (high_[at(i)] >= 0 ? values[at(high_[at(i)])] : 0);
    for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
      if (link_row_[at(i)][at(k)] >= 0) continue;
      const StepItem& it = items_[at(k)];
      if (it.first != it.last) continue;
      double shares = 0;
      for (int d = 0; d < levels(); ++d) {
        const int share = cell(i, d).share[at(k)];
        if (share >= 0) shares += value_of(values, share);
      }
      if (shares > it.count * batches + kBroken) add_link(i, k);
    }
    for (int d = 0; d < levels(); ++d) {
      if (cell(i, d).groups_low < 0) continue;
      separate(i, d, Resource::tokens, values);
      if (i + 1 < intervals()) separate(i, d, Resource::time, values);
    }
  }
  return static_cast<int>(model_.rows().size()) - before;
}

void ScatterStepLp::add_link(int interval, int item) {
  const double count = items_[at(item)].count;
  std::vector<milp::Term> terms{{low_[at(interval)], count}};
  if (high_[at(interval)] >= 0) terms.push_back({high_[at(interval)], count});
  for (int d = 0; d < levels(); ++d) {
    const int share = cell(interval, d).share[at(item)];
    if (share >= 0) terms.push_back({share, -1});
  }
  link_row_[at(interval)][at(item)] = add_row(0, std::move(terms));
}

void ScatterStepLp::add_packing(int interval, int level, const PackingPrice& what) {
  Cell& here = cell(interval, level);
  std::vector<milp::Term> terms{{here.groups_low, 1}};
  if (here.groups_high >= 0) terms.push_back({here.groups_high, 1});
  for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
    const int share = here.share[at(k)];
    if (share < 0) continue;
    const double value = packed(what, k, level, interval);
    if (value > 0) terms.push_back({share, -value});
  }
  here.packing.push_back({what, add_row(0, std::move(terms))});
}

// Appends the most broken packing row of this cell and resource, if there is one.
bool ScatterStepLp::separate(int interval, int level, Resource resource,
                             std::span<const double> values) {
  Cell& here = cell(interval, level);
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
    for (const auto& [k, share] : present) broken += share * packed(what, k, level, interval);
    if (broken > most) {
      most = broken;
      best = what;
    }
  };
  for (std::int64_t steps = 1; steps <= kMostSteps; ++steps) {
    consider({.resource = resource, .steps = steps});
  }
  const double all = resource == Resource::time
                         ? room(interval, level)
                         : static_cast<double>(table_->levels()[at(level)].capacity);
  for (const auto& [k, share] : present) {
    const double amount =
        resource == Resource::time ? items_[at(k)].cost[at(level)] : items_[at(k)].tokens;
    // Just where this sequence counts, and just where it begins to count as the whole.
    for (const double threshold : {std::floor(amount * (1 - 1e-8)), std::floor(all - amount) + 1}) {
      if (threshold > 0 && threshold * 2 <= all) {
        consider({.resource = resource, .threshold = threshold});
      }
    }
  }
  if (most <= kBroken) return false;
  add_packing(interval, level, best);
  return true;
}

int ScatterStepLp::add_columns(std::span<const double> duals) {
  const int before = static_cast<int>(model_.variables().size());
  for (int i = 0; i < intervals(); ++i) {
    for (int d = 0; d < levels(); ++d) {
      const Cell& here = cell(i, d);
      if (here.groups_low < 0) continue;
      const auto capacity = static_cast<double>(table_->levels()[at(d)].capacity);
      for (int k = 0; k < static_cast<int>(items_.size()); ++k) {
        if (here.share[at(k)] >= 0 || !allowed(k, d, i)) continue;
        const StepItem& it = items_[at(k)];
        double price = duals[at(here.token_row)] * it.tokens / capacity;
        if (here.time_row >= 0) price += duals[at(here.time_row)] * it.cost[at(d)] / room(i, d);
        const int link = link_row_[at(i)][at(k)];
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
    for (int d = 0; d < levels(); ++d) {
      const Cell& here = cell(i, d);
      DegreePrices prices;
      const auto capacity = static_cast<double>(table_->levels()[at(d)].capacity);
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
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    out.push_back(values[at(low_[i])] + (high_[i] >= 0 ? values[at(high_[i])] : 0));
  }
  return out;
}

}  // namespace stowage
