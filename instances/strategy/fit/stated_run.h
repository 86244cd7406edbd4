// A run as its log or a line of a table states it.
//
// Thread safety: plain data.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace stowage {

struct StatedRun {
  std::string place;  // for errors: "runs.csv:3", "train.log", "export.csv: run 3"
  std::string name;   // of the run in its file; empty if the file has one run
  // Values as texts, under the keys of a table of runs (runs.h).
  std::map<std::string, std::string, std::less<>> values;
};

}  // namespace stowage
