#include "bench/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace stowage::bench {
namespace {

const Record kRecord{.suite = "scatter",
                     .instance = "step",
                     .problem = "scatter",
                     .size = 512,
                     .devices = 64,
                     .method = "auto",
                     .kind = "ours",
                     .seed = 3,
                     .time_limit_s = 10,
                     .status = "feasible",
                     .stopped_by = "time_limit",
                     .objective = 7090.5,
                     .bound = 6443.25,
                     .bound_by = "area",
                     .found_by = "exchange",
                     .cpu_s = 9.75,
                     .wall_s = 10,
                     .first_s = 0.001,
                     .best_s = 4.5,
                     .nodes = 12,
                     .memory_mib = 40};

TEST(Record, ReadsWhatItWrites) {
  Record nothing = kRecord;
  nothing.time_limit_s.reset();
  nothing.objective.reset();
  nothing.first_s.reset();
  nothing.best_s.reset();
  const auto setup = this_setup("abc123");
  std::istringstream lines(to_line(setup) + to_line(kRecord) + to_line(nothing));
  const Result<Results> results = read_results(lines, "results.jsonl");
  ASSERT_TRUE(results);
  EXPECT_THAT(results->setups, testing::ElementsAre(setup));
  EXPECT_THAT(results->records, testing::ElementsAre(kRecord, nothing));
}

TEST(Record, ASetupKnowsItsMachine) {
  const auto setup = this_setup("");
  EXPECT_GE(setup.cores, 1);
  EXPECT_GT(setup.memory_gib, 0);
  EXPECT_THAT(setup.date, testing::MatchesRegex("[0-9]+-[0-9]+-[0-9]+"));
  EXPECT_FALSE(setup.compiler.empty());
}

TEST(Record, ErrorsNameTheLine) {
  std::istringstream lines(to_line(kRecord) + "{\"record\": \"result\", \"suite\": 3}\nnonsense\n");
  const Result<Results> results = read_results(lines, "results.jsonl");
  ASSERT_FALSE(results);
  std::string text;
  for (const InputError& error : results.errors()) text += to_string(error) + '\n';
  EXPECT_THAT(text, testing::HasSubstr("E203 results.jsonl:2 /suite: "));
  EXPECT_THAT(text, testing::HasSubstr("E101 results.jsonl:3 "));
}

}  // namespace
}  // namespace stowage::bench
