// The texts of training logs: numbers, arguments and the times of steps. Each kind of log has a
// file of its own.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/strategy/fit/stated_run.h"

namespace stowage {

inline constexpr double kMibOfGib = 1024;
// Words before the time of a step in a log of Megatron-LM.
inline constexpr std::string_view kMegatronTime = "elapsed time per iteration (ms):";

// Values of a log as texts, by their keys.
using LogValues = decltype(StatedRun::values);

// Returns the number that the text begins with; commas may separate its digits.
std::optional<double> leading_number(std::string_view text);

// Returns the number behind `words` in the line.
std::optional<double> number_after(std::string_view line, std::string_view words);

// Returns the text without blanks and quotes at its ends.
std::string_view bare_text(std::string_view text);

// Returns the lines without the colour codes of a terminal.
std::vector<std::string> log_lines(std::string_view text);

std::string integer_text(double value);

// Returns whether the argument is true.
bool is_set(const LogValues& arguments, std::string_view name);

// Returns the argument; empty if it is missing or None.
std::string argument_of(const LogValues& arguments, std::string_view name);

// Returns the whole number that the text begins with; 0 if there is none.
std::int64_t whole_number(const std::string& text);

// What a log has of each step.
struct LoggedSeries {
  std::vector<double> step_ms;
  std::vector<double> peak_mib;
};

// Sets `step_ms` and `peak_mib` of the run. E363 if no step is left after the warm-up.
std::optional<InputError> put_steps(const LoggedSeries& series, const std::string& place,
                                    LogValues& run);

// Each reads a log of its kind, as read_run_log() does.
Result<std::vector<StatedRun>> read_megatron_log(std::string_view text, const std::string& file);
Result<std::vector<StatedRun>> read_torchtitan_log(std::string_view text, const std::string& file);
Result<std::vector<StatedRun>> read_wandb_export(std::string_view text, const std::string& file);

// Returns whether the first line names the time of a step as exports of Weights & Biases do.
bool is_wandb_export(std::string_view first_line);

// Translates Megatron-LM's arguments. They are those of its command line with _ for -.
void read_megatron_arguments(const LogValues& arguments, LogValues& run);

// Translates torchtitan's keys of a configuration.
void read_torchtitan_columns(const LogValues& columns, LogValues& run);

}  // namespace stowage
