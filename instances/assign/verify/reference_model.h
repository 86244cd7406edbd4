// The values of an assign plan, computed from the format description alone;
// scatter/verify/reference_model.h explains why it repeats the planners' table and pipeline.cc.
// Only the verifier uses it. Not installed.
//
//   AssignReferenceModel truth(instance);
//   RowSums sums;
//   for (const std::int64_t id : row.sequences) truth.add(id, sums);
//   if (truth.row_time(sums, *scheme) != row.time_ms) ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"

namespace stowage {

// Sums over the sequences of a row.
struct RowSums {
  bool all_known = true;              // every id is one of the instance's
  std::optional<Tokens> tokens = 0;   // of the known ones; absent beyond the 64-bit range
  std::optional<Tokens> targets = 0;  // as `tokens`
  long double squares = 0;            // of their lengths
};

class AssignReferenceModel {
 public:
  explicit AssignReferenceModel(const AssignInstance& instance) : instance_(instance) {
    for (const Scheme& scheme : instance.schemes) schemes_.emplace(scheme.name, &scheme);
  }

  std::int64_t sequences() const { return static_cast<std::int64_t>(instance_.lengths.size()); }
  bool is_known(std::int64_t id) const { return id >= 0 && id < sequences(); }

  // Returns the scheme, or null for an unknown name.
  const Scheme* scheme(std::string_view name) const {
    const auto found = schemes_.find(name);
    return found == schemes_.end() ? nullptr : found->second;
  }

  const Strategy* strategy(std::string_view name) const {
    for (const Strategy& each : instance_.strategies) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }

  // Returns the padded length of a known sequence; nullopt beyond the 64-bit range.
  std::optional<Tokens> length(std::int64_t id) const {
    const Tokens own = instance_.lengths[static_cast<std::size_t>(id)];
    const Tokens rest = instance_.pad_multiple > 1 ? own % instance_.pad_multiple : 0;
    return rest == 0 ? own : checked_add(own, instance_.pad_multiple - rest);
  }

  // Returns the tokens of a known sequence over which the loss is summed.
  Tokens targets(std::int64_t id) const {
    const auto i = static_cast<std::size_t>(id);
    return instance_.loss_tokens.empty() ? instance_.lengths[i] : instance_.loss_tokens[i];
  }

  void add(std::int64_t id, RowSums& sums) const {
    if (!is_known(id)) {
      sums.all_known = false;
      return;
    }
    const auto tokens = length(id);
    sums.tokens = sums.tokens && tokens ? checked_add(*sums.tokens, *tokens) : std::nullopt;
    sums.targets = sums.targets ? checked_add(*sums.targets, targets(id)) : std::nullopt;
    const auto s = static_cast<long double>(tokens.value_or(0));
    sums.squares += s * s;
  }

  // Adds the tokens of `range` of a known sequence, a part of its padded length.
  void add(std::int64_t id, const TokenRange& range, RowSums& sums) const {
    const Tokens own = instance_.lengths[static_cast<std::size_t>(id)];
    const auto begin = static_cast<long double>(range.begin);
    const auto end = static_cast<long double>(range.end);
    sums.tokens = range.end - range.begin;
    sums.targets = std::min(range.end, own) - std::min(range.begin, own);
    sums.squares = (end - begin) * (end + begin);  // squares beyond 2^64 would cancel
  }

  // Returns t_g(B); nullopt if the sums are wrong, which is a violation of its own.
  static std::optional<Ms> row_time(const RowSums& sums, const Scheme& scheme) {
    if (!sums.all_known || !sums.tokens) return std::nullopt;
    return static_cast<Ms>(scheme.quadratic_ms * sums.squares +
                           scheme.linear_ms * static_cast<long double>(*sums.tokens) +
                           scheme.fixed_ms);
  }

  // Returns T of a replica whose rows take these times.
  static Ms replica_time(const std::vector<Ms>& rows, int stages) {
    long double sum = 0;
    Ms longest = 0;
    for (const Ms row : rows) {
      sum += row;
      longest = std::max(longest, row);
    }
    return static_cast<Ms>(sum + (stages - 1) * static_cast<long double>(longest));
  }

 private:
  const AssignInstance& instance_;
  std::map<std::string_view, const Scheme*> schemes_;
};

}  // namespace stowage
