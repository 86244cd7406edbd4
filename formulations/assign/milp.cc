#include "formulations/assign/milp.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

using milp::Row;

// Returns the largest number of rows of a replica in a plan of at most `upper`, since each row
// costs its fixed time.
int most_rows(const AssignTable& table, const Scheme& scheme, Ms upper) {
  if (!(scheme.fixed_ms > 0) || !(upper < milp::kInfinity)) return table.size();
  const double rows = upper * (1 + 1e-9) / scheme.fixed_ms - (scheme.pp - 1);
  return static_cast<int>(std::clamp<double>(std::floor(rows), 1, table.size()));
}

class AssignBuilder {
 public:
  AssignBuilder(const AssignTable& table, int strategy, Ms upper)
      : table_(table), upper_(upper), rule_(table.constraints()) {
    for (const SchemeGroup& group : table.groups(strategy)) {
      out_.scheme.insert(out_.scheme.end(), at(group.count), group.scheme);
    }
  }

  AssignMilp build() {
    out_.makespan = out_.model.add_variable({.name = "Z", .objective = 1});
    if (rule_.equal_rows) out_.equal = add("w", table_.size());
    for (std::size_t k = 0; k < table_.kinds().size(); ++k) {
      const double count = table_.kinds()[k].count;
      covered_.push_back({.name = "A1_k" + std::to_string(k), .lower = count, .upper = count});
    }
    for (std::size_t r = 0; r < out_.scheme.size(); ++r) add_replica(r);
    for (Row& row : covered_) out_.model.add_row(std::move(row));
    return std::move(out_);
  }

 private:
  int add(std::string name, double upper) {
    return out_.model.add_variable({.name = std::move(name), .upper = upper, .integer = true});
  }

  void add_replica(std::size_t r) {
    const Scheme& scheme = table_.schemes()[at(out_.scheme[r])];
    const std::string suffix = "_r" + std::to_string(r);
    const int longest = out_.model.add_variable({.name = "M" + suffix});
    out_.longest.push_back(longest);
    Row time{.name = "A4" + suffix,
             .upper = 0,
             .terms = {{longest, scheme.pp - 1.0}, {out_.makespan, -1}}};
    Row rows{.name = "rows" + suffix};  // the terms of all y, for the rules below
    Row order{.name = "A10" + suffix, .lower = 0};
    std::vector<milp::Term> before;
    for (int j = 0; j < most_rows(table_, scheme, upper_); ++j) {
      std::vector<milp::Term> row_time = add_slot(r, j, suffix);
      for (const milp::Term& term : row_time) time.terms.push_back(term);
      for (const milp::Term& term : row_time) {
        if (term.variable != out_.slots.back().used) order.terms.push_back(term);
      }
      rows.terms.push_back({out_.slots.back().used, 1});
      if (j > 0) {
        // A9: the rows of a replica are ordered by their times.
        Row sorted{.name = "A9" + suffix + "_" + std::to_string(j), .lower = 0, .terms = before};
        for (const milp::Term& term : row_time) {
          sorted.terms.push_back({term.variable, -term.coefficient});
        }
        out_.model.add_row(std::move(sorted));
      }
      before = std::move(row_time);
    }
    out_.model.add_row(std::move(time));
    add_constraints(suffix, rows.terms);
    // A10: equal replicas are ordered by their work.
    if (r > 0 && out_.scheme[r - 1] == out_.scheme[r]) {
      Row sorted{.name = "A10" + suffix, .lower = 0, .terms = last_work_};
      for (const milp::Term& term : order.terms) {
        sorted.terms.push_back({term.variable, -term.coefficient});
      }
      out_.model.add_row(std::move(sorted));
    }
    last_work_ = std::move(order.terms);
  }

  // Adds the variables and rows of a row slot. Returns the terms of the row's time.
  std::vector<milp::Term> add_slot(std::size_t r, int j, const std::string& suffix) {
    const int g = out_.scheme[r];
    const Scheme& scheme = table_.schemes()[at(g)];
    const std::string name = suffix + "_" + std::to_string(j);
    AssignMilp::Slot slot{.replica = static_cast<int>(r), .used = add("y" + name, 1)};
    std::vector<milp::Term> time{{slot.used, scheme.fixed_ms}};
    Row tokens{.name = "A2" + name,
               .upper = 0,
               .terms = {{slot.used, -static_cast<double>(scheme.max_tokens)}}};
    Row filled{.name = "A5" + name, .upper = 0, .terms = {{slot.used, 1}}};
    for (std::size_t k = 0; k < table_.kinds().size(); ++k) {
      const AssignKind& kind = table_.kinds()[k];
      const Tokens most = std::min<Tokens>(kind.count, scheme.max_tokens / kind.length);
      slot.holding.push_back(-1);
      if (most == 0) continue;
      const int x = add("x" + name + "_k" + std::to_string(k), static_cast<double>(most));
      slot.holding.back() = x;
      time.push_back({x, table_.kind_work(static_cast<int>(k), g)});
      tokens.terms.push_back({x, static_cast<double>(kind.length)});
      filled.terms.push_back({x, -1});
      covered_[k].terms.push_back({x, 1});
    }
    Row longest{.name = "A3" + name, .upper = 0, .terms = time};
    longest.terms.push_back({out_.longest[r], -1});
    out_.model.add_row(std::move(tokens));
    out_.model.add_row(std::move(longest));
    out_.model.add_row(std::move(filled));
    out_.slots.push_back(std::move(slot));
    return time;
  }

