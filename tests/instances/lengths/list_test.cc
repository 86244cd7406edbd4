#include "instances/lengths/list.h"

#include <gtest/gtest.h>

#include "instances/units.h"

namespace stowage::lengths_list_test {
namespace {

TEST(LengthList, OneIntegerPerLine) {
  struct Case {
    std::string text;
    LengthSelection selection;
    std::vector<Tokens> expected;
  };
  const std::vector<Case> cases = {
      {.text = "", .expected = {}},
      {.text = "7", .expected = {7}},
      {.text = "7\n", .expected = {7}},
      {.text = "7\r\n8\r\n", .expected = {7, 8}},
      {.text = "007\n9007199254740992\n", .expected = {7, kMaxExact}},
      {.text = "1\n2\n3\n4\n", .selection = {.first = 1}, .expected = {2, 3, 4}},
      {.text = "1\n2\n3\n4\n", .selection = {.first = 1, .count = 2}, .expected = {2, 3}},
      {.text = "1\n2\n3\n4\n", .selection = {.first = 4}, .expected = {}},
      {.text = "1\n2\n3\n4\n", .selection = {.first = 4, .count = 0}, .expected = {}},
      {.text = "junk\n2\njunk\n", .selection = {.first = 1, .count = 1}, .expected = {2}},
  };
  for (const Case& c : cases) {
    const auto read = read_length_list(c.text, "l.txt", c.selection);
    ASSERT_TRUE(read) << c.text << ": " << to_string(read.errors()[0]);
    EXPECT_EQ(*read, c.expected) << c.text;
  }
}

TEST(LengthList, ManyBadLinesAreCounted) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "x\n";
  const auto read = read_length_list(text, "l.txt");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.errors().size(), 101U);
  EXPECT_EQ(read.errors().back().message, "and 900 more errors");
}

}  // namespace
}  // namespace stowage::lengths_list_test
