// Documents whose tables are made from committed results, so that no figure is typed.
//
//   <!-- table summary scatter bench/results/2026-11-20.jsonl -->
//   | method | ...
//   <!-- end of table -->
//
// The words are the kind of table (summary, instances, details, gains, history), the suite ("-" for
// a history) and the files of results, relative to the directory that is given.
#pragma once

#include <filesystem>
#include <string>

#include "bench/record.h"
#include "instances/result.h"

namespace stowage::bench {

// The document with every marked table made anew. Errors: a marker that is not understood or not
// closed (E201, with its line), results that cannot be read.
Result<std::string> filled(const std::string& document, const std::filesystem::path& root);

// The results of a file of JSON lines.
Result<Results> load_results(const std::filesystem::path& path);

}  // namespace stowage::bench
