// What a training log states of its run: degrees, batch, model, the time of a step and the peak of
// memory, as far as they are printed.
//
//   Result<std::vector<StatedRun>> runs = read_run_log(text, "train.log");
//
// Three kinds are known: logs of Megatron-LM (lines with "elapsed time per iteration (ms):", and
// the list of arguments at their beginning), logs of torchtitan (lines with "tps:", and what it
// says of its mesh and batch), and CSV exports of Weights & Biases of either: of charts, with a
// column "NAME - iteration-time" for each run, or of the table of runs, with a line for each.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"

namespace stowage {

struct StatedRun {
  std::string place;  // for errors: "runs.csv:3", "train.log", "export.csv: run 3"
  std::string name;   // of the run in its file; empty if the file has one run
  // By the keys of a table of runs (runs.h), with values as texts.
  std::map<std::string, std::string, std::less<>> values;
};

enum class RunLogKind { none, megatron, torchtitan, wandb };

// By the text's own words.
RunLogKind kind_of_run_log(std::string_view text);

// The runs of a log of a known kind. Steps at the beginning, a fifth and one at least, are warm-up
// and left out; of the others the median counts. E363 if no step is left.
Result<std::vector<StatedRun>> read_run_log(std::string_view text, const std::string& file);

}  // namespace stowage
