#include "solvers/audit/audit.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "formulations/partition/bounds.h"
#include "instances/json/errors.h"
#include "instances/numeric/numbers.h"
#include "solvers/partition/balanced_partitions.h"
#include "solvers/partition/micro_batches.h"

namespace stowage {
namespace {

std::string line_for(const TrainerWork& work, Tokens max_tokens) {
  switch (work.kind) {
    case WorkKind::partition:
      return "stowage.verl.use()";
    case WorkKind::batch_rebalance:
      return "class PlannedTrainer(stowage.hf.StowageTrainer, Trainer): pass";
    case WorkKind::sample_id_groups:
      return "stowage.megatron.register(planner, \"default_dynamic_cp\")";
    case WorkKind::rows:
      break;
  }
  return "stowage.micro_batches(lengths, " + std::to_string(work.ids.size()) + ", " +
         std::to_string(max_tokens) + ")";
}

bool padded(const TrainerWork& work) { return work.kind == WorkKind::batch_rebalance; }

Tokens longest_of(const TrainerWork& work, const std::vector<std::int64_t>& row) {
  Tokens longest = 0;
  for (const std::int64_t id : row) longest = std::max(longest, work.lengths[at(id)]);
  return longest;
}

// Returns the tokens of the largest row, with those of its padding.
Tokens largest_row(const TrainerWork& work) {
  Tokens most = 1;
  for (const auto& rank : work.ids) {
    for (const auto& row : rank) {
      Tokens tokens = 0;
      for (const std::int64_t id : row) tokens += work.lengths[at(id)];
      if (padded(work)) tokens = std::ssize(row) * longest_of(work, row);
      most = std::max(most, tokens);
    }
  }
  return most;
}

double slowest_rank(const TrainerWork& work, const AuditCost& cost) {
  double slowest = 0;
  for (const auto& rank : work.ids) {
    double sum = 0;
    for (const auto& row : rank) {
      const auto longest = static_cast<double>(longest_of(work, row));
      for (const std::int64_t id : row) {
        const double s = padded(work) ? longest : static_cast<double>(work.lengths[at(id)]);
        sum += (static_cast<double>(cost.quadratic) * s + static_cast<double>(cost.linear)) * s;
      }
    }
    slowest = std::max(slowest, sum);
  }
  return slowest;
}

bool equal_counts(const TrainerWork& work) {
  return std::ranges::all_of(work.ids, [&](const auto& rank) {
    return rank.front().size() == work.ids.front().front().size();
  });
}

// The rows of a plan, and the cost of its most expensive rank.
struct PlannedRows {
  std::vector<std::vector<std::vector<std::int64_t>>> ids;
  std::int64_t largest = 0;
};

// Returns nullopt if no plan is found, for instance if there are fewer sequences than ranks.
std::optional<PlannedRows> planned_rows(const TrainerWork& work, const AuditCost& cost,
                                        Tokens max_tokens) {
  PlannedRows planned;
  const auto ranks = std::ssize(work.ids);
  if (work.kind == WorkKind::partition) {
    const PartitionOutcome found = balanced_partitions(
        {.lengths = work.lengths,
         .bins = ranks,
         .counts = equal_counts(work) ? PartitionCounts::equal : PartitionCounts::any,
         .quadratic = cost.quadratic,
         .linear = cost.linear});
    if (!found.partition) return std::nullopt;
    for (const PartitionBin& bin : found.partition->bins) planned.ids.push_back({bin.sequences});
    planned.largest = found.partition->largest;
    return planned;
  }
  const MicroBatchOutcome found = plan_micro_batches({.lengths = work.lengths,
                                                      .ranks = ranks,
                                                      .max_tokens = max_tokens,
                                                      .quadratic = cost.quadratic,
                                                      .linear = cost.linear});
  if (!found.plan) return std::nullopt;
  for (const RankMicroBatches& rank : found.plan->ranks) {
    auto& rows = planned.ids.emplace_back();
    for (const PartitionBin& batch : rank) rows.push_back(batch.sequences);
  }
  planned.largest = found.plan->largest;
  return planned;
}

}  // namespace

AuditOutcome audit(const TrainerWork& work, const AuditOptions& options) {
  AuditOutcome outcome{.errors = check(work)};
  if (!outcome.errors.empty()) return outcome;
  const PartitionInstance batch{.lengths = work.lengths,
                                .bins = 1,
                                .quadratic = options.cost.quadratic,
                                .linear = options.cost.linear};
  outcome.errors = check(batch);
  if (!outcome.errors.empty()) return outcome;
  const Tokens max_tokens = options.max_tokens.value_or(largest_row(work));
  for (const InputError& error :
       check(MicroBatchInstance{.lengths = work.lengths, .max_tokens = max_tokens})) {
    if (error.pointer == "/max_tokens" || error.code == code::kAboveTokenLimit) {
      outcome.errors.push_back(error);
    }
  }
  if (!outcome.errors.empty()) return outcome;
  AuditVerdict verdict{.now = slowest_rank(work, options.cost)};
  verdict.planned = verdict.now;
  outcome.ids = work.ids;
  if (auto planned = planned_rows(work, options.cost, max_tokens);
      planned && static_cast<double>(planned->largest) < verdict.now) {
    verdict.planned = static_cast<double>(planned->largest);
    outcome.ids = std::move(planned->ids);
  }
  // Holds for all distributions over the ranks, also with idle ranks.
  const PartitionBound bound =
      partition_bounds(partition_costs(batch), std::ssize(work.ids), 0).back();
  verdict.bound = static_cast<double>(bound.value);
  verdict.bound_by = bound.name;
  verdict.lost_at_least = 1 - verdict.planned / verdict.now;
  verdict.lost_at_most = 1 - verdict.bound / verdict.now;
  outcome.violations = verify(work, options.cost, verdict);
  if (!outcome.violations.empty()) return outcome;
  outcome.line = line_for(work, max_tokens);
  outcome.verdict = std::move(verdict);
  return outcome;
}

}  // namespace stowage
