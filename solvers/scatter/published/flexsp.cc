#include "solvers/scatter/published/flexsp.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "formulations/scatter/milp.h"
#include "heuristics/scatter/construct/lpt.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/published/flexsp_length_buckets.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/plan_builder.h"
#include "solvers/scatter/assign_sequence_ids.h"
#include "solvers/scatter/published/flexsp_ideal_grouping.h"

namespace stowage {
namespace {

constexpr int kBuckets = 16;

class Flexsp {
 public:
  Flexsp(const ScatterInstance& instance, const FlexspOptions& options, Budget& budget)
      : instance_(flexsp_view(instance)), options_(options), budget_(budget) {}

  FlexspResult run() {
    const ScatterTable table(instance_);
    std::optional<ScatterPlan>& best = result_.plan;
    for (const Chunks& chunks : flexsp_chunks(table)) {
      if (budget_.exhausted()) break;
      std::optional<ScatterPlan> plan = plan_chunks(table, chunks, best);
      if (plan && (!best || plan->objective_ms < best->objective_ms)) best = std::move(plan);
    }
    if (best) best = plan_that_obeys(table, *best);
    return std::move(result_);
  }

 private:
  std::optional<ScatterPlan> plan_that_obeys(const ScatterTable& table,
                                             const ScatterPlan& plan) const {
    const std::optional<WorkingStep> step = repaired(table, to_draft(instance_, table, plan));
    if (!step) return std::nullopt;
    return to_plan(instance_, table, *step);
  }

  // Stops planning a micro-batch count if its makespans reach the best plan's. The result is the
  // same.
  std::optional<ScatterPlan> plan_chunks(const ScatterTable& table, const Chunks& chunks,
                                         const std::optional<ScatterPlan>& best) {
    std::vector<MicroBatchChoice> batches;
    Ms sum = 0;
    Ms longest = 0;
    for (const std::vector<int>& chunk : chunks) {
      std::optional<MicroBatchChoice> batch = plan_chunk(table, chunk);
      if (!batch) return std::nullopt;
      const Ms makespan = compose_plan(instance_, {*batch}).micro_batches.at(0).makespan_ms;
      sum += makespan;
      longest = std::max(longest, makespan);
      if (best && step_ms(instance_, sum, longest) >= best->objective_ms) return std::nullopt;
      batches.push_back(std::move(*batch));
    }
    return compose_plan(instance_, std::move(batches));
  }

  // Returns the best homogeneous grouping of the chunk in counts per bucket. Empty if no degree
  // groups it.
  std::vector<ClassGroup> homogeneous_start(const ScatterTable& table,
                                            const std::vector<Bucket>& buckets,
                                            const std::vector<int>& chunk) const {
    std::optional<WorkingMicroBatch> best;
    for (std::size_t config = 0; config < table.configs().size(); ++config) {
      std::vector<int> mix(table.configs().size(), 0);
      mix[config] = table.devices() / table.configs()[config].degree;
      const Ms cutoff = best ? best->makespan : kInfinity;
      if (auto batch = lpt_groups(table, mix, chunk, cutoff)) best = std::move(batch);
    }
    std::vector<ClassGroup> groups;
    if (!best) return groups;
    for (const WorkingGroup& group : best->groups) {
      if (group.positions.empty()) continue;
      const GroupConfig& config = table.configs()[static_cast<std::size_t>(group.config)];
      groups.push_back({.degree = config.degree,
                        .exchange = config.exchange,
                        .recomputation = config.recomputation});
      for (const Bucket& bucket : buckets) {
        groups.back().counts.push_back(
            static_cast<int>(std::ranges::count_if(group.positions, [&](int position) {
              return std::ranges::binary_search(bucket.positions, position);
            })));
      }
    }
    return groups;
  }

  std::optional<MicroBatchChoice> plan_chunk(const ScatterTable& table,
                                             const std::vector<int>& chunk) {
    std::vector<LengthClass> classes;
    std::vector<std::vector<std::int64_t>> ids;
    const std::vector<Bucket> buckets = bucket_lengths(table, chunk, kBuckets);
    for (const Bucket& bucket : buckets) {
      classes.push_back({bucket.length, static_cast<int>(bucket.positions.size())});
      ids.emplace_back();
      for (const int position : bucket.positions) ids.back().push_back(table.id(position));
    }
    const ScatterMilp milp =
        build_scatter_milp(instance_, classes, {.slots = 1, .strengthened = false});
    Budget limit = budget_.part(options_.milp_seconds, budget_.nodes_left());
    const MilpParams params{
        .start = encode(milp, instance_, classes, homogeneous_start(table, buckets, chunk))};
    const MilpResult result = solve_milp(options_.backend, milp.model, params, limit);
    ++result_.milps;
    if (result.limit != StopReason::none) ++result_.milps_stopped;
    if (result.status == MilpStatus::error) result_.detail = result.detail;
    if (!has_point(result.status)) return std::nullopt;
    return deal(decode(milp, result.values), ids).at(0);
  }

  ScatterInstance instance_;
  const FlexspOptions& options_;
  Budget& budget_;
  FlexspResult result_;
};

}  // namespace

FlexspResult flexsp(const ScatterInstance& instance, const FlexspOptions& options, Budget& budget) {
  return Flexsp(instance, options, budget).run();
}

}  // namespace stowage
