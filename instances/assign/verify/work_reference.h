// What replicas of an assign instance can do within a bound, and what they spend at prices,
// computed for the checks of certificates. Not installed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "instances/assign/certificate.h"
#include "instances/assign/verify/lengths_reference.h"
#include "instances/numeric/tolerances.h"

namespace stowage {

// A sequence in a knapsack.
struct PricedLoad {
  Tokens tokens = 0;
  Real price = 0;
};

// The work that a replica can do within the bound if its rows match this pattern.
struct PatternRoom {
  const RowPattern* pattern;
  const Scheme* scheme;
  Real work;
};

// The most that one replica of a scheme spends.
struct ReplicaBudget {
  Real any = 0;
  Real with_longest = 0;  // if it may hold the longest sequence of the step
};

// A replica, with the range of lengths of its longest sequence.
struct BandedReplica {
  std::size_t scheme = 0;
  std::int64_t number = 0;  // among those of its scheme
  Tokens above = 0;         // more than this; 0: the replica may be empty
  Tokens most = 0;          // no more than this
};

class AssignWorkReference {
 public:
  // The references must outlive this object; sorts are longest first.
  AssignWorkReference(const AssignInstance& instance, const std::vector<LengthSort>& sorts,
                      std::int64_t sequences, Real bound)
      : instance_(instance), sorts_(sorts), sequences_(sequences), bound_(bound) {}

  // Returns the most that the replica spends over all numbers of rows, or nullopt if it cannot end
  // in time. With more rows the amount rises by less and less, then falls by more and more.
  std::optional<Real> spent_in_band(const BandedReplica& replica, Real work_price,
                                    Real token_price) const {
    const Scheme& scheme = instance_.schemes[replica.scheme];
    Real longest = 0;
    std::optional<Real> most;
    if (replica.above == 0) {
      most = 0;
    } else {
      Tokens least = 0;
      for (const LengthSort& sort : sorts_) {
        if (sort.tokens > replica.above && sort.tokens <= replica.most) least = sort.tokens;
      }
      if (least == 0) return std::nullopt;
      longest = work_of(scheme, least);
    }
    const auto tokens = static_cast<Real>(scheme.max_tokens);
    for (std::int64_t rows = 1; rows <= sequences_; ++rows) {
      const RowPattern one{.least_rows = rows, .most_rows = rows};
      const Real work = most_work(scheme, one, longest) * kCheckerRaised;
      if (work < longest * kCheckerShort) break;
      const Real spent = work_price * work + token_price * tokens * static_cast<Real>(rows);
      if (most && spent < *most * kCheckerLowered && rows > 1) break;
      most = std::max(most.value_or(0), spent);
      if (rows == kScannedRows) {
        const Real work_of_more = most_work(scheme, {.least_rows = rows}, longest) * kCheckerRaised;
        return std::max(*most, work_price * work_of_more +
                                   token_price * tokens * static_cast<Real>(sequences_));
      }
    }
    return most;
  }

  // Takes the most over all numbers of rows: one number at a time while their tokens may be a
  // limit, then all larger numbers together.
  Real dearest(const Scheme& scheme, const std::vector<PricedLoad>& loads) const {
    Real most = 0;
    for (std::int64_t rows = 1;; ++rows) {
      const RowPattern one{.least_rows = rows, .most_rows = rows};
      const Real tokens = static_cast<Real>(rows) * static_cast<Real>(scheme.max_tokens);
      if (rows == kRowsApart || !(most_work(scheme, one, 0) > scheme.linear_ms * tokens)) {
        return std::max(most, by_work(scheme, {.least_rows = rows}, loads));
      }
      const Real value = by_work(scheme, one, loads);
      if (value > most) most = std::max(most, std::min(value, by_tokens(scheme, rows, loads)));
    }
  }

  // Returns the most that a replica of the scheme spends; appends the rooms of the patterns it may
  // have.
  ReplicaBudget budget(const Scheme& scheme, const SchemePrices& prices,
                       std::vector<PatternRoom>& rooms) const {
    ReplicaBudget most;
    for (std::size_t k = 0; k < prices.patterns.size(); ++k) {
      const RowPattern& each = prices.patterns[k];
      // `least` is the least length that the longest sequence may have.
      Tokens least = sorts_.empty() ? 0 : sorts_.back().tokens;
      if (k > 0 && prices.patterns[k - 1].least_rows == each.least_rows) {
        for (const LengthSort& sort : sorts_) {
          if (sort.tokens > prices.patterns[k - 1].longest) least = sort.tokens;
        }
      }
      const Real work = most_work(scheme, each, work_of(scheme, least));
      if (work < -1e-9L * bound_) continue;  // such rows alone take longer
      Real all = static_cast<Real>(each.time) + each.tokens;
      for (const PartPrice& part : each.parts) all += part.price;
      most.any = std::max(most.any, all);
      if (!sorts_.empty() && each.longest >= sorts_.front().tokens) {
        most.with_longest = std::max(most.with_longest, all);
      }
      rooms.push_back({&each, &scheme, std::max<Real>(work, 0) * kCheckerRaised});
    }
    return most;
  }

