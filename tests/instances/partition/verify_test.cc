// Each rule of a balanced partition has a case that passes and one that fails; each error of an
// instance as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <regex>

#include "instances/partition/partition.h"
#include "tests/instances/json_fixture.h"

namespace stowage::partition_verify_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Costs 3, 5, 4, 4 in two bins of 8.
const PartitionInstance kFour{.lengths = {3, 5, 4, 4}, .bins = 2, .quadratic = 0, .linear = 1};
const Partition kEven{.bins = {{.sequences = {0, 1}, .tokens = 8, .cost = 8},
                               {.sequences = {2, 3}, .tokens = 8, .cost = 8}},
                      .largest = 8,
                      .smallest = 8,
                      .lower_bound = 8,
                      .bound_by = "average"};

std::vector<std::string> rules_broken(const PartitionInstance& instance, const Partition& plan) {
  std::vector<std::string> rules;
  for (const Violation& violation : verify(instance, plan)) rules.push_back(violation.rule);
  return rules;
}

std::vector<std::string> broken(const std::function<void(Partition&)>& change) {
  Partition changed = kEven;
  change(changed);
  return rules_broken(kFour, changed);
}

TEST(PartitionVerify, AcceptsWhatHolds) {
  for (const auto counts :
       {PartitionCounts::any, PartitionCounts::equal, PartitionCounts::nearly_equal}) {
    PartitionInstance instance = kFour;
    instance.counts = counts;
    EXPECT_THAT(rules_broken(instance, kEven), IsEmpty());
  }
  Partition weaker = kEven;
  weaker.lower_bound = 5;
  weaker.bound_by = "pigeonhole";
  EXPECT_THAT(rules_broken(kFour, weaker), IsEmpty());
}

TEST(PartitionVerify, NamesEveryBrokenRule) {
  EXPECT_THAT(broken([](Partition& p) {
                p.bins.push_back({});
                p.smallest = 0;
              }),
              ElementsAre("bins", "empty_bin"));
  EXPECT_THAT(broken([](Partition& p) { p.bins[0].sequences.push_back(4); }),
              ElementsAre("unknown_sequence"));
  EXPECT_THAT(broken([](Partition& p) { p.bins[0].sequences.push_back(-1); }),
              ElementsAre("unknown_sequence"));
  EXPECT_THAT(broken([](Partition& p) { p.bins[1].sequences.push_back(0); }),
              ElementsAre("coverage"));
  EXPECT_THAT(broken([](Partition& p) {
                p.bins[0] = {.sequences = {0}, .tokens = 3, .cost = 3};
                p.smallest = 3;
              }),
              ElementsAre("coverage"));
  EXPECT_THAT(broken([](Partition& p) { p.bins[1].tokens = 9; }), ElementsAre("tokens"));
  EXPECT_THAT(broken([](Partition& p) { p.bins[1].cost = 7; }), ElementsAre("cost"));
  EXPECT_THAT(broken([](Partition& p) { p.largest = 9; }), ElementsAre("largest"));
  EXPECT_THAT(broken([](Partition& p) { p.smallest = 7; }), ElementsAre("smallest"));
  EXPECT_THAT(broken([](Partition& p) { p.lower_bound = 9; }), ElementsAre("bound"));
  EXPECT_THAT(broken([](Partition& p) { p.bound_by = "faith"; }), ElementsAre("bound"));
  // The pigeonhole proves 5 + 0: one of the three most expensive sequences shares a bin, with cost
  // 4 + 4 at least.
  EXPECT_THAT(broken([](Partition& p) { p.bound_by = "pigeonhole"; }), IsEmpty());
}

