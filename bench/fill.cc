#include "bench/fill.h"

#include <fstream>
#include <sstream>
#include <vector>

#include "bench/markdown.h"
#include "bench/record.h"
#include "instances/json/errors.h"

namespace stowage::bench {
namespace {

constexpr std::string_view kBegin = "<!-- table ";
constexpr std::string_view kEnd = "<!-- end of table -->";

// What a marker asks for.
struct Marker {
  std::string kind;
  std::string suite;
  std::vector<std::string> files;
};

Marker parse(const std::string& line) {
  std::istringstream words(line.substr(kBegin.size()));
  Marker marker;
  words >> marker.kind >> marker.suite;
  for (std::string word; words >> word && word != "-->";) marker.files.push_back(word);
  return marker;
}

Result<std::string> table_for(const Marker& marker, const std::filesystem::path& root) {
  std::vector<Results> runs;
  std::vector<Record> records;
  for (const std::string& file : marker.files) {
    Result<Results> run = load_results(root / file);
    if (!run) return run.errors();
    for (const Record& record : of_suite(run->records, marker.suite)) records.push_back(record);
    runs.push_back(*std::move(run));
  }
  if (marker.kind == "history") return history_table(runs);
  if (records.empty()) {
    return InputError{code::kMissingKey, marker.suite, "must be a suite with results in the files"};
  }
  if (marker.kind == "summary") return summary_table(records);
  if (marker.kind == "instances") return instance_table(records);
  if (marker.kind == "details") return detail_table(records);
  if (marker.kind == "gains") return gains_table(records);
  return InputError{code::kMissingKey, marker.kind,
                    "must be summary, instances, details, gains or history"};
}

}  // namespace

Result<Results> load_results(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream)
    return InputError{code::kUnreadable, path.string(), "must be a file that can be read"};
  return read_results(stream, path.string());
}

Result<std::string> filled(const std::string& document, const std::filesystem::path& root) {
  std::istringstream in(document);
  std::string out;
  int number = 0;
  int open = 0;  // line of the marker whose old table is being skipped
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (open != 0 && line != kEnd) continue;
    out += line + '\n';
    if (line == kEnd) open = 0;
    if (!line.starts_with(kBegin)) continue;
    open = number;
    Result<std::string> table = table_for(parse(line), root);
    if (!table) {
      InputError error = table.errors().front();
      error.pointer = "line " + std::to_string(number) + ": " + error.pointer;
      return error;
    }
    out += *table;
  }
  if (open != 0) {
    return InputError{code::kMissingKey, "line " + std::to_string(open),
                      "must be closed by " + std::string(kEnd)};
  }
  return out;
}

}  // namespace stowage::bench
