// Longer than 300 lines: one LP by column generation, whose columns outlive its boxes.
#include "solvers/scatter/profile_lp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stowage {
namespace {

constexpr int kMostRounds = 100;    // of pricing
constexpr int kMostProofs = 12;     // of exact pricing
constexpr double kGain = 1e-7;      // of `upper`, per device: columns worth adding
constexpr double kShortage = 1000;  // price of a device that is not there, in units of `upper`
constexpr double kLoss = 5e-5;      // of `upper`, per micro-batch: what exact pricing may give away
constexpr double kSpare = 0.5;      // of what is beyond `upper`
constexpr std::size_t kFirstStates = 30;     // of pricing, while that finds something
constexpr std::size_t kPricingStates = 300;  // and then
constexpr int kTail = 6;                     // rounds
constexpr double kSlow = 1e-4;               // relative progress in so many rounds
constexpr std::size_t kProofStates = 1500;
constexpr double kMightFit = 1 + 2e-9;
constexpr double kRounding = 1e-11;
constexpr std::size_t kMostColumns = 1500;
constexpr std::int64_t kForgotten = 20;  // solves without use

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Nodes are for boxes: one that has begun is finished.
bool timed_out(const Budget& budget) {
  const StopReason reason = budget.stop_reason();
  return reason == StopReason::time_limit || reason == StopReason::interrupted;
}

}  // namespace

struct ScatterProfileLp::Box {
  std::span<const Ms> low;
  std::span<const Ms> high;
};

ScatterProfileLp::ScatterProfileLp(const ScatterTable& table, MilpBackend backend)
    : table_(table), backend_(backend) {
  for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
    for (int d = 0; d < static_cast<int>(table.levels().size()); ++d) {
      if (table.kinds()[at(kind)].length > table.levels()[at(d)].capacity) continue;
      add_column(d, {{.kind = kind, .count = 1}});
      columns_.back().used = std::numeric_limits<std::int64_t>::max();
    }
  }
}

void ScatterProfileLp::learn(const StepDraft& step) {
  for (const MicroBatchDraft& batch : step) {
    for (const GroupDraft& group : batch.groups) {
      std::vector<PatternAmount> amounts;
      std::vector<int> positions = group.positions;
      std::ranges::sort(positions);
      for (const int position : positions) {
        const int kind = table_.kind(position);
        if (amounts.empty() || amounts.back().kind != kind) amounts.push_back({.kind = kind});
        ++amounts.back().count;
      }
      if (!amounts.empty() && !seen(group.level, amounts)) {
        add_column(group.level, std::move(amounts));
      }
    }
  }
}

bool ScatterProfileLp::seen(int level, const std::vector<PatternAmount>& amounts) const {
  return std::ranges::any_of(columns_, [&](const Column& column) {
    return column.level == level && column.amounts == amounts;
  });
}

void ScatterProfileLp::add_column(int level, std::vector<PatternAmount> amounts) {
  Column column{.level = level, .amounts = std::move(amounts), .used = solves_};
  for (const PatternAmount& amount : column.amounts) {
    column.time += amount.count * table_.kind_cost(amount.kind, level);
  }
  columns_.push_back(std::move(column));
}

// The most that a group can hold of what sequences are worth beyond the price of their time.
BestPattern ScatterProfileLp::price(int level, Ms room, double time,
                                    const std::vector<double>& values, double floor,
                                    std::size_t states) const {
  std::vector<PatternItem> items;
  for (int k = 0; k < static_cast<int>(table_.kinds().size()); ++k) {
    const Ms cost = table_.kind_cost(k, level);
    const double worth = values[at(k)] - time * cost;
    if (worth <= 0) continue;
    const Kind& kind = table_.kinds()[at(k)];
    items.push_back(
        {.kind = k, .count = kind.count, .tokens = kind.length, .time = cost, .worth = worth});
  }
  return best_pattern(std::move(items), table_.levels()[at(level)].capacity, room, floor, states);
}

