#include "cli/commands/compare/ablation.h"

#include <algorithm>
#include <cmath>

#include "cli/terminal/status_line.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Relative changes up to this count as none: plans of one time differ by rounding.
constexpr double kSame = 1e-9;

double change(double with, double without) {
  return with == without ? 0 : (without - with) / std::max(std::abs(with), std::abs(without));
}

bool is_optimal(const Outcome& outcome) { return outcome.status == Status::optimal; }

std::optional<double> mean(double sum, std::int64_t count) {
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

std::string signed_percent(const std::optional<double>& share) {
  return (share && *share > 0 ? "+" : "") + percent_text(share);
}

}  // namespace

std::vector<AblationRun> ablate(Console& console, const Instance& instance, SolveOptions options,
                                const Budget::Limits& limits) {
  std::vector<AblationRun> runs;
  StatusLine status(console);
  const auto run = [&](const std::string& stage) {
    const std::string line =
        "running   " + (stage.empty() ? std::string("auto") : "without " + stage);
    console.debug(line);
    status.tell(line);
    Budget budget(limits);
    if (!stage.empty()) options.without = {stage};
    runs.push_back({stage, solve(instance, options, budget)});
  };
  run("");
  const std::vector<StageReport> ran = runs.front().outcome.stages;
  for (const StageReport& stage : ran) {
    if (*limits.interrupt) break;
    run(stage.name);
  }
  return runs;
}

StageWorth& AblationSummary::worth_of(const std::string& stage) {
  const auto known = std::ranges::find(stages_, stage, &StageWorth::stage);
  if (known != stages_.end()) return *known;
  stages_.push_back({.stage = stage});
  return stages_.back();
}

void AblationSummary::add(const std::vector<AblationRun>& runs) {
  const Outcome& whole = runs.front().outcome;
  for (auto run = runs.begin() + 1; run != runs.end(); ++run) {
    const Outcome& less = run->outcome;
    StageWorth& worth = worth_of(run->without);
    ++worth.ran;
    if (whole.objective && less.objective) {
      const double by = change(*whole.objective, *less.objective);
      worth.plan_change += by;
      ++worth.plans;
      worth.plans_worse += by > kSame;
      worth.plans_better += by < -kSame;
    }
    worth.plans_lost += whole.objective && !less.objective;
    const double by = change(whole.bound, less.bound);
    worth.bound_change += by;
    ++worth.bounds;
    worth.bounds_lower += by < -kSame;
    worth.bounds_higher += by > kSame;
    worth.proofs_lost += is_optimal(whole) && !is_optimal(less);
    worth.proofs_won += !is_optimal(whole) && is_optimal(less);
    worth.seconds += whole.seconds;
    worth.seconds_without += less.seconds;
  }
}

Table AblationSummary::table(bool timeless) const {
  std::vector<Table::Column> columns = {
      {"without", Align::left},       {"ran", Align::right},    {"plans worse", Align::right},
      {"better", Align::right},       {"lost", Align::right},   {"mean change", Align::right},
      {"bounds lower", Align::right}, {"higher", Align::right}, {"mean change", Align::right},
      {"proofs lost", Align::right},  {"won", Align::right}};
  if (!timeless) columns.insert(columns.end(), {{"time", Align::right}, {"auto", Align::right}});
  Table table(columns);
  for (const StageWorth& each : stages_) {
    std::vector<std::string> cells = {each.stage,
                                      grouped(each.ran),
                                      grouped(each.plans_worse),
                                      grouped(each.plans_better),
                                      grouped(each.plans_lost),
                                      signed_percent(mean(each.plan_change, each.plans)),
                                      grouped(each.bounds_lower),
                                      grouped(each.bounds_higher),
                                      signed_percent(mean(each.bound_change, each.bounds)),
                                      grouped(each.proofs_lost),
                                      grouped(each.proofs_won)};
    if (!timeless) {
      cells.push_back(seconds_text(each.seconds_without));
      cells.push_back(seconds_text(each.seconds));
    }
    table.add(std::move(cells));
  }
  return table;
}

void AblationSummary::write(JsonWriter& json, bool timeless) const {
  const auto share = [&json](const char* key, double sum, std::int64_t count) {
    const std::optional<double> value = mean(sum, count);
    json.key(key);
    value ? json.number(*value) : json.null();
  };
  json.key("stages");
  json.begin_array();
  for (const StageWorth& each : stages_) {
    json.begin_object(JsonWriter::Layout::line);
    json.text("name", each.stage);
    json.integer("ran", each.ran);
    json.integer("plans_worse", each.plans_worse);
    json.integer("plans_better", each.plans_better);
    json.integer("plans_lost", each.plans_lost);
    share("plan_change", each.plan_change, each.plans);
    json.integer("bounds_lower", each.bounds_lower);
    json.integer("bounds_higher", each.bounds_higher);
    share("bound_change", each.bound_change, each.bounds);
    json.integer("proofs_lost", each.proofs_lost);
    json.integer("proofs_won", each.proofs_won);
    if (!timeless) {
      json.number("seconds", each.seconds);
      json.number("seconds_without", each.seconds_without);
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace stowage
