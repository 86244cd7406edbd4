// A cost from measured rows: the coefficients that explain them, and how far they can be trusted.
//
//   Result<CostFit> fit = fit_cost(rows, like);
//   instance.cost = fit->cost;
//
// Coefficients are not negative, and a few rows that are far off do not move them
// (instances/regression/robust.h). A cost per sequence and an overlap are part of the cost only if
// the rows show that they are not 0.
#pragma once

#include <vector>

#include "instances/result.h"
#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/instance.h"

namespace stowage {

struct FitOptions {
  bool per_sequence = true;  // look for a cost per sequence
  bool overlap = true;       // and for an overlap, where `like` has exchanges that can hide
  SamplePlaces places = sample_pointer;
};

// What `like` is without an instance: an all-to-all of 1 MiB per token, of the degrees of the rows.
ScatterInstance structure_of(const std::vector<TimedRow>& rows, Mib mib_per_token = 1);

// Structure comes from `like`: what a node is, padding, tiles, window, volumes, kinds of exchange,
// whether groups are packed. Its coefficients and sequences are not looked at. Errors: E205 and
// E206 for values out of range; E361 for an exchange that groups of that degree cannot have, or
// none where they have several; E362 for fewer rows than coefficients and one.
Result<CostFit> fit_cost(std::vector<TimedRow> rows, const ScatterInstance& like,
                         const FitOptions& options = {});

}  // namespace stowage
