#include "formulations/scatter/milp.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "instances/scatter/cost_model.h"

namespace stowage {
namespace {

using milp::Row;

int count_sequences(std::span<const LengthClass> classes) {
  return std::accumulate(classes.begin(), classes.end(), 0,
                         [](int sum, const LengthClass& c) { return sum + c.count; });
}

// Virtual groups of one degree: more can neither fit the devices nor be filled.
int most_groups(const ScatterInstance& instance, int degree, int sequences) {
  return std::min(instance.cluster.devices / degree, sequences);
}

class Builder {
 public:
  Builder(const ScatterInstance& instance, std::span<const LengthClass> classes,
          const ScatterMilpOptions& options)
      : instance_(instance), classes_(classes), options_(options) {
    out_.classes = static_cast<int>(classes.size());
    sequences_ = count_sequences(classes);
  }

  ScatterMilp build() {
    for (int slot = 0; slot < options_.slots; ++slot) add_slot(slot);
    for (std::size_t q = 0; q < classes_.size(); ++q) add_coverage(q);
    if (options_.strengthened) add_slot_order();
    return std::move(out_);
  }

 private:
  std::string label(const char* rule, int slot) const {
    return std::string(rule) + "_b" + std::to_string(slot);
  }
  int assigned(std::size_t group, std::size_t q) const {
    return out_.assigned[group * classes_.size() + q];
  }

  void add_slot(int slot) {
    out_.makespan.push_back(out_.model.add_variable({.name = label("T", slot), .objective = 1}));
    if (options_.slots > 1) {
      out_.open.push_back(
          out_.model.add_variable({.name = label("y", slot), .upper = 1, .integer = true}));
    }
    const std::size_t first = out_.groups.size();
    for (const int degree : instance_.cluster.degrees) {
      const int groups = most_groups(instance_, degree, sequences_);
      for (int i = 0; i < groups; ++i) add_group(slot, degree, i);
    }
    add_slot_rows(slot, first);
  }

  void add_group(int slot, int degree, int index) {
    const std::size_t group = out_.groups.size();
    out_.groups.push_back({.slot = slot, .degree = degree});
    const std::string suffix =
        "_b" + std::to_string(slot) + "_d" + std::to_string(degree) + "_" + std::to_string(index);
    const int used = out_.model.add_variable({.name = "m" + suffix, .upper = 1, .integer = true});
    out_.used.push_back(used);
    const Tokens capacity = group_capacity(instance_, degree);
    const Ms fixed = group_overhead_ms(instance_, degree);
    Row time{.name = "C1" + suffix, .upper = 0, .terms = {{out_.makespan.back(), -1}}};
    Row memory{.name = "C2" + suffix, .upper = static_cast<double>(capacity)};
    Row link{.name = "C4" + suffix, .upper = 0, .terms = {{used, -double(sequences_)}}};
    for (std::size_t q = 0; q < classes_.size(); ++q) {
      const LengthClass& c = classes_[q];
      const Tokens most = std::min<Tokens>(c.count, capacity / c.length);
      // S1: a class that exceeds the group's memory is never assigned to it.
      if (most == 0 && options_.strengthened) {
        out_.assigned.push_back(-1);
        continue;
      }
      const int variable = out_.model.add_variable(
          {.name = "A" + suffix + "_q" + std::to_string(q),
           .upper = static_cast<double>(options_.strengthened ? most : c.count),
           .integer = true});
      out_.assigned.push_back(variable);
      time.terms.push_back({variable, sequence_ms(instance_, c.length, degree)});
      memory.terms.push_back({variable, static_cast<double>(c.length)});
      link.terms.push_back({variable, 1});
    }
    if (options_.strengthened) {
      // S2: a group that is not used has no memory and no overhead.
      memory.upper = 0;
      memory.terms.push_back({used, -static_cast<double>(capacity)});
      time.terms.push_back({used, fixed});
    } else if (options_.slots == 1) {
      // As published: the constant beta1; a latency is paid by used groups only.
      time.upper = -instance_.cost.fixed_ms;
      time.terms.push_back({used, fixed - instance_.cost.fixed_ms});
    } else {
      time.terms.push_back({used, fixed});
    }
    out_.model.add_row(std::move(time));
    out_.model.add_row(std::move(memory));
    out_.model.add_row(std::move(link));
    const bool twin = index > 0 && options_.strengthened;
    if (twin) {
      // S3: groups of one degree are used in order.
      out_.model.add_row(
          {.name = "S3" + suffix, .lower = 0, .terms = {{out_.used[group - 1], 1}, {used, -1}}});
    }
  }

