#include "cli/answers/ranking.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "instances/json/writer.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/json/rates.h"
#include "instances/strategy/planning_table.h"

namespace stowage {
namespace {

constexpr std::size_t kListed = 10;
constexpr std::ptrdiff_t kAfterDp = 5;  // number of columns up to dp
// share of a device's memory from which memory is named as nearly full
constexpr double kNearlyFull = 0.95;
constexpr std::size_t kCp = 3;  // column of cp
constexpr double kMuch = 0.05;  // share of a step from which a part of the time is named

std::string_view recompute_name(const StrategyPlan& plan) {
  return kStrategyRecomputes[static_cast<std::size_t>(plan.stages.front().recompute)];
}

void write_layout(JsonWriter& json, const HeaviestRank& heaviest) {
  const auto& plan = std::get<LayoutPlan>(*heaviest.outcome.plan);
  json.begin_object();
  json.integer("step", heaviest.step);
  json.integer("stage", heaviest.stage);
  json.integer("tokens_per_rank", heaviest.tokens);
  json.integer("peak_bytes", plan.peak_bytes);
  json.integer("waiting_bytes", heaviest.waiting_bytes);
  json.number("states_mib", heaviest.states_mib);
  json.number("planned_mib", heaviest.planned_mib);
  json.number("needed_mib", heaviest.needed_mib());
  json.number("memory_mib", heaviest.memory_mib);
  json.boolean("fits", heaviest.fits());
  json.end_object();
}

void write_configuration(JsonWriter& json, const RankedConfiguration& each, bool with_ep) {
  const StrategyPlan& plan = each.plan;
  json.begin_object();
  json.integer("pp", plan.pp);
  json.integer("v", plan.v);
  json.integer("tp", plan.tp);
  json.integer("cp", plan.cp);
  json.integer("dp", plan.dp);
  if (with_ep) json.integer("ep", plan.ep);
  if (plan.shard > 0) json.integer("shard", plan.shard);
  if (plan.cp_exchange == StrategyExchange::ring) json.text("cp_exchange", "ring");
  json.integer("zero", plan.stages.front().zero);
  json.text("recompute", recompute_name(plan));
  if (plan.stages.front().stream_chunks > 1) {
    json.integer("stream_chunks", plan.stages.front().stream_chunks);
  }
  json.integer("micro_batches", plan.micro_batches);
  json.number("mean_step_objective_ms", plan.step_ms);
  json.integer("steps_planned", std::ssize(each.steps));
  if (each.why_not.empty()) {
    json.number("step_ms", each.mean.step_ms);
    json.number("behind", each.behind);
    json.number("bubble_ms", each.mean.bubble_ms);
    json.number("exchange_ms", each.mean.exchange_ms);
    json.number("idle_ms", each.mean.idle_ms);
    json.number("memory_share", each.mean.memory_share);
    json.number("activation_factor", each.activation_factor);
    json.text("binds", binding_text(each));
  } else {
    json.text("why_not", each.why_not);
  }
  json.end_object();
}

}  // namespace

std::string binding_text(const RankedConfiguration& each) {
  std::string text;
  const auto add = [&text](bool binds, const char* what) {
    if (binds) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  const PricedStep& mean = each.mean;
  add(mean.memory_share >= kNearlyFull, "memory");
  add(mean.bubble_ms >= kMuch * mean.step_ms, "bubble");
  add(mean.exchange_ms >= kMuch * mean.step_ms, "exchange");
  add(mean.idle_ms >= kMuch * mean.step_ms, "idle ranks");
  return text.empty() ? "compute" : text;
}

Table ranking_table(const ConfiguredRun& run) {
  const std::size_t listed = std::min(run.ranking.size() - run.without_plan, kListed);
  const std::span<const RankedConfiguration> all(run.ranking.data(), listed);
  const bool with_ep =
      std::ranges::any_of(all, [](const RankedConfiguration& each) { return each.plan.ep > 1; });
  const bool with_shard =
      std::ranges::any_of(all, [](const RankedConfiguration& each) { return each.plan.shard > 0; });
  std::vector<Table::Column> columns = {
      {"pp", Align::right},       {"v", Align::right},      {"tp", Align::right},
      {"cp", Align::right},       {"dp", Align::right},     {"ZeRO", Align::right},
      {"recompute", Align::left}, {"steps", Align::right},  {"mean ms", Align::right},
      {"behind", Align::right},   {"memory", Align::right}, {"bubble", Align::right},
      {"exchange", Align::right}, {"idle", Align::right},   {"binds", Align::left}};
  if (with_shard) columns.insert(columns.begin() + kAfterDp, {"shard", Align::right});
  if (with_ep) columns.insert(columns.begin() + kAfterDp, {"ep", Align::right});
  Table table(std::move(columns));
  for (const RankedConfiguration& each : all) {
    const StrategyPlan& plan = each.plan;
    const Ms step = each.mean.step_ms;
    std::vector<std::string> row = {grouped(plan.pp),
                                    grouped(plan.v),
                                    grouped(plan.tp),
                                    grouped(plan.cp),
                                    grouped(plan.dp),
                                    grouped(plan.stages.front().zero),
                                    recompute_text(plan.stages.front()),
                                    grouped(std::ssize(each.steps)),
                                    ms_text(step),
                                    percent_text(each.behind - 1),
                                    percent_text(each.mean.memory_share),
                                    percent_text(each.mean.bubble_ms / step),
                                    percent_text(each.mean.exchange_ms / step),
                                    percent_text(each.mean.idle_ms / step),
                                    binding_text(each)};
    if (plan.cp_exchange == StrategyExchange::ring) row[kCp] += " ring";
    if (with_shard) {
      row.insert(row.begin() + kAfterDp, grouped(layout_of(plan).sharding_ranks()));
    }
    if (with_ep) row.insert(row.begin() + kAfterDp, grouped(plan.ep));
    table.add(std::move(row));
  }
  return table;
}

std::string ranking_json(const StrategyInstance& instance, const ConfiguredRun& run,
                         std::int64_t steps, ExitCode code, const ReplannedAnswer* replanned) {
  JsonWriter json;
  json.begin_object();
  write_head(json, "stowage/ranking", "strategy", instance.name);
  json.integer("exit_code", to_int(code));
  json.integer("steps", steps);
  json.number("mean_step_bound_ms", run.strategy.bound);
  json.text("bound_by", run.strategy.bound_by);
  json.text("stopped_by", to_string(run.ended_by()));
  json.integer("solved_again", run.solved_again);
  if (replanned != nullptr) {
    json.key("replanned");
    write_replanned(json, *replanned);
  }
  write_rates(json, rate_report(instance));
  json.key("layout");
  if (run.heaviest) {
    write_layout(json, *run.heaviest);
  } else {
    json.null();
  }
  json.key("configurations");
  json.begin_array();
  const bool with_ep = std::ranges::any_of(instance.model.blocks, &StrategyBlock::routed);
  for (const RankedConfiguration& each : run.ranking) write_configuration(json, each, with_ep);
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace stowage
