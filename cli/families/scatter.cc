#include "cli/families/scatter.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "cli/families/method_names.h"
#include "cli/families/unplaceable.h"
#include "cli/flags/suggest.h"
#include "cli/terminal/unit.h"
#include "formulations/scatter/bounds.h"
#include "instances/numeric/numbers.h"
#include "instances/pipeline/schedule.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/verify/exhaustive_check.h"

namespace stowage {

std::string size_of(const ScatterInstance& instance) {
  Tokens tokens = 0;  // no overflow: the reader has checked that the padded sum is in range
  for (const Tokens length : instance.lengths) tokens += length;
  return counted(std::ssize(instance.lengths), "sequence") + ", " + counted(tokens, "token") +
         ", " + counted(instance.cluster.devices, "device");
}

std::vector<std::pair<std::string, std::string>> facts_of(const ScatterInstance& instance,
                                                          const ScatterPlan& plan) {
  using Sums = std::pair<std::int64_t, double>;  // number of groups, and sum of ranks times ms
  std::map<int, Sums> degrees;
  std::map<ExchangeKind, Sums> kinds;
  // by recomputation mode: number of micro-batches, and sum of their makespans
  std::map<std::string, std::pair<std::int64_t, Ms>> ways;
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    ways[batch.recomputation].first += 1;
    ways[batch.recomputation].second += batch.makespan_ms;
    for (const ScatterGroup& group : batch.groups) {
      for (Sums* sums : {&degrees[group.degree], &kinds[group.exchange]}) {
        sums->first += 1;
        sums->second += group.time_ms * group.degree;
      }
    }
  }
  const double all = plan.objective_ms * instance.cluster.devices;
  std::string text;
  const auto add = [&](const std::string& name, const Sums& sums) {
    text += (text.empty() ? "" : "; ") + name + ": " + grouped(sums.first) +
            (sums.first == 1 ? " group, " : " groups, ") +
            percent_text(all > 0 ? sums.second / all : 0) + " of rank time";
  };
  for (const auto& [degree, sums] : degrees) add(grouped(degree), sums);
  std::vector<std::pair<std::string, std::string>> facts{
      {"micro-batches", grouped(part_count_of(plan))},
      {"groups by degree", text.empty() ? "none" : text}};
  if (instance.cost.exchange) {
    text.clear();
    for (const auto& [kind, sums] : kinds) {
      add(std::string(exchange_names()[static_cast<std::size_t>(kind)]), sums);
    }
    facts.emplace_back("groups by exchange", text.empty() ? "none" : text);
  }
  if (!instance.model.recomputation.empty()) {
    text.clear();
    for (const auto& [name, sums] : ways) {
      text += (text.empty() ? "" : "; ") + name + ": " + counted(sums.first, "micro-batch") + ", " +
              with_unit(sums.second, kMs);
    }
    facts.emplace_back("recomputation", text.empty() ? "none" : text);
  }
  if (instance.pipeline_stages > 1) {
    const Ms simulated = simulate_1f1b(makespans_of(plan), instance.pipeline_stages);
    facts.emplace_back("pipeline", counted(instance.pipeline_stages, "stage") + "; " +
                                       percent_text(pipeline_share(instance, plan)) +
                                       " of the step fills and drains it");
    facts.emplace_back("1F1B schedule",
                       with_unit(simulated, kMs) + " for these micro-batches in this order; " +
                           with_unit(simulated_bound(instance), kMs) + " or more in any plan");
  }
  facts.emplace_back("idle", percent_text(idle_share(instance, plan)) + " of rank time");
  return facts;
}

std::string detail_of(const ScatterPlan& plan) {
  if (plan.simulated_1f1b_ms == 0) return "";
  return with_unit(plan.simulated_1f1b_ms, kMs) + " under simulated 1F1B";
}

std::optional<double> simulated_end_bound_of(const ScatterInstance& instance) {
  if (instance.pipeline_stages == 1 || !unplaceable_sequences(instance).empty()) {
    return std::nullopt;
  }
  return simulated_bound(instance);
}

std::string method_list_of(Scatter) {
  // Degree 1 represents every degree: a homogeneous method exists for each degree of an instance.
  const ScatterInstance any{.cluster = {.devices = 1, .degrees = {1}}};
  std::vector<std::string> names = method_names(any);
  for (std::string& name : names) {
    if (name.ends_with("-1")) name.replace(name.size() - 1, 1, "DEGREE");
  }
  return comma_list(names);
}

std::vector<NamedBound> closed_form_bounds_of(const ScatterInstance& instance) {
  if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) return {};
  return scatter_bounds(ScatterTable(instance));
}

std::optional<NamedBound> tried_again_of(const ScatterInstance& instance, double claimed) {
  const std::optional<Ms> least = least_objective(instance, claimed);
  if (!least) return std::nullopt;
  return NamedBound{"subsets", *least};
}

std::vector<std::string> infeasibility_of(const ScatterInstance& instance,
                                          const std::vector<std::int64_t>& unplaceable) {
  const GroupForm form = largest_form(instance);
  return unplaceable_lines(instance, unplaceable,
                           "the largest group holds " + grouped(longest_in_group(instance, form)) +
                               " (degree " + std::to_string(form.degree) + ')');
}

}  // namespace stowage
