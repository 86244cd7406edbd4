// What `stowage configure --from` says of the move from the old configuration to the new one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/json/writer.h"
#include "instances/strategy/plan.h"
#include "solvers/configure/replan.h"

namespace stowage {

struct ReplannedAnswer {
  std::int64_t old_devices = 0;
  StrategyPlan old_plan;
  std::vector<std::int64_t> lost;
  double weight = 0;
  Replanned chosen;
};

// The value of "replanned" in a stowage/ranking document.
void write_replanned(JsonWriter& json, const ReplannedAnswer& answer);

// Lines for people: old, new, and what moves.
std::vector<std::string> replanned_lines(const ReplannedAnswer& answer);

}  // namespace stowage
