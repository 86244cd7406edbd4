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
}

}  // namespace
}  // namespace stowage::commands_partition_test
