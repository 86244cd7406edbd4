#include "formulations/assign/grouped.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

using milp::Row;

constexpr int kRowClasses = 24;
constexpr Tokens kLargeParts = 3;  // largest parameter of the dual feasible functions
// Coefficients of implications are enlarged by this factor. CBC 2.10 has called models infeasible
// whose largest implication was exactly the total.
constexpr double kSlack = 1.01;

class GroupedBuilder {
 public:
  GroupedBuilder(const AssignTable& table, int strategy, const AssignGroupedOptions& options)
      : table_(table), options_(options) {
    out_.strategy = strategy;
    for (const SchemeGroup& group : table.groups(strategy)) {
      if (options.apart) {
        out_.merged.insert(out_.merged.end(), at(group.count), {group.scheme, 1});
      } else {
        out_.merged.push_back(group);
      }
    }
  }

  AssignGrouped build() {
    out_.makespan = out_.model.add_variable({.name = "Z", .objective = 1});
    const RowConstraints& rule = table_.constraints();
    if (rule.equal_rows && !rule.allow_empty) out_.equal = add("w", rows_upper());
    for (int v = 1; v <= kRowClasses; ++v) {
      if (v > 1 && v * rule.rows_multiple_of > table_.size()) break;
      out_.class_rows.push_back(v * rule.rows_multiple_of);
    }
    int whole = options_.whole;
    for (const AssignKind& kind : table_.kinds()) {
      whole_.push_back(options_.integral && whole >= kind.count);
      if (whole_.back()) whole -= kind.count;
      covered_.push_back({.name = "G1_k" + std::to_string(covered_.size()),
                          .lower = static_cast<double>(kind.count),
                          .upper = static_cast<double>(kind.count)});
    }
    for (const SchemeGroup& group : out_.merged) add_group(group);
    if (options_.apart) add_order();
    for (Row& row : covered_) out_.model.add_row(std::move(row));
    return std::move(out_);
  }

 private:
  double rows_upper() const { return table_.size(); }

  int add(std::string name, double upper, bool integer = true) {
    return out_.model.add_variable(
        {.name = std::move(name), .upper = upper, .integer = integer && options_.integral});
  }

  void add_group(const SchemeGroup& group) {
    const Scheme& scheme = table_.schemes()[at(group.scheme)];
    const std::string suffix = "_" + std::to_string(out_.groups.size());
    AssignGrouped::Group g;
    g.used = add("e" + suffix, 1);
    g.rows = add("V" + suffix, rows_upper());
    g.longest = out_.model.add_variable({.name = "U" + suffix});
    const double fixed = scheme.fixed_ms;
    const double others = scheme.pp - 1;

    Row tokens{.name = "G2" + suffix,
               .upper = 0,
               .terms = {{g.rows, -static_cast<double>(scheme.max_tokens)}}};
    Row work{.name = "G3" + suffix,
             .upper = 0,
             .terms = {{g.rows, fixed},
                       {g.longest, others},
                       {g.used, others * (group.count - 1) * fixed},
                       {out_.makespan, -static_cast<double>(group.count)}}};
    Row filled{.name = "G8" + suffix, .upper = 0, .terms = {{g.rows, 1}}};
    Row total{.name = "G6_sum" + suffix, .lower = 0, .upper = 0};
    double most = 0;  // upper bound on the work of the group
    for (std::size_t k = 0; k < table_.kinds().size(); ++k) {
      const AssignKind& kind = table_.kinds()[k];
      g.share.push_back(-1);
      g.touched.push_back(-1);
      if (!table_.holds(group.scheme, kind.first)) continue;
      const std::string name = suffix + "_k" + std::to_string(k);
      const Ms f = table_.kind_work(static_cast<int>(k), group.scheme);
      const int share = add("x" + name, kind.count, whole_[k]);
      g.share.back() = share;
      covered_[k].terms.push_back({share, 1});
      tokens.terms.push_back({share, static_cast<double>(kind.length)});
      work.terms.push_back({share, f});
      filled.terms.push_back({share, -1});
      total.terms.push_back({share, f});
      most += f * kind.count;
      if (whole_[k]) add_touched(g, static_cast<int>(k), name, f, fixed);
    }
    out_.model.add_row(std::move(tokens));
    out_.model.add_row(std::move(work));
    // G5: T is at least pp times the longest row.
    out_.model.add_row(
        {.name = "G5" + suffix,
         .upper = 0,
         .terms = {{g.longest, static_cast<double>(scheme.pp)}, {out_.makespan, -1}}});
    out_.model.add_row(std::move(filled));
    add_constraints(g, group, suffix);
    add_large(g, group.scheme, suffix);
    if (scheme.pp > 1) add_row_classes(g, group, scheme, suffix, most, std::move(total));
    out_.groups.push_back(std::move(g));
  }

