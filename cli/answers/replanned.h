// The answer of `stowage configure --from` about the move from the old configuration to the new
// one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/json/writer.h"
#include "instances/strategy/plan.h"
#include "solvers/configure/failover.h"

namespace stowage {

struct ReplannedAnswer {
  std::int64_t old_devices = 0;
  StrategyPlan old_plan;
  std::vector<std::int64_t> lost;
  double weight = 0;
  Replanned chosen;
};

// Writes the value of "replanned" in a stowage/ranking document.
void write_replanned(JsonWriter& json, const ReplannedAnswer& answer);

// Returns lines for people: the old and the new configuration, and the moved data.
std::vector<std::string> replanned_lines(const ReplannedAnswer& answer);

}  // namespace stowage
