#include "bench/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace stowage::bench::record_test {
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
#ifdef __x86_64__
  EXPECT_THAT(setup.cpu, testing::MatchesRegex(".+, family [0-9]+ model [0-9]+"));
#endif
}

TEST(Record, ASetupIsALineForReaders) {
  const bench::Setup setup{.date = "2026-01-31",
                           .cpu = "c",
                           .cores = 2,
                           .memory_gib = 23.5,
                           .system = "s",
                           .compiler = "g++"};
  EXPECT_EQ(setup_line(setup),
            "2026-01-31, commit unknown, c (2 cores, 23.5 GiB), s, g++, MILP by nobody\n");
}

TEST(Record, ALimitIsPartOfAMethodsName) {
  EXPECT_EQ(method_title(kRecord), "auto 10 s");
  EXPECT_EQ(method_title({.method = "fast"}), "fast");
  EXPECT_EQ(method_title({.method = "fast", .time_limit_s = 0.5}), "fast 0.5 s");
}

TEST(Record, CommittedResultsAreRead) {
  for (const char* suite : {"scatter", "exact", "flexsp", "flexsp_chunks", "bundled", "growth",
                            "assign", "layout", "guillotine"}) {
    const std::filesystem::path file = std::string("bench/results/0.1.0/") + suite + ".jsonl";
    const Result<Results> results = load_results(STOWAGE_SOURCE_DIR / file);
    ASSERT_TRUE(results) << to_string(results.errors().front());
    EXPECT_FALSE(results->records.empty());
  }
  EXPECT_FALSE(load_results("nowhere.jsonl"));
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
}  // namespace stowage::bench::record_test
