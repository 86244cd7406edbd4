// The columns and rows of one group: C1, C2, C4, C7 to C9, its recomputation mode and equal
// sequences, and the copies of an offload.
#include <algorithm>
#include <string>
#include <utility>

#include "formulations/scatter/milp_builder.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/table/device_pools.h"

namespace stowage {
namespace {

using milp::Row;

// A load whose linear part is at least this share of it has no other part: the rest is rounding.
constexpr double kAllLinear = 1 - 1e-9;

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

}  // namespace

void ScatterMilpBuilder::add_group(int slot, GroupForm form, int index) {
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
    const Tokens most = length > room.longest
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

// U8, U9: all used groups of a micro-batch have its number of sequences per group.
void ScatterMilpBuilder::add_equal_rows(const Row& link, int used, const std::string& suffix) {
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

// C9: the row of a group is a multiple k_p of row_multiple() that covers its sequences. The group
// pays for the padding beyond them. Returns k_p, or -1 if rows are not padded.
int ScatterMilpBuilder::add_row_padding(GroupForm form, Tokens capacity, const Row& tokens,
                                        Row& time, Row& transfer, const std::string& suffix) {
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
    if (sequence.coefficient > 0) cover.terms.push_back({sequence.variable, -sequence.coefficient});
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
int ScatterMilpBuilder::add_copies(GroupForm form, const Row& tokens, const std::string& suffix) {
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

}  // namespace stowage
