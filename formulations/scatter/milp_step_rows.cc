// The rows of each micro-batch and of the step: C3, C5, C6, the rules on micro-batches, and the
// valid inequalities that strengthen the model.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formulations/scatter/milp.h"
#include "formulations/scatter/milp_builder.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/cost/mixed.h"
#include "instances/scatter/table/device_pools.h"

namespace stowage {
namespace {

using milp::Row;

// Returns the rest of a time without a part of it; 0 if the rest is rounding.
Ms rest_of(Ms all, Ms part) {
  constexpr double kNearlyAll = 1 - 1e-9;
  return part < all * kNearlyAll ? all - part : 0;
}

int count_sequences(std::span<const LengthClass> classes) {
  return std::accumulate(classes.begin(), classes.end(), 0,
                         [](int sum, const LengthClass& c) { return sum + c.count; });
}

// Returns the number of virtual groups of one form. Further groups cannot fit the devices or have
// no sequence.
int most_groups(const ScatterInstance& instance, GroupForm form, int sequences) {
  const Cluster& cluster = instance.cluster;
  if (cluster.kinds.empty()) return std::min(cluster.devices / form.degree, sequences);
  const auto kinds = static_cast<int>(cluster.kinds.size());
  if (form.place >= kinds) return 1;  // one block of devices reaches across the kinds
  const int own =
      first_rank_of_kind(cluster, form.place + 1) - first_rank_of_kind(cluster, form.place);
  return std::min(own / form.degree, sequences);
}

}  // namespace

ScatterMilpBuilder::ScatterMilpBuilder(const ScatterInstance& instance,
                                       std::span<const LengthClass> classes,
                                       const ScatterMilpOptions& options)
    : instance_(instance), classes_(classes), options_(options) {
  out_.classes = static_cast<int>(classes.size());
  sequences_ = count_sequences(classes);
  most_sequences_ =
      static_cast<int>(std::min<std::int64_t>(sequences_, instance.rules.max_sequences_per_group));
  if (instance.rules.packed && !instance.model.offload) return;
  // Room beyond all tokens has no effect, and much larger numbers harm a solver.
  all_tokens_ = 1;
  for (const LengthClass& c : classes) {
    all_tokens_ += most_padded_length(instance, c.length) * c.count;
  }
}

ScatterMilp ScatterMilpBuilder::build() {
  for (int slot = 0; slot < options_.slots; ++slot) add_slot(slot);
  if (options_.stages > 1) add_longest();
  for (std::size_t q = 0; q < classes_.size(); ++q) add_coverage(q);
  if (options_.strengthened) add_slot_order();
  if (options_.slots > 1 && instance_.rules.micro_batches_multiple_of > 1) add_multiple();
  return std::move(out_);
}

void ScatterMilpBuilder::add_slot(int slot) {
  out_.makespan.push_back(out_.model.add_variable({.name = label("T", slot), .objective = 1}));
  if (options_.slots > 1) {
    out_.open.push_back(
        out_.model.add_variable({.name = label("y", slot), .upper = 1, .integer = true}));
  }
  if (recomputations(instance_) > 1) add_modes(slot);
  if (instance_.rules.equal_sequences) add_equal(slot);
  const std::size_t first = out_.groups.size();
  for (const GroupForm form : group_forms(instance_)) {
    const int groups = most_groups(instance_, form, sequences_);
    for (int i = 0; i < groups; ++i) add_group(slot, form, i);
  }
  add_slot_rows(slot, first);
}

// U6: a micro-batch has one recomputation mode.
void ScatterMilpBuilder::add_modes(int slot) {
  Row row{.name = label("U6", slot), .upper = 1};
  for (int choice = 0; choice < recomputations(instance_); ++choice) {
    const std::string name = label("w", slot) + "_r" + std::to_string(choice);
    out_.modes.push_back(out_.model.add_variable({.name = name, .upper = 1, .integer = true}));
    row.terms.push_back({out_.modes.back(), 1});
  }
  out_.model.add_row(std::move(row));
}

void ScatterMilpBuilder::add_equal(int slot) {
  out_.equal.push_back(out_.model.add_variable(
      {.name = label("n", slot), .upper = static_cast<double>(most_sequences_), .integer = true}));
}

void ScatterMilpBuilder::add_slot_rows(int slot, std::size_t first) {
  const double devices = instance_.cluster.devices;
  Row sum{.name = label("C3", slot), .upper = devices};
  Row some{.name = label("U3", slot), .lower = 0};
  // S4: the device-time of all groups fits N devices for T minus the time that every group pays.
  Row area{.name = label("S4", slot), .upper = 0, .terms = {{out_.makespan.back(), -devices}}};
  Row transfer{.name = label("S6", slot), .upper = 0, .terms = area.terms};  // S4 for transfers
  bool hides = false;
  const Ms fixed = constant_;
  for (std::size_t group = first; group < out_.groups.size(); ++group) {
    const GroupForm form = out_.groups[group].form();
    const int degree = form.degree;
    const Ms latency = group_overhead_ms(instance_, form) - fixed;
    const bool shared = is_shared_row(instance_, degree);
    if (!shared) sum.terms.push_back({out_.used[group], double(degree)});
    some.terms.push_back({out_.used[group], 1});
    if (latency > 0) {
      area.terms.push_back({out_.used[group], degree * latency});
      transfer.terms.push_back(area.terms.back());
    }
    for (std::size_t q = 0; q < classes_.size(); ++q) {
      const int variable = assigned(group, q);
      if (variable < 0) continue;
      Load load = sequence_load(instance_, classes_[q].length, form);
      if (shared) load = own_part_of(load, classes_[q].length, form);
      area.terms.push_back({variable, degree * load.compute});
      transfer.terms.push_back({variable, degree * load.transfer});
      hides = hides || load.compute != load.transfer;
    }
    if (options_.slots > 1) {
      out_.model.add_row({.name = label("C6", slot) + "_" + std::to_string(group - first),
                          .upper = 0,
                          .terms = {{out_.used[group], 1}, {out_.open.back(), -1}}});
    }
  }
  if (!instance_.cluster.kinds.empty()) add_kinds(slot, first);
  if (instance_.mixed) add_mixed(slot, first);
  add_rules_of_slot(std::move(sum), std::move(some));
  if (!options_.strengthened) return;
  if (options_.slots > 1) {
    area.terms.push_back({out_.open.back(), devices * fixed});
    transfer.terms.push_back(area.terms.back());
  } else {
    transfer.upper = area.upper = -devices * fixed;
  }
  out_.model.add_row(std::move(area));
  if (hides) out_.model.add_row(std::move(transfer));
}

// Returns the load of a sequence of a shared row, without the part of its exchange that own rows
// can hide.
Load ScatterMilpBuilder::own_part_of(const Load& load, Tokens length, GroupForm form) const {
  const Ms hidden = hidden_exchange_ms(instance_, padded_length(instance_, length, form));
  return {rest_of(load.compute, hidden), rest_of(load.transfer, hidden)};
}

// MX1: the makespan of a mixed micro-batch, for each own row. MX2: a device holds its own row
// beside its part of the shared row.
void ScatterMilpBuilder::add_mixed(int slot, std::size_t first) {
  std::size_t shared = first;
  while (!is_shared_row(instance_, out_.groups[shared].degree)) ++shared;
  const double devices = instance_.cluster.devices;
  Tokens each = std::min(tokens_per_device(instance_), instance_.rules.max_tokens_per_rank);
  // Room for two rows of all sequences has no effect, and much larger numbers harm a solver.
  Tokens all = row_multiple(instance_, out_.groups[shared].form());
  for (const LengthClass& c : classes_) all += most_padded_length(instance_, c.length) * c.count;
  each = std::min(each, 2 * all);
  // Adds the tokens of a group's row times `factor`, and its time beside its overhead.
  const auto add_row_of = [&](std::size_t group, double factor, Row& tokens, Row& time) {
    const GroupForm form = out_.groups[group].form();
    const int padded = out_.rows[group];
    const Tokens multiple = row_multiple(instance_, form);
    const double token = padded < 0 ? 0
                                    : row_padding_load(instance_, 1, form).compute /
                                          static_cast<double>(multiple - 1);
    const Ms hidden = group == shared ? hidden_exchange_ms(instance_, 1) : 0;
    for (std::size_t q = 0; q < classes_.size(); ++q) {
      const int variable = assigned(group, q);
      if (variable < 0) continue;
      const Tokens length = padded_length(instance_, classes_[q].length, form);
      Ms ms = sequence_load(instance_, length, form).compute;
      if (padded < 0) {
        tokens.terms.push_back({variable, factor * static_cast<double>(length)});
        ms = rest_of(ms, hidden * static_cast<double>(length));
      } else {
        ms = rest_of(ms, token * static_cast<double>(length));
      }
      if (ms != 0) time.terms.push_back({variable, ms});
    }
    if (padded < 0) return;
    tokens.terms.push_back({padded, factor * static_cast<double>(multiple)});
    const Ms ms = rest_of(token, hidden) * static_cast<double>(multiple);
    if (ms != 0) time.terms.push_back({padded, ms});
  };
  for (std::size_t own = first; own < shared; ++own) {
    const std::string suffix = label("", slot) + '_' + std::to_string(own - first);
    Row time{.name = "MX1" + suffix, .upper = 0, .terms = {{out_.makespan.back(), -1}}};
    Row memory{.name = "MX2" + suffix, .upper = devices * static_cast<double>(each)};
    time.terms.push_back(
        {out_.used[shared], group_overhead_ms(instance_, out_.groups[shared].form())});
    add_row_of(shared, 1, memory, time);
    add_row_of(own, devices, memory, time);
    out_.model.add_row(std::move(time));
    out_.model.add_row(std::move(memory));
  }
}

// U10: C3 for the devices of each kind.
void ScatterMilpBuilder::add_kinds(int slot, std::size_t first) {
  const Cluster& cluster = instance_.cluster;
  for (int kind = 0; kind < static_cast<int>(cluster.kinds.size()); ++kind) {
    Row row{
        .name = label("U10", slot) + "_k" + std::to_string(kind),
        .upper = double(first_rank_of_kind(cluster, kind + 1) - first_rank_of_kind(cluster, kind))};
    for (std::size_t group = first; group < out_.groups.size(); ++group) {
      const GroupForm form = out_.groups[group].form();
      const int own =
          group_place(cluster, form.degree, form.place)->devices[static_cast<std::size_t>(kind)];
      if (own > 0) row.terms.push_back({out_.used[group], double(own)});
    }
    out_.model.add_row(std::move(row));
  }
}

// C3, or U2 in its place: no rank of an open micro-batch idles. U3: a counted micro-batch has a
// group.
void ScatterMilpBuilder::add_rules_of_slot(Row sum, Row some) {
  const double devices = instance_.cluster.devices;
  const bool several = options_.slots > 1;
  if (instance_.rules.no_idle_ranks) {
    sum.name = label("U2", static_cast<int>(out_.makespan.size()) - 1);
    sum.lower = sum.upper = several ? 0 : devices;
    if (several) sum.terms.push_back({out_.open.back(), -devices});
  }
  out_.model.add_row(std::move(sum));
  if (!several || instance_.rules.micro_batches_multiple_of == 1) return;
  some.terms.push_back({out_.open.back(), -1});
  out_.model.add_row(std::move(some));
}

// U4: the number of micro-batches is a multiple of the required number.
void ScatterMilpBuilder::add_multiple() {
  const auto multiple = static_cast<double>(instance_.rules.micro_batches_multiple_of);
  out_.times = out_.model.add_variable(
      {.name = "z", .upper = std::floor(options_.slots / multiple), .integer = true});
  Row row{.name = "U4", .lower = 0, .upper = 0, .terms = {{out_.times, -multiple}}};
  for (const int open : out_.open) row.terms.push_back({open, 1});
  out_.model.add_row(std::move(row));
}

// U5: no makespan exceeds the longest makespan, which counts stages - 1 more times.
void ScatterMilpBuilder::add_longest() {
  out_.longest =
      out_.model.add_variable({.name = "T_max", .objective = double(options_.stages - 1)});
  for (std::size_t slot = 0; slot < out_.makespan.size(); ++slot) {
    out_.model.add_row({.name = label("U5", static_cast<int>(slot)),
                        .lower = 0,
                        .terms = {{out_.longest, 1}, {out_.makespan[slot], -1}}});
  }
}

void ScatterMilpBuilder::add_coverage(std::size_t q) {
  Row row{.name = "C5_q" + std::to_string(q),
          .lower = double(classes_[q].count),
          .upper = double(classes_[q].count)};
  for (std::size_t group = 0; group < out_.groups.size(); ++group) {
    if (assigned(group, q) >= 0) row.terms.push_back({assigned(group, q), 1});
  }
  out_.model.add_row(std::move(row));
}

// S5: slots are ordered by makespan, so that permuted slots are not solved again.
void ScatterMilpBuilder::add_slot_order() {
  for (std::size_t slot = 1; slot < out_.makespan.size(); ++slot) {
    out_.model.add_row({.name = label("S5", static_cast<int>(slot)),
                        .lower = 0,
                        .terms = {{out_.makespan[slot - 1], 1}, {out_.makespan[slot], -1}}});
  }
}

std::vector<LengthClass> exact_classes(const ScatterTable& table) {
  std::vector<LengthClass> classes;
  for (const DistinctLength& kind : table.kinds()) classes.push_back({kind.length, kind.count});
  return classes;
}

std::size_t scatter_milp_variables(const ScatterInstance& instance,
                                   std::span<const LengthClass> classes, int slots) {
  std::size_t groups = 0;
  std::size_t rows = 0;  // of C9
  for (const GroupForm form : group_forms(instance)) {
    const int own = most_groups(instance, form, count_sequences(classes));
    groups += static_cast<std::size_t>(own);
    if (row_multiple(instance, form) > 1) rows += static_cast<std::size_t>(own);
  }
  const auto choices = static_cast<std::size_t>(recomputations(instance));
  return static_cast<std::size_t>(slots) *
         (2 + (choices > 1 ? choices : 0) + (instance.rules.equal_sequences ? 1 : 0) +
          groups * (classes.size() + (instance.model.offload ? 5 : 1)) + rows);
}

ScatterMilp build_scatter_milp(const ScatterInstance& instance,
                               std::span<const LengthClass> classes,
                               const ScatterMilpOptions& options) {
  return ScatterMilpBuilder(instance, classes, options).build();
}

}  // namespace stowage
