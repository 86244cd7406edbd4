#include "solvers/scatter/repack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "formulations/milp/model.h"
#include "heuristics/scatter/polish.h"

namespace stowage {
namespace {

constexpr int kMostRounds = 200;             // of pricing, in a dive
constexpr double kGain = 1e-7;               // devices per device: columns worth adding
constexpr double kWhole = 1 - 1e-6;          // a share of a pattern that counts as a whole group
constexpr double kEnough = 1e-7;             // devices
constexpr std::size_t kFirstStates = 30;     // of pricing, while that finds something
constexpr std::size_t kPricingStates = 500;  // and then
constexpr Ms kInside = 1 - 1e-12;            // times sum up differently in a plan
constexpr int kPolishRounds = 200;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

ScatterRepack::ScatterRepack(const ScatterTable& table, MilpBackend backend)
    : table_(table), backend_(backend) {
  for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
    for (int d = 0; d < static_cast<int>(table.levels().size()); ++d) {
      const Level& level = table.levels()[at(d)];
      if (table.kinds()[at(kind)].length > level.capacity) continue;
      add_column({.level = d,
                  .amounts = {{.kind = kind, .count = 1}},
                  .time = level.overhead + table.kind_cost(kind, d)});
    }
  }
}

void ScatterRepack::learn(const StepDraft& step) {
  for (const MicroBatchDraft& batch : step) {
    for (const GroupDraft& group : batch.groups) {
      Column column{.level = group.level, .time = group.time};
      std::vector<int> positions = group.positions;
      std::ranges::sort(positions);
      for (const int position : positions) {
        const int kind = table_.kind(position);
        if (column.amounts.empty() || column.amounts.back().kind != kind) {
          column.amounts.push_back({.kind = kind});
        }
        ++column.amounts.back().count;
      }
      if (!column.amounts.empty()) add_column(std::move(column));
    }
  }
}

void ScatterRepack::add_column(Column column) {
  for (const Column& other : columns_) {
    if (other.level == column.level && other.amounts == column.amounts) return;
  }
  columns_.push_back(std::move(column));
}

bool ScatterRepack::fits(const Column& column, const Task& task, std::size_t batch) const {
  if (column.time > task.limits[batch]) return false;
  if (table_.levels()[at(column.level)].degree > task.devices[batch]) return false;
  return std::ranges::all_of(column.amounts, [&](const PatternAmount& amount) {
    return amount.count <= task.counts[at(amount.kind)];
  });
}

ScatterRepack::Mixture ScatterRepack::mix(const Task& task, bool only_feasibility, int most_rounds,
                                          Budget& budget) {
  const std::size_t batches = task.limits.size();
  const std::size_t kinds = table_.kinds().size();
  Mixture mixture;
  std::vector<Use>& uses = mixture.uses;
  std::vector<int> row(kinds, -1);
  int covers = 0;
  for (std::size_t k = 0; k < kinds; ++k) {
    if (task.counts[k] > 0) row[k] = covers++;
  }
  std::vector<milp::Row> rows(static_cast<std::size_t>(covers) + batches);
  for (std::size_t k = 0; k < kinds; ++k) {
    if (row[k] >= 0) rows[at(row[k])].lower = task.counts[k];
  }
  int variables = 1;
  for (std::size_t b = 0; b < batches; ++b) {
    // Devices beyond those there are, the same in every micro-batch.
    rows[at(covers) + b] = {.lower = -double(task.devices[b]), .terms = {{0, 1}}};
  }
  const auto use = [&](std::size_t batch, std::size_t column) {
    uses.push_back({.batch = batch, .column = column});
    const int variable = variables++;
    for (const PatternAmount& amount : columns_[column].amounts) {
      rows[at(row[at(amount.kind)])].terms.push_back({variable, double(amount.count)});
    }
    const double degree = table_.levels()[at(columns_[column].level)].degree;
    rows[at(covers) + batch].terms.push_back({variable, -degree});
  };
  for (std::size_t b = 0; b < batches; ++b) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (fits(columns_[c], task, b)) use(b, c);
    }
  }
  LpBasis basis;
  std::size_t states = kFirstStates;
  for (int round = 0; round < most_rounds; ++round) {
    milp::Model model;
    model.add_variable({.lower = -double(table_.devices()), .objective = 1});
    for (int v = 1; v < variables; ++v) model.add_variable({});
    for (const milp::Row& r : rows) model.add_row(r);
    LpResult result = solve_lp(backend_, model, basis, budget);
    if (!result.optimal) return mixture;
    basis = std::move(result.basis);
    Relaxation& found = mixture.relaxation;
    found.solved = true;
    found.missing = result.objective;
    found.values.assign(kinds, 0);
    for (std::size_t k = 0; k < kinds; ++k) {
      if (row[k] >= 0) found.values[k] = std::max(0.0, result.duals[at(row[k])]);
    }
    found.prices.clear();
    for (std::size_t b = 0; b < batches; ++b) {
      found.prices.push_back(std::max(0.0, result.duals[at(covers) + b]));
    }
    for (std::size_t u = 0; u < uses.size(); ++u) uses[u].amount = result.values[u + 1];
    if (only_feasibility && found.missing <= -kEnough) return mixture;
    const std::size_t before = uses.size();
    double dearest = 1;  // worth of a pattern over its price
    for (std::size_t b = 0; b < batches; ++b) {
      for (int d = 0; d < static_cast<int>(table_.levels().size()); ++d) {
        const Level& level = table_.levels()[at(d)];
        const Ms room = task.limits[b] * kInside - level.overhead;
        if (room < 0 || level.degree > task.devices[b]) continue;
        if (budget.exhausted()) return {};
        const double paid = found.prices[b] * level.degree;
        BestPattern best = price(task, d, room, found.values, paid + kGain * level.degree, states);
        if (paid > 0) dearest = std::max(dearest, best.most / paid);
        if (best.amounts.empty()) continue;
        add_pattern(d, std::move(best.amounts));
        use(b, columns_.size() - 1);
      }
    }
    if (uses.size() == before) {
      if (states == kPricingStates) return mixture;
      states = kPricingStates;
      continue;
    }
    // Prices that much lower are a solution of the dual: devices stay missing.
    double covered = 0;
    double there = 0;
    for (std::size_t k = 0; k < kinds; ++k) covered += task.counts[k] * found.values[k];
    for (std::size_t b = 0; b < batches; ++b) there += task.devices[b] * found.prices[b];
    if (only_feasibility && covered / dearest > there * (1 + kEnough)) {
      found.missing = covered / dearest - there;
      return mixture;
    }
  }
  return mixture;
}

