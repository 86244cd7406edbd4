// The coefficients of a cost as terms of a linear model: what each adds to the time of a row.
//
// Each column is the cost model itself (cost_model.h) with that coefficient 1 and all others 0, so
// that what is fitted is what plans are made with. Where an exchange hides behind compute, or
// compute behind it, a row takes the longer of two sums; which one, earlier coefficients say.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "instances/regression/design.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/instance.h"

namespace stowage {

// The bandwidth of an exchange that costs nothing measurable: it still needs one, and no higher one
// is fitted.
inline constexpr double kFreeMibPerMs = 1e9;

struct CostTerm {
  enum class Kind {
    quadratic,
    linear,
    fixed,
    sequence_fixed,
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

class Terms {
 public:
  // Structure comes from `like`: what a node is, padding, tiles, window, volumes, whether groups
  // are packed. Its coefficients are not looked at. Requires rows that check_samples() finds
  // nothing wrong with.
  Terms(const ScatterInstance& like, std::span<const TimedRow> rows, bool per_sequence,
        double overlap);

  // The same terms for other rows, whose degrees they must know.
  Terms(const Terms& others, std::span<const TimedRow> rows);

  const std::vector<CostTerm>& terms() const { return terms_; }
  bool knows(int degree) const;

  // Of these rows, by their index, at such coefficients; without any, the mean of both loads.
  Design design(std::span<const std::size_t> rows, const std::vector<double>& coefficients) const;

  // Those of a cost, and the cost with such ones.
  std::vector<double> coefficients(const ScatterCost& cost) const;
  ScatterCost cost(const std::vector<double>& coefficients) const;

 private:
  void evaluate(std::span<const TimedRow> rows);
  void choose_terms(std::span<const TimedRow> rows, bool per_sequence);
  ScatterInstance unit(const CostTerm& term) const;

  ScatterInstance like_;
  std::vector<CostTerm> terms_;
  // A packed row is one part; a row whose sequences are computed one by one has one for each.
  std::vector<std::size_t> first_part_;  // by row, and the number of all
  std::vector<double> compute_;          // by part and term
  std::vector<double> transfer_;
};

}  // namespace stowage
