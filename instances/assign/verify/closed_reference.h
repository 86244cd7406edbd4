// The closed bounds AB1 to AB3 of an assign instance, computed for the checks of certificates. They
// share no code with the bounds that planners use. Not installed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "instances/assign/verify/lengths_reference.h"
#include "instances/numeric/tolerances.h"

namespace stowage {

class AssignClosedReference {
 public:
  // Both must outlive this object; sorts are longest first.
  AssignClosedReference(const AssignInstance& instance, const std::vector<LengthSort>& sorts)
      : instance_(instance), sorts_(sorts) {}

  // [AB1]: T is at least pp times the time of the longest row.
  Real longest(const Strategy& strategy) const {
    Real most = 0;
    for (const LengthSort& sort : sorts_) {
      Real least = kCheckerForever;
      for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
        const Scheme& scheme = instance_.schemes[g];
        if (strategy.replicas[g] == 0 || !holds(scheme, sort.tokens)) continue;
        least = std::min(least, scheme.pp * (scheme.fixed_ms + work_of(scheme, sort.tokens)));
      }
      most = std::max(most, least);
    }
    return most;
  }

  // [AB2] for the longest sequences.
  Real pigeonhole(const Strategy& strategy) const {
    std::int64_t replicas = 0;
    for (const int count : strategy.replicas) replicas += count;
    std::vector<Tokens> longest;  // the longest of all sequences, up to the limit
    for (const LengthSort& sort : sorts_) {
      for (std::int64_t k = 0; k < sort.count; ++k) {
        if (static_cast<std::int64_t>(longest.size()) > kMaxShared * replicas) break;
        longest.push_back(sort.tokens);
      }
    }
    const auto set_of = [&](std::initializer_list<std::int64_t> places) {
      std::vector<LengthSort> sorts;
      for (const std::int64_t place : places) {
        add(longest[static_cast<std::size_t>(place)], sorts);
      }
      return sorts;
    };
    const auto known = static_cast<std::int64_t>(longest.size());
    Real most = 0;
    for (std::int64_t m = 1; m < kMaxShared && m * replicas < known; ++m) {
      std::vector<LengthSort> sorts;
      for (std::int64_t k = m * replicas - m; k <= m * replicas; ++k) {
        add(longest[static_cast<std::size_t>(k)], sorts);
      }
      most = std::max(most, together(strategy, sorts));
    }
    for (std::int64_t i = 0; i < replicas; ++i) {
      const std::int64_t j = 2 * replicas - 1 - i;
      if (j < 2 || j >= known || j <= i) continue;
      const Real pair = together(strategy, set_of({i, j}));
      if (pair <= most) continue;
      most = std::max(most, std::min(pair, together(strategy, set_of({j - 2, j - 1, j}))));
    }
    return most;
  }

  // [AB3]: the sequences that only one scheme holds, on all replicas of that scheme.
  Real captives(const Strategy& strategy) const {
    const RowConstraints& rule = instance_.constraints;
    Real most = 0;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      if (strategy.replicas[g] == 0) continue;
      const Scheme& scheme = instance_.schemes[g];
      Tokens others = 0;  // longest sequence that other schemes hold
      for (std::size_t h = 0; h < strategy.replicas.size(); ++h) {
        if (h == g || strategy.replicas[h] == 0) continue;
        others = std::max(others, instance_.schemes[h].max_tokens);
      }
      std::vector<LengthSort> own;
      Real work = 0;
      for (const LengthSort& sort : sorts_) {
        if (!holds(scheme, sort.tokens) || sort.tokens <= others) continue;
        own.push_back(sort);
        work += work_of(scheme, sort.tokens) * static_cast<Real>(sort.count);
      }
      if (own.empty()) continue;
      const Real multiple = rule.rows_multiple_of;
      Real rows = std::ceil(fewest_rows(own, scheme.max_tokens) / multiple) * multiple;
      if (!rule.allow_empty) rows = std::max(rows, multiple * strategy.replicas[g]);
      const Real bubble = (scheme.pp - 1) * (scheme.fixed_ms + work_of(scheme, own.front().tokens));
      most = std::max(most, (work + rows * scheme.fixed_ms + bubble) / strategy.replicas[g]);
    }
    return most;
  }

 private:
  // Sequences per replica that the pigeonhole bound considers.
  static constexpr int kMaxShared = 64;

  static Real ceil_div(Real a, Real b) { return std::ceil(a / b * kCheckerLowered); }

  // Martello and Toth's L2 bound for the sorts up to `cap`. Sequences above cap - alpha and those
  // above half the cap take a row each. The rows of the latter have room for other sequences of
  // alpha tokens or more.
  static Real fewest_rows(const std::vector<LengthSort>& sorts, Tokens cap) {
    const auto room = static_cast<Real>(cap);
    std::vector<Real> number{0};  // running sums of sequences, and of tokens
    std::vector<Real> tokens{0};
    for (const LengthSort& sort : sorts) {
      number.push_back(number.back() + static_cast<Real>(sort.count));
      tokens.push_back(tokens.back() +
                       static_cast<Real>(sort.tokens) * static_cast<Real>(sort.count));
    }
    const auto longer_than = [&](Tokens limit) {
      const auto first = std::ranges::partition_point(
          sorts, [&](const LengthSort& sort) { return sort.tokens > limit; });
      return static_cast<std::size_t>(first - sorts.begin());
    };
    Real best = ceil_div(tokens.back(), room);
    const std::size_t half = longer_than(cap / 2);
    best = std::max(best, number[half]);
    for (std::size_t k = half; k < sorts.size(); ++k) {
      const std::size_t alone = longer_than(cap - sorts[k].tokens);
      const Real left = (number[half] - number[alone]) * room - (tokens[half] - tokens[alone]);
      const Real rest = tokens[k + 1] - tokens[half] - left;
      best = std::max(best, number[half] + (rest > 0 ? ceil_div(rest, room) : 0));
    }
    return best;
  }

  // Returns the least T of any replica of the strategy that has these sequences, longest first.
  Real together(const Strategy& strategy, const std::vector<LengthSort>& sorts) const {
    Real least = kCheckerForever;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      const Scheme& scheme = instance_.schemes[g];
      if (strategy.replicas[g] == 0 || !holds(scheme, sorts.front().tokens)) continue;
      Real work = 0;
      Real number = 0;
      for (const LengthSort& sort : sorts) {
        work += work_of(scheme, sort.tokens) * static_cast<Real>(sort.count);
        number += static_cast<Real>(sort.count);
      }
      for (Real rows = fewest_rows(sorts, scheme.max_tokens); rows <= number; ++rows) {
        const Real row = std::max(work / rows, work_of(scheme, sorts.front().tokens));
        least = std::min(least,
                         work + rows * scheme.fixed_ms + (scheme.pp - 1) * (row + scheme.fixed_ms));
      }
    }
    return least;
  }

  static void add(Tokens tokens, std::vector<LengthSort>& sorts) {
    if (sorts.empty() || sorts.back().tokens != tokens) sorts.push_back({tokens, 0});
    ++sorts.back().count;
  }

  const AssignInstance& instance_;
  const std::vector<LengthSort>& sorts_;
};

}  // namespace stowage
