// A directory that is there with all its files, or not at all.
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
  std::string name;  // without a directory
  std::string bytes;
  bool executable = false;
};

// E002 unless `path` is missing or an empty directory, in a directory that one can write to.
std::optional<InputError> check_new_directory(const std::string& path);

// The files are written to a directory beside `path`, which is renamed once it is whole. Error:
// E002; nothing is then left behind.
std::optional<InputError> write_new_directory(const std::string& path,
                                              const std::vector<NamedFile>& files);

}  // namespace stowage