  // G10: dual feasible functions bound the number of rows that the large sequences need.
  void add_large(const AssignGrouped::Group& g, int scheme, const std::string& suffix) {
    const Tokens cap = table_.schemes()[at(scheme)].max_tokens;
    for (Tokens parts = 1; parts <= kLargeParts; ++parts) {
      Row row{.name = "G10_" + std::to_string(parts) + suffix,
              .upper = 0,
              .terms = {{g.rows, -static_cast<double>(parts)}}};
      for (std::size_t k = 0; k < g.share.size(); ++k) {
        if (g.share[k] < 0) continue;
        // A share of more than j / (parts + 1) of the cap counts j / parts of a row.
        const Tokens j = ((parts + 1) * table_.kinds()[k].length - 1) / cap;
        if (j > 0) row.terms.push_back({g.share[k], static_cast<double>(j)});
      }
      if (row.terms.size() > 1) out_.model.add_row(std::move(row));
    }
  }

  // G11: replicas of one scheme are ordered by their work.
  void add_order() {
    for (std::size_t k = 1; k < out_.groups.size(); ++k) {
      const int scheme = out_.merged[k].scheme;
      if (out_.merged[k - 1].scheme != scheme) continue;
      Row row{.name = "G11_" + std::to_string(k), .lower = 0};
      for (std::size_t kind = 0; kind < table_.kinds().size(); ++kind) {
        if (out_.groups[k].share[kind] < 0) continue;
        const Ms f = table_.kind_work(static_cast<int>(kind), scheme);
        row.terms.push_back({out_.groups[k - 1].share[kind], f});
        row.terms.push_back({out_.groups[k].share[kind], -f});
      }
      out_.model.add_row(std::move(row));
    }
  }

  // G4: the longest row holds the longest sequence of the group.
  void add_touched(AssignGrouped::Group& g, int k, const std::string& name, Ms f, Ms fixed) {
    const int count = table_.kinds()[at(k)].count;
    int touched = g.share[at(k)];
    if (count > 1) {
      touched = add("y" + name, 1);
      g.touched[at(k)] = touched;
      out_.model.add_row({.name = "G4_any" + name,
                          .upper = 0,
                          .terms = {{g.share[at(k)], 1}, {touched, -static_cast<double>(count)}}});
    }
    out_.model.add_row({.name = "G4" + name,
                        .upper = 0,
                        .terms = {{touched, f}, {g.used, fixed}, {g.longest, -1}}});
    out_.model.add_row({.name = "G7" + name, .upper = 0, .terms = {{touched, 1}, {g.used, -1}}});
  }

  void add_row_classes(AssignGrouped::Group& g, const SchemeGroup& group, const Scheme& scheme,
                       const std::string& suffix, double most, Row total) {
    Row one{.name = "G6_one" + suffix, .lower = 0, .upper = 0, .terms = {{g.used, -1}}};
    Row time{.name = "G6" + suffix,
             .upper = 0,
             .terms = {{out_.makespan, -static_cast<double>(group.count)}}};
    for (std::size_t k = 0; k < out_.class_rows.size(); ++k) {
      const int v = out_.class_rows[k];
      const bool last = k + 1 == out_.class_rows.size();
      // Class v assumes that all rows have their mean: T = stretch * work + the rows' fixed cost.
      // Beyond the last class the bubble may vanish.
      const double stretch = last ? 1 : 1 + (scheme.pp - 1.0) / v;
      const double fixed = scheme.fixed_ms * (v + scheme.pp - 1);
      double limit = most;
      if (options_.upper < milp::kInfinity) {
        limit = std::clamp(group.count * (options_.upper - fixed) / stretch, 0.0, most);
      }
      const std::string name = suffix + "_v" + std::to_string(v);
      // A class that exceeds `upper` by itself stays closed.
      const bool closed = options_.upper < milp::kInfinity && fixed > options_.upper * kSlack;
      g.count.push_back(add("Y" + name, closed ? 0 : 1));
      g.work.push_back(out_.model.add_variable({.name = "F" + name}));
      one.terms.push_back({g.count.back(), 1});
      total.terms.push_back({g.work.back(), -1});
      time.terms.push_back({g.work.back(), stretch});
      time.terms.push_back({g.count.back(), group.count * fixed});
      out_.model.add_row({.name = "G6_max" + name,
                          .upper = 0,
                          .terms = {{g.work.back(), 1}, {g.count.back(), -(kSlack * limit + 1)}}});
    }
    out_.model.add_row(std::move(one));
    out_.model.add_row(std::move(total));
    out_.model.add_row(std::move(time));
    if (group.count > 1) return;
    // G12: for a single replica, the class is its number of rows.
    Row least{.name = "G12" + suffix, .lower = 0, .terms = {{g.rows, 1}}};
    Row most_rows{.name = "G12_most" + suffix, .upper = 0, .terms = {{g.rows, 1}}};
    for (std::size_t k = 0; k < g.count.size(); ++k) {
      const bool last = k + 1 == g.count.size();
      least.terms.push_back({g.count[k], -static_cast<double>(out_.class_rows[k])});
      most_rows.terms.push_back(
          {g.count[k], last ? -std::max<double>(rows_upper(), out_.class_rows[k])
                            : -static_cast<double>(out_.class_rows[k])});
    }
    out_.model.add_row(std::move(least));
    out_.model.add_row(std::move(most_rows));
  }