TEST(PartitionVerify, CountsAreWhatWasAskedFor) {
  PartitionInstance instance{.lengths = {1, 1, 1, 3, 3, 3}, .bins = 2, .quadratic = 0, .linear = 1};
  const Partition uneven{.bins = {{.sequences = {0, 1, 2, 3}, .tokens = 6, .cost = 6},
                                  {.sequences = {4, 5}, .tokens = 6, .cost = 6}},
                         .largest = 6,
                         .smallest = 6,
                         .lower_bound = 6,
                         .bound_by = "average"};
  EXPECT_THAT(rules_broken(instance, uneven), IsEmpty());
  for (const auto counts : {PartitionCounts::equal, PartitionCounts::nearly_equal}) {
    instance.counts = counts;
    EXPECT_THAT(rules_broken(instance, uneven), ElementsAre("counts", "counts"));
  }
  // Two bins hold two and three of five sequences.
  instance.lengths.pop_back();
  EXPECT_THAT(rules_broken(instance, {.bins = {{.sequences = {0, 1, 2}, .tokens = 3, .cost = 3},
                                               {.sequences = {3, 4}, .tokens = 6, .cost = 6}},
                                      .largest = 6,
                                      .smallest = 3,
                                      .lower_bound = 5,
                                      .bound_by = "average"}),
              IsEmpty());
}

TEST(PartitionVerify, ItsRulesAreListedInOrder) {
  const std::string page = file_text(kDocsDir / "reference/partitions.md");
  std::vector<std::string> listed;
  const std::regex row("\n\\| `([a-z_]+)` \\| [^`|]+\\|");
  for (const std::string_view rule : partition_verify_rules()) {
    const std::size_t at = page.find("\n| `" + std::string(rule) + "` |");
    ASSERT_NE(at, std::string::npos) << rule;
    listed.push_back(std::to_string(at));
  }
  std::vector<std::string> sorted = listed;
  std::ranges::sort(sorted, {}, [](const std::string& place) { return std::stoi(place); });
  EXPECT_EQ(listed, sorted);
}

TEST(PartitionCheck, FindsAllErrorsInOnePass) {
  std::vector<std::string> found;
  for (const InputError& error : check(PartitionInstance{
           .lengths = {5, 0, -1}, .bins = 4, .quadratic = -1, .linear = kMaxExact + 1})) {
    found.push_back(error.code + ' ' + error.pointer);
  }
  EXPECT_THAT(found, ElementsAre("E205 /lengths/1", "E205 /lengths/2", "E205 /quadratic",
                                 "E205 /linear", "E351 /bins"));
}

TEST(PartitionCheck, EachErrorHasACase) {
  const auto only = [](const PartitionInstance& instance) {
    const std::vector<InputError> errors = check(instance);
    return errors.size() == 1 ? to_string(errors[0]) : std::to_string(errors.size()) + " errors";
  };
  EXPECT_THAT(check(kFour), IsEmpty());
  EXPECT_EQ(only({.lengths = {1}, .bins = 0}),
            "E205 /bins: must be an integer from 1 to 10000000, is 0");
  EXPECT_EQ(only({.lengths = {1, 1}, .bins = 3}),
            "E351 /bins: must be at most the number of sequences, 2, is 3");
  EXPECT_EQ(only({.lengths = {1, 1, 1}, .bins = 2, .counts = PartitionCounts::equal}),
            "E352 /bins: must divide the number of sequences, 3, for equal counts, is 2");
  EXPECT_EQ(only({.lengths = {1}, .bins = 1, .quadratic = 0, .linear = 0}),
            "E205 /linear: must be positive where the quadratic cost is 0, is 0");
  EXPECT_THAT(check({.lengths = {kMaxExact - 1, 1}, .bins = 2, .quadratic = 0, .linear = 1}),
              IsEmpty());
  EXPECT_EQ(only({.lengths = {kMaxExact - 1, 2}, .bins = 2, .quadratic = 0, .linear = 1}),
            "E353 /lengths/1: must make a sum of costs of at most 9007199254740992, is larger from "
            "here on");
  // Costs beyond 64 bits.
  EXPECT_THAT(only({.lengths = {kMaxExact}, .bins = 1}), testing::StartsWith("E353 /lengths/0"));
  EXPECT_THAT(only({.lengths = {2}, .bins = 1, .quadratic = kMaxExact, .linear = kMaxExact}),
              testing::StartsWith("E353 /lengths/0"));
}

}  // namespace
}  // namespace stowage::partition_verify_test
