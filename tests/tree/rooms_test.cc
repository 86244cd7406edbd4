// The rooms of the tree: families are separate, and files have no circular includes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "instances/families.h"
#include "tests/tree/source_files.h"

namespace stowage::rooms_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Arrows = std::map<std::string, std::set<std::string>>;  // by room: the rooms that it includes

const std::set<std::string> kProduct = {"instances", "formulations", "heuristics", "solvers",
                                        "kernels",   "cli",          "bench",      "python"};

// A room is a header with its source: the path without its ending.
std::string room_of(const std::string& path) { return path.substr(0, path.find_last_of('.')); }

// The rooms that the quoted includes of a file lead to.
std::set<std::string> rooms_in(const SourceFile& file) {
  static const std::regex quoted(R"rx(^\s*#\s*include\s*"([^"]+)".*)rx");
  std::set<std::string> rooms;
  for (const std::string& line : lines_of(file.text)) {
    std::smatch match;
    if (std::regex_match(line, match, quoted)) rooms.insert(room_of(match[1]));
  }
  rooms.erase(room_of(file.path));
  return rooms;
}

Arrows arrows_among(const std::vector<SourceFile>& files) {
  Arrows arrows;
  for (const SourceFile& file : files) {
    const bool code =
        file.path.ends_with(".h") || file.path.ends_with(".cc") || file.path.ends_with(".inc");
    if (!code || !kProduct.contains(file.folder())) continue;
    arrows[room_of(file.path)].merge(rooms_in(file));
  }
  return arrows;
}

// Returns a circle of rooms, from one to itself, or an empty list.
std::vector<std::string> circle_in(const Arrows& arrows) {
  std::set<std::string> done;
  std::vector<std::string> path;
  std::vector<std::string> circle;
  const std::function<bool(const std::string&)> visit = [&](const std::string& room) {
    const auto seen = std::ranges::find(path, room);
    if (seen != path.end()) {
      circle.assign(seen, path.end());
      circle.push_back(room);
      return true;
    }
    if (!done.insert(room).second) return false;
    path.push_back(room);
    if (const auto at = arrows.find(room); at != arrows.end()) {
      if (std::ranges::any_of(at->second, visit)) return true;
    }
    path.pop_back();
    return false;
  };
  for (const auto& [room, to] : arrows) {
    if (visit(room)) return circle;
  }
  return {};
}

// Returns the family of a file's room: a folder or a file with its name. Empty for shared parts.
std::string family_of(const std::string& room) {
  std::size_t begin = 0;
  while (begin <= room.size()) {
    const std::size_t end = std::min(room.find('/', begin), room.size());
    const std::string part = room.substr(begin, end - begin);
    if (std::ranges::find(Families::names, part) != Families::names.end()) return part;
    begin = end + 1;
  }
  return "";
}

std::string folder_of(const std::string& room) { return room.substr(0, room.find('/')); }

// The one file of a folder that names all families in it.
const std::set<std::string> kRegistrations = {"instances/families", "instances/instance",
                                              "cli/families/each", "solvers/each"};

// Returns the error of an include, or an empty string.
std::string complaint(const std::string& from, const std::string& to) {
  const std::string its = family_of(to);
  const std::string own = family_of(from);
  if (its.empty() || own == its) return "";
  if (!own.empty()) return own + " must not include " + its;
  if (folder_of(from) != folder_of(to) || kRegistrations.contains(from)) return "";
  return "a shared part must not include " + its + "; only the registration of its folder may";
}

TEST(Rooms, FamiliesStandApart) {
  const Arrows arrows = arrows_among(source_files());
  EXPECT_GT(arrows.size(), 200U) << "the tree was not found";
  for (const auto& [from, all] : arrows) {
    for (const std::string& to : all) {
      EXPECT_EQ(complaint(from, to), "") << from << " includes " << to;
    }
  }
}

TEST(Rooms, NoCircle) { EXPECT_THAT(circle_in(arrows_among(source_files())), IsEmpty()); }

// A room of more files has sub-rooms. Python modules that users import stand in one folder, and
// scripts of benchmarks are called by their paths.
TEST(Rooms, HaveAtMostTwentyFiles) {
  std::map<std::string, int> files;
  for (const SourceFile& file : source_files()) {
    const bool code = file.path.ends_with(".h") || file.path.ends_with(".cc") ||
                      file.path.ends_with(".inc") || file.path.ends_with(".py");
    if (code && kProduct.contains(file.folder())) {
      ++files[file.path.substr(0, file.path.rfind('/'))];
    }
  }
  EXPECT_GT(files.size(), 50U) << "the tree was not found";
  for (const auto& [room, count] : files) {
    const int most = room == "python/stowage" || room == "bench" ? 40 : 20;
    EXPECT_LE(count, most) << room;
  }
}

TEST(Rooms, TheRulesCatchWhatTheyAreFor) {
  EXPECT_THAT(circle_in({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}}), ElementsAre("b", "c", "b"));
  EXPECT_THAT(circle_in({{"a", {"b", "c"}}, {"b", {"c"}}}), IsEmpty());
  const Arrows arrows =
      arrows_among({{"kernels/a.h", "#include \"kernels/b.h\""},
                    {"kernels/b.cc", "#include \"kernels/b.h\"\n  # include \"kernels/a.h\""}});
  EXPECT_THAT(circle_in(arrows), ElementsAre("kernels/a", "kernels/b", "kernels/a"));
  EXPECT_NE(complaint("solvers/scatter/a", "heuristics/assign/b"), "");
  EXPECT_NE(complaint("solvers/outcome", "solvers/scatter/a"), "");
  EXPECT_NE(complaint("instances/scatter/a", "instances/pictures/layout/map"), "");
  EXPECT_EQ(complaint("solvers/each", "solvers/scatter/solve"), "");
  EXPECT_EQ(complaint("solvers/scatter/a", "solvers/outcome"), "");
  EXPECT_EQ(complaint("cli/commands/memory", "instances/layout/trace"), "");
}

// Such a header needs no unit of its own as a test: its source compiles it with no other header
// before it.
TEST(Rooms, ASourceIncludesItsHeaderFirst) {
  std::set<std::string> headers;
  const std::vector<SourceFile> files = source_files();
  for (const SourceFile& file : files) {
    if (file.path.ends_with(".h")) headers.insert(file.path);
  }
  static const std::regex any(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
  for (const SourceFile& file : files) {
    const std::string header = room_of(file.path) + ".h";
    if (!file.path.ends_with(".cc") || !kProduct.contains(file.folder())) continue;
    if (!headers.contains(header)) continue;
    for (const std::string& line : lines_of(file.text)) {
      std::smatch match;
      if (!std::regex_match(line, match, any)) continue;
      EXPECT_EQ(match[1], header) << file.path;
      break;
    }
  }
}

}  // namespace
}  // namespace stowage::rooms_test
