#include "bench/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "bench/part.h"

namespace stowage::bench::suite_test {
namespace {

const std::filesystem::path kFile = std::filesystem::path(STOWAGE_SOURCE_DIR) / "bench/suite.json";

TEST(Suite, ScatterIsFortyStepsOfEveryKind) {
  const Result<std::vector<SuiteEntry>> entries = read_suite(kFile, "scatter");
  ASSERT_TRUE(entries) << to_string(entries.errors().front());
  EXPECT_GE(entries->size(), 40U);
  std::set<std::string> names;
  std::set<int> devices;
  std::set<double> models;
  for (const SuiteEntry& entry : *entries) {
    const auto& step = std::get<ScatterInstance>(entry.instance);
    names.insert(entry.name);
    devices.insert(step.cluster.devices);
    models.insert(step.cost.fixed_ms);
    EXPECT_TRUE(unplaceable_sequences(step).empty()) << entry.name;
    EXPECT_GT(step.lengths.size(), 300U) << entry.name;
  }
  EXPECT_EQ(names.size(), entries->size()) << "names are not unique";
  EXPECT_EQ(devices, (std::set<int>{16, 64, 128, 256}));
  EXPECT_EQ(models.size(), 3U);
}

TEST(Suite, DrawnStepsAreOfEveryKindAndHavePlans) {
  const Result<std::vector<SuiteEntry>> entries = read_suite(kFile, "assign-drawn");
  ASSERT_TRUE(entries) << to_string(entries.errors().front());
  EXPECT_GE(entries->size(), 100U);
  std::set<std::string> names;
  std::set<int> devices;
  int few = 0;
  for (const SuiteEntry& entry : *entries) {
    const auto& step = std::get<AssignInstance>(entry.instance);
    EXPECT_TRUE(unplaceable_sequences(step).empty()) << entry.name;
    names.insert(entry.name);
    devices.insert(step.devices);
    few += step.lengths.size() <= 40;
  }
  EXPECT_EQ(names.size(), entries->size()) << "names are not unique";
  EXPECT_GE(devices.size(), 4U);
  EXPECT_GT(few, 20);
  EXPECT_LT(few, 100);
}

// The suite has each step twice, without rules and with Megatron's rules.
TEST(Suite, RulesAreThoseOfAPackingSchedulerOnReportedSteps) {
  const Result<std::vector<SuiteEntry>> entries = read_suite(kFile, "rules");
  ASSERT_TRUE(entries) << to_string(entries.errors().front());
  ASSERT_EQ(entries->size(), 64U);
  for (std::size_t i = 0; i < entries->size(); i += 2) {
    const SuiteEntry& plain = (*entries)[i];
    const SuiteEntry& ruled = (*entries)[i + 1];
    EXPECT_EQ(part_of(plain.name), Part::report) << plain.name;
    EXPECT_EQ(ruled.name, plain.name + "-rules");
    auto step = std::get<ScatterInstance>(ruled.instance);
    EXPECT_EQ(step.rules.max_tokens_per_rank, tokens_per_device(step)) << ruled.name;
    EXPECT_TRUE(step.rules.no_idle_ranks && step.rules.sorted_groups);
    EXPECT_EQ(step.rules.micro_batches_multiple_of, 2);
    step.rules = {};
    step.name = plain.name;
    EXPECT_EQ(step, std::get<ScatterInstance>(plain.instance));
  }
}

TEST(Suite, OptionsAreAllOfTimeMemoryAndRules) {
  const Result<std::vector<SuiteEntry>> entries = read_suite(kFile, "options");
  ASSERT_TRUE(entries) << to_string(entries.errors().front());
  const auto& step = std::get<ScatterInstance>(entries->at(1).instance);
  EXPECT_EQ(step.name, (*entries)[0].name + "-options-rules");
  ASSERT_TRUE(step.cost.exchange);
  EXPECT_EQ(step.cost.exchange->kinds.at(64).size(), 4U);
  EXPECT_GT(step.cost.window.share, 0);
  EXPECT_GT(step.cost.tile_tokens, 1);
  EXPECT_GT(step.cost.sequence_fixed_ms, 0);
  EXPECT_GT(step.model.sequence_mib, 0);
  EXPECT_GT(step.model.logits_chunk_tokens, 0);
  EXPECT_GT(step.model.keys_values_mib_per_token, 0);
  EXPECT_NE(step.rules, ScatterRules{});
  EXPECT_TRUE(unplaceable_sequences(step).empty());
}

// The published test vectors of the hash: "" is cbf29ce484222325, "a" af63dc4c8601ec8c, "foobar"
// 85944171f73967e8.
TEST(Suite, APartDependsOnTheNameAlone) {
  static_assert(part_of("") == Part::tune);
  static_assert(part_of("a") == Part::tune);
  static_assert(part_of("foobar") == Part::report);
  EXPECT_EQ(to_string(part_of("a")), "tune");
}

// Both parts of a suite for tuning must have a sufficient size.
TEST(Suite, BothPartsAreLarge) {
  for (const char* suite : {"scatter", "assign", "assign-drawn"}) {
    const Result<std::vector<SuiteEntry>> entries = read_suite(kFile, suite);
    ASSERT_TRUE(entries) << to_string(entries.errors().front());
    const auto reported = std::ranges::count_if(
        *entries, [](const SuiteEntry& entry) { return part_of(entry.name) == Part::report; });
    EXPECT_GT(4 * reported, std::ssize(*entries)) << suite;
    EXPECT_LT(4 * reported, 3 * std::ssize(*entries)) << suite;
  }
}

TEST(Suite, UnknownOnesAndBrokenFilesAreErrors) {
  const auto unknown = read_suite(kFile, "scater");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(to_string(unknown.errors().front()), testing::HasSubstr("/suites/scater"));
  EXPECT_FALSE(read_suite("missing.json", "scatter"));

  const auto root = std::filesystem::temp_directory_path() / "stowage_suite_test";
  std::filesystem::create_directories(root / "bench");
  std::ofstream(root / "bench/suite.json")
      << R"({"suites": {"s": [{"file": "missing.json"}, {"generator": {"model": "gpt-7b"}}, {},
          {"generator": {"model": "gpt-7b", "devices": 8, "limit_tokens": 64000, "memory_mib": 30720,
                         "source": "uniform", "least": 1, "most": 9, "count": 4, "seed": 0,
                         "above_limit": "drop"},
           "rules": {"min_degree": 16}}]}})";
  const auto broken = read_suite(root / "bench/suite.json", "s");
  ASSERT_FALSE(broken);
  std::string text;
  for (const InputError& error : broken.errors()) text += to_string(error) + '\n';
  EXPECT_THAT(text, testing::HasSubstr("E110 /suites/s/0 "));
  EXPECT_THAT(text, testing::HasSubstr("E201 /suites/s/1/generator/devices"));
  EXPECT_THAT(text, testing::HasSubstr("E201 /suites/s/2/file"));
  EXPECT_THAT(text, testing::HasSubstr("/suites/s/3/rules/min_degree"));
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace stowage::bench::suite_test
