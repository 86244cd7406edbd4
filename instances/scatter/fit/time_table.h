// Grids of times from measured rows, for devices that no formula fits.
//
//   Result<TableFit> fit = fit_table(rows, like);
//   instance.cost = {.table = fit->table};
//
// The time of a row is the sum of three: a fixed time, one of its tokens, and one of the squares of
// its lengths. Each degree has its own. The last two are linear in pieces, and no piece falls, so
// that more work never takes less time. Pieces begin at quantiles of what was measured: one, two,
// four or eight, the number that predicts best what was left out. So the errors that are told are a
// little too good. Coefficients are those of instances/regression/robust.h.
#pragma once

#include <map>
#include <vector>

#include "instances/result.h"
#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/instance.h"

namespace stowage {

// How far the rows of a degree reach.
struct TableReach {
  double tokens = 0;
  double squares = 0;
};

struct TableFit {
  std::map<int, TimeGrid> table;    // of the degrees that rows have
  std::map<int, TableReach> reach;  // grids may go on beyond
  ErrorSummary held_out;            // each row by a fit without it
};

// Grids reach as far as groups of `like` can; where `like` has no memory, as far as groups of the
// most tokens that were measured. Beyond the rows the last pieces go on, which is a guess.
// Structure comes from `like` as in fit_cost(). Errors: those of fit_cost(); E310 for times above
// 2^53 ms; E361 for rows of one degree with several kinds of exchange, which a table cannot tell
// apart; E362 for a degree with fewer than four rows.
Result<TableFit> fit_table(std::vector<TimedRow> rows, const ScatterInstance& like,
                           const SamplePlaces& places = sample_pointer);

}  // namespace stowage
