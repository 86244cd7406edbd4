// Makes grids of times from measured rows, for devices that no formula fits.
//
//   Result<TableFit> fit = fit_table(rows, like);
//   instance.cost = {.table = fit->table};
//
// The time of a row is the sum of three terms: a fixed time, a time of its tokens, and a time of
// the squares of its lengths. Each degree has its own terms. The last two are piecewise linear, and
// no piece falls, so that more work never takes less time. Pieces begin at quantiles of the
// measured sums. Their number is one, two, four or eight, whichever predicts held-out rows best; so
// the reported errors are slightly too small. Coefficients are those of
// instances/regression/robust.h.
#pragma once

#include <map>
#include <vector>

#include "instances/result.h"
#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/instance.h"

namespace stowage {

// The largest sums of the rows of a degree.
struct TableReach {
  double tokens = 0;
  double squares = 0;
};

struct TableFit {
  std::map<int, TimeGrid> table;    // of the degrees of the rows
  std::map<int, TableReach> reach;  // grids may go beyond
  ErrorSummary held_out;            // each row by a fit without it
};

// Returns the grids. They reach as far as groups of `like` can; if `like` has no memory, as far as
// groups of the most measured tokens. Beyond the rows the last pieces are extrapolated. The
// structure comes from `like` as in fit_cost(). Errors: those of fit_cost(); E310 for times above
// 2^53 ms; E361 for rows of one degree with several kinds of exchange, which a table cannot
// separate; E362 for a degree with fewer than four rows.
Result<TableFit> fit_table(std::vector<TimedRow> rows, const ScatterInstance& like,
                           const SamplePlaces& places = sample_pointer);

}  // namespace stowage
