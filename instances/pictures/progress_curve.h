// Draws the progress of a search: the best plan and the best bound against time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/panel.h"

namespace stowage {

// The state of a search after an improvement.
struct ProgressPoint {
  std::optional<double> seconds;  // absent in an outcome without times
  double bound = 0;
  std::optional<double> objective;
  std::string by;  // method or certificate
};

struct ProgressHistory {
  std::vector<ProgressPoint> points;  // in the order of time
  std::optional<double> end_seconds;  // of the whole search
};

// Draws stairs of both, best so far. Time is logarithmic, since most improvements come early;
// without times the points are numbered. `quantity` is that of objective and bound. Values that are
// not finite are left out.
Picture progress_curve(const ProgressHistory& progress, Quantity quantity);

}  // namespace stowage
