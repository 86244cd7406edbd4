// Where the time of configurations goes: a bar for each, in parts to scale.
//
// From the left what devices compute, exchange, wait for longer groups, and wait while the pipeline
// fills and drains. Exchange is that of the longest group of a micro-batch, waiting that of a mean
// device, so that what is left for computing is an estimate.
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

// The first is the one that was chosen. Parts beyond the whole are cut off.
Picture strategy_shares(const std::vector<TimeShares>& configurations);

}  // namespace stowage
