// Grids of times from measured rows, for devices that no formula fits.
//
//   Result<TableFit> fit = fit_table(rows, like);
//   instance.cost = {.table = fit->table};
//
// Each degree by itself takes a fixed time and two sums of its own, linear in pieces: one of the
// tokens of a row, one of the squares of its lengths. No piece falls, so that more work never takes
// less time. The pieces begin at quantiles of what was measured; one, two, four or eight,
// whatever predicts best what was left out. Coefficients are those of instances/regression/robust.h.
#pragma once

#include <map>
#include <vector>

#include "instances/result.h"
#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/instance.h"

namespace stowage {

struct TableFit {
  std::map<int, TimeGrid> table;    // of the degrees that rows have
  std::vector<double> held_out_ms;  // by row, from a fit without it
  ErrorSummary held_out;
};

// Grids reach as far as groups of `like` can, or as the rows where `like` has no memory; beyond the
// rows the last pieces go on. Structure comes from `like` as in fit_cost(). Errors: those of
// fit_cost(); E361 for rows of one degree with several kinds of exchange, which a table cannot tell
// apart; E362 for a degree with fewer than four rows.
Result<TableFit> fit_table(std::vector<TimedRow> rows, const ScatterInstance& like,
                           const SamplePlaces& places = sample_pointer);

}  // namespace stowage
