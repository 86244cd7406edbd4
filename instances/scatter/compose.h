// From decisions to a plan: fills in everything about a plan that follows from who goes where.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/scatter/group_form.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

// A planner's whole decision about one group.
struct GroupChoice {
  int degree = 0;
  std::vector<std::int64_t> sequences;  // ids
  ExchangeKind exchange = ExchangeKind::none;
  int recomputation = 0;  // of its micro-batch: the same for all of them
  int place = 0;          // see devices.h

  GroupForm form() const { return {degree, exchange, recomputation, place}; }
};
using MicroBatchChoice = std::vector<GroupChoice>;

// Places groups from rank 0 upwards, largest degree first (aligned whenever the degrees form a
// divisibility chain; where devices differ, from the first rank of each place), and computes
// tokens, cu_seqlens, times, makespans and the objective. Inside a group sequences stand from
// longest to shortest, ties by id; groups of one degree and the micro-batches keep their order.
// Empty groups and empty micro-batches are left out. The hash and the bound are the caller's to
// set. Requires every id to be an index into instance.lengths.
ScatterPlan compose_plan(const ScatterInstance& instance, std::vector<MicroBatchChoice> choices);

}  // namespace stowage
