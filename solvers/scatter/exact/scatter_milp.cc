#include "solvers/scatter/exact/scatter_milp.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formulations/scatter/bounds.h"
#include "formulations/scatter/milp.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/plan_builder.h"
#include "solvers/scatter/assign_sequence_ids.h"

namespace stowage {
namespace {

// A bound without certificate, from the backend alone, must exceed a certified bound by this
// factor.
constexpr double kBetter = 1 + 5e-7;

// Length classes of single lengths, longest first, with the ids of each class.
struct Classes {
  std::vector<LengthClass> lengths;
  std::vector<std::vector<std::int64_t>> ids;
};

Classes classes_of(const ScatterInstance& instance, std::span<const std::int64_t> sequences) {
  std::map<Tokens, std::vector<std::int64_t>, std::greater<>> by_length;
  for (const std::int64_t id : sequences) {
    by_length[padded_length(instance, instance.lengths[static_cast<std::size_t>(id)])].push_back(
        id);
  }
  Classes classes;
  for (auto& [length, ids] : by_length) {
    classes.lengths.push_back({length, static_cast<int>(ids.size())});
    classes.ids.push_back(std::move(ids));
  }
  return classes;
}

// Returns the micro-batches as counts per class, slowest first as S5 requires.
std::vector<ClassGroup> counted(const ScatterInstance& instance, const Classes& classes,
                                std::vector<const ScatterMicroBatch*> batches) {
  std::ranges::stable_sort(batches, std::greater<>{}, &ScatterMicroBatch::makespan_ms);
  std::vector<ClassGroup> groups;
  for (std::size_t slot = 0; slot < batches.size(); ++slot) {
    for (const ScatterGroup& group : batches[slot]->groups) {
      ClassGroup made{.slot = static_cast<int>(slot),
                      .degree = group.degree,
                      .counts = std::vector<int>(classes.lengths.size(), 0),
                      .exchange = group.exchange,
                      .recomputation = form_of(instance, *batches[slot], group)->recomputation,
                      .place = form_of(instance, *batches[slot], group)->place};
      for (const std::int64_t id : group.sequences) {
        const Tokens length =
            padded_length(instance, instance.lengths[static_cast<std::size_t>(id)]);
        const auto q = std::ranges::lower_bound(classes.lengths, length, std::greater<>{},
                                                &LengthClass::length);
        ++made.counts[static_cast<std::size_t>(q - classes.lengths.begin())];
      }
      groups.push_back(std::move(made));
    }
  }
  return groups;
}

// Returns a lower bound in ms on the additional cost of the longest makespan in a pipeline.
Ms again_ms(const ScatterTable& table) {
  Ms longest = 0;
  if (table.longest_weight() == 0) return longest;
  for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
    longest = std::max(longest, table.alone(kind));
  }
  return table.longest_weight() * longest;
}

// Returns the largest number of micro-batches that a plan better than the incumbent can have. Every
// micro-batch lasts at least the least overhead, and the device-time is spread over N devices at
// best.
int most_slots(const ScatterTable& table, Ms objective) {
  if (!std::isfinite(objective)) return table.size();
  const Ms even = table.mixes() ? mixed_area_ms(table) : table.total_area() / table.devices();
  const Ms left = objective - even - again_ms(table);
  const Ms overhead = table.least_overhead();
  if (!(overhead > 0) || left / overhead >= table.size()) return table.size();
  return std::max(1, static_cast<int>(left / overhead * (1 + 1e-9)));
}

StoppedBy stopped_by(const MilpResult& result) {
  if (result.status == MilpStatus::optimal) return StoppedBy::proof;
  if (result.gap_reached) return StoppedBy::gap;
  // If no limit stopped the MILP, it stopped for another reason, which the detail names.
  return stopped_by(result.limit, StoppedBy::heuristic_end);
}

std::vector<std::int64_t> all_ids(const ScatterInstance& instance) {
  std::vector<std::int64_t> ids(instance.lengths.size());
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace

std::size_t step_milp_variables(const ScatterInstance& instance,
                                const Incumbent<ScatterInstance>& incumbent) {
  const ScatterTable table(instance);
  return scatter_milp_variables(instance, exact_classes(table),
                                most_slots(table, incumbent.plan()->objective_ms));
}

std::size_t most_step_variables(const ScatterInstance& instance) {
  const ScatterTable table(instance);
  return scatter_milp_variables(instance, exact_classes(table), table.size());
}

StoppedBy solve_step_milp(const ScatterInstance& instance, const ScatterExactOptions& options,
                          Incumbent<ScatterInstance>& incumbent, Budget& budget) {
  const Classes classes = classes_of(instance, all_ids(instance));
  const std::optional<ScatterPlan>& best = incumbent.plan();
  const std::size_t known = best ? best->micro_batches.size() : 0;
  // A multiple of micro-batches needs at least that many slots.
  const auto multiple = static_cast<std::size_t>(std::min<std::int64_t>(
      instance.rules.micro_batches_multiple_of, std::ssize(instance.lengths)));
  const int slots =
      std::max(most_slots(ScatterTable(instance), best ? best->objective_ms : kInfinity),
               static_cast<int>(std::max(known, multiple)));
  const ScatterMilp milp = build_scatter_milp(instance, classes.lengths,
                                              {.slots = slots, .stages = instance.pipeline_stages});
  std::vector<const ScatterMicroBatch*> batches;
  if (best) {
    for (const ScatterMicroBatch& batch : best->micro_batches) batches.push_back(&batch);
  }
  const std::string by = "milp-" + std::string(name(options.backend));
  const auto observe = [&](const MilpEvent& event) {
    if (event.values != nullptr) {
      incumbent.offer(compose_plan(instance, deal(decode(milp, *event.values), classes.ids)), 'M',
                      by);
    } else if (event.bound > incumbent.bound() * kBetter) {
      incumbent.raise_bound({by, event.bound});
    }
  };
  const MilpResult result = solve_milp(
      options.backend, milp.model,
      {.gap = options.gap,
       .seed = options.seed,
       .start = encode(milp, instance, classes.lengths, counted(instance, classes, batches))},
      budget, observe);
  if (has_point(result.status)) {
    incumbent.offer(compose_plan(instance, deal(decode(milp, result.values), classes.ids)), 'M',
                    by);
  } else if (result.status == MilpStatus::infeasible || result.status == MilpStatus::unbounded ||
             result.status == MilpStatus::error) {
    if (result.status == MilpStatus::infeasible && !incumbent.plan()) return StoppedBy::proof;
    // The model is bounded, and the incumbent is a solution of it, so this status is false.
    incumbent.remark(by + " failed: " + result.detail);
    return StoppedBy::error;
  }
  if (!result.detail.empty()) incumbent.remark(by + ": " + result.detail);
  if (result.bound > incumbent.bound() * kBetter) incumbent.raise_bound({by, result.bound});
  return stopped_by(result);
}

void regroup_by_milp(const ScatterInstance& instance, const ScatterExactOptions& options,
                     std::int64_t milp_nodes, Incumbent<ScatterInstance>& incumbent,
                     Budget& budget) {
  ScatterPlan plan = *incumbent.plan();
  std::ranges::stable_sort(plan.micro_batches, std::greater<>{}, &ScatterMicroBatch::makespan_ms);
  const std::string by = "regroup-" + std::string(name(options.backend));
  for (std::size_t i = 0; i < plan.micro_batches.size() && !budget.exhausted(); ++i) {
    std::vector<std::int64_t> ids;
    for (const ScatterGroup& group : plan.micro_batches[i].groups) {
      ids.insert(ids.end(), group.sequences.begin(), group.sequences.end());
    }
    const Classes classes = classes_of(instance, ids);
    if (scatter_milp_variables(instance, classes.lengths, 1) > kLargestScatterMilp) continue;
    const ScatterMilp milp = build_scatter_milp(instance, classes.lengths, {.slots = 1});
    Budget limit = budget.part(budget.seconds_left(), milp_nodes);
    const MilpResult result =
        solve_milp(options.backend, milp.model,
                   {.seed = options.seed,
                    .start = encode(milp, instance, classes.lengths,
                                    counted(instance, classes, {&plan.micro_batches[i]}))},
                   limit);
    if (result.status == MilpStatus::error) incumbent.remark(by + " failed: " + result.detail);
    if (!has_point(result.status) ||
        result.objective >= plan.micro_batches[i].makespan_ms * (1 - kOptimalityGap)) {
      continue;
    }
    std::vector<MicroBatchChoice> choices;
    for (const ScatterMicroBatch& batch : plan.micro_batches) {
      MicroBatchChoice choice;
      for (const ScatterGroup& group : batch.groups) {
        choice.push_back({group.degree, group.sequences, group.exchange,
                          form_of(instance, batch, group)->recomputation,
                          form_of(instance, batch, group)->place});
      }
      choices.push_back(std::move(choice));
    }
    choices[i] = deal(decode(milp, result.values), classes.ids).at(0);
    ScatterPlan candidate = compose_plan(instance, std::move(choices));
    if (candidate.objective_ms < plan.objective_ms) {
      plan = candidate;
      incumbent.offer(std::move(candidate), 'M', by);
    }
  }
}

}  // namespace stowage
