// Runs of plan-stream, and the files that they leave.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/fixture.h"

namespace stowage::commands_plan_stream_test {

class PlanStreamCommand : public testing::Test {
 protected:
  PlanStreamCommand() { fill_with_examples(dir_); }

  Finished run(std::vector<std::string> arguments, RunOptions options = {}) const {
    arguments.insert(arguments.begin(), "plan-stream");
    options.directory = dir_.path();
    return run_stowage(arguments, options);
  }
  // Plans the 64 lengths of lengths.txt as eight steps.
  Finished eight(std::vector<std::string> more, RunOptions options = {}) const {
    more.insert(more.begin(), {"lengths.txt", "--batch-size", "8", "--devices", "16"});
    return run(more, options);
  }

  TempDir dir_;
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Counts plans without the outcomes that carry certificates, since a build without a backend has no
// such outcomes.
inline std::ptrdiff_t plans_in(const std::filesystem::path& directory) {
  return std::count_if(std::filesystem::directory_iterator(directory), {}, [](const auto& entry) {
    return !entry.path().filename().string().ends_with(".outcome.json");
  });
}

}  // namespace stowage::commands_plan_stream_test
