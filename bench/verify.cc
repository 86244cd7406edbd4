// stowage_bench_verify: checks that the plans stored by stowage_bench agree with its results.
//
//   stowage_bench bench/suite.json layout auto:1 --plans plans > results.jsonl
//   stowage_bench_verify bench/suite.json plans results.jsonl
//
// Every plan is read, verified against the suite's instance, and compared with the objective of its
// result. The exit code is 1 if a plan is missing, invalid, of another instance, or worse than its
// result states, and 2 if a file cannot be read.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>

#include "bench/plan_store.h"
#include "bench/record.h"
#include "bench/suite.h"

namespace stowage::bench {
namespace {

int complain(const std::vector<InputError>& errors) {
  for (const InputError& error : errors) std::cerr << to_string(error) << '\n';
  return 2;
}

// Returns the fault of the result, or nullopt.
std::optional<std::string> fault_of(const Record& record, const std::string& plans,
                                    const std::vector<SuiteEntry>& entries) {
  const auto entry = std::ranges::find(entries, record.instance, &SuiteEntry::name);
  if (entry == entries.end()) return "the suite has no such instance";
  return check_plan(plans, record, entry->instance);
}

int run(int argc, char** argv) {
  CLI::App app("Verifies the plans that stowage_bench kept");
  std::string suite_file;
  std::string plans;
  std::vector<std::string> files;
  app.add_option("SUITE_FILE", suite_file, "bench/suite.json")->required();
  app.add_option("PLANS", plans, "What was given to stowage_bench as --plans")->required();
  app.add_option("RESULTS", files, "JSON lines of stowage_bench")->required();
  CLI11_PARSE(app, argc, argv);

  std::map<std::string, std::vector<Record>> suites;  // by name
  std::size_t results = 0;
  for (const std::string& file : files) {
    const Result<Results> read = load_results(file);
    if (!read) return complain(read.errors());
    for (const Record& record : read->records) suites[record.suite].push_back(record);
    results += read->records.size();
  }
  int faults = 0;
  for (const auto& [suite, records] : suites) {
    const Result<std::vector<SuiteEntry>> entries = read_suite(suite_file, suite);
    if (!entries) return complain(entries.errors());
    for (const Record& record : records) {
      const std::optional<std::string> fault = fault_of(record, plans, *entries);
      if (!fault) continue;
      ++faults;
      std::cerr << record.instance << "  " << record.method << "  " << *fault << '\n';
    }
  }
  if (faults > 0) {
    std::cerr << faults << " results are not what their plans say\n";
    return 1;
  }
  std::cout << "Every plan behind these " << results << " results was verified anew.\n";
  return 0;
}

}  // namespace
}  // namespace stowage::bench

int main(int argc, char** argv) {
  try {
    return stowage::bench::run(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "stowage_bench_verify: " << failure.what() << '\n';
    return 70;
  }
}
