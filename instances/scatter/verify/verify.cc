// The rules of instances/verify.h for scatter plans: those on the whole plan are here, those on its
// micro-batches and groups in the room rules.
#include "instances/scatter/verify/verify.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/proof/pipeline_reference.h"
#include "instances/proof/plan_claims.h"
#include "instances/proof/violation_list.h"
#include "instances/scatter/verify/rules/plan_checker.h"
#include "instances/violation.h"

namespace stowage {

std::vector<Violation> ScatterPlanChecker::run() && {
  std::vector<Ms> makespans;
  bool all_known = true;
  for (std::size_t m = 0; m < plan_.micro_batches.size(); ++m) {
    const auto makespan = check_micro_batch(m);
    all_known = all_known && makespan;
    makespans.push_back(makespan.value_or(0));
  }
  std::optional<Ms> objective;
  if (all_known) objective = truth_.step(makespans);
  check_nothing_is_missing();
  check_multiple();
  check_ms(kObjective, plan_.objective_ms, objective, [] { return "/objective_ms"; });
  // A plan may leave the simulated time out: 0.
  if (plan_.simulated_1f1b_ms != 0) {
    std::optional<Ms> end;
    if (all_known) end = reference_end_of_1f1b(makespans, truth_.stages());
    check_ms(kSimulated, plan_.simulated_1f1b_ms, end, [] { return "/simulated_1f1b_ms"; });
  }
  check_bound_ms(found_, {kNumber, kBound}, plan_.bound_ms, plan_.bound_by,
                 objective.value_or(plan_.objective_ms));
  return std::move(found_).take();
}

void ScatterPlanChecker::check_multiple() {
  const auto count = static_cast<std::int64_t>(plan_.micro_batches.size());
  if (count % rules_.micro_batches_multiple_of == 0) return;
  found_.add(kMultiple, [&] {
    return Description{"/micro_batches", text(count) + " micro-batches",
                       "a multiple of " + text(rules_.micro_batches_multiple_of)};
  });
}

void ScatterPlanChecker::check_nothing_is_missing() {
  for (std::size_t id = 0; id < first_seen_.size(); ++id) {
    if (first_seen_[id] != kNowhere) continue;
    found_.add(kCoverage, [&] {
      return Description{"/micro_batches", "sequence " + text(id) + " nowhere",
                         "each sequence exactly once"};
    });
  }
}

std::vector<std::string_view> scatter_verify_rules() {
  return {ScatterPlanChecker::kRuleNames.begin(), ScatterPlanChecker::kRuleNames.end()};
}

std::vector<Violation> verify(const ScatterInstance& instance, const ScatterPlan& plan) {
  return ScatterPlanChecker(instance, plan).run();
}

std::vector<Violation> verify_instance_hash(const ScatterPlan& plan,
                                            std::string_view instance_hash) {
  return check_instance_hash(ScatterPlanChecker::kRuleNames, ScatterPlanChecker::kInstanceHash,
                             plan.instance_hash, instance_hash);
}

}  // namespace stowage
