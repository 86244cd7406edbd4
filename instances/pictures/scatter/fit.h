// Draws how well a cost explains measured rows: predicted against measured time, and the error of
// each row by degree.
#pragma once

#include <span>
#include <vector>

#include "instances/pictures/drawing/panel.h"
#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"

namespace stowage {

// Returns two pictures. Predictions are those of fits without the row. Requires a fit of these
// rows.
std::vector<Picture> fit_pictures(const CostFit& fit, std::span<const TimedRow> rows);

}  // namespace stowage
