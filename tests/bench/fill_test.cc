// Tables in documents come from committed results, figure by figure.
#include "bench/fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/json/document.h"

namespace stowage::bench {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kRoot = STOWAGE_SOURCE_DIR;

class Documents : public testing::TestWithParam<std::string> {};

TEST_P(Documents, TablesAreThoseOfTheCommittedResults) {
  const Result<std::string> text = read_text_file(kRoot / GetParam());
  ASSERT_TRUE(text);
  ASSERT_THAT(*text, HasSubstr("<!-- table "));
  const Result<std::string> made = filled(*text, kRoot);
  ASSERT_TRUE(made) << to_string(made.errors().front());
  EXPECT_EQ(*made, *text) << "make them anew: stowage_bench_table --fill " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Bench, Documents, testing::Values("README.md", "bench/README.md"),
                         [](const auto& document) {
                           return document.param == "README.md" ? "Readme" : "BenchReadme";
                         });

TEST(Fill, ReplacesWhatStandsBetweenTheMarkers) {
  const Result<std::string> history = filled(
      "before\n<!-- table history - -->\nan old table\n<!-- end of table -->\nafter\n", kRoot);
  ASSERT_TRUE(history);
  EXPECT_THAT(*history, HasSubstr("before\n<!-- table history - -->\n| date |"));
  EXPECT_THAT(*history, HasSubstr("|\n<!-- end of table -->\nafter\n"));
  EXPECT_THAT(*history, testing::Not(HasSubstr("old")));
}

TEST(Fill, SaysWhichMarkerIsWrong) {
  const auto error = [](const std::string& document) {
    const Result<std::string> made = filled(document, kRoot);
    return made ? std::string() : to_string(made.errors().front());
  };
  EXPECT_THAT(error("\n<!-- table history - -->\n"), HasSubstr("line 2"));
  EXPECT_THAT(error("<!-- table summary nowhere none.jsonl -->\n<!-- end of table -->\n"),
              HasSubstr("none.jsonl"));
  EXPECT_THAT(error("<!-- table nonsense scatter -->\n<!-- end of table -->\n"),
              HasSubstr("suite with results"));
}

}  // namespace
}  // namespace stowage::bench
