// Rows whose times a known cost makes.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "instances/numeric/random.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/fit/sample.h"
#include "tests/instances/regression/noise.h"

namespace stowage {

inline Tokens log_uniform(std::mt19937_64& random, double least, double most) {
  return static_cast<Tokens>(least * std::pow(most / least, draw_unit(random)));
}

// The time of a row under the cost of the instance.
inline Ms true_ms(const ScatterInstance& truth, const TimedRow& row) {
  const GroupForm form{row.degree, row.exchange};
  const Ms overhead = group_overhead_ms(truth, form);
  Load load{overhead, overhead};
  for (const Tokens length : row.lengths) {
    load += sequence_load(truth, padded_length(truth, length), form);
  }
  return load.time();
}

// `each` rows of every form of groups, of 64 to `most` tokens on a device, in 1 to 64 sequences;
// their times have relative noise with that standard deviation.
inline std::vector<TimedRow> rows_of(const ScatterInstance& truth, int each, Tokens most,
                                     double noise, std::mt19937_64& random) {
  std::vector<TimedRow> rows;
  for (const GroupForm form : group_forms(truth)) {
    for (int k = 0; k < each; ++k) {
      TimedRow row{.degree = form.degree, .exchange = form.exchange};
      const Tokens tokens =
          log_uniform(random, 64, static_cast<double>(most)) * static_cast<Tokens>(form.degree);
      const Tokens sequences = log_uniform(random, 1, 64.9);
      for (Tokens left = tokens; left > 0;) {
        const Tokens mean = tokens / sequences + 1;
        const Tokens length = std::min(
            left, 1 + static_cast<Tokens>(draw(random, static_cast<std::uint64_t>(2 * mean))));
        row.lengths.push_back(length);
        left -= length;
      }
      row.ms = true_ms(truth, row) * (1 + noise * draw_normal(random));
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace stowage
