// The padded lengths of a scatter plan, computed from the format description alone: the lower part
// of reference_model.h. Not installed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {

class ScatterPaddingReference {
 public:
  explicit ScatterPaddingReference(const ScatterInstance& instance) : instance_(instance) {}

  std::int64_t sequences() const { return static_cast<std::int64_t>(instance_.lengths.size()); }
  bool is_known(std::int64_t id) const { return id >= 0 && id < sequences(); }

  bool is_allowed(int degree) const {
    const auto& degrees = instance_.cluster.degrees;
    return std::binary_search(degrees.begin(), degrees.end(), degree);
  }

  // Returns the degrees of the cluster that the rules allow.
  std::vector<int> degrees() const {
    std::vector<int> left;
    for (const int degree : instance_.cluster.degrees) {
      if (!(degree < instance_.rules.min_degree)) left.push_back(degree);
    }
    return left;
  }

  // Returns the tokens that a known sequence has on any group: its length, padded to the multiple
  // that all groups share; nullopt beyond the 64-bit range.
  std::optional<Tokens> length(std::int64_t id) const {
    const Tokens own = instance_.lengths[static_cast<std::size_t>(id)];
    if (!instance_.padding) return filled(own, instance_.pad_multiple);
    const Padding& padding = *instance_.padding;
    if (!padding.per_degree || padding.device_multiple < 1) {
      return filled(own, padding.sequence_multiple);
    }
    Tokens divisor = 0;  // of all degrees
    for (const int degree : degrees()) divisor = greatest_divisor(divisor, degree);
    return filled(own,
                  least_multiple(padding.device_multiple * divisor, padding.sequence_multiple));
  }

  // Returns length() of a sequence of `tokens` tokens on such a group, after padding; nullopt
  // beyond the 64-bit range.
  std::optional<Tokens> on_group(Tokens tokens, GroupForm form) const {
    return instance_.padding ? filled(tokens, sequences_fill(form)) : std::optional(tokens);
  }

  // Returns the tokens of a row whose sequences have `tokens` tokens on such a group.
  std::optional<Tokens> row(std::optional<Tokens> tokens, GroupForm form) const {
    return tokens ? filled(*tokens, rows_fill(form)) : std::nullopt;
  }

 protected:
  // Returns the least multiple of `step` that is at least `tokens`; nullopt beyond the 64-bit
  // range.
  static std::optional<Tokens> filled(Tokens tokens, Tokens step) {
    const Tokens rest = step > 1 ? tokens % step : 0;
    return rest == 0 ? std::optional(tokens) : checked_add(tokens, step - rest);
  }

  // Returns the multiple that a group of the form pads each of its sequences to, and its row. A
  // degree that is not allowed, a violation of its own, asks for nothing.
  Tokens sequences_fill(GroupForm form) const {
    const Padding& padding = *instance_.padding;
    Tokens step = padding.sequence_multiple;
    if (!instance_.rules.packed) step = least_multiple(step, padding.row_multiple);
    if (!padding.per_degree || form.degree < 1 || !is_allowed(form.degree)) return step;
    const bool whole = form.exchange == ExchangeKind::none ||
                       form.exchange == ExchangeKind::all_to_all;  // one chunk on each device
    if (!instance_.rules.packed) step = least_multiple(step, form.degree);
    const Tokens part = padding.device_multiple;
    if (part == 0) return whole ? step : least_multiple(step, Tokens{2} * form.degree);
    const Tokens chunk = whole || part % 2 == 0 ? part : 2 * part;
    return least_multiple(step, chunk * form.degree);
  }

  Tokens rows_fill(GroupForm form) const {
    if (!instance_.padding || !instance_.rules.packed) return 1;
    Tokens step = instance_.padding->row_multiple;
    const bool is_form = form.degree >= 1 && is_allowed(form.degree);
    if (is_form && instance_.padding->per_degree) step = least_multiple(step, form.degree);
    return sequences_fill(form) % step == 0 ? 1 : step;  // 1: all sums are multiples of it
  }

  const ScatterInstance& instance_;

 private:
  static Tokens greatest_divisor(Tokens a, Tokens b) {
    while (b != 0) {
      const Tokens rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
  static Tokens least_multiple(Tokens a, Tokens b) { return a / greatest_divisor(a, b) * b; }
};

}  // namespace stowage
