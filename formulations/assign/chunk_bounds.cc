#include "formulations/assign/chunk_bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "formulations/assign/priced_work.h"
#include "instances/assign/chunks/chunk_flow.h"
#include "instances/numeric/numbers.h"
#include "instances/ticker.h"

namespace stowage {
namespace {

// Costs of a length on a scheme that are computed under any budget: some milliseconds.
constexpr double kFreeLooks = 50'000;

using Lengths = std::map<Tokens, std::int64_t, std::greater<>>;  // number of occurrences by length

// Returns the cost of a sequence on a scheme that admits it, in rows of its own if it is cut.
CutCost cost_of(const AssignInstance& instance, const Scheme& scheme, Tokens length) {
  const ChunkRule& rule = *instance.constraints.chunks;
  if (length > rule.size) return cut_cost(length, rule, scheme);
  const auto s = static_cast<double>(length);
  const Ms time = scheme.quadratic_ms * s * s + scheme.linear_ms * s + scheme.fixed_ms;
  return {.chunks = 1, .sum = time, .longest = time};
}

// Returns the least time in ms of a replica with this sequence alone. CB1
Ms alone_ms(const AssignInstance& instance, const Scheme& scheme, Tokens length) {
  const ChunkRule& rule = *instance.constraints.chunks;
  if (length <= rule.size || rule.boundaries == ChunkBoundaries::fixed) {
    const CutCost cost = cost_of(instance, scheme, length);
    return cost.sum + (scheme.pp - 1) * cost.longest;
  }
  // A sequence in n parts takes (work + n c) (1 + (pp - 1) / n), since the longest part is at least
  // the mean. This falls with n and then rises.
  const LeastCut cut = least_cut(length, rule, scheme);
  const double bubbles = scheme.pp - 1;
  const auto at_least = [&](double parts) {
    return (cut.work + parts * scheme.fixed_ms) * (1 + bubbles / parts);
  };
  const auto fewest = static_cast<double>(cut.fewest);
  const auto most = static_cast<double>(most_parts(rule, length));
  const double best = scheme.fixed_ms > 0 ? std::sqrt(cut.work * bubbles / scheme.fixed_ms) : most;
  const double below = std::clamp(std::floor(best), fewest, most);
  return std::min(at_least(below), at_least(std::min(below + 1, most)));
}

// The work of a sequence's rows in ms, and the largest number of these rows. The fixed cost c of a
// row is left out if the bound counts rows instead. CB2
struct Weight {
  Ms ms = 0;
  std::int64_t most_rows = 1;
};

Weight weight_of(const AssignInstance& instance, const Scheme& scheme, Tokens length) {
  const ChunkRule& rule = *instance.constraints.chunks;
  if (length > rule.size && rule.boundaries != ChunkBoundaries::fixed) {
    const LeastCut cut = least_cut(length, rule, scheme);
    const Ms fixed = scheme.pp > 1 ? 0 : static_cast<double>(cut.fewest) * scheme.fixed_ms;
    return {cut.work + fixed, most_parts(rule, length)};
  }
  const CutCost cost = cost_of(instance, scheme, length);
  Weight weight{cost.sum, cost.chunks};
  if (scheme.pp > 1) {
    weight.ms -= static_cast<double>(cost.chunks) * scheme.fixed_ms;
  } else if (length <= rule.size) {  // the sequences of a row share its fixed time
    weight.ms -= scheme.fixed_ms *
                 (1 - static_cast<double>(length) / static_cast<double>(row_cap(instance, scheme)));
  }
  return weight;
}

struct Bounds {
  Ms longest = 0;
  Ms work = 0;
};

// Returns the least time in ms of the longest sequence alone over all schemes.
Ms longest_anywhere(const AssignInstance& instance, Tokens length) {
  Ms least = kInfinity;
  for (const Scheme& scheme : instance.schemes) {
    if (length > longest_sequence(instance, scheme)) continue;
    least = std::min(least, alone_ms(instance, scheme, length));
  }
  return least;
}

// Returns nullopt if the budget ends before all sequences are bounded.
std::optional<Bounds> bounds_of(const AssignInstance& instance, const Strategy& strategy,
                                const Lengths& lengths, GuaranteedWork& time) {
  std::vector<PricedGroup> groups;
  for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
    if (strategy.replicas[g] > 0) groups.push_back({&instance.schemes[g], strategy.replicas[g]});
  }
  Bounds bounds;
  std::vector<PricedKind> kinds;
  std::int64_t most_rows = 0;
  for (const auto& [length, count] : lengths) {
    if (time.exhausted(static_cast<double>(groups.size()))) return std::nullopt;
    PricedKind& kind = kinds.emplace_back(PricedKind{.count = static_cast<double>(count)});
    Ms least = kInfinity;
    std::int64_t rows = 1;
    for (const PricedGroup& group : groups) {
      const Scheme& scheme = *group.scheme;
      if (length > longest_sequence(instance, scheme)) {
        kind.weight.push_back(kInfinity);
        continue;
      }
      least = std::min(least, alone_ms(instance, scheme, length));
      const Weight weight = weight_of(instance, scheme, length);
      rows = weight.most_rows;
      kind.weight.push_back(weight.ms);
    }
    bounds.longest = std::max(bounds.longest, least);
    most_rows += rows * count;
  }
  constexpr std::int64_t kMany = 1'000'000;  // larger row numbers count as this number
  bounds.work =
      priced_work(kinds, groups, static_cast<int>(std::min(most_rows, kMany)), time.budget());
  return bounds;
}

}  // namespace

std::vector<NamedBound> assign_chunk_bounds(const AssignInstance& instance, const Budget& budget) {
  Lengths lengths;
  for (const Tokens length : padded_lengths(instance)) ++lengths[length];
  std::vector<NamedBound> step{
      {"longest", kInfinity}, {"work", kInfinity}, {"strategies", kInfinity}};
  if (lengths.empty()) {
    for (NamedBound& bound : step) bound.value = 0;
    return step;
  }
  GuaranteedWork time(budget, kFreeLooks);
  for (const std::size_t k : usable_strategies(instance)) {
    const std::optional<Bounds> bounds = bounds_of(instance, instance.strategies[k], lengths, time);
    if (!bounds) return {{"longest", longest_anywhere(instance, lengths.begin()->first)}};
    step[0].value = std::min(step[0].value, bounds->longest);
    step[1].value = std::min(step[1].value, bounds->work);
    step[2].value = std::min(step[2].value, std::max(bounds->longest, bounds->work));
  }
  std::ranges::stable_sort(step, {}, &NamedBound::value);
  return step;
}

}  // namespace stowage
