// The plan that the values of the MILP's columns describe, and the values that describe a plan.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "formulations/scatter/milp.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/cost/mixed.h"
#include "instances/scatter/table/device_pools.h"

namespace stowage {

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
  std::vector<std::vector<ScatterGroup>> slots(milp.makespan.size());
  for (const ClassGroup& group : groups) {
    std::size_t home = 0;
    while (home < milp.groups.size() && (taken[home] || milp.groups[home].slot != group.slot ||
                                         milp.groups[home].form() != group.form())) {
      ++home;
    }
    if (home == milp.groups.size()) return {};
    taken[home] = true;
    set(milp.used[home], 1);
    Tokens tokens = 0;
    const Ms overhead = group_overhead_ms(instance, group.form());
    Load load{overhead, overhead, empty_load(instance, group.form()).beyond};
    for (std::size_t q = 0; q < classes.size(); ++q) {
      const int variable = milp.assigned[home * classes.size() + q];
      if (group.counts[q] == 0) continue;
      if (variable < 0) return {};
      set(variable, group.counts[q]);
      const Tokens length = padded_length(instance, classes[q].length, group.form());
      const Load each = sequence_load(instance, length, group.form());
      tokens += group.counts[q] * length;
      load += {group.counts[q] * each.compute, group.counts[q] * each.transfer,
               group.counts[q] * each.beyond};
    }
    if (milp.rows[home] >= 0) {
      load += row_padding_load(instance, tokens, group.form());
      const Tokens multiple = row_multiple(instance, group.form());
      const Tokens multiples = (tokens + multiple - 1) / multiple;
      set(milp.rows[home], static_cast<double>(multiples));
    }
    const auto slot = static_cast<std::size_t>(group.slot);
    slots[slot].push_back({.degree = group.degree,
                           .tokens = round_up(tokens, row_multiple(instance, group.form())),
                           .time_ms = group_ms(instance, group.form(), load)});
    if (!milp.offload.empty()) {
      const OffloadColumns& own = milp.offload[home];
      const ActivationOffload& offload = *instance.model.offload;
      const double forward = offload.forward_share;
      const Mib mib = std::max(0.0, load.beyond) * token_mib(instance, group.form()) / group.degree;
      set(own.work, load.time());
      set(own.mib, mib);
      set(own.out, std::max(0.0, mib / offload.out_mib_per_ms - forward * load.time()));
      set(own.in, std::max(0.0, mib / offload.in_mib_per_ms - (1 - forward) * load.time()));
    }
    if (!milp.open.empty()) set(milp.open[slot], 1);
    if (!milp.equal.empty()) {
      set(milp.equal[slot], std::accumulate(group.counts.begin(), group.counts.end(), 0.0));
    }
    if (!milp.modes.empty()) {
      const auto choices = static_cast<std::size_t>(recomputations(instance));
      set(milp.modes[slot * choices + static_cast<std::size_t>(group.recomputation)], 1);
    }
  }
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    set(milp.makespan[slot], makespan_ms(instance, slots[slot]));
  }
  if (milp.longest >= 0) {
    double longest = 0;
    for (const int slot : milp.makespan) {
      longest = std::max(longest, values[static_cast<std::size_t>(slot)]);
    }
    set(milp.longest, longest);
  }
  if (milp.times >= 0) {
    double open = 0;
    for (const int slot : milp.open) open += values[static_cast<std::size_t>(slot)];
    set(milp.times, open / static_cast<double>(instance.rules.micro_batches_multiple_of));
  }
  return values;
}

}  // namespace stowage
