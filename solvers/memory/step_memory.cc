#include "solvers/memory/step_memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "instances/layout/generate/transformer_trace.h"
#include "instances/scatter/table/device_pools.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

Tokens tokens_per_rank(const ScatterGroup& group) {
  return (group.tokens + group.degree - 1) / group.degree;
}

// Returns the planner's MiB per token of the micro-batch.
Mib counted_mib(const ScatterInstance& instance, const ScatterMicroBatch& batch) {
  const int way = recomputation_index(instance, batch.recomputation);
  return instance.model.recomputation.empty()
             ? instance.model.activation_mib_per_token
             : instance.model.recomputation[static_cast<std::size_t>(way)].activation_mib_per_token;
}

// Returns the micro-batch's recomputation mode if traces support it, or `otherwise`.
Recompute recompute_of(const ScatterMicroBatch& batch, Recompute otherwise) {
  if (batch.recomputation == "none") return Recompute::none;
  if (batch.recomputation == "selective") return Recompute::selective;
  if (batch.recomputation == "full") return Recompute::full;
  return otherwise;
}

// Returns the micro-batch and group of each group that is the heaviest group of one of its ranks.
std::set<std::pair<int, int>> heaviest_groups(const ScatterInstance& instance,
                                              const ScatterPlan& plan) {
  struct Heaviest {
    Mib mib = 0;
    std::pair<int, int> where;
  };
  std::vector<Heaviest> ranks(static_cast<std::size_t>(instance.cluster.devices));
  for (std::size_t m = 0; m < plan.micro_batches.size(); ++m) {
    const std::vector<ScatterGroup>& groups = plan.micro_batches[m].groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Mib mib = static_cast<double>(tokens_per_rank(groups[g])) *
                      counted_mib(instance, plan.micro_batches[m]);
      for (int r = groups[g].first_rank; r < groups[g].first_rank + groups[g].degree; ++r) {
        Heaviest& rank = ranks[static_cast<std::size_t>(r)];
        if (mib > rank.mib) {
          rank = {mib, {static_cast<int>(m), static_cast<int>(g)}};
        }
      }
    }
  }
  std::set<std::pair<int, int>> found;
  for (const Heaviest& rank : ranks) {
    if (rank.mib > 0) found.insert(rank.where);
  }
  return found;
}

struct Peak {
  Bytes peak = 0;
  Bytes bound = 0;
};

Result<Peak> planned_peak(TransformerStep step, Tokens tokens, const SolveOptions& options,
                          Budget& budget) {
  step.tokens = tokens;
  step.ranks = 1;
  step.split = SequenceSplit::ulysses;
  const Result<LayoutInstance> layout = trace_layout(step);
  if (!layout) return layout.errors();
  // A trace has neither pins nor a capacity, so a plan always exists.
  const Outcome outcome = solve(Instance(*layout), options, budget);
  const auto& plan = std::get<LayoutPlan>(outcome.plan.value());
  return Peak{plan.peak_bytes, plan.bound_bytes};
}

// Moves errors at "/tokens" of a trace to the group in the plan.
std::vector<InputError> of_group(std::vector<InputError> errors, int micro_batch, int group) {
  for (InputError& error : errors) {
    if (error.pointer != "/tokens") continue;
    error.pointer = "/micro_batches/" + std::to_string(micro_batch) + "/groups/" +
                    std::to_string(group) + "/tokens";
    error.message = "per rank " + error.message;
  }
  return errors;
}

// Returns the usable memory of the group's smallest device.
Mib memory_of(const ScatterInstance& instance, const ScatterGroup& group) {
  const Cluster& cluster = instance.cluster;
  if (cluster.kinds.empty()) return cluster.memory_mib;
  const std::optional<int> place = place_at(cluster, group.degree, group.first_rank);
  return place ? group_place(cluster, group.degree, *place)->memory_mib : 0;
}

}  // namespace

Result<std::vector<GroupMemory>> step_memory(const ScatterInstance& instance,
                                             const ScatterPlan& plan, const TransformerStep& step,
                                             const SolveOptions& options, Budget& budget,
                                             const MemoryProgress& progress) {
  // Groups with equal tokens per rank and equal recomputation share one layout.
  std::map<std::pair<Tokens, Recompute>, Peak> peaks;
  std::vector<GroupMemory> result;
  const auto heaviest = heaviest_groups(instance, plan);
  for (const auto& [m, g] : heaviest) {
    if (progress) progress(result.size(), heaviest.size());
    const ScatterMicroBatch& batch = plan.micro_batches[static_cast<std::size_t>(m)];
    const ScatterGroup& group = batch.groups[static_cast<std::size_t>(g)];
    const Tokens tokens = tokens_per_rank(group);
    TransformerStep own = step;
    own.recompute = recompute_of(batch, step.recompute);
    const std::pair layout(tokens, own.recompute);
    if (!peaks.contains(layout)) {
      const Result<Peak> peak = planned_peak(own, tokens, options, budget);
      if (!peak) return of_group(peak.errors(), m, g);
      peaks[layout] = *peak;
    }
    const Mib capacity = memory_of(instance, group) - instance.model.states_mib;
    const auto fits = [capacity](Bytes bytes) {
      return static_cast<double>(bytes) <= capacity * (1 << 20);
    };
    const Peak& peak = peaks[layout];
    result.push_back(
        {.micro_batch = m,
         .group = g,
         .first_rank = group.first_rank,
         .degree = group.degree,
         .tokens_per_rank = tokens,
         .peak_bytes = peak.peak,
         .bound_bytes = peak.bound,
         .token_model_mib = counted_mib(instance, batch) * static_cast<double>(tokens),
         .capacity_mib = capacity,
         .fit = fits(peak.peak) ? Fit::yes : (fits(peak.bound) ? Fit::unknown : Fit::no)});
  }
  return result;
}

}  // namespace stowage
