// Longer than 300 lines: one model, whose rows follow each other as docs/theory/scatter.md numbers
// them.
#include "formulations/scatter/milp.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/table/device_pools.h"

namespace stowage {
namespace {

using milp::Row;

// A load whose linear part is at least this share of it has no other part: the rest is rounding.
constexpr double kAllLinear = 1 - 1e-9;

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

// Returns the suffix of variable names: "_d8", or "_d8_ring" if the instance has several kinds of
// exchange. "_r1" follows for every recomputation mode but the first.
std::string form_suffix(GroupForm form) {
  std::string suffix = "_d" + std::to_string(form.degree);
  if (form.place > 0) {
    const GroupForm first{form.degree, form.exchange, form.recomputation};
    return form_suffix(first) + "_k" + std::to_string(form.place);
  }
  if (form.recomputation > 0) {
    const GroupForm first{form.degree, form.exchange};
    return form_suffix(first) + "_r" + std::to_string(form.recomputation);
  }
  if (form.exchange == ExchangeKind::none) return suffix;
  return suffix + '_' + std::string(exchange_names()[static_cast<std::size_t>(form.exchange)]);
}

class Builder {
 public:
  Builder(const ScatterInstance& instance, std::span<const LengthClass> classes,
          const ScatterMilpOptions& options)
      : instance_(instance), classes_(classes), options_(options) {
    out_.classes = static_cast<int>(classes.size());
    sequences_ = count_sequences(classes);
    most_sequences_ = static_cast<int>(
        std::min<std::int64_t>(sequences_, instance.rules.max_sequences_per_group));
    if (instance.rules.packed && !instance.model.offload) return;
    // Room beyond all tokens has no effect, and much larger numbers harm a solver.
    all_tokens_ = 1;
    for (const LengthClass& c : classes) {
      all_tokens_ += most_padded_length(instance, c.length) * c.count;
    }
  }

  ScatterMilp build() {
    for (int slot = 0; slot < options_.slots; ++slot) add_slot(slot);
    if (options_.stages > 1) add_longest();
    for (std::size_t q = 0; q < classes_.size(); ++q) add_coverage(q);
    if (options_.strengthened) add_slot_order();
    if (options_.slots > 1 && instance_.rules.micro_batches_multiple_of > 1) add_multiple();
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
    if (recomputations(instance_) > 1) add_modes(slot);
    if (instance_.rules.equal_sequences) add_equal(slot);
    const std::size_t first = out_.groups.size();
    for (const GroupForm form : group_forms(instance_)) {
      const int groups = most_groups(instance_, form, sequences_);
      for (int i = 0; i < groups; ++i) add_group(slot, form, i);
    }
    add_slot_rows(slot, first);
  }

  int mode(int slot, GroupForm form) const {
    const auto modes = static_cast<std::size_t>(recomputations(instance_));
    return out_.modes[static_cast<std::size_t>(slot) * modes +
                      static_cast<std::size_t>(form.recomputation)];
  }

  // U6: a micro-batch has one recomputation mode.
  void add_modes(int slot) {
    Row row{.name = label("U6", slot), .upper = 1};
    for (int choice = 0; choice < recomputations(instance_); ++choice) {
      const std::string name = label("w", slot) + "_r" + std::to_string(choice);
      out_.modes.push_back(out_.model.add_variable({.name = name, .upper = 1, .integer = true}));
      row.terms.push_back({out_.modes.back(), 1});
    }
    out_.model.add_row(std::move(row));
  }

  void add_equal(int slot) {
    out_.equal.push_back(out_.model.add_variable({.name = label("n", slot),
                                                  .upper = static_cast<double>(most_sequences_),
                                                  .integer = true}));
  }

