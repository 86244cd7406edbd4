#include "solvers/memory/step_memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "instances/layout/trace.h"

namespace stowage {
namespace {

Tokens tokens_per_rank(const ScatterGroup& group) {
  return (group.tokens + group.degree - 1) / group.degree;
}

// Micro-batch and group of every group that is the heaviest of one of its ranks.
std::set<std::pair<int, int>> heaviest_groups(const ScatterInstance& instance,
                                              const ScatterPlan& plan) {
  struct Heaviest {
    Tokens tokens = 0;
    std::pair<int, int> where;
  };
  std::vector<Heaviest> ranks(static_cast<std::size_t>(instance.cluster.devices));
  for (std::size_t m = 0; m < plan.micro_batches.size(); ++m) {
    const std::vector<ScatterGroup>& groups = plan.micro_batches[m].groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Tokens tokens = tokens_per_rank(groups[g]);
      for (int r = groups[g].first_rank; r < groups[g].first_rank + groups[g].degree; ++r) {
        Heaviest& rank = ranks[static_cast<std::size_t>(r)];
        if (tokens > rank.tokens) {
          rank = {tokens, {static_cast<int>(m), static_cast<int>(g)}};
        }
      }
    }
  }
  std::set<std::pair<int, int>> found;
  for (const Heaviest& rank : ranks) {
    if (rank.tokens > 0) found.insert(rank.where);
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
  // A trace has neither pins nor a capacity, so that there always is a plan.
  const Outcome outcome = solve(Instance(*layout), options, budget);
  const auto& plan = std::get<LayoutPlan>(outcome.plan.value());
  return Peak{plan.peak_bytes, plan.bound_bytes};
}

// The errors of a trace, of which "/tokens" means those of a rank of this group.
std::vector<InputError> of_group(std::vector<InputError> errors, int micro_batch, int group) {
  for (InputError& error : errors) {
    if (error.pointer != "/tokens") continue;
    error.pointer = "/micro_batches/" + std::to_string(micro_batch) + "/groups/" +
                    std::to_string(group) + "/tokens";
    error.message = "per rank " + error.message;
  }
  return errors;
}

}  // namespace

Result<std::vector<GroupMemory>> step_memory(const ScatterInstance& instance,
                                             const ScatterPlan& plan, const TransformerStep& step,
                                             const SolveOptions& options, Budget& budget,
                                             const MemoryProgress& progress) {
  std::map<Tokens, Peak> peaks;  // groups of equally many tokens per rank have one layout
  std::vector<GroupMemory> result;
  const auto heaviest = heaviest_groups(instance, plan);
  for (const auto& [m, g] : heaviest) {
    if (progress) progress(result.size(), heaviest.size());
    const ScatterGroup& group =
        plan.micro_batches[static_cast<std::size_t>(m)].groups[static_cast<std::size_t>(g)];
    const Tokens tokens = tokens_per_rank(group);
    if (!peaks.contains(tokens)) {
      const Result<Peak> peak = planned_peak(step, tokens, options, budget);
      if (!peak) return of_group(peak.errors(), m, g);
      peaks[tokens] = *peak;
    }
    const Mib capacity = instance.cluster.memory_mib - instance.model.states_mib;
    const auto fits = [capacity](Bytes bytes) {
      return static_cast<double>(bytes) <= capacity * (1 << 20);
    };
    const Peak& peak = peaks[tokens];
    result.push_back(
        {.micro_batch = m,
         .group = g,
         .first_rank = group.first_rank,
         .degree = group.degree,
         .tokens_per_rank = tokens,
         .peak_bytes = peak.peak,
         .bound_bytes = peak.bound,
         .token_model_mib = instance.model.activation_mib_per_token * static_cast<double>(tokens),
         .capacity_mib = capacity,
         .fit = fits(peak.peak) ? Fit::yes : (fits(peak.bound) ? Fit::unknown : Fit::no)});
  }
  return result;
}

}  // namespace stowage