BestPattern ScatterRepack::price(const Task& task, int level, Ms room,
                                 const std::vector<double>& values, double floor,
                                 std::size_t states) const {
  std::vector<PatternItem> items;
  for (int k = 0; k < static_cast<int>(table_.kinds().size()); ++k) {
    if (task.counts[at(k)] == 0) continue;
    items.push_back({.kind = k,
                     .count = task.counts[at(k)],
                     .tokens = table_.kinds()[at(k)].length,
                     .time = table_.kind_cost(k, level),
                     .worth = values[at(k)]});
  }
  return best_pattern(std::move(items), table_.levels()[at(level)].capacity, room, floor, states);
}

void ScatterRepack::add_pattern(int level, std::vector<PatternAmount> amounts) {
  Column column{
      .level = level, .amounts = std::move(amounts), .time = table_.levels()[at(level)].overhead};
  for (const PatternAmount& amount : column.amounts) {
    column.time += amount.count * table_.kind_cost(amount.kind, level);
  }
  columns_.push_back(std::move(column));
}

ScatterRepack::Task ScatterRepack::whole(std::span<const Ms> limits) const {
  Task task{.limits = {limits.begin(), limits.end()}};
  for (const Kind& kind : table_.kinds()) task.counts.push_back(kind.count);
  task.devices.assign(limits.size(), table_.devices());
  return task;
}

ScatterRepack::Relaxation ScatterRepack::relax(std::span<const Ms> limits, Budget& budget,
                                               int most_rounds) {
  return mix(whole(limits), true, most_rounds, budget).relaxation;
}

std::optional<StepDraft> ScatterRepack::plan(std::span<const Ms> limits, Budget& budget) {
  Task task = whole(limits);
  std::vector<std::vector<int>> rest;  // positions by kind
  std::size_t left = 0;
  for (const Kind& kind : table_.kinds()) {
    left += static_cast<std::size_t>(kind.count);
    std::vector<int>& positions = rest.emplace_back();
    for (int i = kind.count; i-- > 0;) positions.push_back(kind.first + i);
  }
  StepDraft step(limits.size());
  const auto apply = [&](const Use& use) {
    const Column& column = columns_[use.column];
    if (!fits(column, task, use.batch)) return false;
    GroupDraft group = empty_group(table_, column.level);
    for (const PatternAmount& amount : column.amounts) {
      for (int i = 0; i < amount.count; ++i) {
        add_sequence(table_, group, rest[at(amount.kind)].back());
        rest[at(amount.kind)].pop_back();
      }
      task.counts[at(amount.kind)] -= amount.count;
      left -= static_cast<std::size_t>(amount.count);
    }
    task.devices[use.batch] -= table_.levels()[at(column.level)].degree;
    step[use.batch].groups.push_back(std::move(group));
    return true;
  };
  while (left > 0) {
    Mixture mixture = mix(task, false, kMostRounds, budget);
    if (!mixture.relaxation.solved) break;
    bool applied = false;
    for (const Use& use : mixture.uses) {
      for (double amount = use.amount; amount >= kWhole; --amount) {
        if (!apply(use)) break;
        applied = true;
      }
    }
    if (applied) continue;
    // The pattern nearest a whole one; of equals the one of most devices.
    std::ranges::stable_sort(mixture.uses, [&](const Use& a, const Use& b) {
      if (a.amount != b.amount) return a.amount > b.amount;
      return columns_[a.column].level > columns_[b.column].level;
    });
    for (const Use& use : mixture.uses) {
      if (use.amount <= 0 || applied) break;
      applied = apply(use);
    }
    if (!applied) break;
  }
  if (!place_rest(rest, limits, step)) return std::nullopt;
  std::erase_if(step, [](const MicroBatchDraft& batch) { return batch.groups.empty(); });
  for (MicroBatchDraft& batch : step) polish(table_, batch, left > 0 ? kPolishRounds : 0);
  return step;
}

bool ScatterRepack::place_rest(const std::vector<std::vector<int>>& rest,
                               std::span<const Ms> limits, StepDraft& step) const {
  for (const std::vector<int>& positions : rest) {
    for (const int position : positions) {
      GroupDraft* best = nullptr;
      Ms least = std::numeric_limits<Ms>::infinity();
      for (std::size_t b = 0; b < step.size(); ++b) {
        for (GroupDraft& group : step[b].groups) {
          if (!has_room(table_, group, position)) continue;
          const Ms late = group.time + table_.cost(position, group.level) - limits[b];
          if (late >= least) continue;
          least = late;
          best = &group;
        }
      }
      if (best == nullptr) return false;
      add_sequence(table_, *best, position);
    }
  }
  return true;
}

}  // namespace stowage
