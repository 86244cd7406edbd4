#include "instances/step_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace stowage {
namespace {

using ::testing::ElementsAre;

const ScatterInstance kCluster{.name = "run",
                               .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
                               .model = {.activation_mib_per_token = 1}};

std::vector<Tokens> lengths_of(const Result<std::optional<ScatterInstance>>& step) {
  return step && *step ? (**step).lengths : std::vector<Tokens>{-1};
}

std::string errors_of(const Result<std::optional<ScatterInstance>>& step) {
  std::string text;
  if (!step) {
    for (const InputError& error : step.errors()) text += to_string(error) + '\n';
  }
  return text;
}

TEST(StepStream, CutsAListIntoBatches) {
  std::istringstream list("5\n6\n7\n8\n9");
  StepStream steps(list, "list.txt", kCluster, {.batch_size = 2});
  EXPECT_EQ(steps.index(), 0);
  const auto first = steps.next();
  EXPECT_THAT(lengths_of(first), ElementsAre(5, 6));
  EXPECT_EQ((**first).name, "run-0");
  EXPECT_EQ((**first).cluster, kCluster.cluster);
  EXPECT_TRUE(steps.skip());
  EXPECT_EQ(steps.index(), 2);
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(9));
  EXPECT_EQ(*steps.next(), std::nullopt);
  EXPECT_FALSE(steps.skip());
}

TEST(StepStream, LeavesOutTheRest) {
  std::istringstream list("5\n6\n7\n");
  StepStream steps(list, "list.txt", kCluster, {.batch_size = 2, .drop_last = true});
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(5, 6));
  EXPECT_EQ(*steps.next(), std::nullopt);
}

TEST(StepStream, AListThatEndsWithItsBatchHasNoEmptyStepBehindIt) {
  std::istringstream list("5\n6\n");
  StepStream steps(list, "list.txt", kCluster, {.batch_size = 2});
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(5, 6));
  EXPECT_EQ(*steps.next(), std::nullopt);
}

TEST(StepStream, ReadsJsonLines) {
  std::istringstream lines("[5, 6]\n{\"lengths\": [7], \"x-source\": \"web\"}\n[]\n");
  StepStream steps(lines, "steps.jsonl", kCluster, {});
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(5, 6));
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(7));
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre());
  EXPECT_EQ(*steps.next(), std::nullopt);
}

TEST(StepStream, ErrorsNameTheLineAndEndNothing) {
  std::istringstream lines("[5, 0, 1.5]\n{\"length\": [7]}\n7\n[8\n[9007199254740992, 1]\n[9]\n");
  StepStream steps(lines, "steps.jsonl", kCluster, {});
  const auto first = steps.next();
  EXPECT_EQ(steps.place(), "steps.jsonl:1");
  EXPECT_EQ(errors_of(first),
            "E205 /1: must be an integer from 1 to 9007199254740992, is 0\n"
            "E204 /2: must be an integer from 1 to 9007199254740992 without fraction or exponent, "
            "is 1.5\n");
  EXPECT_THAT(errors_of(steps.next()), testing::HasSubstr("did you mean \"lengths\"?"));
  EXPECT_EQ(errors_of(steps.next()),
            "E203 /: must be an array of lengths or {\"lengths\": [...]}, is 7\n");
  EXPECT_THAT(errors_of(steps.next()), testing::HasSubstr("E101 "));
  EXPECT_THAT(errors_of(steps.next()), testing::HasSubstr("E304 "));
  EXPECT_EQ(steps.place(), "steps.jsonl:5");
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(9));
}

TEST(StepStream, ErrorsOfAListNameItsLines) {
  std::istringstream list("5\n6\n7\nx\n-9\n");
  StepStream steps(list, "list.txt", kCluster, {.batch_size = 3});
  EXPECT_TRUE(steps.skip());
  EXPECT_THAT(errors_of(steps.next()), testing::AllOf(testing::HasSubstr("E402 list.txt:4: "),
                                                      testing::HasSubstr("E402 list.txt:5: ")));
}

TEST(StepStream, CutsWhatIsTooLong) {
  std::istringstream list("5\n600\n7\n800\n");
  StepStream steps(list, "list.txt", kCluster, {.batch_size = 2, .clip = 200});
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(5, 200));
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(7, 200));
  EXPECT_EQ(steps.clipped(), 2);
}

}  // namespace
}  // namespace stowage