// Sets the prices of groups so that no pattern is worth more, at most `loss` too high per
// micro-batch, and returns what that proves. `found` tells whether there were patterns that the LP
// does not know.
Ms ScatterProfileLp::settle(const Box& box, Ms loss, ProfileNode& node, bool& found,
                            const Budget& budget) {
  double proven = 0;
  for (std::size_t k = 0; k < node.values.size(); ++k) {
    proven += table_.kinds()[k].count * node.values[k];
  }
  proven *= 1 - kRounding;
  for (std::size_t b = 0; b < box.low.size(); ++b) {
    double device_low = 0;
    double device_high = 0;
    for (int d = 0; d < static_cast<int>(table_.levels().size()); ++d) {
      const Level& level = table_.levels()[at(d)];
      GroupPrices& prices = node.batches[b][at(d)];
      const Ms room = box.high[b] * kMightFit - level.overhead;
      if (room <= 0) continue;
      if (timed_out(budget)) return 0;
      const double spare = loss * level.degree / table_.devices();
      BestPattern best =
          price(d, room, prices.time, node.values, prices.group + spare, kProofStates);
      if (best.worth > prices.group + spare && !seen(d, best.amounts)) {
        add_column(d, std::move(best.amounts));
        found = true;
      }
      prices.group = best.most * (1 + kRounding);
      const auto worth = [&](Ms makespan) {
        return (prices.group + prices.time * (makespan - level.overhead)) / level.degree;
      };
      device_low = std::max(device_low, worth(box.low[b]));
      device_high = std::max(device_high, worth(box.high[b]));
    }
    proven -= std::max(table_.devices() * device_low * (1 + kRounding) - box.low[b],
                       table_.devices() * device_high * (1 + kRounding) - box.high[b]);
  }
  return proven;
}

// Patterns that no recent solution had.
void ScatterProfileLp::forget() {
  if (columns_.size() < kMostColumns) return;
  std::erase_if(columns_, [&](const Column& column) { return column.used < solves_ - kForgotten; });
}