  void add_slot_rows(int slot, std::size_t first) {
    const double devices = instance_.cluster.devices;
    Row sum{.name = label("C3", slot), .upper = devices};
    // S4: the device-time of all groups fits N devices for T minus what every group pays.
    Row area{.name = label("S4", slot), .upper = 0, .terms = {{out_.makespan.back(), -devices}}};
    const Ms fixed = instance_.cost.fixed_ms;
    for (std::size_t group = first; group < out_.groups.size(); ++group) {
      const int degree = out_.groups[group].degree;
      const Ms latency = group_overhead_ms(instance_, degree) - fixed;
      sum.terms.push_back({out_.used[group], double(degree)});
      if (latency > 0) area.terms.push_back({out_.used[group], degree * latency});
      for (std::size_t q = 0; q < classes_.size(); ++q) {
        const int variable = assigned(group, q);
        if (variable < 0) continue;
        area.terms.push_back(
            {variable, degree * sequence_ms(instance_, classes_[q].length, degree)});
      }
      if (options_.slots > 1) {
        out_.model.add_row({.name = label("C6", slot) + "_" + std::to_string(group - first),
                            .upper = 0,
                            .terms = {{out_.used[group], 1}, {out_.open.back(), -1}}});
      }
    }
    out_.model.add_row(std::move(sum));
    if (!options_.strengthened) return;
    if (options_.slots > 1) {
      area.terms.push_back({out_.open.back(), devices * fixed});
    } else {
      area.upper = -devices * fixed;
    }
    out_.model.add_row(std::move(area));
  }

  void add_coverage(std::size_t q) {
    Row row{.name = "C5_q" + std::to_string(q),
            .lower = double(classes_[q].count),
            .upper = double(classes_[q].count)};
    for (std::size_t group = 0; group < out_.groups.size(); ++group) {
      if (assigned(group, q) >= 0) row.terms.push_back({assigned(group, q), 1});
    }
    out_.model.add_row(std::move(row));
  }

  // S5: slots in order of their makespan; equal slots would be solved many times over.
  void add_slot_order() {
    for (std::size_t slot = 1; slot < out_.makespan.size(); ++slot) {
      out_.model.add_row({.name = label("S5", static_cast<int>(slot)),
                          .lower = 0,
                          .terms = {{out_.makespan[slot - 1], 1}, {out_.makespan[slot], -1}}});
    }
  }

  const ScatterInstance& instance_;
  std::span<const LengthClass> classes_;
  ScatterMilpOptions options_;
  int sequences_ = 0;
  ScatterMilp out_;
};

}  // namespace

std::vector<LengthClass> exact_classes(const ScatterTable& table) {
  std::vector<LengthClass> classes;
  for (const Kind& kind : table.kinds()) classes.push_back({kind.length, kind.count});
  return classes;
}

std::size_t scatter_milp_variables(const ScatterInstance& instance,
                                   std::span<const LengthClass> classes, int slots) {
  std::size_t groups = 0;
  for (const int degree : instance.cluster.degrees) {
    groups += static_cast<std::size_t>(most_groups(instance, degree, count_sequences(classes)));
  }
  return static_cast<std::size_t>(slots) * (2 + groups * (classes.size() + 1));
}

ScatterMilp build_scatter_milp(const ScatterInstance& instance,
                               std::span<const LengthClass> classes,
                               const ScatterMilpOptions& options) {
  return Builder(instance, classes, options).build();
}

std::vector<ClassGroup> decode(const ScatterMilp& milp, const std::vector<double>& values) {
  std::vector<ClassGroup> groups;
  for (std::size_t group = 0; group < milp.groups.size(); ++group) {
    ClassGroup made = milp.groups[group];
    for (int q = 0; q < milp.classes; ++q) {
      const int variable = milp.assigned[group * static_cast<std::size_t>(milp.classes) +
                                         static_cast<std::size_t>(q)];
      made.counts.push_back(
          variable < 0 ? 0
                       : static_cast<int>(std::lround(values[static_cast<std::size_t>(variable)])));
    }
    if (std::ranges::any_of(made.counts, [](int n) { return n > 0; })) {
      groups.push_back(std::move(made));
    }
  }
  return groups;
}

std::vector<double> encode(const ScatterMilp& milp, const ScatterInstance& instance,
                           std::span<const LengthClass> classes,
                           const std::vector<ClassGroup>& groups) {
  if (groups.empty()) return {};
  std::vector<double> values(milp.model.variables().size(), 0);
  const auto set = [&](int variable, double value) {
    values[static_cast<std::size_t>(variable)] = value;
  };
  std::vector<bool> taken(milp.groups.size(), false);
  for (const ClassGroup& group : groups) {
    std::size_t home = 0;
    while (home < milp.groups.size() && (taken[home] || milp.groups[home].slot != group.slot ||
                                         milp.groups[home].degree != group.degree)) {
      ++home;
    }
    if (home == milp.groups.size()) return {};
    taken[home] = true;
    set(milp.used[home], 1);
    Ms time = group_overhead_ms(instance, group.degree);
    for (std::size_t q = 0; q < classes.size(); ++q) {
      const int variable = milp.assigned[home * classes.size() + q];
      if (group.counts[q] == 0) continue;
      if (variable < 0) return {};
      set(variable, group.counts[q]);
      time += group.counts[q] * sequence_ms(instance, classes[q].length, group.degree);
    }
    const auto slot = static_cast<std::size_t>(group.slot);
    const auto makespan = static_cast<std::size_t>(milp.makespan[slot]);
    values[makespan] = std::max(values[makespan], time);
    if (!milp.open.empty()) set(milp.open[slot], 1);
  }
  return values;
}

}  // namespace stowage
