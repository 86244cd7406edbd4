// The rules of instances/verify.h for assign plans: those on the whole plan and on its replicas are
// here, those on rows in the room rules.
#include "instances/assign/verify/verify.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/assign/verify/rules/plan_checker.h"
#include "instances/proof/pipeline_reference.h"
#include "instances/proof/plan_claims.h"
#include "instances/proof/stated_number.h"
#include "instances/proof/violation_list.h"
#include "instances/violation.h"

namespace stowage {

std::vector<Violation> AssignPlanChecker::run() && {
  check_strategy();
  std::optional<ReplicaTimes> slowest = ReplicaTimes{0, 0};
  for (std::size_t r = 0; r < plan_.replicas.size(); ++r) {
    const auto times = check_replica(r);
    if (slowest && times) {
      slowest->estimate = std::max(slowest->estimate, times->estimate);
      slowest->simulated = std::max(slowest->simulated, times->simulated);
    } else {
      slowest = std::nullopt;
    }
  }
  check_nothing_is_missing();
  check_loss_tokens();
  check_row_counts();
  const auto objective = slowest ? std::optional(slowest->estimate) : std::nullopt;
  const auto simulated = slowest ? std::optional(slowest->simulated) : std::nullopt;
  check_ms(kObjective, plan_.objective_ms, objective, [] { return "/objective_ms"; });
  check_ms(kSimulated, plan_.simulated_1f1b_ms, simulated, [] { return "/simulated_1f1b_ms"; });
  check_bound_ms(found_, {kNumber, kBound}, plan_.bound_ms, plan_.bound_by,
                 objective.value_or(plan_.objective_ms));
  return std::move(found_).take();
}

void AssignPlanChecker::check_strategy() {
  const Strategy* strategy = truth_.strategy(plan_.strategy);
  if (strategy == nullptr) {
    found_.add(kStrategy, [&] {
      return Description{"/strategy", name_text(plan_.strategy), "a strategy of the instance"};
    });
    return;
  }
  std::map<std::string_view, std::int64_t> have;
  for (const AssignReplica& replica : plan_.replicas) ++have[replica.scheme];
  for (std::size_t g = 0; g < instance_.schemes.size() && g < strategy->replicas.size(); ++g) {
    const std::string& name = instance_.schemes[g].name;
    const auto found = have.find(name);
    const std::int64_t count = found == have.end() ? 0 : found->second;
    if (count == strategy->replicas[g]) continue;
    found_.add(kReplicas, [&] {
      return Description{
          "/replicas", text(count) + " of scheme " + name_text(name),
          text(strategy->replicas[g]) + ", as strategy " + name_text(strategy->name) + " has"};
    });
  }
}

std::optional<AssignPlanChecker::ReplicaTimes> AssignPlanChecker::check_replica(std::size_t r) {
  const AssignReplica& replica = plan_.replicas[r];
  const Scheme* scheme = truth_.scheme(replica.scheme);
  if (scheme == nullptr) {
    found_.add(kScheme, [&] {
      return Description{replica_at(r) + "/scheme", name_text(replica.scheme),
                         "a scheme of the instance"};
    });
  }
  std::vector<Ms> rows;
  std::vector<TimedChunk> chunks;
  bool all_known = scheme != nullptr;
  std::optional<PartOf> before;  // the previous row, if more parts must follow it
  const std::vector<Run> runs = runs_of(replica);
  for (std::size_t j = 0; j < replica.rows.size(); ++j, ++rows_seen_) {
    const Place at{replica.rows[j], r, j};
    const std::optional<PartOf> part = check_part(at, runs[j], scheme);
    const bool in_order = check_order(at, part, before);
    before = part && part->index + 1 < part->count ? part : std::nullopt;
    const auto time = check_row(at, part, scheme);
    if (time) rows.push_back(*time);
    if (time && chunks_) chunks.push_back(timed(*time, part));
    all_known = all_known && time && in_order && part.has_value() == at.row.part.has_value();
  }
  if (before) {
    all_known = false;
    found_.add(kChunkOrder, [&] {
      return Description{replica_at(r) + "/rows", "part " + text(before->index) + " at the end",
                         "all " + text(before->count) + " parts of its sequence"};
    });
  }
  std::optional<ReplicaTimes> times;
  if (all_known) {
    times = {AssignReferenceModel::replica_time(rows, scheme->pp),
             chunks_ ? ChunkReference::simulated(chunks, scheme->pp)
                     : reference_end_of_1f1b(rows, scheme->pp)};
  }
  const auto estimate = times ? std::optional(times->estimate) : std::nullopt;
  check_ms(kReplicaTime, replica.time_ms, estimate, [&] { return replica_at(r) + "/time_ms"; });
  return times;
}

void AssignPlanChecker::check_nothing_is_missing() {
  for (std::size_t id = 0; id < first_seen_.size(); ++id) {
    if (first_seen_[id] != kNowhere) continue;
    found_.add(kCoverage, [&] {
      return Description{"/replicas", "sequence " + text(id) + " nowhere",
                         "each sequence exactly once"};
    });
  }
}

// Compares with the instance, not with the rows: missing sequences are a violation of their own.
void AssignPlanChecker::check_loss_tokens() {
  std::optional<Tokens> all = 0;
  for (std::int64_t id = 0; id < truth_.sequences(); ++id) {
    all = all ? checked_add(*all, truth_.targets(id)) : all;
  }
  if (all == plan_.loss_tokens) return;
  found_.add(kLossTokens, [&] {
    return Description{"/loss_tokens", stated_tokens(plan_.loss_tokens), stated_tokens(all)};
  });
}

void AssignPlanChecker::check_row_counts() {
  const RowConstraints& asked = instance_.constraints;
  std::size_t equal = 0;  // the number of rows of the first replica that has rows
  for (std::size_t r = 0; r < plan_.replicas.size(); ++r) {
    const std::size_t rows = plan_.replicas[r].rows.size();
    const auto add = [&](Rule rule, const std::string& need) {
      found_.add(rule, [&] {
        return Description{replica_at(r) + "/rows", text(rows) + " rows", need};
      });
    };
    if (rows == 0) {
      if (!asked.allow_empty) add(kAllowEmpty, "a row or more on every replica");
      continue;
    }
    if (asked.rows_multiple_of > 1 &&
        rows % static_cast<std::size_t>(asked.rows_multiple_of) != 0) {
      add(kRowsMultipleOf, "a multiple of " + text(asked.rows_multiple_of));
    }
    if (equal == 0) equal = rows;
    if (asked.equal_rows && rows != equal) {
      add(kEqualRows, text(equal) + ", as the replicas before it have");
    }
  }
}

std::vector<std::string_view> assign_verify_rules() {
  return {AssignPlanChecker::kRuleNames.begin(), AssignPlanChecker::kRuleNames.end()};
}

std::vector<Violation> verify(const AssignInstance& instance, const AssignPlan& plan) {
  return AssignPlanChecker(instance, plan).run();
}

std::vector<Violation> verify_instance_hash(const AssignPlan& plan,
                                            std::string_view instance_hash) {
  return check_instance_hash(AssignPlanChecker::kRuleNames, AssignPlanChecker::kInstanceHash,
                             plan.instance_hash, instance_hash);
}

}  // namespace stowage
