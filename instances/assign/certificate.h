// A proof that no plan of an assign step is faster than some number of milliseconds.
//
// A step is as fast as its best strategy, so the proof has a part for each strategy that could
// serve it. A part is either the name of a bound that the checker works out for itself, or a set of
// prices: every replica gets a budget, and if it ends in time, with any rows, the sequences in
// them cost at most that budget. If all sequences together cost more than all replicas may
// spend, no plan ends in time. formulations/README.md, "Row patterns", states this as an inequality
// with a number; check_certificate tests it with arithmetic alone, from the instance and nothing
// else, so that it does not matter who found the prices or how.
//
//   const AssignCertificateCheck check = check_certificate(instance, certificate);
//   if (check.violations.empty()) std::cout << "no plan is faster than " << check.bound_ms;
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/violation.h"

namespace stowage {

// What is paid for the whole of something, spent in `steps` equal parts: a sequence that takes the
// share x of it pays the share (ceil((steps + 1) x) - 1) / steps of the price [G10, P1].
struct PartPrice {
  bool of_rows =
      true;  // the tokens of one row, as often as there are rows; or the work of all rows
  std::int64_t steps = 1;
  double price = 0;

  bool operator==(const PartPrice&) const = default;
};

// Replicas of one scheme with so many rows, the longest sequence of which has so many tokens. A
// sequence pays for its shares of what such a replica has within the bound: `time` for all of its
// work, `tokens` for all tokens of `most_rows` rows, and parts.
struct RowPattern {
  std::int64_t least_rows = 1;
  std::int64_t most_rows = 0;  // 0: any number; tokens and parts of rows then cost nothing
  Tokens longest = 0;  // at most; more than the pattern before it, if that has the same rows
  double time = 0;
  double tokens = 0;
  std::vector<PartPrice> parts;

  bool operator==(const RowPattern&) const = default;
};

// The patterns of one scheme. Row numbers go up without a hole, the last ones without end; for each
// the last pattern admits whatever the scheme holds.
struct SchemePrices {
  std::string scheme;
  std::vector<RowPattern> patterns;

  bool operator==(const SchemePrices&) const = default;
};

// What each sequence of one padded length pays, wherever it is.
struct LengthPrice {
  Tokens tokens = 0;
  double price = 0;

  bool operator==(const LengthPrice&) const = default;
};

// Part of a tree of questions about the longest sequences of replicas. With a scheme it is a
// question: whether the longest sequence of that replica of the scheme, counted from 0, has more
// tokens than `above`; the replicas of a scheme stand in the order of their longest sequences, the
// longest first. What follows is the tree if it has not, then the tree if it has. Without a scheme
// it is a leaf: what a replica asks for a ms of work and for a token.
struct BandStep {
  std::string scheme;
  std::int64_t replica = 0;
  Tokens above = 0;
  std::vector<double> work_prices;   // one for each replica of the strategy, scheme by scheme
  std::vector<double> token_prices;  // as many

  bool operator==(const BandStep&) const = default;
};

// Why one strategy is no faster than the bound.
struct StrategyProof {
  std::string strategy;
  // "longest", "pigeonhole", "rows" (AB1 to AB3), "patterns", "configurations" or "bands"
  std::string by;
  std::vector<SchemePrices> schemes;  // for "patterns": one per scheme of the strategy
  std::vector<LengthPrice> prices;    // for "configurations": lengths go down; 0 for all others
  std::vector<BandStep> bands;        // for "bands": a tree, from its root

  bool operator==(const StrategyProof&) const = default;
};

struct AssignCertificate {
  Ms bound_ms = 0;
  std::vector<StrategyProof> strategies;  // one per strategy that admits every sequence

  bool operator==(const AssignCertificate&) const = default;
};

struct AssignCertificateCheck {
  std::vector<Violation> violations;
  Ms bound_ms = 0;  // what is proven: the certificate's own bound, 0 if there are violations
};

// Rules:
//   certificate_number     every number is finite and at least 0
//   certificate_chunks     the instance cuts no sequence
//   certificate_strategy   every strategy that admits all sequences has one proof, by a known name
//   certificate_scheme     a proof by patterns has prices for each scheme of its strategy, once
//   certificate_pattern    the patterns of a scheme leave out no number of rows and no longest
//                          sequence, and have 1 to 1000000 steps
//   certificate_closed     a closed bound, worked out here, reaches bound_ms
//   certificate_lengths    prices by length are of at most 512 sequences, one for each length
//   certificate_bands      a tree of questions asks for replicas that are there, has an answer for
//                          each and prices for each replica
//   certificate_prices     all sequences together cost more than all replicas may spend
// Arithmetic is long double; sums must differ by 1e-12 relative, thousands of times what rounding
// can do. Requires an instance as the reader returns it; any certificate at all may be handed in.
// O(patterns lengths parts), for a closed bound O(sequences), for prices by length 4096 steps for
// each sequence, scheme and number of rows, for bands O(replicas (lengths + rows)) for each leaf.
AssignCertificateCheck check_certificate(const AssignInstance& instance,
                                         const AssignCertificate& certificate);

// Names of the rules, in the order above.
std::vector<std::string_view> assign_certificate_rules();

}  // namespace stowage
