// The verdict of an audit: the time that a trainer's distribution of a step loses.
//
//   for (const Violation& violation : verify(work, cost, verdict)) ...   // empty for a true verdict
//
// Not installed.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/audit/work.h"
#include "instances/violation.h"

namespace stowage {

struct AuditVerdict {
  double now = 0;            // cost of the slowest rank, or time of the step in ms
  double planned = 0;        // of the plan, which is verified
  double bound = 0;          // no plan has less
  std::string bound_by;      // the name of the bound
  double lost_at_least = 0;  // 1 - planned / now, at least 0: a plan proves it
  double lost_at_most = 0;   // 1 - bound / now: the bound proves it
};

// The cost of a sequence of s tokens, quadratic * s^2 + linear * s.
struct AuditCost {
  std::int64_t quadratic = 1;
  std::int64_t linear = 24576;
};

// Checks a verdict on rows, a partition or a batch_rebalance: recomputes `now` and the bound from
// the work, and the shares from these. Rules: now, planned, bound, lost. Requires work without
// errors.
std::vector<Violation> verify(const TrainerWork& work, const AuditCost& cost,
                              const AuditVerdict& verdict);

}  // namespace stowage
