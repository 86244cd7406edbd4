#include "solvers/scatter/published/flexsp_ideal_grouping.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heuristics/scatter/construct/grouping.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/table/planning_table.h"
#include "solvers/scatter/bounds/makespan_profile_bound.h"
#include "solvers/scatter/bounds/micro_batch_bound.h"

namespace stowage {
namespace {

constexpr int kCounts = 5;
constexpr double kClose = 1e-6;
constexpr std::int64_t kBoxes = 50;

// Returns true if every chunk fits the cluster's memory. Other counts are not tried.
bool fits(const ScatterTable& table, const Chunks& chunks) {
  return std::ranges::all_of(chunks, [&](const std::vector<int>& chunk) {
    Tokens tokens = 0;
    for (const int position : chunk) tokens += table.length(position);
    return tokens <= table.batch_capacity();
  });
}

// Returns a bound in ms on any grouping of the chunk in one micro-batch. The search ends at
// `upper`.
Ms bound_chunk(const ScatterInstance& view, const ScatterTable& table,
               const std::vector<int>& chunk, Ms upper, MilpBackend backend, Budget& budget,
               std::string& failure) {
  const ScatterTable part = table.part(chunk, table.devices());
  Ms lower = part.least_overhead() + part.total_area() / part.devices();
  if (!std::isfinite(upper)) return lower;
  const std::vector<LengthClass> classes = exact_classes(part);
  for (const bool integral : {false, true}) {
    lower = class_bound(view, classes, backend, integral, lower, upper, budget, failure);
  }
  if (lower >= upper * (1 - kClose)) return lower;
  // The chunk as a step of one or more micro-batches: the pattern LP bounds how badly its long
  // sequences pack.
  ScatterInstance alone = view;
  alone.lengths.clear();
  alone.rules.micro_batches_multiple_of = 1;
  alone.loss_tokens.clear();  // no plan depends on them
  alone.pipeline_stages = 1;
  for (const int position : chunk) alone.lengths.push_back(table.length(position));
  ScatterProfileBound search(alone, backend, upper, [&](const ScatterCertificate& better) {
    const CertificateCheck check = check_certificate(alone, better);
    if (check.violations.empty()) lower = std::max(lower, check.bound_ms);
  });
  if (search.promising()) {
    Budget limit = budget.part(budget.seconds_left(), kBoxes);
    search.improve(limit);
  }
  return lower;
}

}  // namespace

ScatterInstance flexsp_view(const ScatterInstance& instance) {
  ScatterInstance view = instance;
  if (view.cluster.degrees.size() > 1) std::erase(view.cluster.degrees, 1);
  return without_offload(view).value_or(view);
}

std::vector<Chunks> flexsp_chunks(const ScatterTable& table) {
  std::vector<Chunks> found;
  for (int count = fewest_micro_batches(table); count <= table.size() && found.size() < kCounts;
       ++count) {
    Chunks chunks = token_chunks(table, count);
    if (fits(table, chunks)) found.push_back(std::move(chunks));
  }
  return found;
}

FlexspIdealGrouping plan_flexsp_chunks(const ScatterInstance& instance, MilpBackend backend,
                                       Budget& budget) {
  const ScatterInstance view = flexsp_view(instance);
  const ScatterTable table(view);
  FlexspIdealGrouping result;
  if (table.size() == 0) {
    result.plan = to_plan(view, table, {});
    return result;
  }
  WorkingStep best;
  Ms least = kInfinity;  // least bound of all counts
  Ms fastest = kInfinity;
  for (const Chunks& chunks : flexsp_chunks(table)) {
    WorkingStep step;
    Ms bound = 0;
    Ms longest = 0;  // bound on the longest makespan
    for (const std::vector<int>& chunk : chunks) {
      std::optional<WorkingMicroBatch> batch = group_micro_batch(table, chunk);
      const Ms upper = batch ? batch->makespan : fastest;
      const Ms own = bound_chunk(view, table, chunk, upper, backend, budget, result.failure);
      bound += own;
      longest = std::max(longest, own);
      if (batch) step.push_back(std::move(*batch));
    }
    least = std::min(least, table.step_ms(bound, longest));
    if (step.size() == chunks.size() && step_ms(table, step) < fastest) {
      fastest = step_ms(table, step);
      best = std::move(step);
    }
  }
  // A repaired step has other micro-batches than the chunks and may be faster, so the bound does
  // not hold for it.
  if (std::isfinite(least) && (best.empty() || satisfies_rules(table, best))) result.bound = least;
  if (best.empty()) return result;
  const std::optional<WorkingStep> step = repaired(table, std::move(best));
  if (step) result.plan = to_plan(view, table, *step);
  return result;
}

}  // namespace stowage
