// Each rule of micro-batches has a case that passes and one that fails; each error of an instance
// as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "instances/partition/micro_batches.h"
#include "tests/instances/json_fixture.h"

namespace stowage::partition_micro_batch_verify_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Costs 3, 5, 4, 4 on two ranks of two micro-batches, the first two sequences apart from the
// others.
const MicroBatchInstance kFourOnTwo{
    .lengths = {3, 5, 4, 4}, .ranks = 2, .max_tokens = 5, .quadratic = 0, .linear = 1};
const MicroBatches kAlone{.ranks = {{{.sequences = {1}, .tokens = 5, .cost = 5},
                                     {.sequences = {0}, .tokens = 3, .cost = 3}},
                                    {{.sequences = {2}, .tokens = 4, .cost = 4},
                                     {.sequences = {3}, .tokens = 4, .cost = 4}}},
                          .largest = 8,
                          .smallest = 8,
                          .lower_bound = 8,
                          .bound_by = "average",
                          .fewest = 2,
                          .fewest_by = "tokens"};

std::vector<std::string> broken_rules(const MicroBatchInstance& instance,
                                      const MicroBatches& plan) {
  std::vector<std::string> rules;
  for (const Violation& violation : verify(instance, plan)) rules.push_back(violation.rule);
  return rules;
}

std::vector<std::string> changed_plan(const std::function<void(MicroBatches&)>& change) {
  MicroBatches changed = kAlone;
  change(changed);
  return broken_rules(kFourOnTwo, changed);
}

std::vector<std::string> changed_batch(const std::function<void(MicroBatchInstance&)>& change) {
  MicroBatchInstance changed = kFourOnTwo;
  change(changed);
  return broken_rules(changed, kAlone);
}

TEST(MicroBatchVerify, AcceptsWhatHolds) {
  EXPECT_THAT(broken_rules(kFourOnTwo, kAlone), IsEmpty());
  EXPECT_THAT(changed_batch([](MicroBatchInstance& batch) {
                batch.multiple_of = 2;
                batch.at_least = 2;
                batch.kept = {4, 7, 5, 6};
              }),
              IsEmpty());
  for (const char* name : {"large", "staircase"}) {
    EXPECT_THAT(changed_plan([&](MicroBatches& p) { p.fewest_by = name; }), IsEmpty()) << name;
  }
  EXPECT_THAT(changed_plan([](MicroBatches& p) {
                p.lower_bound = 7;
                p.bound_by = "pigeonhole";
              }),
              IsEmpty());
}

TEST(MicroBatchVerify, NamesEveryBrokenRule) {
  EXPECT_THAT(changed_batch([](MicroBatchInstance& batch) {
                batch.ranks = 3;
                batch.max_tokens = 6;
              }),
              ElementsAre("ranks", "bound", "fewest"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) { p.ranks[0][0].sequences.push_back(4); }),
              ElementsAre("unknown_sequence"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) { p.ranks[0][0].sequences.push_back(1); }),
              ElementsAre("coverage"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) {
                p.ranks[0].push_back({});
                p.ranks[1].push_back({});
              }),
              ElementsAre("empty_micro_batch", "empty_micro_batch"));
  EXPECT_THAT(changed_batch([](MicroBatchInstance& batch) { batch.multiple_of = 3; }),
              ElementsAre("micro_batches", "micro_batches"));
  EXPECT_THAT(changed_batch([](MicroBatchInstance& batch) { batch.at_least = 3; }),
              ElementsAre("micro_batches", "micro_batches"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) {
                p.ranks[1][0] = {.sequences = {2, 3}, .tokens = 8, .cost = 8};
                p.ranks[1].pop_back();
              }),
              ElementsAre("micro_batches", "max_tokens"));
  EXPECT_THAT(changed_batch([](MicroBatchInstance& batch) {
                batch.kept = {0, 1, 2, 1};
              }),
              ElementsAre("kept_together"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) { p.ranks[1][1].tokens = 5; }),
              ElementsAre("tokens"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) { p.ranks[1][1].cost = 5; }), ElementsAre("cost"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) { p.largest = 9; }), ElementsAre("largest"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) { p.smallest = 7; }), ElementsAre("smallest"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) { p.lower_bound = 9; }), ElementsAre("bound"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) { p.bound_by = "faith"; }), ElementsAre("bound"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) { p.fewest = 3; }), ElementsAre("fewest"));
  EXPECT_THAT(changed_plan([](MicroBatches& p) { p.fewest_by = "hope"; }), ElementsAre("fewest"));
}

TEST(MicroBatchVerify, ItsRulesAreListedInOrder) {
  const std::string page = file_text(kDocsDir / "reference/partitions.md");
  const std::size_t table = page.find("\n| `ranks` |");
  ASSERT_NE(table, std::string::npos);
  std::size_t before = table - 1;
  for (const std::string_view rule : micro_batch_verify_rules()) {
    const std::size_t at = page.find("\n| `" + std::string(rule) + "` |", table);
    ASSERT_NE(at, std::string::npos) << rule;
    EXPECT_GT(at, before) << rule;
    before = at;
  }
}

TEST(MicroBatchCheck, EachErrorHasACase) {
  const auto all = [](const MicroBatchInstance& instance) {
    std::vector<std::string> found;
    for (const InputError& error : check(instance)) found.push_back(to_string(error));
    return found;
  };
  EXPECT_THAT(all(kFourOnTwo), IsEmpty());
  EXPECT_THAT(all({.lengths = {0, 5},
                   .ranks = 0,
                   .max_tokens = 0,
                   .multiple_of = 0,
                   .at_least = 0,
                   .kept = {1}}),
              ElementsAre("E205 /lengths/0: must be an integer from 1 to 9007199254740992, is 0",
                          "E205 /ranks: must be an integer from 1 to 10000000, is 0",
                          "E205 /max_tokens: must be an integer from 1 to 9007199254740992, is 0",
                          "E205 /multiple_of: must be an integer from 1 to 10000000, is 0",
                          "E205 /at_least: must be an integer from 1 to 10000000, is 0",
                          "E356 /kept: must have a label for each of 2 sequences, has 1"));
  EXPECT_THAT(
      all({.lengths = {5, 9, 3}, .ranks = 4, .max_tokens = 8}),
      ElementsAre("E354 /lengths/1: must be at most max_tokens, 8, is 9",
                  "E355 /ranks: must leave a sequence or group to each micro-batch: 4 ranks "
                  "of 1 micro-batches or more, for 3"));
  EXPECT_THAT(all({.lengths = {5, 2, 4}, .max_tokens = 8, .kept = {1, 0, 1}}),
              ElementsAre("E354 /lengths/0: must be at most max_tokens, 8, with the 1 sequences "
                          "that it is kept with, is 9"));
  EXPECT_THAT(all({.lengths = {}}), ElementsAre(testing::StartsWith("E355 /ranks: ")));
  EXPECT_THAT(all({.lengths = {kMaxExact}}), ElementsAre(testing::StartsWith("E353 /lengths/0")));
  EXPECT_THAT(all({.lengths = {1}, .quadratic = 0, .linear = 0}),
              ElementsAre(testing::StartsWith("E205 /linear")));
}

}  // namespace
}  // namespace stowage::partition_micro_batch_verify_test
