#include "cli/flags/column_flag.h"

#include <utility>

#include "cli/terminal/files.h"
#include "instances/lengths/length_file.h"

namespace stowage {

void ColumnFlag::declare(Flags& flags) {
  flags.text("--column", column_, "NAME",
             "Column of a table, or key of JSON lines, that has the lengths");
}

Loaded<std::vector<Tokens>> ColumnFlag::read(Console& console, const std::string& bytes,
                                             const std::string& path,
                                             const LengthSelection& selection) const {
  const std::string file = path == "-" ? "stdin" : path;
  Result<LengthFile> read = read_any_lengths(bytes, file, {column_, selection});
  if (read) {
    LengthFile found = *std::move(read);
    if (!found.remark.empty()) console.info("lengths   " + file + ": " + found.remark);
    return {std::move(found.lengths), {}};
  }
  Loaded<std::vector<Tokens>> refused;
  for (const InputError& error : read.errors()) {
    // Errors of JSON documents have pointers, others have the file.
    const bool named = error.pointer.starts_with(file);
    refused.errors.push_back({named ? "" : path, error});
  }
  return refused;
}

Loaded<std::vector<Tokens>> ColumnFlag::read_at(Console& console, const std::string& path,
                                                const LengthSelection& selection) const {
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return {std::nullopt, errors_in("", bytes.errors())};
  return read(console, *bytes, path, selection);
}

}  // namespace stowage
