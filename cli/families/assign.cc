#include "cli/families/assign.h"

#include <algorithm>

#include "cli/families/method_names.h"
#include "cli/families/unplaceable.h"
#include "cli/flags/suggest.h"
#include "cli/terminal/console.h"
#include "formulations/assign/bounds.h"
#include "formulations/assign/chunk_bounds.h"
#include "instances/assign/planning_table.h"
#include "instances/numeric/numbers.h"

namespace stowage {

std::string size_of(const AssignInstance& instance) {
  Tokens tokens = 0;  // no overflow: the reader has checked that the padded sum is in range
  for (const Tokens length : instance.lengths) tokens += length;
  const auto strategies = static_cast<std::int64_t>(instance.strategies.size());
  return counted(std::ssize(instance.lengths), "sequence") + ", " + counted(tokens, "token") +
         ", " + counted(instance.devices, "device") + ", " +
         counted(strategies, "strategy", "strategies");
}

std::vector<std::pair<std::string, std::string>> facts_of(const AssignInstance& instance,
                                                          const AssignPlan& plan) {
  std::string replicas;
  for (const Scheme& scheme : instance.schemes) {
    const auto count = std::ranges::count(plan.replicas, scheme.name, &AssignReplica::scheme);
    if (count == 0) continue;
    replicas += (replicas.empty() ? "" : ", ") + grouped(count) + " of " + scheme.name;
  }
  return {{"strategy", plan.strategy},
          {"replicas", replicas},
          {"rows", grouped(part_count_of(plan))},
          {"simulated 1F1B", ms_text(plan.simulated_1f1b_ms) + " ms, " +
                                 percent_text(bubble_share(instance, plan)) +
                                 " of the replicas' device time is bubble"}};
}

std::optional<double> simulated_end_bound_of(const AssignInstance& instance) {
  const bool pipelines =
      std::ranges::any_of(instance.schemes, [](const Scheme& s) { return s.pp > 1; });
  if (!pipelines || instance.constraints.chunks || usable_strategies(instance).empty()) {
    return std::nullopt;
  }
  return simulated_bound(instance);
}

std::string method_list_of(Assign) {
  AssignInstance chunked;
  chunked.constraints.chunks.emplace();
  return comma_list(method_names(AssignInstance())) +
         "; assign with chunks: " + comma_list(method_names(chunked));
}

std::vector<NamedBound> closed_form_bounds_of(const AssignInstance& instance) {
  if (instance.lengths.empty() || usable_strategies(instance).empty()) return {};
  if (instance.constraints.chunks) return assign_chunk_bounds(instance);
  return assign_bounds(AssignTable(instance));
}

const char* bound_name_of(const AssignCertificate& certificate) {
  const auto any = [&](auto&& has) { return std::ranges::any_of(certificate.strategies, has); };
  if (any([](const StrategyProof& each) { return !each.prices.empty(); })) return "configurations";
  return any([](const StrategyProof& each) { return !each.bands.empty(); }) ? "bands" : "patterns";
}

std::vector<std::string> infeasibility_of(const AssignInstance& instance,
                                          const std::vector<std::int64_t>& unplaceable) {
  Tokens held = 0;  // longest sequence that a row of any strategy may hold
  std::string holder;
  for (const Strategy& strategy : instance.strategies) {
    if (longest_allowed(instance, strategy) <= held) continue;
    held = longest_allowed(instance, strategy);
    holder = strategy.name;
  }
  const bool chunks = instance.constraints.chunks.has_value();
  std::vector<std::string> lines =
      unplaceable_lines(instance, unplaceable,
                        (chunks ? "no strategy has memory for more than "
                                : "the largest row of any strategy holds ") +
                            grouped(held) + " (strategy " + holder + ')');
  if (unplaceable.empty() && (!instance.lengths.empty() || !instance.constraints.allow_empty)) {
    lines.push_back(
        "each sequence fits a row, so that it is the constraints that cannot be met: "
        "rows_multiple_of, equal_rows or allow_empty ask for more rows than the sequences give");
  }
  return lines;
}

std::int64_t part_count_of(const AssignPlan& plan) {
  std::int64_t rows = 0;
  for (const AssignReplica& replica : plan.replicas) {
    rows += static_cast<std::int64_t>(replica.rows.size());
  }
  return rows;
}

std::string detail_of(const AssignPlan& plan) {
  return "strategy " + plan.strategy + ", " + ms_text(plan.simulated_1f1b_ms) +
         " ms under simulated 1F1B";
}

}  // namespace stowage
