// Reads logged runs of training as samples of a fit of rates: a table with a line for each run, or
// logs.
//
//   const RunFiles files{.text = text, .name = "runs.csv", .read = read_file};
//   Result<std::vector<LoggedRun>> runs = read_runs(files, "", like);
//   if (runs) instance = fit_strategy(*runs, like).instance;
//
// The keys of a run are those of a bare plan (configuration.h), and those of run_keys.h. The
// columns of a table are keys. A column `log` names a log of run_logs.h, relative to the table,
// whose keys the line gets too, and `run` names one of its runs.
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
#include "instances/strategy/fit/fit_rates.h"
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

// Returns the runs. `stated` has keys and values for all runs, "pp=4,tokens=8K": a value of a
// table's line replaces the stated one, a value of a log does not. Values that no run states are
// those of `like`: its model, its nodes' devices, its lengths. E411 to E413 for a table, E363 for a
// run that lacks a key or whose values contradict each other.
Result<std::vector<LoggedRun>> read_runs(const RunFiles& files, std::string_view stated,
                                         const StrategyInstance& like);

struct StrategyFit {
  StrategyInstance instance;  // `like` with the fitted rates and their label
  DeterminedRates rates;      // factors on the rates of `like`
  // The factor of M3, fitted to the peaks. No value without peaks, if activations are too small a
  // part of the peaks, or if states alone need more than the peaks.
  std::optional<double> activation_factor;
  std::vector<Ms> predicted_ms;  // of each run, by the fitted rates
};

// Fits the rates. Requires version 2 of the formulas. If `like` has a stack, the label keeps it for
// rates that the runs do not determine.
StrategyFit fit_strategy(const std::vector<LoggedRun>& runs, const StrategyInstance& like);

}  // namespace stowage
