#include "cli/commands/measure/fit_strategy.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cli/families/load.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/status_line.h"
#include "cli/terminal/table.h"
#include "instances/json/errors.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/fit/runs.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/json/rates.h"

namespace stowage {
namespace {

double value_of(StrategyInstance instance, std::string_view rate) {
  const double* value = rate_named(instance, rate);
  return value == nullptr ? 0 : *value;
}

void tell(Console& console, const std::vector<LoggedRun>& runs, const StrategyInstance& like,
          const StrategyFit& fit) {
  if (console.settings.level < LogLevel::info) return;
  Table table({{"rate", Align::left},
               {"value", Align::right},
               {"95 %", Align::left},
               {"source", Align::left}});
  for (const FittedRate& rate : fit.rates.rates) {
    const double began = value_of(like, rate.name);
    table.add({std::string(rate.name), significant(began * rate.factor),
               rate.determined
                   ? significant(began * rate.low) + " to " + significant(began * rate.high)
                   : "the runs do not determine it",
               rate_source(like, rate)});
  }
  console.table(table);
  if (const std::optional<CommonFactor>& common = fit.rates.common) {
    console.info("all times " + significant(common->factor) + " times as long, 95 % " +
                 significant(common->low) + " to " + significant(common->high) +
                 ": the runs determine one factor, and no rate by itself");
  }
  Table of_runs({{"run", Align::left},
                 {"measured ms", Align::right},
                 {"predicted ms", Align::right},
                 {"off", Align::right}});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Ms measured = runs[i].sample.step_ms;
    of_runs.add({runs[i].place, ms_text(measured), ms_text(fit.predicted_ms[i]),
                 percent_text(fit.predicted_ms[i] / measured - 1)});
  }
  console.table(of_runs);
  if (fit.rates.held_out) {
    console.info("held out  " + counted(fit.rates.held_out->steps, "run") + ": " +
                 percent_text(fit.rates.held_out->median) + " off in the median, " +
                 percent_text(fit.rates.held_out->worst) + " at worst");
  } else {
    console.warn("fewer than four runs: how far predictions are off is not known");
  }
  const bool peaks =
      std::ranges::any_of(runs, [](const LoggedRun& run) { return run.peak_mib.has_value(); });
  if (fit.activation_factor) {
    console.info("memory    activation_factor " + significant(*fit.activation_factor));
  } else if (peaks) {
    console.warn(
        "the peaks do not determine activation_factor: activations are too small a part of them, "
        "or "
        "states alone need more");
  }
}

std::string answer(const std::vector<LoggedRun>& runs, const StrategyInstance& like,
                   const StrategyFit& fit) {
  JsonWriter json;
  json.begin_object();
  json.text("format", "stowage/fit");
  json.integer("version", 1);
  json.text("problem", "strategy");
  json.integer("exit_code", to_int(ExitCode::ok));
  write_fit_members(json, runs, like, fit);
  json.end_object();
  return json.take();
}

}  // namespace

ExitCode fit_strategy_runs(Console& console, const StrategyFitRequest& request) {
  Loaded<Instance> loaded = load_instance(request.instance);
  if (!loaded.value) return console.refuse(loaded.errors);
  if (auto error = not_of(*loaded.value, "strategy")) {
    return console.refuse(errors_in(request.instance, {*error}));
  }
  const StrategyInstance like = std::get<StrategyInstance>(*std::move(loaded.value));
  if (!like.cost.detail) {
    return console.refuse(
        errors_in(request.instance, {{code::kMissingKey, "/cost/detail",
                                      "must be there, is missing: rates are fitted by version 2 of "
                                      "the formulas"}}));
  }
  if (request.output == "-") {
    return console.refuse({kUsage, "--output", "must be a file: stdout has the fit"});
  }
  std::vector<std::string> inputs = loaded.files;
  inputs.push_back(request.runs);
  if (auto error = check_output("--output", request.output, inputs)) return console.refuse(*error);
  const Result<std::string> text = read_file(request.runs);
  if (!text) return console.refuse(text.errors().front());
  const std::string directory = directory_of(request.runs);
  const RunFiles files{.text = *text,
                       .name = request.runs == "-" ? "stdin" : request.runs,
                       .read = [&](const std::string& name) {
                         return read_file(name.starts_with('/') ? name : directory + '/' + name);
                       }};
  const Result<std::vector<LoggedRun>> runs = read_runs(files, request.stated, like);
  if (!runs) return console.refuse(errors_in("", runs.errors()));
  StatusLine(console).tell("fitting   " + counted(std::ssize(*runs), "run"));
  const StrategyFit fit = fit_strategy(*runs, like);
  tell(console, *runs, like, fit);
  if (!request.output.empty()) {
    if (auto error = write_file(request.output, write_strategy_instance(fit.instance))) {
      return console.refuse(*error);
    }
  }
  return console.answer(answer(*runs, like, fit), ExitCode::ok);
}

}  // namespace stowage
