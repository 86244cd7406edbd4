// The coefficients of a cost as terms of a linear model: the time that each adds to a row.
//
// Each column is the cost model itself (cost_model.h) with that coefficient 1 and all others 0, so
// that the fitted model is the model of plans. If compute and an exchange hide each other, a row
// takes the longer of two sums; earlier coefficients decide which one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "instances/regression/design.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/instance.h"

namespace stowage {

// The bandwidth of an exchange without a measurable cost: it still needs a bandwidth, and fits give
// no higher one.
inline constexpr double kFreeMibPerMs = 1e9;

struct CostTerm {
  enum class Kind {
    quadratic,
    linear,
    fixed,
    sequence_fixed,
    split,
    latency,    // of an all-to-all of `degree`
    bandwidth,  // of that all-to-all; its coefficient is ms per MiB
    inside_latency,
    inside_bandwidth,
    across_latency,
    across_bandwidth
  };
  Kind kind = Kind::fixed;
  int degree = 0;

  bool inverse() const;      // the document has 1 / coefficient
  std::string name() const;  // "all_to_all.mib_per_ms.4"
};

// What a cost has besides the terms that every cost has.
struct ExtraTerms {
  bool per_sequence = false;  // sequence_fixed_ms
  bool split = false;         // split_ms
  double overlap = 0;
};

class Terms {
 public:
  // The structure comes from `like`: the nodes, padding, tiles, window, volumes, and whether groups
  // are packed. Its coefficients are not used. Requires rows for which check_samples() returns no
  // errors.
  Terms(const ScatterInstance& like, std::span<const TimedRow> rows, const ExtraTerms& extra);

  // The same terms for other rows, whose degrees must be known to `others`.
  Terms(const Terms& others, std::span<const TimedRow> rows);

  const std::vector<CostTerm>& terms() const { return terms_; }
  bool knows(int degree) const;

  // Returns the design of these rows, by their index, at the given coefficients; without
  // coefficients, the mean of both loads.
  Design design(std::span<const std::size_t> rows, const std::vector<double>& coefficients) const;

  // Return the coefficients of a cost, and the cost with the given coefficients.
  std::vector<double> coefficients(const ScatterCost& cost) const;
  ScatterCost cost(const std::vector<double>& coefficients) const;

 private:
  void evaluate(std::span<const TimedRow> rows);
  void choose_terms(std::span<const TimedRow> rows, const ExtraTerms& extra);
  ScatterInstance unit(const CostTerm& term) const;

  ScatterInstance like_;
  std::vector<CostTerm> terms_;
  // A packed row is one part; a row whose sequences are computed one by one has one for each.
  std::vector<std::size_t> first_part_;  // by row, and the number of all parts
  std::vector<double> compute_;          // by part and term
  std::vector<double> transfer_;
};

}  // namespace stowage