  // U8, U9: all used groups of a micro-batch have its number of sequences per group.
  void add_equal_rows(const Row& link, int used, const std::string& suffix) {
    Row most{.name = "U8" + suffix, .upper = 0, .terms = {{out_.equal.back(), -1}}};
    Row least{.name = "U9" + suffix,
              .lower = -static_cast<double>(most_sequences_),
              .terms = {{out_.equal.back(), -1}, {used, -static_cast<double>(most_sequences_)}}};
    for (const milp::Term& term : link.terms) {
      if (term.variable == used) continue;
      most.terms.push_back(term);
      least.terms.push_back(term);
    }
    out_.model.add_row(std::move(most));
    out_.model.add_row(std::move(least));
  }

  void add_group(int slot, GroupForm form, int index) {
    const std::size_t group = out_.groups.size();
    out_.groups.push_back({.slot = slot,
                           .degree = form.degree,
                           .exchange = form.exchange,
                           .recomputation = form.recomputation,
                           .place = form.place});
    const std::string suffix =
        "_b" + std::to_string(slot) + form_suffix(form) + "_" + std::to_string(index);
    const int used = out_.model.add_variable({.name = "m" + suffix, .upper = 1, .integer = true});
    out_.used.push_back(used);
    const GroupRoom room = room_of_group(instance_, form);
    const Tokens capacity = std::min(room.capacity, all_tokens_);
    const Ms fixed = group_overhead_ms(instance_, form);
    Row time{.name = "C1" + suffix, .upper = 0, .terms = {{out_.makespan.back(), -1}}};
    Row transfer{.name = "C7" + suffix, .upper = 0, .terms = {{out_.makespan.back(), -1}}};
    bool hides = false;  // true if the two sums of some class differ
    Row memory{.name = "C2" + suffix, .upper = static_cast<double>(capacity)};
    Row tokens{.name = "C8" + suffix, .upper = static_cast<double>(room.most_tokens)};
    Row link{.name = "C4" + suffix, .upper = 0, .terms = {{used, -double(most_sequences_)}}};
    for (std::size_t q = 0; q < classes_.size(); ++q) {
      const LengthClass& c = classes_[q];
      const Tokens length = padded_length(instance_, c.length, form);
      const Tokens most =
          length > room.longest
              ? 0
              : std::min({Tokens{c.count}, capacity / (length + room.sequence_tokens),
                          room.most_tokens / length, Tokens{most_sequences_}});
      // S1: a class that exceeds the group's memory is never assigned to it. If sequences run one
      // by one, no row on sums implies this.
      if (most == 0 && (options_.strengthened || !instance_.rules.packed)) {
        out_.assigned.push_back(-1);
        continue;
      }
      const int variable = out_.model.add_variable(
          {.name = "A" + suffix + "_q" + std::to_string(q),
           .upper = static_cast<double>(options_.strengthened ? most : c.count),
           .integer = true});
      out_.assigned.push_back(variable);
      const Load load = sequence_load(instance_, length, form);
      time.terms.push_back({variable, load.compute});
      transfer.terms.push_back({variable, load.transfer});
      hides = hides || load.compute != load.transfer;
      memory.terms.push_back({variable, static_cast<double>(length + room.sequence_tokens)});
      tokens.terms.push_back({variable, static_cast<double>(length)});
      link.terms.push_back({variable, 1});
    }
    if (options_.strengthened) {
      // S2: an unused group has no memory and no overhead.
      memory.upper = 0;
      memory.terms.push_back({used, -static_cast<double>(capacity)});
      tokens.upper = 0;
      tokens.terms.push_back({used, -static_cast<double>(room.most_tokens)});
      time.terms.push_back({used, fixed});
    } else if (options_.slots == 1) {
      // As published: the constant beta1 is always paid, and latency is paid by used groups only.
      time.upper = -constant_;
      time.terms.push_back({used, fixed - constant_});
    } else {
      time.terms.push_back({used, fixed});
    }
    if (!out_.modes.empty()) {
      // U7: a used group has the recomputation mode of its micro-batch.
      out_.model.add_row(
          {.name = "U7" + suffix, .lower = 0, .terms = {{mode(slot, form), 1}, {used, -1}}});
    }
    if (needs_work()) {
      // U1: a used group has a sequence.
      Row work{.name = "U1" + suffix, .lower = 0, .terms = link.terms};
      work.terms.front().coefficient = -1;
      out_.model.add_row(std::move(work));
    }
    if (!out_.equal.empty()) add_equal_rows(link, used, suffix);
    transfer.upper = time.upper;
    if (time.terms.back().variable == used) transfer.terms.push_back(time.terms.back());
    out_.rows.push_back(add_row_padding(form, capacity, tokens, time, transfer, suffix));
    if (instance_.model.offload) {
      const int work = add_copies(form, tokens, suffix);
      time.terms.front().variable = work;
      transfer.terms.front().variable = work;
    }
    out_.model.add_row(std::move(time));
    out_.model.add_row(std::move(memory));
    if (room.most_tokens < kMaxExact) out_.model.add_row(std::move(tokens));
    out_.model.add_row(std::move(link));
    if (hides) out_.model.add_row(std::move(transfer));
    const bool twin = index > 0 && options_.strengthened;
    if (twin) {
      // S3: groups of one degree are used in order.
      out_.model.add_row(
          {.name = "S3" + suffix, .lower = 0, .terms = {{out_.used[group - 1], 1}, {used, -1}}});
    }
  }

