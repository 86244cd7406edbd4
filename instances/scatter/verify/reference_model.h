// The values of a scatter plan, computed from the format description alone.
//
// It deliberately repeats the computations of instance.cc and the cost model, in other words and in
// another order (sums over a group first, in long double), because shared code would share its
// mistakes. Only the verifier uses it. Not installed. Its parts stand on each other: padding,
// forms, memory, the work of a row, and here the times of groups and of steps.
//
//   ScatterReferenceModel truth(instance);
//   GroupSums sums;
//   for (const std::int64_t id : group.sequences) truth.add(id, sums);
//   if (truth.time(sums, {group.degree, group.exchange, way}) != group.time_ms) ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "instances/scatter/cost/time_grid.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/scatter/table/group_form.h"
#include "instances/scatter/verify/work_reference.h"

namespace stowage {

class ScatterReferenceModel : public ScatterWorkReference {
 public:
  using ScatterWorkReference::ScatterWorkReference;

  // Returns the time of a step: the sum of its makespans, plus the longest for each stage but one.
  Ms step(const std::vector<Ms>& makespans) const {
    Ms all = 0;
    Ms longest = 0;
    for (const Ms makespan : makespans) {
      all += makespan;
      longest = std::max(longest, makespan);
    }
    for (int stage = 1; stage < instance_.pipeline_stages; ++stage) all += longest;
    return all;
  }
  int stages() const { return instance_.pipeline_stages; }

  // Returns the form of a row that all devices share beside their own rows; nullopt if
  // micro-batches cannot be mixed.
  std::optional<GroupForm> shared_form() const {
    if (!instance_.mixed) return std::nullopt;
    return GroupForm{instance_.cluster.devices,
                     instance_.cost.exchange ? ExchangeKind::all_to_all : ExchangeKind::none};
  }

  // Returns the makespan in ms of a mixed micro-batch. Its shared row has `row` tokens and takes
  // `shared_ms` alone, and its slowest own row takes `own_ms` alone. Devices pay the
  // fixed time once. The slowest one computes its own row while it exchanges, as far as that is
  // hidden.
  Ms mixed(Tokens row, Ms shared_ms, Ms own_ms) const {
    const long double own = static_cast<long double>(own_ms) - instance_.cost.fixed_ms;
    const long double hidden = instance_.mixed->hidden_share * exchanged(row, *shared_form());
    return static_cast<Ms>(shared_ms + own - std::min(hidden, own));
  }

  // Returns t(S, d), infinite for a degree without a bandwidth. Returns nullopt if the sums or the
  // form are wrong, which is a violation of its own.
  std::optional<Ms> time(const GroupSums& sums, GroupForm form) const {
    if (!sums.all_known || !sums.tokens || !is_allowed(form.degree) || form.degree < 1 ||
        !may_exchange(form)) {
      return std::nullopt;
    }
    return time(sums, form, least_share(sums, form));
  }

  // Returns the time if this share of the activations leaves. Requires known sums and an allowed
  // form.
  Ms time(const GroupSums& sums, GroupForm form, double share) const {
    const GroupTimes both = times(sums, form);
    const long double work = std::max(both.compute, both.transfer);
    const auto& offload = instance_.model.offload;
    if (!offload || !(share > 0)) return static_cast<Ms>(work);
    // The forward pass sends, the backward pass fetches. Each lasts as long as its copies at least.
    const long double mib = away_mib(sums, form, share);
    const long double forward = work * offload->forward_share;
    return static_cast<Ms>(std::max(forward, mib / offload->out_mib_per_ms) +
                           std::max(work - forward, mib / offload->in_mib_per_ms));
  }

  // Returns the two times before their maximum, with the padding of the row. Requires known sums
  // and an allowed form.
  GroupTimes times(const GroupSums& sums, GroupForm form) const {
    if (instance_.rules.packed && rows_fill(form) > 1) {
      GroupSums all = sums;
      all.tokens = row(sums.tokens, form);
      return packed_times(all, form);
    }
    return times_before_filling(sums, form);
  }

  // Returns times() without the padding of the row. The padding of a row belongs to all of its
  // sequences together, so that only these times add up.
  GroupTimes times_before_filling(const GroupSums& sums, GroupForm form) const {
    if (instance_.rules.packed) return packed_times(sums, form);
    long double all = 0;  // one after another, each with its overhead and maximum
    for (const Tokens tokens : sums.each) {
      const GroupTimes one = packed_times(sums_of(tokens), form);
      all += std::max(one.compute, one.transfer);
    }
    return {all, all};
  }

  // Returns whether a group of the degree, with sequences of `shortest` to `longest` tokens each,
  // takes at least the time of the plane for all sums inside its grid. Both times are linear
  // between the points that are tried. Requires a table and an allowed degree.
  bool takes_at_least(const AffineTime& plane, int degree, Tokens shortest, Tokens longest) const {
    const TimeGrid& grid = instance_.cost.table.at(degree);
    const auto holds = [&](long double tokens, long double squares) {
      const long double least = plane.ms + plane.token_ms * tokens + plane.square_ms * squares;
      return least <= looked_up(grid, tokens, squares);
    };
    for (const double tokens : grid.tokens) {
      for (const double squares : grid.squares) {
        const long double row = tokens;
        if (squares < row * shortest || squares > row * longest) continue;
        if (!holds(tokens, squares)) return false;
      }
    }
    const long double last = grid.tokens.back();
    const auto holds_in_rows_of = [&](long double length) {
      const auto may = [&](long double tokens, long double squares) {
        const bool inside = tokens >= 0 && tokens <= last && squares <= grid.squares.back();
        return !inside || holds(tokens, squares);
      };
      for (const double tokens : grid.tokens) {
        if (!may(tokens, tokens * length)) return false;
      }
      for (const double squares : grid.squares) {
        if (!may(squares / length, squares)) return false;
      }
      for (std::size_t i = 1; i < grid.tokens.size(); ++i) {
        const long double wide = static_cast<long double>(grid.tokens[i]) - grid.tokens[i - 1];
        for (std::size_t j = 1; j < grid.squares.size(); ++j) {
          const long double high = static_cast<long double>(grid.squares[j]) - grid.squares[j - 1];
          // On the diagonal: (T - t) / wide = (length T - q) / high.
          const long double slower = high - length * wide;
          if (slower == 0) continue;  // parallel to it, where the corners decide
          const long double at = (grid.tokens[i - 1] * high - grid.squares[j - 1] * wide) / slower;
          const bool own = at > grid.tokens[i - 1] && at < grid.tokens[i];
          if (own && !may(at, at * length)) return false;
        }
      }
      return true;
    };
    return holds_in_rows_of(static_cast<long double>(shortest)) &&
           holds_in_rows_of(static_cast<long double>(longest));
  }
};

}  // namespace stowage
