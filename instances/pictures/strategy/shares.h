// Draws the shares of the time of configurations: a bar for each, in parts to scale.
//
// The parts from the left are: compute, exchange, waiting for longer groups, and waiting while the
// pipeline fills and drains. Exchange is that of the longest group of a micro-batch, and waiting is
// that of a mean device. So the rest, which is shown as compute, is an estimate.
#pragma once

#include <string>
#include <vector>

#include "instances/pictures/drawing/panel.h"
#include "instances/units.h"

namespace stowage {

struct TimeShares {
  std::string name;  // of the configuration
  Ms step_ms = 0;    // the whole
  Ms exchange_ms = 0;
  Ms idle_ms = 0;
  Ms bubble_ms = 0;
};

// The first configuration is the chosen one. Parts beyond the whole time are cut off.
Picture strategy_shares(const std::vector<TimeShares>& configurations);

}  // namespace stowage