  // C9: the row of a group is a multiple k_p of row_multiple() that covers its sequences. The group
  // pays for the padding beyond them. Returns k_p, or -1 if rows are not padded.
  int add_row_padding(GroupForm form, Tokens capacity, const Row& tokens, Row& time, Row& transfer,
                      const std::string& suffix) {
    const Tokens multiple = row_multiple(instance_, form);
    if (multiple == 1) return -1;
    const Load most = row_padding_load(instance_, 1, form);  // of multiple - 1 tokens
    const double padding = static_cast<double>(multiple - 1);
    const Load each{most.compute / padding, most.transfer / padding};
    const Tokens most_tokens = std::min(capacity, kMaxExact);
    const Tokens multiples = most_tokens / multiple + (most_tokens % multiple != 0);
    const int row = out_.model.add_variable(
        {.name = "k" + suffix, .upper = static_cast<double>(multiples), .integer = true});
    Row cover{.name = "C9" + suffix, .lower = 0, .terms = {{row, static_cast<double>(multiple)}}};
    const auto pay = [&](Row& own, Ms token) {
      for (milp::Term& term : own.terms) {
        const auto sequence = std::ranges::find(tokens.terms, term.variable, &milp::Term::variable);
        if (sequence == tokens.terms.end() || sequence->coefficient < 0) continue;
        const Ms linear = token * sequence->coefficient;
        term.coefficient = linear < term.coefficient * kAllLinear ? term.coefficient - linear : 0;
      }
      std::erase_if(own.terms, [](const milp::Term& term) { return term.coefficient == 0; });
      own.terms.push_back({row, token * static_cast<double>(multiple)});
    };
    for (const milp::Term& sequence : tokens.terms) {
      if (sequence.coefficient > 0)
        cover.terms.push_back({sequence.variable, -sequence.coefficient});
    }
    pay(time, each.compute);
    pay(transfer, each.transfer);
    out_.model.add_row(std::move(cover));
    return row;
  }

