// Logged runs of training as samples of a fit of rates: a table with a line for each run, or logs.
//
//   const RunFiles files{.text = text, .name = "runs.csv", .read = read_file};
//   Result<std::vector<LoggedRun>> runs = read_runs(files, "", like);
//   if (runs) instance = fit_strategy(*runs, like).instance;
//
// The keys of a run are those of a bare plan (configuration.h), and those of run_keys(). Columns of
// a table are keys; a column `log` names a log of run_logs.h, relative to the table, whose keys a
// line has as well, and `run` one of its runs.
//
// Thread safety: its functions read their arguments, and files that the table names, and nothing
// else; any number of threads may call them at once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/strategy/fit_rates.h"
#include "instances/strategy/instance.h"

namespace stowage {

struct LoggedRun {
  std::string place;  // "runs.csv:3"
  StrategySample sample;
  std::optional<Mib> peak_mib;  // of the fullest device
};

struct RunFiles {
  std::string text;  // of the table or log
  std::string name;  // of its file, for errors
  // Reads a log that the table names.
  std::function<Result<std::string>(const std::string& name)> read;
};

// All keys of a run.
std::vector<std::string_view> run_keys();

// `stated` has keys and values that all runs have, "pp=4,tokens=8K": those of a line of a table
// win, those of a log do not. What no run states is as in `like`: its model, its nodes' devices,
// its lengths. E411 to E413 for a table, E363 for a run that lacks a key or whose values do not
// combine.
Result<std::vector<LoggedRun>> read_runs(const RunFiles& files, std::string_view stated,
                                         const StrategyInstance& like);

struct StrategyFit {
  StrategyInstance instance;  // `like` with the fitted rates and their label
  DeterminedRates rates;      // factors on the rates of `like`
  // Of M3, from the peaks. Nothing without peaks, where activations are too small a part of them to
  // tell, and where states alone need more than the peaks.
  std::optional<double> activation_factor;
  std::vector<Ms> predicted_ms;  // of each run, by the fitted rates
};

// Requires version 2 of the formulas. The stack of `like`, if it has one, is kept in the label for
// rates that the runs do not determine.
StrategyFit fit_strategy(const std::vector<LoggedRun>& runs, const StrategyInstance& like);

}  // namespace stowage
