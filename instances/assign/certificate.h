// A proof that no plan of an assign step is faster than some number of milliseconds.
//
// A step is as fast as its best strategy, so the proof has a part for each strategy that could
// serve it. A part is either the name of a bound that the checker computes itself, or a set of
// prices. Prices give every replica a budget: if the replica ends in time, the sequences in its
// rows cost at most that budget. If all sequences together cost more than all replicas may spend,
// no plan ends in time. docs/theory/assign.md, "Row patterns", states this as an inequality with a
// number. check_certificate() tests it with arithmetic alone, from the instance alone, so that the
// finder of the prices need not be trusted.
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

// The price of a whole resource, spent in `steps` equal parts. A sequence that takes the share x of
// the resource pays the share (ceil((steps + 1) x) - 1) / steps of the price [G10, P1].
struct PartPrice {
  bool of_rows =
      true;  // the tokens of one row, as often as there are rows; or the work of all rows
  std::int64_t steps = 1;
  double price = 0;

  bool operator==(const PartPrice&) const = default;
};

// The replicas of one scheme with a given range of row counts and a given longest sequence. A
// sequence pays for its shares of the resources that such a replica has within the bound: `time`
// for all of its work, `tokens` for all tokens of `most_rows` rows, and parts.
struct RowPattern {
  std::int64_t least_rows = 1;
  std::int64_t most_rows = 0;  // 0: any number; tokens and parts of rows are then free
  Tokens longest = 0;  // most tokens; more than in the pattern before it, if that has the same rows
  double time = 0;
  double tokens = 0;
  std::vector<PartPrice> parts;

  bool operator==(const RowPattern&) const = default;
};

// The patterns of one scheme. Their row counts ascend without a gap, and the last ones are
// unbounded. For each row count, the last pattern admits every sequence that the scheme holds.
struct SchemePrices {
  std::string scheme;
  std::vector<RowPattern> patterns;

  bool operator==(const SchemePrices&) const = default;
};

// The price that each sequence of one padded length pays on any replica.
struct LengthPrice {
  Tokens tokens = 0;
  double price = 0;

  bool operator==(const LengthPrice&) const = default;
};

// A node of a decision tree on the longest sequences of replicas. With a scheme it is a question:
// does the longest sequence of that replica of the scheme, counted from 0, have more tokens than
// `above`? The replicas of a scheme are sorted by their longest sequences, the longest first. The
// subtree for "no" follows, then the subtree for "yes". Without a scheme the node is a leaf: it
// holds the prices of a replica for a ms of work and for a token.
struct BandStep {
  std::string scheme;
  std::int64_t replica = 0;
  Tokens above = 0;
  std::vector<double> work_prices;   // one for each replica of the strategy, scheme by scheme
  std::vector<double> token_prices;  // same order and number as work_prices

  bool operator==(const BandStep&) const = default;
};

// The proof that one strategy is no faster than the bound.
struct StrategyProof {
  std::string strategy;
  // "longest", "pigeonhole", "rows" (AB1 to AB3), "patterns", "configurations" or "bands"
  std::string by;
  std::vector<SchemePrices> schemes;  // for "patterns": one per scheme of the strategy
  std::vector<LengthPrice> prices;    // for "configurations": lengths descend; other lengths cost 0
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
  Ms bound_ms = 0;  // the proven bound: that of the certificate, 0 if there are violations
};

// Rules:
//   certificate_number     every number is finite and at least 0
//   certificate_chunks     the instance does not cut sequences
//   certificate_strategy   every strategy that admits all sequences has one proof, by a known name
//   certificate_scheme     a proof by patterns has prices for each scheme of its strategy, once
//   certificate_pattern    the patterns of a scheme leave out no number of rows and no longest
//                          sequence, and have 1 to 1000000 steps
//   certificate_closed     a closed bound, worked out here, reaches bound_ms
//   certificate_lengths    prices by length are of at most 512 sequences, one for each length
//   certificate_bands      a tree of questions names replicas that exist, has both answers for
//                           each question, and prices for each replica
//   certificate_prices     all sequences together cost more than all replicas may spend
// Arithmetic is long double; sums must differ by 1e-12 relative, thousands of times the rounding
// error. Requires an instance as the reader returns it; the certificate may hold any values.
// O(patterns lengths parts); O(sequences) for a closed bound; 4096 steps for each sequence, scheme
// and number of rows for prices by length; O(replicas (lengths + rows)) for each leaf of bands.
AssignCertificateCheck check_certificate(const AssignInstance& instance,
                                         const AssignCertificate& certificate);

// Returns the names of the rules, in the order above.
std::vector<std::string_view> assign_certificate_rules();

}  // namespace stowage
