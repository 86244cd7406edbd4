#include "tests/tree/source_files.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace stowage {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> tracked_paths(const fs::path& root) {
  FILE* git = popen(("git -C '" + root.string() + "' ls-files 2>/dev/null").c_str(), "r");
  if (git == nullptr) return {};
  std::string listing;
  for (int byte = std::fgetc(git); byte != EOF; byte = std::fgetc(git)) {
    listing += static_cast<char>(byte);
  }
  return pclose(git) == 0 ? lines_of(listing) : std::vector<std::string>{};
}

std::vector<std::string> walked_paths(const fs::path& root) {
  std::vector<std::string> paths;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (name == ".git" || name.starts_with("build"))) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      paths.push_back(fs::relative(entry->path(), root).string());
    }
  }
  return paths;
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<SourceFile> source_files() {
  const fs::path root = STOWAGE_SOURCE_DIR;
  std::vector<std::string> paths = tracked_paths(root);
  if (paths.empty()) paths = walked_paths(root);
  std::sort(paths.begin(), paths.end());

  std::vector<SourceFile> files;
  for (const std::string& path : paths) {
    std::ifstream in(root / path, std::ios::binary);
    if (!in) continue;  // tracked, but deleted here
    std::stringstream text;
    text << in.rdbuf();
    if (text.str().find('\0') == std::string::npos) files.push_back({path, text.str()});
  }
  return files;
}

}  // namespace stowage
