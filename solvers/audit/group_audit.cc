#include <algorithm>
#include <utility>
#include <variant>

#include "instances/check.h"
#include "instances/instance.h"
#include "instances/json/writer.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/audit/audit.h"
#include "solvers/outcome.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

// Returns the bare plan of the trainer's groups, which the instance completes.
std::string bare_plan(const std::vector<std::vector<WorkGroup>>& micro_batches) {
  JsonWriter json;
  json.begin_object();
  json.text("format", "stowage/plan");
  json.integer("version", 1);
  json.text("problem", "scatter");
  json.key("micro_batches");
  json.begin_array();
  for (const auto& groups : micro_batches) {
    json.begin_object();
    json.key("groups");
    json.begin_array();
    for (const WorkGroup& group : groups) {
      json.begin_object();
      json.integer("degree", group.degree);
      json.integer("first_rank", group.first_rank);
      json.key("sequences");
      json.integers(group.sequences);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

// Adds the rules of Megatron's data path that the trainer's plan keeps.
void add_rules(const ScatterPlan& plan, ScatterInstance& instance) {
  ScatterRules& rules = instance.rules;
  bool full = true;
  bool sorted = true;
  Tokens most = 1;
  for (const ScatterMicroBatch& micro_batch : plan.micro_batches) {
    int ranks = 0;
    int before = instance.cluster.devices;
    for (const ScatterGroup& group : micro_batch.groups) {
      sorted = sorted && group.degree <= before;
      before = group.degree;
      ranks += group.degree;
      most = std::max(most, (group.tokens + group.degree - 1) / group.degree);
    }
    full = full && ranks == instance.cluster.devices;
  }
  rules.no_idle_ranks = rules.no_idle_ranks || full;
  rules.sorted_groups = rules.sorted_groups || sorted;
  if (rules.max_tokens_per_rank == kMaxExact) rules.max_tokens_per_rank = most;
}

}  // namespace

AuditOutcome audit_groups(const TrainerWork& work, ScatterInstance instance, Budget& budget) {
  AuditOutcome outcome{.errors = check(work)};
  if (!outcome.errors.empty()) return outcome;
  const auto ranks = std::ssize(work.ids.front());
  if (ranks != instance.cluster.devices) {
    outcome.errors = {{code::kAuditedWork, "/sample_id_groups",
                       "must have as many ranks as the instance has devices, " +
                           std::to_string(instance.cluster.devices) + ", has " +
                           std::to_string(ranks)}};
    return outcome;
  }
  instance.lengths = work.lengths;
  instance.loss_tokens = {};
  outcome.errors = check(instance);
  if (!outcome.errors.empty()) return outcome;
  const std::string bare = bare_plan(groups_of(work));
  Result<ScatterPlan> theirs = complete_scatter_plan(bare, instance);
  if (!theirs) {
    outcome.errors = theirs.errors();
    return outcome;
  }
  if (const auto broken = verify(instance, *theirs); !broken.empty()) {
    outcome.errors = {{code::kAuditedWork, "/sample_id_groups",
                       "must keep the rules of the instance: " + to_string(broken.front())}};
    return outcome;
  }
  add_rules(*theirs, instance);
  theirs = complete_scatter_plan(bare, instance);
  const double now = theirs->objective_ms;
  const Outcome found = solve(instance, {.start = Plan(*theirs)}, budget);
  AuditVerdict verdict{
      .now = now, .planned = now, .bound = found.bound, .bound_by = found.bound_by};
  outcome.plan = *theirs;
  if (found.plan && *found.objective < now) {
    verdict.planned = *found.objective;
    outcome.plan = std::get<ScatterPlan>(*found.plan);
  }
  outcome.violations = verify(instance, *outcome.plan);
  if (!outcome.violations.empty()) return outcome;
  verdict.lost_at_least = 1 - verdict.planned / verdict.now;
  verdict.lost_at_most = 1 - verdict.bound / verdict.now;
  outcome.line = "stowage.megatron.register(planner, \"default_dynamic_cp\")";
  outcome.verdict = std::move(verdict);
  return outcome;
}

}  // namespace stowage
