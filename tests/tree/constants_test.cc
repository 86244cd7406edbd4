// Numbers that a search goes by are parameters: constants of heuristics/ and solvers/ are listed in
// constants.txt, and the list only gets shorter.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/tree/source_files.h"

namespace stowage::constants_test {
namespace {

using Constant = std::pair<std::string, std::string>;  // file and name

struct List {
  std::map<std::string, int> rooms;  // number of constants
  std::set<Constant> constants;
};

const std::set<std::string> kKinds = {"size", "clock",   "rounding", "published",
                                      "part", "explain", "fixed"};

// "heuristics/assign" of heuristics/assign/improve/local_search.cc, "solvers" of solvers/stage.h.
// Sub-rooms count to their room.
std::string room_of(const std::string& path) {
  const std::size_t folder = path.find('/');
  const std::size_t room = path.find('/', folder + 1);
  return path.substr(0, room == std::string::npos ? folder : room);
}

// Returns the name of the numeric constant that the line declares, or "". Texts and lists of stages
// are no numeric constants.
std::string declared(const std::string& line) {
  static const std::regex constant(
      R"(^\s*(?:(?:static|inline) )*constexpr (.*?)\b(k[A-Z]\w*)\s*(?:\[[^\]]*\])?\s*[={].*)");
  static const std::regex other(R"(char|string_view|auto)");
  std::smatch match;
  if (!std::regex_match(line, match, constant)) return "";
  const std::string type = match[1];
  return std::regex_search(type, other) ? "" : match[2].str();
}

std::set<Constant> constants_of_sources() {
  std::set<Constant> found;
  for (const SourceFile& file : source_files()) {
    const bool code = file.path.ends_with(".h") || file.path.ends_with(".cc");
    if (!code || (file.folder() != "heuristics" && file.folder() != "solvers")) continue;
    if (file.path.ends_with("/params.h")) continue;
    for (const std::string& line : lines_of(file.text)) {
      if (const std::string name = declared(line); !name.empty()) found.insert({file.path, name});
    }
  }
  return found;
}

List read_list() {
  List list;
  for (const SourceFile& file : source_files()) {
    if (file.path != "tests/tree/constants.txt") continue;
    for (const std::string& line : lines_of(file.text)) {
      if (line.empty() || line.front() == '#') continue;
      std::istringstream words(line);
      std::string where;
      std::string what;
      std::string kind;
      words >> where >> what >> kind;
      if (where.find('.') == where.npos) {
        EXPECT_TRUE(kind.empty()) << line;
        list.rooms[where] = std::stoi(what);
      } else {
        EXPECT_TRUE(kKinds.contains(kind)) << line;
        list.constants.insert({where, what});
      }
    }
  }
  return list;
}

TEST(Constants, AreParametersOrListed) {
  const List list = read_list();
  ASSERT_FALSE(list.rooms.empty());
  ASSERT_FALSE(list.constants.empty());
  std::map<std::string, int> counts;
  std::set<Constant> named;
  for (const Constant& each : constants_of_sources()) {
    const std::string room = room_of(each.first);
    if (list.rooms.contains(room)) {
      ++counts[room];
      continue;
    }
    named.insert(each);
    EXPECT_TRUE(list.constants.contains(each))
        << each.first << " has the constant " << each.second
        << ": make it a parameter in params.h, or add it to tests/tree/constants.txt with its kind";
  }
  for (const auto& [room, listed] : list.rooms) {
    const int found = counts[room];
    EXPECT_LE(found, listed) << room << " has new constants: make them parameters in params.h";
    EXPECT_GE(found, listed) << "constants of " << room
                             << " are gone: write the new number into tests/tree/constants.txt";
  }
  for (const Constant& each : list.constants) {
    EXPECT_TRUE(named.contains(each)) << each.first << " has no " << each.second
                                      << ": take its line out of tests/tree/constants.txt";
  }
}

TEST(Constants, AreTold) {
  EXPECT_EQ(declared("constexpr int kTurns = 4;  // of each replica"), "kTurns");
  EXPECT_EQ(declared("inline constexpr std::array<double, 2> kSmall = {0.1, 0.2};"), "kSmall");
  EXPECT_EQ(declared("  static constexpr Ms kLate{5};"), "kLate");
  EXPECT_EQ(declared("constexpr double kWide ="), "kWide");
  EXPECT_EQ(declared("constexpr std::string_view kWord = \"word\";"), "");
  EXPECT_EQ(declared("constexpr char kCode[] = \"E1\";"), "");
  EXPECT_EQ(declared("constexpr auto kStages = std::to_array<Stage<Context>>({"), "");
  EXPECT_EQ(declared("constexpr Set one(int position) { return Set{1} << position; }"), "");
  EXPECT_EQ(declared("// constexpr int kOld = 3;"), "");
}

}  // namespace
}  // namespace stowage::constants_test
