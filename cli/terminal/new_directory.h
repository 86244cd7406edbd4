// Creates a directory with all its files atomically.
//
//   if (auto error = check_new_directory("run")) return console.refuse(*error);
//   if (auto error = write_new_directory("run", {{"a.json", text}})) return console.refuse(*error);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/result.h"

namespace stowage {

struct NamedFile {
  std::string name;  // name without directory
  std::string bytes;
  bool executable = false;
};

// Returns E002 unless `path` is missing or an empty directory, and its parent directory is
// writable.
std::optional<InputError> check_new_directory(const std::string& path);

// Writes the files to a directory beside `path`, which is renamed when it is complete. Error: E002;
// the temporary directory is then removed.
std::optional<InputError> write_new_directory(const std::string& path,
                                              const std::vector<NamedFile>& files);

}  // namespace stowage
