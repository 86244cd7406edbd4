// The files of this source tree, for tests that read the tree itself.
//
//   for (const SourceFile& file : source_files()) ...
#pragma once

#include <string>
#include <vector>

namespace stowage {

struct SourceFile {
  std::string path;  // relative to the root: "instances/units.h"
  std::string text;

  // "instances", or "" for a file in the root.
  std::string folder() const {
    const std::size_t slash = path.find('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
  }
};

// Returns the lines of a text.
std::vector<std::string> lines_of(const std::string& text);

// Returns every file that Git tracks, by path. Without Git, or if it does not answer (a source
// archive, a tree of another owner), returns every file below the root except build directories.
// Files with zero bytes in them are omitted.
std::vector<SourceFile> source_files();

}  // namespace stowage
