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

// A text cut at its line ends.
std::vector<std::string> lines_of(const std::string& text);

// Every file that Git tracks, by path; every file below the root, except build directories, where
// there is no Git or it will not answer (a source archive, a tree owned by somebody else). Files
// with zero bytes in them are left out.
std::vector<SourceFile> source_files();

}  // namespace stowage
