// Fits a cost to measured rows: the coefficients that explain them, and their confidence.
//
//   Result<CostFit> fit = fit_cost(rows, like);
//   instance.cost = fit->cost;
//
// Coefficients are not negative, and a few outlying rows do not move them
// (instances/regression/robust.h). A cost per sequence, the loss of split attention and an overlap
// are part of the cost only if the rows show that they are not 0.
#pragma once

#include <vector>

#include "instances/result.h"
#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/instance.h"

namespace stowage {

struct FitOptions {
  bool per_sequence = true;  // fit a cost per sequence
  // Fit the loss of split attention, if `like` has an exchange. Bandwidths by degree contain this
  // loss, and no rows can separate the two.
  bool split = true;
  bool overlap = true;  // fit an overlap, if `like` has exchanges that can hide
  SamplePlaces places = sample_pointer;
};

// Returns the `like` of a fit without an instance: an all-to-all of 1 MiB per token, of the rows'
// degrees.
ScatterInstance structure_of(const std::vector<TimedRow>& rows, Mib mib_per_token = 1);

// Fits the cost. The structure comes from `like`: the nodes, padding, tiles, window, volumes, kinds
// of exchange, and whether groups are packed. Its coefficients and sequences are not used. Errors:
// E205 and E206 for values out of range; E361 for an exchange that groups of that degree cannot
// have, or none if they have several; E362 for too few rows, which must be more than coefficients.
Result<CostFit> fit_cost(std::vector<TimedRow> rows, const ScatterInstance& like,
                         const FitOptions& options = {});

}  // namespace stowage
