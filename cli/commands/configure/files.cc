#include "cli/commands/configure/files.h"

#include <algorithm>

#include "cli/answers/launch/launchers.h"
#include "cli/answers/outcome_json.h"
#include "cli/answers/page/configured_page.h"
#include "instances/layout/json/json.h"
#include "instances/scatter/json/json.h"
#include "instances/strategy/json/json.h"

namespace stowage {
namespace {

std::string outcome_text(const Outcome& outcome, const Instance& instance) {
  return outcome_json(outcome, {.instance = &instance, .timeless = true});
}

// Returns the outcome of the search, with the plan that is the fastest on the true lengths.
Outcome outcome_of(const ConfiguredRun& run) {
  const StrategyPlan& plan = run.ranking.front().plan;
  Outcome outcome = run.strategy;
  if (std::get<StrategyPlan>(*outcome.plan) == plan) return outcome;
  outcome.plan = plan;
  outcome.objective = plan.step_ms;
  outcome.found_by = "true lengths";
  outcome.improvements = {{.bound = outcome.bound,
                           .objective = outcome.objective,
                           .source = 'H',
                           .by = outcome.found_by}};
  const bool optimal = relative_gap(plan.step_ms, outcome.bound) <= kOptimalityGap;
  outcome.status = optimal ? Status::optimal : Status::feasible;
  outcome.stopped_by = optimal ? StoppedBy::proof : run.ended_by();
  return outcome;
}

LaunchedSteps launched(const RankedConfiguration& first) {
  LaunchedSteps all{.sequences = std::ssize(first.steps.front().instance.lengths)};
  for (const ConfiguredStep& step : first.steps) {
    for (const Tokens length : padded_lengths(step.instance)) {
      all.longest = std::max(all.longest, length);
    }
    for (const ScatterMicroBatch& batch : std::get<ScatterPlan>(*step.outcome.plan).micro_batches) {
      for (const ScatterGroup& group : batch.groups) {
        all.tokens_of_rank =
            std::max(all.tokens_of_rank, (group.tokens + group.degree - 1) / group.degree);
      }
    }
  }
  return all;
}

}  // namespace

std::vector<NamedFile> configured_files(const StrategyInstance& instance, const ConfiguredRun& run,
                                        const std::string& ranking) {
  const RankedConfiguration& first = run.ranking.front();
  std::vector<NamedFile> files;
  const auto add = [&files](const std::string& name, const std::string& bytes) {
    files.push_back({.name = name, .bytes = bytes});
  };
  add("strategy.json", write_strategy_instance(instance));
  add("configuration.json", outcome_text(outcome_of(run), instance));
  add("ranking.json", ranking);
  for (std::size_t i = 0; i < first.steps.size(); ++i) {
    const ConfiguredStep& step = first.steps[i];
    std::string number = std::to_string(i);
    number.insert(0, 3 - number.size(), '0');
    add("step-" + number + ".json", write_scatter_instance(step.instance));
    add("step-" + number + ".plan.json", outcome_text(step.outcome, step.instance));
  }
  if (run.heaviest) {
    add("layout.json", write_layout_instance(run.heaviest->instance));
    add("layout.plan.json", outcome_text(run.heaviest->outcome, run.heaviest->instance));
  }
  add("page.html", configured_page(instance, run));
  add("launch-megatron.sh", megatron_script(instance, first.plan, launched(first)));
  files.back().executable = true;
  add("launch-torchtitan.toml", torchtitan_toml(first.plan, launched(first)));
  return files;
}

}  // namespace stowage
