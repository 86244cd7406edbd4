// stowage_bench_table: results as Markdown. Reads the files named, or stdin.
//
//   stowage_bench_table results.jsonl more.jsonl > tables.md
//   stowage_bench_table --suite bench/suite.json --plans build/bench/plans results.jsonl
//   stowage_bench_table --fill bench/README.md
//   stowage_bench_table --profile profile.svg results.jsonl
//
// With --suite and --plans every result's plan is verified anew, and a result whose plan is
// missing, invalid or worse than it says ends the program with exit code 1. With --fill the marked
// tables of a document are made anew (fill.h). With --profile each suite is drawn as well.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>

#include "bench/fill.h"
#include "bench/markdown.h"
#include "bench/plan_store.h"
#include "bench/profile.h"
#include "bench/suite.h"
#include "instances/json/document.h"

namespace stowage::bench {
namespace {

int complain(const std::vector<InputError>& errors) {
  for (const InputError& error : errors) std::cerr << to_string(error) << '\n';
  return 2;
}

// How many results could not be confirmed; complains about each.
int unconfirmed(const Results& results, const std::string& suite_file, const std::string& plans) {
  int faults = 0;
  for (const std::string& suite : suites_of(results.records)) {
    const Result<std::vector<SuiteEntry>> entries = read_suite(suite_file, suite);
    if (!entries) return complain(entries.errors());
    for (const Record& record : of_suite(results.records, suite)) {
      const auto entry = std::ranges::find(*entries, record.instance, &SuiteEntry::name);
      const std::optional<std::string> fault =
          entry == entries->end() ? std::optional<std::string>("the suite has no such instance")
                                  : check_plan(plans, record, entry->instance);
      if (!fault) continue;
      ++faults;
      std::cerr << record.instance << "  " << record.method << "  " << *fault << '\n';
    }
  }
  return faults;
}

void write_whole(const std::string& path, const std::string& bytes) {
  const std::string next = path + ".tmp";
  std::ofstream(next, std::ios::binary) << bytes;
  std::filesystem::rename(next, path);
}

int fill(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return complain(text.errors());
  const Result<std::string> made = filled(*text, std::filesystem::current_path());
  if (!made) return complain(made.errors());
  write_whole(path, *made);
  return 0;
}

void print(const Results& results, bool details) {
  for (const Setup& setup : results.setups) std::cout << setup_line(setup) << '\n';
  for (const std::string& suite : suites_of(results.records)) {
    const std::vector<Record> records = of_suite(results.records, suite);
    std::cout << "## " << suite << "\n\n"
              << summary_table(records) << '\n'
              << instance_table(records)
              << "\n`*` proven optimal in that run. Objectives are of verified plans.\n\n";
    if (details) std::cout << detail_table(records) << '\n';
  }
}

int run(int argc, char** argv) {
  CLI::App app("Results of stowage_bench as Markdown tables");
  std::vector<std::string> files;
  std::string document;
  std::string suite_file;
  std::string plans;
  std::string profile;
  bool details = false;
  app.add_option("RESULTS", files, "JSON lines of stowage_bench; default stdin");
  app.add_option("--fill", document, "Make the marked tables of this document anew");
  CLI::Option* suites = app.add_option("--suite", suite_file, "bench/suite.json, to verify plans");
  app.add_option("--plans", plans, "Directory of the plans to verify")->needs(suites);
  app.add_flag("--details", details, "A row for each instance and method as well");
  app.add_option("--profile", profile, "Draw a performance profile of each suite there, as SVG");
  CLI11_PARSE(app, argc, argv);
  if (!document.empty()) return fill(document);

  Results all;
  if (files.empty()) {
    Result<Results> results = read_results(std::cin, "stdin");
    if (!results) return complain(results.errors());
    all = *std::move(results);
  }
  for (const std::string& file : files) {
    Result<Results> results = load_results(file);
    if (!results) return complain(results.errors());
    all.setups.insert(all.setups.end(), results->setups.begin(), results->setups.end());
    all.records.insert(all.records.end(), results->records.begin(), results->records.end());
  }
  if (!plans.empty()) {
    if (const int faults = unconfirmed(all, suite_file, plans); faults > 0) {
      std::cerr << faults << " results are not what their plans say\n";
      return 1;
    }
    std::cout << "Every plan behind these " << all.records.size()
              << " results was verified anew.\n\n";
  }
  if (!profile.empty()) write_whole(profile, profile_svg(all));
  print(all, details);
  return 0;
}

}  // namespace
}  // namespace stowage::bench

int main(int argc, char** argv) {
  try {
    return stowage::bench::run(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "stowage_bench_table: " << failure.what() << '\n';
    return 70;
  }
}
