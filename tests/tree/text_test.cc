// Texts that the tree must not contain.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "tests/tree/source_files.h"

namespace stowage::text_test {
namespace {

// Paths that exist on one machine only. They are written in two halves, because otherwise this file
// would contain them.
const std::vector<std::string> kMachinePlaces = {
    std::string("/wo") + "rk/",          std::string("/tm") + "p/wt",
    std::string("/ro") + "ot/",          std::string("/ho") + "me/",
    std::string("arti") + "factory",     std::string("://mir") + "ror",
    std::string("://reg") + "istry",     std::string("://pro") + "xy",
    std::string("snapshot.de") + "bian", std::string("deb.de") + "bian",
    std::string("pypi.") + "org",        std::string("npm") + "js.",
};

TEST(Text, NamesNoPlaceOfOneMachine) {
  for (const SourceFile& file : source_files()) {
    for (const std::string& line : lines_of(file.text)) {
      for (const std::string& place : kMachinePlaces) {
        const std::size_t at = line.find(place);
        // "frame/work/" is a relative path of somebody's own; "/work/" is not.
        const bool inside = at != std::string::npos && at > 0 && place[0] == '/' &&
                            (std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0);
        EXPECT_TRUE(at == std::string::npos || inside) << file.path << ": " << line;
      }
    }
  }
}

// A limit measured by the wall clock ends too early, or never, if the clock is set.
TEST(Text, MeasuresTimeWithClocksThatDoNotJump) {
  const std::vector<std::string> jumping = {"system_clock",     "high_resolution_clock",
                                            "gettimeofday(",    "CLOCK_REALTIME",
                                            "std::clock(",      "time(nullptr)",
                                            "time(NULL)",       "CoinCpuTime",
                                            "CoinGetTimeOfDay", "glp_time"};
  const std::string dated = "bench/setup.cc";        // the date of a table
  const std::string counts = "instances/budget.cc";  // CPU time, which cannot be set
  int steady = 0;
  for (const SourceFile& file : source_files()) {
    const bool code = file.path.ends_with(".cc") || file.path.ends_with(".h");
    if (!code || file.folder() == "tests" || file.path == dated) continue;
    steady += file.text.find("steady_clock") != std::string::npos ? 1 : 0;
    for (const std::string& clock : jumping) {
      if (file.path == counts && clock == "std::clock(") continue;
      EXPECT_EQ(file.text.find(clock), std::string::npos) << file.path << " asks " << clock;
    }
  }
  EXPECT_GT(steady, 3) << "the tree was not found";
}

// These texts are written in two halves too.
TEST(Text, LeavesNothingForLater) {
  for (const SourceFile& file : source_files()) {
    for (const std::string& word : {std::string("TO") + "DO", std::string("FIX") + "ME"}) {
      EXPECT_EQ(file.text.find(word), std::string::npos) << file.path << " holds " << word;
    }
  }
}

// Returns "C1" for "| C1 | ... |", and an empty string for other lines.
std::string row_number(const std::string& line) {
  if (!line.starts_with("| ")) return "";
  const std::string cell = line.substr(2, line.find(' ', 2) - 2);
  const std::size_t letters = cell.find_first_of("0123456789");
  const bool numbered =
      letters != std::string::npos && letters > 0 &&
      cell.find_first_not_of("0123456789", letters) == std::string::npos &&
      std::ranges::all_of(cell.substr(0, letters), [](char c) { return c >= 'A' && c <= 'Z'; });
  return numbered ? cell : "";
}

// The number of a constraint in a model identifies one place.
TEST(Text, NumbersEveryConstraintOnce) {
  std::set<std::string> numbers;
  for (const SourceFile& file : source_files()) {
    if (!file.path.starts_with("docs/theory/") || !file.path.ends_with(".md")) continue;
    for (const std::string& line : lines_of(file.text)) {
      const std::string number = row_number(line);
      if (number.empty()) continue;
      EXPECT_TRUE(numbers.insert(number).second) << number << ": " << line;
    }
  }
  EXPECT_GT(numbers.size(), 30U);
}

TEST(Text, EndsItsLinesCleanly) {
  for (const SourceFile& file : source_files()) {
    if (file.text.empty()) continue;
    EXPECT_EQ(file.text.find('\r'), std::string::npos) << file.path;
    const bool code = file.path.ends_with(".cc") || file.path.ends_with(".h") ||
                      file.path.ends_with(".md") || file.path.ends_with("CMakeLists.txt");
    if (!code) continue;
    EXPECT_EQ(file.text.back(), '\n') << file.path;
    EXPECT_EQ(file.text.find(" \n"), std::string::npos) << file.path << " has trailing blanks";
  }
}

}  // namespace
}  // namespace stowage::text_test
