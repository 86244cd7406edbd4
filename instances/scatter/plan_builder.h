// Makes a scatter plan from groups of sequences: fills in all fields that follow from them.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {

// The choice of a planner for one group.
struct GroupChoice {
  int degree = 0;
  std::vector<std::int64_t> sequences;  // ids
  ExchangeKind exchange = ExchangeKind::none;
  int recomputation = 0;  // of its micro-batch: the same for all groups
  int place = 0;          // device pool of table/device_pools.h

  GroupForm form() const { return {degree, exchange, recomputation, place}; }
};
using MicroBatchChoice = std::vector<GroupChoice>;

// Places groups from rank 0 upwards, largest degree first, and computes tokens, cu_seqlens, times,
// makespans and the objective. Groups are aligned if the degrees form a divisibility chain; if
// devices differ, each pool has its own first rank. Inside a group, sequences go from longest to
// shortest, ties by id. Groups of one degree and the micro-batches keep their order. Empty groups
// and empty micro-batches are left out. The caller sets the hash and the bound. Requires every id
// to be an index into instance.lengths.
ScatterPlan compose_plan(const ScatterInstance& instance, std::vector<MicroBatchChoice> choices);

// Returns the makespans in ms, in the plan's order.
std::vector<Ms> makespans_of(const ScatterPlan& plan);

// Returns the plan with its micro-batches in an order under which their 1F1B schedule ends early:
// order_rows() of instances/pipeline/schedule.h. The schedule ends no later than in the given
// order. The objective stays, and with one stage the whole plan does. Requires makespans that are
// the true ones.
ScatterPlan in_pipeline_order(const ScatterInstance& instance, ScatterPlan plan);

}  // namespace stowage
