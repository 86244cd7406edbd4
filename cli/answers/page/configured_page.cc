#include "cli/answers/page/configured_page.h"

#include <optional>
#include <utility>
#include <vector>

#include "cli/answers/page/report_page.h"
#include "cli/answers/ranking.h"
#include "cli/families/families.h"
#include "cli/families/outcome/check_outcome.h"
#include "instances/numeric/numbers.h"
#include "instances/pictures/layout/map.h"
#include "instances/pictures/scatter/gantt.h"
#include "instances/pictures/scatter/pipeline.h"
#include "instances/pictures/strategy/passes.h"
#include "instances/pictures/strategy/shares.h"
#include "instances/pictures/strategy/stages.h"
#include "instances/strategy/fit/stacks.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

// Verifies a plan and its bound again.
CheckedOutcome judged(Instance instance, Plan plan, const Outcome& outcome) {
  return judge({.instance = std::move(instance),
                .plan = std::move(plan),
                .certificate = outcome.certificate});
}

std::string bound_text(const CheckedOutcome& judgement, Ms step) {
  const ShownBounds& shown = judgement.shown;
  const std::optional<ShownBound>& told = shown.proven ? shown.proven : shown.claimed;
  if (!told) return "no bound is known";
  return "no configuration takes less than " + ms_text(told->value) + " ms (" + told->name +
         (shown.proven ? "), gap " : ", not proven here), gap ") +
         percent_text(relative_gap(step, told->value));
}

Picture step_picture(const ConfiguredStep& step) {
  const auto& plan = std::get<ScatterPlan>(*step.outcome.plan);
  return scatter_gantt(step.instance, plan, judged(step.instance, plan, step.outcome).shown);
}

Ranking ranking_of(const ConfiguredRun& run) {
  Ranking ranking{
      .heading = "Configurations on the true lengths", .table = ranking_table(run), .plans = {}};
  for (std::size_t i = 0; i < ranking.table.rows().size(); ++i) {
    ranking.plans.push_back(step_picture(run.ranking[i].steps.front()));
  }
  return ranking;
}

std::vector<TimeShares> shares_of(const ConfiguredRun& run) {
  std::vector<TimeShares> shares;
  for (std::size_t i = 0; i + run.without_plan < run.ranking.size(); ++i) {
    const RankedConfiguration& each = run.ranking[i];
    // The configurations may be planned for different steps. So a configuration's mean is scaled to
    // the first configuration's mean times its ratio on common steps.
    const double scale = run.ranking.front().mean.step_ms * each.behind / each.mean.step_ms;
    shares.push_back({.name = configuration_name(each.plan),
                      .step_ms = scale * each.mean.step_ms,
                      .exchange_ms = scale * each.mean.exchange_ms,
                      .idle_ms = scale * each.mean.idle_ms,
                      .bubble_ms = scale * each.mean.bubble_ms});
  }
  return shares;
}

std::vector<Fact> facts_of(const StrategyInstance& instance, const ConfiguredRun& run,
                           const CheckedOutcome& judgement) {
  const RankedConfiguration& first = run.ranking.front();
  std::vector<Fact> facts = {
      {"model and cluster", instance_size(instance)},
      {"configuration", configuration_name(first.plan)},
      {"step", ms_text(first.mean.step_ms) + " ms, mean of " +
                   counted(std::ssize(first.steps), "step") + ", every plan verified"},
      {"what binds", binding_text(first)},
      {"step of mean lengths",
       ms_text(first.plan.step_ms) + " ms; " + bound_text(judgement, first.plan.step_ms)}};
  facts.push_back({"rates", rate_text(rate_report(instance))});
  if (run.heaviest) {
    facts.push_back({"memory of the heaviest rank", ms_text(run.heaviest->needed_mib()) + " of " +
                                                        ms_text(run.heaviest->memory_mib) +
                                                        " MiB, its buffers laid out"});
  }
  return facts;
}

}  // namespace

std::string configured_page(const StrategyInstance& instance, const ConfiguredRun& run) {
  const RankedConfiguration& first = run.ranking.front();
  const CheckedOutcome of_strategy = judged(instance, first.plan, run.strategy);
  std::vector<Picture> pictures = {strategy_shares(shares_of(run)),
                                   strategy_stages(instance, first.plan, of_strategy.shown)};
  if (const auto schedules = strategy_schedules(instance, first.plan)) {
    pictures.push_back(strategy_passes(instance, *schedules));
  }
  const ConfiguredStep& step = first.steps.front();
  if (step.instance.pipeline_stages > 1) {
    pictures.push_back(scatter_pipeline(step.instance, std::get<ScatterPlan>(*step.outcome.plan)));
  }
  pictures.push_back(step_picture(step));
  if (run.heaviest) {
    const auto& layout = std::get<LayoutPlan>(*run.heaviest->outcome.plan);
    pictures.push_back(
        layout_map(run.heaviest->instance, layout,
                   judged(run.heaviest->instance, layout, run.heaviest->outcome).shown));
  }
  return report_page(
      {.title = instance.name.empty() ? "configuration" : instance.name,
       .subtitle = "A parallel configuration, its first step and the memory of its heaviest rank. "
                   "Every plan was verified before it was drawn.",
       .facts = facts_of(instance, run, of_strategy),
       .ranking = ranking_of(run),
       .pictures = std::move(pictures)});
}

}  // namespace stowage
