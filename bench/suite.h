// The instances of a benchmark suite, as bench/suite.json lists them.
//
//   Result<std::vector<SuiteEntry>> steps = read_suite("bench/suite.json", "scatter");
//
// The file holds {"suites": {NAME: [ENTRY, ...]}}. An entry is {"file": PATH}, an instance, or
// {"generator": {...}} with the keys of `x-generator` (instances/README.md). Files are relative to
// the directory above the suite's, lists of lengths to instances/data/lengths in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "instances/instance.h"
#include "instances/result.h"

namespace stowage::bench {

struct SuiteEntry {
  std::string name;  // of the instance
  Instance instance;
};

// E110 and the errors of the readers; E201 for a suite that the file does not have.
Result<std::vector<SuiteEntry>> read_suite(const std::filesystem::path& file,
                                           const std::string& suite);

}  // namespace stowage::bench