  void add_constraints(const std::string& suffix, const std::vector<milp::Term>& rows) {
    const double most = static_cast<double>(rows.size());
    const auto add_row = [&](const char* rule, double lower, double upper,
                             const std::vector<milp::Term>& more) {
      Row row{.name = rule + suffix, .lower = lower, .upper = upper, .terms = rows};
      row.terms.insert(row.terms.end(), more.begin(), more.end());
      out_.model.add_row(std::move(row));
    };
    out_.multiple.push_back(-1);
    out_.active.push_back(-1);
    if (rule_.rows_multiple_of > 1) {
      out_.multiple.back() = add("m" + suffix, most);
      add_row("A6", 0, 0, {{out_.multiple.back(), -double(rule_.rows_multiple_of)}});
    }
    if (!rule_.allow_empty) add_row("A8", 1, milp::kInfinity, {});
    if (!rule_.equal_rows) return;
    const int active = add("u" + suffix, 1);
    out_.active.back() = active;
    const double all = table_.size();
    add_row("A7_none", -milp::kInfinity, 0, {{active, -most}});
    add_row("A7_most", -milp::kInfinity, 0, {{out_.equal, -1}});
    add_row("A7_least", -all, milp::kInfinity, {{out_.equal, -1}, {active, -all}});
  }

  const AssignTable& table_;
  Ms upper_;
  const RowConstraints& rule_;
  std::vector<Row> covered_;
  std::vector<milp::Term> last_work_;  // work of the previous replica
  AssignMilp out_;
};

}  // namespace

std::size_t assign_milp_variables(const AssignTable& table, int strategy, Ms upper) {
  std::size_t variables = 2;
  for (const SchemeGroup& group : table.groups(strategy)) {
    const Scheme& scheme = table.schemes()[at(group.scheme)];
    variables +=
        at(group.count) * (3 + at(most_rows(table, scheme, upper)) * (1 + table.kinds().size()));
  }
  return variables;
}

AssignMilp build_assign_milp(const AssignTable& table, int strategy, Ms upper) {
  return AssignBuilder(table, strategy, upper).build();
}

std::vector<ReplicaChoice> decode(const AssignMilp& milp, const AssignTable& table,
                                  const std::vector<double>& values) {
  std::vector<ReplicaChoice> choices;
  for (const int scheme : milp.scheme) choices.push_back({.scheme = scheme});
  std::vector<int> next;  // next position of each kind to be dealt
  for (const AssignKind& kind : table.kinds()) next.push_back(kind.first);
  for (const AssignMilp::Slot& slot : milp.slots) {
    std::vector<std::int64_t> ids;
    for (std::size_t k = 0; k < slot.holding.size(); ++k) {
      if (slot.holding[k] < 0) continue;
      for (auto left = std::lround(values[at(slot.holding[k])]); left > 0; --left) {
        ids.push_back(table.id(next[k]++));
      }
    }
    if (!ids.empty()) choices[at(slot.replica)].rows.push_back(std::move(ids));
  }
  return choices;
}

std::vector<double> encode(const AssignMilp& milp, const AssignInstance& instance,
                           const AssignTable& table, const AssignPlan& plan) {
  std::vector<double> values(milp.model.variables().size(), 0);
  const auto set = [&](int variable, double value) {
    if (variable >= 0) values[at(variable)] = value;
  };
  std::vector<int> kind_of(instance.lengths.size());
  for (int position = 0; position < table.size(); ++position) {
    kind_of[static_cast<std::size_t>(table.id(position))] = table.kind(position);
  }
  set(milp.makespan, plan.objective_ms);
  std::vector<bool> taken(plan.replicas.size(), false);
  std::size_t slot = 0;
  for (std::size_t r = 0; r < milp.scheme.size(); ++r) {
    const Scheme& scheme = table.schemes()[at(milp.scheme[r])];
    const auto work = [&](const AssignReplica& replica) {
      Ms sum = 0;
      for (const AssignRow& row : replica.rows) sum += row.time_ms - scheme.fixed_ms;
      return sum;
    };
    std::size_t home = plan.replicas.size();  // the remaining replica of most work
    for (std::size_t k = 0; k < plan.replicas.size(); ++k) {
      if (taken[k] || plan.replicas[k].scheme != scheme.name) continue;
      if (home == plan.replicas.size() || work(plan.replicas[k]) > work(plan.replicas[home])) {
        home = k;
      }
    }
    if (home == plan.replicas.size()) return {};
    taken[home] = true;
    std::vector<AssignRow> rows = plan.replicas[home].rows;
    std::ranges::stable_sort(rows, std::greater<>{}, &AssignRow::time_ms);
    if (!rows.empty()) {
      set(milp.longest[r], rows.front().time_ms);
      set(milp.active[r], 1);
      set(milp.equal, static_cast<double>(rows.size()));
      if (milp.multiple[r] >= 0) {
        set(milp.multiple[r],
            static_cast<double>(rows.size()) / table.constraints().rows_multiple_of);
      }
    }
    std::size_t row = 0;
    for (; slot < milp.slots.size() && milp.slots[slot].replica == static_cast<int>(r); ++slot) {
      if (row == rows.size()) continue;
      set(milp.slots[slot].used, 1);
      for (const std::int64_t id : rows[row++].sequences) {
        values[at(milp.slots[slot].holding[at(kind_of[static_cast<std::size_t>(id)])])] += 1;
      }
    }
    if (row < rows.size()) return {};
  }
  return values;
}

}  // namespace stowage
