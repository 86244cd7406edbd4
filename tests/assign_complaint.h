// A plain check of assign plans for the tests of planners: caps, coverage, row constraints and the
// derived figures, from the words of instances/assign.h alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "instances/assign.h"
#include "instances/assign_plan.h"

namespace stowage {

// What is wrong with the plan; empty if nothing is.
inline std::string complaint(const AssignInstance& instance, const AssignPlan& plan) {
  std::map<std::string, int> wanted;
  for (const Strategy& strategy : instance.strategies) {
    if (strategy.name != plan.strategy) continue;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      wanted[instance.schemes[g].name] += strategy.replicas[g];
    }
  }
  const auto differ = [](double a, double b) {
    return std::abs(a - b) > 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
  };
  std::vector<int> seen(instance.lengths.size(), 0);
  std::set<std::size_t> row_counts;
  double objective = 0;
  for (const AssignReplica& replica : plan.replicas) {
    if (--wanted[replica.scheme] < 0) return "too many replicas of " + replica.scheme;
    const auto scheme = std::ranges::find(instance.schemes, replica.scheme, &Scheme::name);
    const RowConstraints& rule = instance.constraints;
    const auto multiple = static_cast<std::size_t>(rule.rows_multiple_of);
    if (replica.rows.size() % multiple != 0) return "rows are no multiple";
    if (replica.rows.empty() && !rule.allow_empty) return "an empty replica";
    if (!replica.rows.empty()) row_counts.insert(replica.rows.size());
    double sum = 0;
    double longest = 0;
    for (const AssignRow& row : replica.rows) {
      if (row.sequences.empty()) return "an empty row";
      Tokens tokens = 0;
      double time = scheme->fixed_ms;
      std::vector<std::int64_t> cu_seqlens{0};
      for (const std::int64_t id : row.sequences) {
        if (id < 0 || static_cast<std::size_t>(id) >= seen.size()) return "an unknown id";
        if (++seen[static_cast<std::size_t>(id)] > 1) return "a sequence twice";
        const Tokens pad = instance.pad_multiple;
        const Tokens s = (instance.lengths[static_cast<std::size_t>(id)] + pad - 1) / pad * pad;
        tokens += s;
        cu_seqlens.push_back(tokens);
        const auto length = static_cast<double>(s);
        time += (scheme->quadratic_ms * length + scheme->linear_ms) * length;
      }
      if (tokens > scheme->max_tokens) return "a row above the cap";
      if (tokens != row.tokens || cu_seqlens != row.cu_seqlens) return "wrong tokens";
      if (differ(time, row.time_ms)) return "wrong row time";
      sum += time;
      longest = std::max(longest, time);
    }
    if (differ(sum + (scheme->pp - 1) * longest, replica.time_ms)) return "wrong replica time";
    objective = std::max(objective, replica.time_ms);
  }
  for (const auto& [scheme, missing] : wanted) {
    if (missing != 0) return "missing replicas of " + scheme;
  }
  if (instance.constraints.equal_rows && row_counts.size() > 1) return "unequal rows";
  if (std::ranges::find(seen, 0) != seen.end()) return "a sequence nowhere";
  if (objective != plan.objective_ms) return "wrong objective";
  return "";
}

}  // namespace stowage