  // Returns the least price of a sequence in rows of the pattern; infinite if it does not fit them.
  static Real price(const PatternRoom& room, Tokens tokens) {
    const RowPattern& pattern = *room.pattern;
    if (tokens > pattern.longest || !holds(*room.scheme, tokens)) return kCheckerForever;
    const Real work = work_of(*room.scheme, tokens);
    if (work > room.work * kCheckerFits) return kCheckerForever;
    const Real of_work = work > 0 ? work / room.work : 0;
    const Real of_row = static_cast<Real>(tokens) / static_cast<Real>(room.scheme->max_tokens);
    const auto rows = static_cast<Real>(pattern.most_rows);
    Real price = pattern.time * of_work;
    if (rows > 0) price += pattern.tokens * of_row / rows;
    for (const PartPrice& part : pattern.parts) {
      if (part.of_rows && !(rows > 0)) continue;
      const auto steps = static_cast<Real>(part.steps);
      const Real share = (part.of_rows ? of_row : of_work) * kCheckerShort;
      const Real parts = std::max<Real>(0, std::ceil((steps + 1) * share) - 1) / steps;
      price += part.price * (part.of_rows ? parts / rows : parts);
    }
    return price;
  }

 private:
  // Row counts up to here are bounded one by one, larger ones together.
  static constexpr std::int64_t kScannedRows = 10'000;
  // Parts of the room of a knapsack. More: a tighter bound and more time.
  static constexpr std::size_t kParts = 2048;
  // Row counts below this have a knapsack each, larger ones share one.
  static constexpr std::int64_t kRowsApart = 8;

  // Solves knapsacks over kParts parts of the room. Amounts are rounded down by far more than the
  // room may be too small.
  Real by_work(const Scheme& scheme, const RowPattern& rows,
               const std::vector<PricedLoad>& loads) const {
    const Real room = most_work(scheme, rows, 0);
    if (!(room > 0)) return 0;
    const Real part = room / kParts;
    std::vector<Real> best(kParts + 1, 0);
    Real most = 0;
    for (const PricedLoad& load : loads) {
      if (!holds(scheme, load.tokens)) break;
      const Real work = work_of(scheme, load.tokens);
      const Real own = most_work(scheme, rows, work);  // if this is the longest
      if (work > own * kCheckerFits) break;
      put(load, static_cast<std::size_t>(work / part * kCheckerShort), best);
      const auto reach =
          static_cast<std::size_t>(std::min<Real>(kParts, own / part * kCheckerFits));
      most = std::max(most, best[reach]);
    }
    return most;
  }

  static Real by_tokens(const Scheme& scheme, std::int64_t rows,
                        const std::vector<PricedLoad>& loads) {
    const Real part = static_cast<Real>(rows) * static_cast<Real>(scheme.max_tokens) / kParts;
    std::vector<Real> best(kParts + 1, 0);
    for (const PricedLoad& load : loads) {
      if (!holds(scheme, load.tokens)) break;
      put(load, static_cast<std::size_t>(static_cast<Real>(load.tokens) / part * kCheckerShort),
          best);
    }
    return best.back();
  }

  static void put(const PricedLoad& load, std::size_t weight, std::vector<Real>& best) {
    for (std::size_t room = best.size(); room-- > weight;) {
      best[room] = std::max(best[room], best[room - weight] + load.price);
    }
  }

  // Returns the most work within the bound. T = work + rows c + (pp - 1) (c + the longest row's
  // work). That row has at least the mean, and at least the longest sequence.
  Real most_work(const Scheme& scheme, const RowPattern& pattern, Real longest) const {
    const Real bubble = scheme.pp - 1;
    Real most = -kCheckerForever;
    for (std::int64_t rows = pattern.least_rows;
         pattern.most_rows == 0 || rows <= pattern.most_rows; ++rows) {
      const auto v = static_cast<Real>(rows);
      const Real left = bound_ - (v + bubble) * scheme.fixed_ms;
      // A bound on the work with this many rows or more.
      const Real ever = left - bubble * longest;
      if (ever <= most) break;
      if (rows - pattern.least_rows >= kScannedRows) return std::max(most, ever);
      most = std::max(most, std::min(ever, left / (1 + bubble / v)));
    }
    return most;
  }

  const AssignInstance& instance_;
  const std::vector<LengthSort>& sorts_;
  std::int64_t sequences_;
  Real bound_;
};

}  // namespace stowage
