// Profiles take gaps to the best bound of all results, and the committed one is up to date.
#include "bench/profile.h"

#include <gtest/gtest.h>

#include <sstream>

#include "bench/fill.h"
#include "instances/json/document.h"
#include "tests/svg_document.h"

namespace stowage::bench {
namespace {

const std::filesystem::path kRoot = STOWAGE_SOURCE_DIR;

Record record(const std::string& instance, const std::string& method,
              std::optional<double> objective, double bound) {
  return {.suite = "suite",
          .instance = instance,
          .problem = "scatter",
          .method = method,
          .objective = objective,
          .bound = bound};
}

TEST(Profile, MeasuresAgainstTheBestBoundOfAllResults) {
  // The second method proves 100 on x: the first one's plan is optimal, whatever it proved itself.
  const Results results{.records = {record("x", "one", 100.0, 50), record("y", "one", {}, 10),
                                    record("x", "two", 200.0, 100), record("y", "two", 20.0, 20)}};
  const std::string svg = profile_svg(results);
  const SvgDocument document(svg);
  EXPECT_EQ(document.complaints(), "");
  EXPECT_TRUE(document.has_tooltip("one: 1 of 2 instances planned"));
  EXPECT_TRUE(document.has_tooltip("two: 2 of 2 instances planned"));
  Results reversed = results;
  std::swap(reversed.records[0], reversed.records[1]);
  EXPECT_EQ(profile_svg(reversed), svg);
}

TEST(Profile, TheCommittedOneIsOfTheCommittedResults) {
  const Result<std::string> readme = read_text_file(kRoot / "bench/README.md");
  ASSERT_TRUE(readme);
  const std::string command = "\n    stowage_bench_table --profile ";
  const std::size_t at = readme->find(command);
  ASSERT_NE(at, std::string::npos);
  std::istringstream words(
      readme->substr(at + command.size(), readme->find('\n', at + 1) - at - command.size()));
  std::string picture;
  words >> picture;
  Results all;
  for (std::string file; words >> file;) {
    const Result<Results> results = load_results(kRoot / file);
    ASSERT_TRUE(results) << file;
    all.records.insert(all.records.end(), results->records.begin(), results->records.end());
  }
  EXPECT_FALSE(all.records.empty());
  const std::string svg = profile_svg(all);
  EXPECT_EQ(SvgDocument(svg).complaints(), "");
  const Result<std::string> committed = read_text_file(kRoot / picture);
  ASSERT_TRUE(committed);
  EXPECT_TRUE(svg == *committed) << "draw it anew: " << command << picture << " ...";
}

}  // namespace
}  // namespace stowage::bench
