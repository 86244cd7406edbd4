#include "formulations/assign/lp/pattern_time.h"

#include <algorithm>
#include <cmath>

#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

constexpr std::int64_t kMaxScanned = 4096;
constexpr int kPatternBisections = 40;

// Returns the work of a replica with `rows` rows within `time`, if all rows are equally long and
// one is at least the longest sequence.
Ms work_in(const Scheme& scheme, double rows, Ms longest, Ms time) {
  const double bubble = scheme.pp - 1;
  const Ms left = time - scheme.fixed_ms * (rows + bubble);
  return std::min(left * rows / (rows + bubble), left - bubble * longest);
}

// Returns the payment of a sequence of one kind in a pattern of this room, infinite if it does not
// fit.
double price_of(const RowPattern& pattern, const Scheme& scheme, Tokens length, Ms work, Ms room) {
  if (length > pattern.longest || length > scheme.max_tokens || room < 0) return kInfinity;
  if (work > room * (1 + 2 * kBoundMargin)) return kInfinity;
  const double share = room > 0 ? work / room : 0;
  const auto rows = static_cast<double>(pattern.most_rows);
  const double row_share = static_cast<double>(length) / static_cast<double>(scheme.max_tokens);
  double price = pattern.time * share;
  if (rows > 0) price += pattern.tokens * row_share / rows;
  for (const PartPrice& each : pattern.parts) {
    if (each.of_rows && rows > 0) price += each.price * part_of(each.steps, row_share) / rows;
    if (!each.of_rows) price += each.price * part_of(each.steps, share);
  }
  return price;
}

}  // namespace

double part_of(std::int64_t steps, double share) {
  const auto p = static_cast<double>(steps);
  return std::max(0.0, std::ceil((p + 1) * share * (1 - 2 * kBoundMargin)) - 1) / p;
}

std::vector<Ms> least_longest(const AssignTable& table, int scheme,
                              const std::vector<RowPattern>& patterns) {
  std::vector<Ms> least;
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    const bool first = p == 0 || patterns[p - 1].least_rows != patterns[p].least_rows;
    const Tokens below = first ? 0 : patterns[p - 1].longest;
    const auto& kinds = table.kinds();
    const auto longer = std::ranges::partition_point(
        kinds, [&](const AssignKind& kind) { return kind.length > below; });
    least.push_back(longer == kinds.begin()
                        ? 0
                        : table.kind_work(static_cast<int>(longer - kinds.begin()) - 1, scheme));
  }
  return least;
}

Ms most_work(const Scheme& scheme, const RowRange& range, Ms longest, Ms time) {
  const double bubble = scheme.pp - 1;
  // Beyond this number of rows work_in() only falls. If rows have no fixed cost, it never falls.
  double peak = 1;
  if (bubble > 0) {
    const Ms left = time - scheme.fixed_ms * bubble;
    if (!(scheme.fixed_ms > 0)) {
      peak = kInfinity;
    } else if (left > 0) {
      peak = std::sqrt(bubble * (bubble + left / scheme.fixed_ms)) - bubble;
    }
  }
  Ms most = -kInfinity;
  std::int64_t rows = range.least;
  for (std::int64_t k = 0; k < kMaxScanned; ++k, ++rows) {
    if (range.most > 0 && rows > range.most) return most;
    most = std::max(most, work_in(scheme, static_cast<double>(rows), longest, time));
    if (static_cast<double>(rows) >= peak) return most;
  }
  const Ms left = time - scheme.fixed_ms * (static_cast<double>(rows) + bubble);
  return std::max(most, left - bubble * longest);
}

bool alone_holds_longest(const AssignTable& table, int strategy, std::size_t group) {
  const std::vector<SchemeGroup>& groups = table.groups(strategy);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const bool holds =
        table.schemes()[at(groups[g].scheme)].max_tokens >= table.kinds().front().length;
    if (holds != (g == group)) return false;
  }
  return true;
}

Ms proven_time(const AssignTable& table, int strategy, const StrategyProof& proof, Ms known,
               Ms upper) {
  const auto& groups = table.groups(strategy);
  std::vector<std::vector<Ms>> least;
  std::vector<bool> alone;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    least.push_back(least_longest(table, groups[g].scheme, proof.schemes[g].patterns));
    alone.push_back(alone_holds_longest(table, strategy, g));
  }
  const auto refutes = [&](Ms time) {
    long double spent = 0;
    struct Possible {
      const RowPattern* pattern;
      const Scheme* scheme;
      int index;
      Ms room;
    };
    std::vector<Possible> possible;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Scheme& scheme = table.schemes()[at(groups[g].scheme)];
      double most = 0;
      double most_with_longest = 0;  // of patterns that may hold the longest sequence
      for (std::size_t p = 0; p < proof.schemes[g].patterns.size(); ++p) {
        const RowPattern& pattern = proof.schemes[g].patterns[p];
        const Ms room =
            most_work(scheme, {pattern.least_rows, pattern.most_rows}, least[g][p], time);
        if (room < -kBoundMargin * time) continue;
        double all = pattern.time + pattern.tokens;
        for (const PartPrice& each : pattern.parts) all += each.price;
        most = std::max(most, all);
        if (pattern.longest >= table.kinds().front().length) {
          most_with_longest = std::max(most_with_longest, all);
        }
        possible.push_back({&pattern, &scheme, groups[g].scheme, std::max(room, 0.0)});
      }
      const double one = alone[g] ? most_with_longest : most;
      spent += static_cast<long double>(most) * (groups[g].count - 1) + one;
    }
    long double paid = 0;
    for (int k = 0; k < static_cast<int>(table.kinds().size()); ++k) {
      const AssignKind& kind = table.kinds()[at(k)];
      double price = kInfinity;
      for (const Possible& each : possible) {
        price = std::min(price, price_of(*each.pattern, *each.scheme, kind.length,
                                         table.kind_work(k, each.index), each.room));
      }
      if (price == kInfinity) return true;
      paid += static_cast<long double>(price) * kind.count;
    }
    return paid > spent * (1 + kBoundMargin);
  };
  if (upper < kInfinity && refutes(upper)) return upper;
  if (!refutes(known)) return known;
  Ms low = known;
  Ms high = upper;
  for (int k = 0; k < kPatternBisections && high - low > 1e-7 * high; ++k) {
    const Ms middle = low + (high - low) / 2;
    (refutes(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace stowage
