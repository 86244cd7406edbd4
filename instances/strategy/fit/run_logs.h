// Reads training logs: the degrees, batch, model, time of a step and peak of memory of a run, as
// far as they are printed.
//
//   Result<std::vector<StatedRun>> runs = read_run_log(text, "train.log");
//
// There are three kinds: logs of Megatron-LM (lines with "elapsed time per iteration (ms):", and
// the list of arguments at their beginning), logs of torchtitan (lines with "tps:", and lines on
// its mesh and batch), and CSV exports of Weights & Biases of either. An export holds charts, with
// a column "NAME - iteration-time" for each run, or the table of runs, with a line for each.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/strategy/fit/stated_run.h"

namespace stowage {

enum class RunLogKind { none, megatron, torchtitan, wandb };

// Returns the kind of log by words in the text.
RunLogKind kind_of_run_log(std::string_view text);

// Returns the runs of a log of a known kind. The first fifth of the steps, at least one, is warm-up
// and left out. The time is the median of the other steps. E363 if no step is left.
Result<std::vector<StatedRun>> read_run_log(std::string_view text, const std::string& file);

}  // namespace stowage
