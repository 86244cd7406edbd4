#include "heuristics/assign/registry.h"

#include <utility>

#include "heuristics/assign/construct/chunked_rows.h"
#include "heuristics/assign/construct/multistart.h"
#include "heuristics/assign/published/baselines.h"
#include "heuristics/assign/published/chunk_flow.h"
#include "heuristics/assign/published/hydraulis.h"

namespace stowage {
namespace {

using StrategyPlanner = std::function<std::optional<AssignWorkingPlan>(
    const AssignTable&, int strategy, const Budget&)>;

std::optional<AssignWorkingPlan> over_strategies(const AssignTable& table,
                                                 const StrategyPlanner& plan,
                                                 const Budget& budget) {
  std::optional<AssignWorkingPlan> best;
  bool tried = false;
  for (int strategy = 0; strategy < table.strategies(); ++strategy) {
    if (tried && budget.exhausted()) break;
    tried = tried || table.usable(strategy);
    auto draft = plan(table, strategy, budget);
    if (draft && (!best || objective(*draft) < objective(*best))) best = std::move(draft);
  }
  return best;
}

// Returns the fastest plan over all strategies. If `effort` has ruins, the strategies within reach
// are planned again with it.
std::optional<AssignWorkingPlan> fastest(const AssignTable& table, const AssignPlanParams& params,
                                         const AssignEffort& effort, std::uint64_t seed,
                                         const Budget& budget) {
  std::vector<AssignWorkingPlan> drafts = plan_strategies(table, params, seed, budget);
  if (drafts.empty()) return std::nullopt;
  if (effort.ruins > 0) plan_best_again(table, params, effort, seed, budget, drafts);
  return std::move(drafts.front());
}

std::optional<AssignWorkingPlan> hydraulis_lpt(const AssignTable& table, HydraulisScore score,
                                               std::uint64_t seed, const Budget& budget) {
  const RowPacker packer = [](const AssignTable& t, int scheme, std::span<const int> positions,
                              int rows) { return even_rows(t, scheme, positions, rows); };
  return hydraulis(table, score, packer, seed, budget);
}

std::vector<AssignHeuristic> of_chunks(const AssignChunkParams& params) {
  return {
      {"chunk-flow", "chunks of one size for the whole step, dealt by LPT", "ChunkFlow section 4.1",
       [](const AssignInstance& step, const AssignTable&, std::uint64_t, const Budget& budget) {
         return assign_chunk_flow(step, budget);
       }},
      {"fast", "dispatch, moves and swaps under even rows, then rows of chunks", "",
       [params](const AssignInstance& step, const AssignTable&, std::uint64_t,
                const Budget& budget) { return assign_chunked(step, params, true, budget); }}};
}

}  // namespace

std::vector<AssignHeuristic> heuristics(const AssignInstance& instance,
                                        const AssignPlanParams& params) {
  if (instance.constraints.chunks) return of_chunks(params.chunks);
  std::vector<AssignHeuristic> all;
  const auto add = [&](std::string name, std::string summary, std::string source, auto make) {
    all.push_back({std::move(name), std::move(summary), std::move(source),
                   [make](const AssignInstance& step, const AssignTable& table, std::uint64_t seed,
                          const Budget& budget) -> std::optional<AssignPlan> {
                     const std::optional<AssignWorkingPlan> draft = make(table, seed, budget);
                     if (!draft) return std::nullopt;
                     return to_plan(step, table, *draft, budget);
                   }});
  };
  const auto add_baseline = [&](std::string name, std::string summary, std::string source,
                                const StrategyPlanner& plan) {
    add(std::move(name), std::move(summary), std::move(source),
        [plan](const AssignTable& table, std::uint64_t, const Budget& budget) {
          return over_strategies(table, plan, budget);
        });
  };
  add_baseline("lpt", "longest sequence first to the replica that ends least", "Graham 1969",
               assign_lpt);
  add_baseline("karmarkar-karp", "largest differencing over replicas, then over rows; one scheme",
               "verl utils/seqlen_balancing.py", assign_karmarkar_karp);
  const auto add_fit = [&](std::string name, std::string summary, std::string source, RowFit rule) {
    add_baseline(std::move(name), std::move(summary), std::move(source),
                 [rule](const AssignTable& table, int strategy, const Budget& budget) {
                   return assign_packed_rows(table, strategy, rule, budget);
                 });
  };
  add_fit("first-fit-decreasing", "full rows, then each to the replica that ends least; one scheme",
          "Johnson 1974", RowFit::first_fit_decreasing);
  add_fit("best-fit-decreasing", "as first-fit-decreasing, into the fullest row with room",
          "Fewer Truncations section 3", RowFit::best_fit_decreasing);
  add_fit("next-fit", "rows in the order of ids, dealt in turn; one scheme",
          "Megatron-LM dp_balanced", RowFit::next_fit);
  for (const auto& [name, summary, score] :
       {std::tuple("hydraulis-lpt", "50 random orders, rows by LPT, published score",
                   HydraulisScore::published),
        std::tuple("hydraulis-lpt-modelled", "as hydraulis-lpt, chosen by the modelled time",
                   HydraulisScore::modelled)}) {
    add(name, summary, "Hydraulis section 4.2",
        [score = score](const AssignTable& table, std::uint64_t seed, const Budget& budget) {
          return hydraulis_lpt(table, score, seed, budget);
        });
  }
  add("fast", "dispatch by prices and greedily, rows, moves and swaps", "",
      [params](const AssignTable& table, std::uint64_t seed, const Budget& budget) {
        const bool few = table.size() <= params.fast.few;
        const AssignEffort effort =
            few ? thorough_effort(params, params.fast.few_ruins) : quick_effort(params);
        return fastest(table, params, effort, seed, budget);
      });
  add("joint", "as fast from more starts, then ruin and recreate", "",
      [params](const AssignTable& table, std::uint64_t seed, const Budget& budget) {
        return fastest(table, params, thorough_effort(params, params.multistart.ruins), seed,
                       budget);
      });
  return all;
}

}  // namespace stowage
