#include "heuristics/strategy/registry.h"

#include <utility>

#include "heuristics/strategy/configurations.h"

namespace stowage {

std::vector<StrategyHeuristic> heuristics(const StrategyInstance&) {
  std::vector<StrategyHeuristic> all;
  const auto add = [&](std::string name, std::string summary, std::string source, auto make) {
    all.push_back({std::move(name), std::move(summary), std::move(source),
                   [make](const StrategyInstance&, const StrategyTable& table, std::uint64_t,
                          const Budget& budget) { return make(table, budget); }});
  };
  add("rule", "the least pp, then cp, then tp, then ep that fits",
      "rules of thumb, as in Megatron-Bridge, docs/performance-guide.md", rule_of_thumb);
  add("homogeneous", "the best configuration with equal stages, of all",
      "exhaustive search, as in Megatron-LM (arXiv 2104.04473, section 3)", best_homogeneous);
  add("fast", "that, and stages with layers, ZeRO and recomputation of their own", "",
      [](const StrategyTable& table, const Budget& budget) {
        return best_uneven(table, best_homogeneous(table, budget), budget);
      });
  return all;
}

}  // namespace stowage