  // G9: the row constraints, summed over the group.
  void add_constraints(AssignGrouped::Group& g, const SchemeGroup& group,
                       const std::string& suffix) {
    const RowConstraints& rule = table_.constraints();
    const double multiple = rule.rows_multiple_of;
    if (rule.rows_multiple_of > 1) {
      g.multiple = add("W" + suffix, rows_upper());
      out_.model.add_row({.name = "G9_multiple" + suffix,
                          .lower = 0,
                          .upper = 0,
                          .terms = {{g.rows, 1}, {g.multiple, -multiple}}});
    }
    if (rule.allow_empty) return;
    out_.model.add_row(
        {.name = "G9_all" + suffix, .lower = multiple * group.count, .terms = {{g.rows, 1}}});
    out_.model.add_row({.name = "G9_used" + suffix, .lower = 1, .terms = {{g.used, 1}}});
    if (out_.equal >= 0) {
      out_.model.add_row({.name = "G9_equal" + suffix,
                          .lower = 0,
                          .upper = 0,
                          .terms = {{g.rows, 1}, {out_.equal, -double(group.count)}}});
    }
  }

  const AssignTable& table_;
  AssignGroupedOptions options_;
  std::vector<bool> whole_;  // of each kind
  std::vector<Row> covered_;
  AssignGrouped out_;
};

}  // namespace

AssignGrouped build_assign_grouped(const AssignTable& table, int strategy,
                                   const AssignGroupedOptions& options) {
  return GroupedBuilder(table, strategy, options).build();
}

std::vector<double> encode(const AssignGrouped& grouped, const AssignInstance& instance,
                           const AssignTable& table, const AssignPlan& plan) {
  std::vector<double> values(grouped.model.variables().size(), 0);
  const auto set = [&](int variable, double value) {
    if (variable >= 0) values[at(variable)] = value;
  };
  std::vector<int> kind_of(instance.lengths.size());
  for (int position = 0; position < table.size(); ++position) {
    kind_of[static_cast<std::size_t>(table.id(position))] = table.kind(position);
  }
  set(grouped.makespan, plan.objective_ms);
  struct Member {
    const AssignReplica* replica;
    int scheme;
    Ms work;
  };
  const auto member = [&](const AssignReplica& replica) {
    const auto scheme = std::ranges::find(table.schemes(), replica.scheme, &Scheme::name);
    Member made{&replica, static_cast<int>(scheme - table.schemes().begin()), 0};
    for (const AssignRow& row : replica.rows) {
      for (const std::int64_t id : row.sequences) {
        made.work += table.kind_work(kind_of[static_cast<std::size_t>(id)], made.scheme);
      }
    }
    return made;
  };
  std::vector<Member> members;
  for (const AssignReplica& replica : plan.replicas) members.push_back(member(replica));
  std::ranges::stable_sort(members, std::greater<>{}, &Member::work);
  std::vector<bool> taken(members.size(), false);
  for (std::size_t k = 0; k < grouped.merged.size(); ++k) {
    const AssignGrouped::Group& g = grouped.groups[k];
    double rows = 0;
    Ms longest = 0;
    Ms work = 0;
    int hardest = 0;  // rows of the replica of most work
    int left = grouped.merged[k].count;
    for (std::size_t m = 0; m < members.size() && left > 0; ++m) {
      if (taken[m] || members[m].scheme != grouped.merged[k].scheme) continue;
      taken[m] = true;
      --left;
      const auto count = static_cast<int>(members[m].replica->rows.size());
      if (count == 0) continue;
      for (const AssignRow& row : members[m].replica->rows) {
        longest = std::max(longest, row.time_ms);
        for (const std::int64_t id : row.sequences) {
          const std::size_t kind = at(kind_of[static_cast<std::size_t>(id)]);
          values[at(g.share[kind])] += 1;
          set(g.touched[kind], 1);
        }
      }
      if (rows == 0) hardest = count;
      rows += count;
      work += members[m].work;
      set(grouped.equal, count);
    }
    if (rows == 0) continue;
    set(g.used, 1);
    set(g.rows, rows);
    set(g.longest, longest);
    if (g.multiple >= 0) set(g.multiple, rows / table.constraints().rows_multiple_of);
    if (g.count.empty()) continue;
    const std::vector<int>& classes = grouped.class_rows;
    const auto found = std::ranges::find(classes, hardest);
    const auto home = static_cast<std::size_t>(
        std::min<std::ptrdiff_t>(found - classes.begin(), std::ssize(classes) - 1));
    set(g.count[home], 1);
    set(g.work[home], work);
  }
  return values;
}

}  // namespace stowage
