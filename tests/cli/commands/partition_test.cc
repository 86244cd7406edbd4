// partition: its input, its output and its errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/fixture.h"

namespace stowage::commands_partition_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Finished partition(std::vector<std::string> arguments, const std::string& input) {
  arguments.insert(arguments.begin(), {"partition", "-"});
  return run_stowage(arguments, {.input = input});
}

TEST(Partition, SharesAllSequences) {
  const Finished run = partition({"--bins", "2", "--quadratic", "0", "--linear", "1", "--timeless"},
                                 "8\n7\n6\n5\n4\n");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("5 sequences, 2 bins   largest 15  bound 15 (average)  gap 0.00%"
                                 "  smallest 15  verified\n"));
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["format"], "stowage/partition");
  EXPECT_EQ(answer["largest"], 15);
  EXPECT_FALSE(answer.contains("seconds"));
  std::set<int> ids;
  for (const json& bin : answer["bins"]) {
    EXPECT_EQ(bin["cost"], 15);
    EXPECT_EQ(bin["tokens"], 15);
    for (const json& id : bin["sequences"]) ids.insert(id.get<int>());
  }
  EXPECT_EQ(ids.size(), 5U);
}

TEST(Partition, ReadsJsonAndListsAlike) {
  const std::vector<std::string> flags = {"--bins", "3", "--counts", "nearly-equal", "--timeless"};
  const Finished lines = partition(flags, "8\n7\n6\n5\n");
  EXPECT_EQ(lines.exit_code, 0) << lines.err;
  EXPECT_EQ(partition(flags, " [8, 7, 6, 5]").out, lines.out);
  EXPECT_EQ(partition(flags, "{\"lengths\": [8, 7, 6, 5], \"x-step\": 3}").out, lines.out);
  EXPECT_TRUE(json::parse(partition({"--bins", "1"}, "[3]").out).contains("seconds"));
}

// verl's cap let two sequences of 7 tokens share a micro-batch of 8.
TEST(Partition, MicroBatchesKeepTheLimit) {
  const Finished run =
      partition({"--bins", "1", "--max-tokens", "8", "--timeless"}, "7\n7\n7\n7\n7\n7\n7\n7\n");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("8 sequences, 1 bin of 8 micro-batches (bound 8, large)"));
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["micro_batches"], 8);
  EXPECT_EQ(answer["micro_batches_bound"], 8);
  EXPECT_EQ(answer["bins"][0]["micro_batches"].size(), 8U);
  EXPECT_EQ(answer["bins"][0]["tokens"], 56);
  EXPECT_FALSE(answer.contains("seconds"));
}

TEST(Partition, MicroBatchesOfEqualCountsKeepGroups) {
  const Finished run = partition({"--bins", "2", "--max-tokens", "20", "--multiple-of", "2",
                                  "--keep-together", "2", "--timeless"},
                                 "[5, 6, 7, 8, 1, 2, 9, 9, 3, 3, 4, 4]");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["micro_batches"], 2);
  for (const json& bin : answer["bins"]) {
    ASSERT_EQ(bin["micro_batches"].size(), 2U);
    for (const json& batch : bin["micro_batches"]) {
      EXPECT_LE(batch["tokens"], 20);
      const auto ids = batch["sequences"].get<std::vector<int>>();
      ASSERT_EQ(ids.size() % 2, 0U);
      for (std::size_t i = 0; i < ids.size(); i += 2) EXPECT_EQ(ids[i] + 1, ids[i + 1]);
    }
  }
}

TEST(Partition, RefusesWithPlaceValueAndRule) {
  const auto refusal = [](const std::vector<std::string>& flags, const std::string& input) {
    const Finished run = partition(flags, input);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_EQ(json::parse(run.out)["exit_code"], 2);
    return run.err;
  };
  EXPECT_THAT(refusal({}, "1\n"), HasSubstr("--bins: is required"));
  EXPECT_THAT(refusal({"--bins", "0"}, "1\n"), HasSubstr("--bins: "));
  EXPECT_THAT(refusal({"--bins", "3"}, "1\n2\n"),
              HasSubstr("E351 /bins: must be at most the number of sequences, 2, is 3"));
  EXPECT_THAT(refusal({"--bins", "2", "--counts", "equal"}, "1\n2\n3\n"),
              HasSubstr("E352 /bins: must divide"));
  EXPECT_THAT(refusal({"--bins", "1", "--counts", "even"}, "1\n"), HasSubstr("--counts: "));
  EXPECT_THAT(refusal({"--bins", "1"}, "1\nx\n"), HasSubstr("stdin:2: must be an integer"));
  EXPECT_THAT(refusal({"--bins", "1"}, "[1, -4]"), HasSubstr("E205 /1: "));
  EXPECT_THAT(refusal({"--bins", "1"}, "{\"length\": [1]}"), HasSubstr("E201 /lengths"));
  EXPECT_THAT(refusal({"--bins", "1"}, ""), HasSubstr("E351 /bins: "));
  EXPECT_THAT(refusal({"--bins", "1"}, "9007199254740992\n"), HasSubstr("E353 /lengths/0: "));
  EXPECT_THAT(refusal({"--bins", "1", "--max-tokens", "8"}, "9\n"),
              HasSubstr("E354 /lengths/0: must be at most max_tokens, 8, is 9"));
  EXPECT_THAT(refusal({"--bins", "2", "--multiple-of", "2"}, "9\n9\n"),
              HasSubstr("E355 /ranks: must leave a sequence or group to each micro-batch"));
  EXPECT_THAT(refusal({"--bins", "1", "--keep-together", "2"}, "9\n"),
              HasSubstr("--keep-together: must divide the number of sequences, 1, is 2"));
  EXPECT_THAT(refusal({"--bins", "1", "--max-tokens", "8", "--counts", "equal"}, "7\n"),
              HasSubstr("--counts: must be any beside --max-tokens"));
}

}  // namespace
}  // namespace stowage::commands_partition_test
