#include "heuristics/strategy/registry.h"

#include <utility>

#include "heuristics/strategy/configurations.h"
#include "heuristics/strategy/published.h"

namespace stowage {

std::vector<StrategyHeuristic> heuristics(const StrategyInstance&) {
  std::vector<StrategyHeuristic> all;
  const auto add = [&](std::string name, std::string summary, std::string source, auto make) {
    const bool is_published = !source.empty();
    all.push_back(
        {std::move(name), std::move(summary), std::move(source),
         [make, is_published](const StrategyInstance& instance, const StrategyTable& table,
                              std::uint64_t, const Budget& budget) {
           if (!is_published || !instance.cluster.offload) return make(table, budget);
           StrategyInstance plain = instance;  // published planners know no offload
           plain.cluster.offload.reset();
           return make(StrategyTable(plain), budget);
         }});
  };
  add("rule", "the least pp, then cp, then tp, then ep that fits",
      "rules of thumb, as in Megatron-Bridge, docs/performance-guide.md", rule_of_thumb);
  add("homogeneous", "the best configuration with equal stages, of all",
      "exhaustive search, as in Megatron-LM (arXiv 2104.04473, section 3)", best_homogeneous);
  add("galvatron", "stages divided evenly beforehand, each with its cheapest choice that fits",
      "Galvatron (arXiv 2211.13878), Galvatron-BMW (2307.02031), with one layout", galvatron);
  add("alpa", "the least sum of the stages for each time of the slowest one",
      "Alpa (arXiv 2201.12023, section 5.2), with one layout", alpa);
  add("fast", "all of these, and stages with layers, ZeRO and recomputation of their own", "",
      best_of_all);
  return all;
}

}  // namespace stowage