ScatterProfileLp::Answer ScatterProfileLp::solve(std::span<const Ms> low, std::span<const Ms> high,
                                                 Ms upper, Budget& budget) {
  const Box box{low, high};
  const std::size_t batches = low.size();
  const std::size_t kinds = table_.kinds().size();
  const std::size_t degrees = table_.levels().size();
  const double devices = table_.devices();
  ++solves_;
  budget.count_nodes(1);
  forget();
  Answer answer;
  answer.node.kind = ProfileNode::Kind::priced;
  answer.node.values.assign(kinds, 0);
  answer.node.batches.assign(batches, std::vector<GroupPrices>(degrees));
  for (std::size_t k = 0; k < kinds; ++k) {
    if (table_.alone(static_cast<int>(k)) <= high.front() * kMightFit) continue;
    // It fits nowhere, and so pays nothing for what it is worth.
    answer.node.values[k] = 2 * upper;
    bool found = false;
    answer.proven = settle(box, 0, answer.node, found, budget);
    answer.solved = true;
    answer.missing = devices;
    return answer;
  }
  // Columns: the weight of each high end, groups at both ends of each degree, shortages, patterns.
  struct Place {
    int group_row = 0;
    int time_row = 0;
  };
  std::vector<milp::Variable> variables;
  std::vector<milp::Row> rows(kinds);
  for (std::size_t k = 0; k < kinds; ++k) rows[k].lower = table_.kinds()[k].count;
  const auto add_variable = [&](double objective, double most) {
    variables.push_back({.upper = most, .objective = objective});
    return static_cast<int>(variables.size()) - 1;
  };
  std::vector<int> weight;
  std::vector<std::vector<Place>> places(batches, std::vector<Place>(degrees));
  double base = 0;
  std::vector<int> shortage;
  for (std::size_t b = 0; b < batches; ++b) {
    base += low[b] / upper;
    weight.push_back(add_variable((high[b] - low[b]) / upper, 1));
    shortage.push_back(add_variable(kShortage, milp::kInfinity));
    milp::Row at_low{.lower = -devices, .terms = {{weight[b], -devices}}};  // X4
    milp::Row at_high{.lower = 0, .terms = {{weight[b], devices}, {shortage[b], 1}}};
    for (std::size_t d = 0; d < degrees; ++d) {
      const Level& level = table_.levels()[d];
      const int groups_low = add_variable(0, milp::kInfinity);
      const int groups_high = add_variable(0, milp::kInfinity);
      at_low.terms.push_back({groups_low, -double(level.degree)});
      at_high.terms.push_back({groups_high, -double(level.degree)});
      const Ms room = high[b] - level.overhead;
      places[b][d].group_row = static_cast<int>(rows.size());  // X2
      rows.push_back({.lower = 0, .terms = {{groups_low, 1}, {groups_high, 1}}});
      places[b][d].time_row = static_cast<int>(rows.size());  // X3
      rows.push_back({.lower = 0});
      if (room > 0) {
        rows.back().terms = {{groups_low, (low[b] - level.overhead) / room}, {groups_high, 1}};
      }
    }
    rows.push_back(std::move(at_low));
    rows.push_back(std::move(at_high));
  }
  std::vector<std::size_t> column_of;  // of pattern variables, from `first` on
  const std::size_t first = variables.size();
  const auto use = [&](std::size_t b, std::size_t c) {
    const Column& column = columns_[c];
    const Ms room = high[b] - table_.levels()[at(column.level)].overhead;
    if (room <= 0 || column.time > room * kMightFit) return;
    const int variable = add_variable(0, milp::kInfinity);
    column_of.push_back(c);
    for (const PatternAmount& amount : column.amounts) {  // X1
      rows[at(amount.kind)].terms.push_back({variable, double(amount.count)});
    }
    const Place& place = places[b][at(column.level)];
    rows[at(place.group_row)].terms.push_back({variable, -1});
    rows[at(place.time_row)].terms.push_back({variable, -column.time / room});
  };
  for (std::size_t b = 0; b < batches; ++b) {
    for (std::size_t c = 0; c < columns_.size(); ++c) use(b, c);
  }
  LpBasis basis;
  int proofs = 0;
  bool stalled = false;
  double last = std::numeric_limits<double>::infinity();
  std::size_t states = kFirstStates;
  for (int round = 0; round < kMostRounds; ++round) {
    milp::Model model;
    for (const milp::Variable& variable : variables) model.add_variable(variable);
    for (const milp::Row& row : rows) model.add_row(row);
    model.set_offset(base);
    LpResult result = solve_lp(backend_, model, basis, budget);
    if (!result.optimal) return answer;
    answer.solved = true;
    answer.missing = 0;
    for (const int s : shortage) answer.missing += result.values[at(s)];
    for (std::size_t v = first; v < variables.size(); ++v) {
      if (result.values[v] > 0) {
        Column& column = columns_[column_of[v - first]];
        column.used = std::max(column.used, solves_);
      }
    }
    answer.makespans.clear();
    for (std::size_t b = 0; b < batches; ++b) {
      answer.makespans.push_back(low[b] + (high[b] - low[b]) * result.values[at(weight[b])]);
    }
    ProfileNode node = answer.node;
    for (std::size_t k = 0; k < kinds; ++k) node.values[k] = std::max(0.0, result.duals[k]) * upper;
    for (std::size_t b = 0; b < batches; ++b) {
      for (std::size_t d = 0; d < degrees; ++d) {
        const Ms room = high[b] - table_.levels()[d].overhead;
        if (room <= 0) continue;
        const Place& place = places[b][d];
        node.batches[b][d] = {
            .time = std::max(0.0, result.duals[at(place.time_row)]) * upper / room,
            .group = std::max(0.0, result.duals[at(place.group_row)]) * upper};
      }
    }
    basis = std::move(result.basis);
    const std::size_t before = columns_.size();
    for (std::size_t b = 0; b < batches; ++b) {
      for (std::size_t d = 0; d < degrees; ++d) {
        const Level& level = table_.levels()[d];
        const GroupPrices& prices = node.batches[b][d];
        const Ms room = high[b] - level.overhead;
        if (room <= 0) continue;
        if (timed_out(budget)) return answer;
        BestPattern best = price(static_cast<int>(d), room, prices.time, node.values,
                                 prices.group + kGain * upper * level.degree, states);
        if (!best.amounts.empty() && !seen(static_cast<int>(d), best.amounts)) {
          add_column(static_cast<int>(d), std::move(best.amounts));
        }
      }
    }
    bool found = columns_.size() > before;
    // Slow progress, or none: time for a proof. What is out of reach is often proven long before.
    if (round % kTail == 0) {
      stalled = result.objective > last * (1 - kSlow);
      last = result.objective;
    }
    if (!found && states < kPricingStates) {
      states = kPricingStates;
      continue;
    }
    if (!found || stalled || (result.objective > 1 && round % kTail == kTail - 1)) {
      // What is out of reach is so by far, and need not be proven exactly.
      const double loss =
          std::max(kLoss, kSpare * (result.objective - 1) / static_cast<double>(batches));
      const Ms proven = settle(box, loss * upper, node, found, budget);
      if (proven > answer.proven) {
        answer.proven = proven;
        answer.node = std::move(node);
      }
      if (!found || stalled || answer.proven >= upper || ++proofs == kMostProofs) return answer;
    }
    for (std::size_t b = 0; b < batches; ++b) {
      for (std::size_t c = before; c < columns_.size(); ++c) use(b, c);
    }
  }
  return answer;
}

}  // namespace stowage
