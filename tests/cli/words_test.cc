// The formats of tables, suggestions and names.
#include <gtest/gtest.h>

#include "cli/flags/suggest.h"
#include "cli/terminal/table.h"
#include "instances/json/text.h"

namespace stowage::words_test {
namespace {

TEST(Tables, AlignColumnsAndTrimLines) {
  Table table({{"method", Align::left}, {"ms", Align::right}, {"", Align::left}});
  table.add({"lpt", "17 960", ""});
  table.add({"a|b", "5", "<- best"});
  EXPECT_EQ(table.text(),
            "method      ms\n"
            "lpt     17 960\n"
            "a|b          5  <- best\n");
  EXPECT_EQ(table.markdown(),
            "| method | ms |  |\n|---|---:|---|\n| lpt | 17 960 |  |\n| a\\|b | 5 | <- best |\n");
}

TEST(Tables, AreOfPrintableCells) {
  Table table({{"name", Align::left}, {"ms", Align::right}});
  table.add({"a\x1b[1m\noptimal", "5"});
  EXPECT_EQ(table.text(), "name           ms\na?[1m?optimal   5\n");
  EXPECT_EQ(table.markdown(), "| name | ms |\n|---|---:|\n| a?[1m?optimal | 5 |\n");
}

TEST(Names, SteerNoTerminal) {
  EXPECT_EQ(printable("a\x1b[2J\x7f\n\xC2\x9B\xE2\x80\xAE\xE2\x81\xA6."), "a?[2J?????.");
  EXPECT_EQ(printable("\xC2\xA0\xC3\xA4\xE2\x82\xAC\xE2\x80\x94"),
            "\xC2\xA0\xC3\xA4\xE2\x82\xAC\xE2\x80\x94");
  // Invalid UTF-8 bytes: terminals of eight bits take 9B for ESC [.
  EXPECT_EQ(printable("\xC2"), "?");
  EXPECT_EQ(printable("a\x9B[2J\xFF"), "a?[2J?");
  EXPECT_EQ(printable("\xC3\xA4\xA4\xF0\x9F\x92\xA9\x80.\xE2\x82"),
            "\xC3\xA4?\xF0\x9F\x92\xA9?.??");
}

TEST(Suggestions, AreNearOrAbsent) {
  const std::vector<std::string> commands = {"solve", "verify", "run"};
  // swapping two letters is one step
  EXPECT_EQ(suggestion("sovle", commands), "; did you mean 'solve'?");
  EXPECT_EQ(suggestion("ru", commands), "; did you mean 'run'?");
  EXPECT_EQ(suggestion("verfy", commands), "; did you mean 'verify'?");
  EXPECT_EQ(suggestion("banana", commands), "");
  EXPECT_EQ(suggestion("", commands), "");
  EXPECT_EQ(suggestion(std::string(10'000, 'x'), commands), "");
  EXPECT_EQ(suggestion("cat", {"bat", "hat"}), "; did you mean 'bat'?");
}

}  // namespace
}  // namespace stowage::words_test
