#include "formulations/scatter/lp/class_lp.h"

#include <algorithm>
#include <string>
#include <utility>

#include "instances/scatter/cost/cost_model.h"

namespace stowage {

ScatterClassLp build_scatter_class_lp(const ScatterInstance& instance,
                                      std::span<const LengthClass> classes, Ms limit,
                                      bool integral) {
  ScatterClassLp out;
  std::vector<milp::Row> covered;
  for (std::size_t q = 0; q < classes.size(); ++q) {
    const double count = classes[q].count;
    covered.push_back({.name = "L1_q" + std::to_string(q), .lower = count, .upper = count});
  }
  Tokens all = kMaxExact;
  if (!instance.rules.packed) {
    // Room beyond all tokens has no effect, and much larger numbers harm a solver.
    all = 1;
    for (const LengthClass& c : classes) all += most_padded_length(instance, c.length) * c.count;
  }
  for (const GroupForm form : group_forms(instance)) {
    std::string suffix = "_d" + std::to_string(form.degree);
    if (form.exchange != ExchangeKind::none) {
      suffix += '_' + std::string(exchange_names()[static_cast<std::size_t>(form.exchange)]);
    }
    if (form.recomputation > 0) suffix += "_r" + std::to_string(form.recomputation);
    if (form.place > 0) suffix += "_k" + std::to_string(form.place);
    const Ms left = limit - group_overhead_ms(instance, form);
    const GroupRoom room = room_of_group(instance, form);
    const Tokens capacity = std::min(room.capacity, all);
    // No upper bound: so the model always has a solution. A status "infeasible" is a failure of the
    // solver and is never taken for a refutation.
    const int groups = out.model.add_variable(
        {.name = "n" + suffix, .objective = double(form.degree), .integer = integral});
    out.groups.push_back(groups);
    milp::Row time{.name = "L2" + suffix, .upper = 0, .terms = {{groups, -left}}};
    milp::Row transfer{.name = "L4" + suffix, .upper = 0, .terms = time.terms};
    bool hides = false;  // true if the two sums of some class differ
    milp::Row memory{
        .name = "L3" + suffix, .upper = 0, .terms = {{groups, -static_cast<double>(capacity)}}};
    milp::Row tokens{.name = "L5" + suffix,
                     .upper = 0,
                     .terms = {{groups, -static_cast<double>(room.most_tokens)}}};
    for (std::size_t q = 0; q < classes.size(); ++q) {
      const Tokens length = padded_length(instance, classes[q].length, form);
      const Load load = sequence_load(instance, length, form);
      if (length > room.longest || load.time() > left) continue;
      hides = hides || load.compute != load.transfer;
      const int share = out.model.add_variable(
          {.name = "x" + suffix + "_q" + std::to_string(q), .upper = double(classes[q].count)});
      covered[q].terms.push_back({share, 1});
      time.terms.push_back({share, load.compute});
      transfer.terms.push_back({share, load.transfer});
      memory.terms.push_back({share, static_cast<double>(length + room.sequence_tokens)});
      tokens.terms.push_back({share, static_cast<double>(length)});
    }
    out.model.add_row(std::move(time));
    if (hides) out.model.add_row(std::move(transfer));
    out.model.add_row(std::move(memory));
    if (room.most_tokens < kMaxExact) out.model.add_row(std::move(tokens));
  }
  for (milp::Row& row : covered) {
    if (row.terms.empty()) out.possible = false;
    out.model.add_row(std::move(row));
  }
  return out;
}

}  // namespace stowage
