// What a trainer's distribution of a step loses: its time, a verified plan, and a lower bound.
//
//   AuditOutcome outcome = audit(*read_trainer_work(text), {});
//   if (outcome.verdict) print(outcome.verdict->lost_at_least);
//
// Not installed.
//
// Thread safety: the functions only read their arguments, and any number of threads may call them
// at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/audit/verdict.h"
#include "instances/audit/work.h"
#include "instances/budget.h"
#include "instances/result.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/violation.h"

namespace stowage {

struct AuditOptions {
  AuditCost cost = {};
  // Most tokens of a row of the plan; nullopt: those of the largest row that the trainer runs. A
  // partition has no rows and no limit.
  std::optional<Tokens> max_tokens = std::nullopt;
};

struct AuditOutcome {
  std::optional<AuditVerdict> verdict;  // verified
  std::string line;                     // the line of code that changes the trainer's distribution
  // The plan: sequences of each row of each rank, as in TrainerWork. Those of the trainer if no
  // plan is cheaper.
  std::vector<std::vector<std::vector<std::int64_t>>> ids;
  std::optional<ScatterPlan> plan;    // of sample_id_groups, in their place
  std::vector<InputError> errors;     // of check(), or of the instance; then there is no verdict
  std::vector<Violation> violations;  // of a verdict that the verifier refused, which is a bug
};

// Audits rows, a partition or a batch_rebalance. Ranks run their rows one after another and wait
// for each other at the end of the step. The plan has as many rows on each rank, none empty; for a
// partition of equal counts it has equal counts. Takes milliseconds. Deterministic.
AuditOutcome audit(const TrainerWork& work, const AuditOptions& options);

// Audits sample_id_groups under the cluster, model and cost of `instance`, whose lengths are
// replaced, with the rules of Megatron's data path: sorted groups, no more tokens on a rank than
// the trainer has, and no idle rank if the trainer has none. Micro-batches run one after another.
// The search ends with the budget.
AuditOutcome audit_groups(const TrainerWork& work, ScatterInstance instance, Budget& budget);

}  // namespace stowage
