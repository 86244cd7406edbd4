// What family.h asks of a plan, answered for assign.
#pragma once

#include <cstdint>
#include <string_view>

#include "instances/assign_plan.h"

namespace stowage {

constexpr std::string_view problem_of(const AssignPlan&) { return "assign"; }

inline std::int64_t part_count_of(const AssignPlan& plan) {
  std::int64_t rows = 0;
  for (const AssignReplica& replica : plan.replicas) {
    rows += static_cast<std::int64_t>(replica.rows.size());
  }
  return rows;
}

}  // namespace stowage