  // OF1 to OF4: W_p of the group stands in the place of the makespan in C1 and C7, x_p MiB leave
  // each device, and copies out and in that W_p does not hide take y_p and z_p ms. The makespan is
  // at least the sum. C2 has the capacity C, which limits x_p to the activations that can leave and
  // to the memory of the host. Returns W_p.
  int add_copies(GroupForm form, const Row& tokens, const std::string& suffix) {
    const ActivationOffload& offload = *instance_.model.offload;
    OffloadColumns& own = out_.offload.emplace_back();
    own.work = out_.model.add_variable({.name = "W" + suffix});
    own.mib = out_.model.add_variable({.name = "x" + suffix});
    own.out = out_.model.add_variable({.name = "y" + suffix});
    own.in = out_.model.add_variable({.name = "z" + suffix});
    const Mib each = token_mib(instance_, form) / form.degree;
    const int padded = out_.rows.back();
    Row leaves{.name = "OF1" + suffix,
               .upper = each * form.degree * static_cast<double>(resident_tokens(instance_, form)),
               .terms = {{own.mib, -1}}};
    if (padded >= 0) {
      leaves.terms.push_back({padded, each * static_cast<double>(row_multiple(instance_, form))});
    } else {
      for (const milp::Term& sequence : tokens.terms) {
        if (sequence.coefficient > 0)
          leaves.terms.push_back({sequence.variable, each * sequence.coefficient});
      }
    }
    const double forward = offload.forward_share;
    Row out{.name = "OF2" + suffix,
            .upper = 0,
            .terms = {{own.mib, 1 / offload.out_mib_per_ms}, {own.work, -forward}, {own.out, -1}}};
    Row in{.name = "OF3" + suffix,
           .upper = 0,
           .terms = {{own.mib, 1 / offload.in_mib_per_ms}, {own.work, forward - 1}, {own.in, -1}}};
    Row all{.name = "OF4" + suffix,
            .upper = 0,
            .terms = {{own.work, 1}, {own.out, 1}, {own.in, 1}, {out_.makespan.back(), -1}}};
    for (Row* const row : {&leaves, &out, &in, &all}) {
      std::erase_if(row->terms, [](const milp::Term& term) { return term.coefficient == 0; });
      out_.model.add_row(std::move(*row));
    }
    return own.work;
  }

  void add_slot_rows(int slot, std::size_t first) {
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
      sum.terms.push_back({out_.used[group], double(degree)});
      some.terms.push_back({out_.used[group], 1});
      if (latency > 0) {
        area.terms.push_back({out_.used[group], degree * latency});
        transfer.terms.push_back(area.terms.back());
      }
      for (std::size_t q = 0; q < classes_.size(); ++q) {
        const int variable = assigned(group, q);
        if (variable < 0) continue;
        const Load load = sequence_load(instance_, classes_[q].length, form);
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

  // U10: C3 for the devices of each kind.
  void add_kinds(int slot, std::size_t first) {
    const Cluster& cluster = instance_.cluster;
    for (int kind = 0; kind < static_cast<int>(cluster.kinds.size()); ++kind) {
      Row row{.name = label("U10", slot) + "_k" + std::to_string(kind),
              .upper = double(first_rank_of_kind(cluster, kind + 1) -
                              first_rank_of_kind(cluster, kind))};
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
  void add_rules_of_slot(Row sum, Row some) {
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
  void add_multiple() {
    const auto multiple = static_cast<double>(instance_.rules.micro_batches_multiple_of);
    out_.times = out_.model.add_variable(
        {.name = "z", .upper = std::floor(options_.slots / multiple), .integer = true});
    Row row{.name = "U4", .lower = 0, .upper = 0, .terms = {{out_.times, -multiple}}};
    for (const int open : out_.open) row.terms.push_back({open, 1});
    out_.model.add_row(std::move(row));
  }

  // U5: no makespan exceeds the longest makespan, which counts stages - 1 more times.
  void add_longest() {
    out_.longest =
        out_.model.add_variable({.name = "T_max", .objective = double(options_.stages - 1)});
    for (std::size_t slot = 0; slot < out_.makespan.size(); ++slot) {
      out_.model.add_row({.name = label("U5", static_cast<int>(slot)),
                          .lower = 0,
                          .terms = {{out_.longest, 1}, {out_.makespan[slot], -1}}});
    }
  }

  bool needs_work() const {
    return instance_.rules.no_idle_ranks || instance_.rules.micro_batches_multiple_of > 1;
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

  // S5: slots are ordered by makespan, so that permuted slots are not solved again.
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
  int most_sequences_ = 0;  // limit of a group
  Tokens all_tokens_ = kMaxExact;
  // The time that every group pays once, for any degree.
  Ms constant_ = instance_.rules.packed ? instance_.cost.fixed_ms : 0;
  ScatterMilp out_;
};

}  // namespace

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
    const auto makespan = static_cast<std::size_t>(milp.makespan[slot]);
    values[makespan] = std::max(values[makespan], group_ms(instance, group.form(), load));
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
