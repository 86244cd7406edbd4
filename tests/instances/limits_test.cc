// The largest documents: a document beyond a limit is refused before its memory is allocated, and a
// document at the limit is read.
#include "instances/json/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "instances/assign/chunks/chunk_flow.h"
#include "instances/assign/json/json.h"
#include "instances/layout/json/json.h"
#include "instances/lengths/list.h"
#include "instances/scatter/json/json.h"
#include "tests/long_run.h"

namespace stowage::limits_test {
namespace {

using testing::HasSubstr;

std::string repeated(std::int64_t count, const std::string& what) {
  std::string text;
  text.reserve(static_cast<std::size_t>(count) * what.size());
  for (std::int64_t i = 0; i < count; ++i) text += what;
  return text;
}

std::string step(const std::string& lengths, const std::string& degrees = "[1]") {
  return R"({"format": "stowage/instance", "version": 1, "problem": "scatter",
    "cluster": {"devices": 1000, "memory_mib": 100, "aligned": false, "degrees": )" +
         degrees + R"(},
    "model": {"states_mib": 1, "activation_mib_per_token": 1},
    "cost": {"quadratic_ms": 0, "linear_ms": 1, "fixed_ms": 0}, "lengths": )" +
         lengths + "}";
}

// The first error of a document that must not be read.
template <class T>
std::string refusal(const Result<T>& result) {
  return result ? "it was read" : to_string(result.errors().front());
}

TEST(Limits, TenMillionSequencesAreReadAndOneMoreIsNot) {
  const std::string most = repeated(kMaxSequences - 1, "1,");
  const auto read = read_scatter_instance(step('[' + most + "1]"));
  ASSERT_TRUE(read) << refusal(read);
  EXPECT_EQ(read->lengths.size(), static_cast<std::size_t>(kMaxSequences));
  EXPECT_THAT(refusal(read_scatter_instance(step('[' + most + "1,1]"))), HasSubstr("E108"));
}

TEST(Limits, ADocumentOfTooManyBytesIsNotLookedAt) {
  const std::string blanks(kMaxDocumentBytes + 1, ' ');
  EXPECT_THAT(refusal(read_scatter_instance(blanks)), HasSubstr("E107"));
}

TEST(Limits, DepthBombs) {
  for (const char* open : {"[", "{\"a\":"}) {
    EXPECT_THAT(refusal(read_scatter_instance(repeated(5'000'000, open))), HasSubstr("E106"));
    EXPECT_THAT(refusal(read_layout_plan(repeated(5'000'000, open))), HasSubstr("E106"));
  }
}

TEST(Limits, LongTexts) {
  const std::string text(static_cast<std::size_t>(in_long_run(2'000'000, 50'000'000)), 'x');
  const auto named = read_assign_plan("{\"name\": \"" + text + "\"}");
  ASSERT_FALSE(named);
  for (const InputError& error : named.errors()) EXPECT_LT(to_string(error).size(), 1000U);
  const auto keyed = read_layout_instance("{\"" + text + "\": 1}");
  ASSERT_FALSE(keyed);
  for (const InputError& error : keyed.errors()) EXPECT_LT(to_string(error).size(), 1000U);
}

TEST(Limits, SumsBeyondTwoToTheFiftyThree) {
  const std::string half = std::to_string(kMaxExact / 2);
  EXPECT_TRUE(read_scatter_instance(step('[' + half + ',' + half + ']')));
  EXPECT_THAT(refusal(read_scatter_instance(step('[' + half + ',' + half + ",1]"))),
              HasSubstr("E304"));
  EXPECT_THAT(refusal(read_scatter_instance(step('[' + repeated(4000, half + ',') + "1]"))),
              HasSubstr("E304"));
}

// Ten million sequences or a thousand degrees are fine, but not a table of both.
TEST(Limits, ATableOfCostsMustFitIntoMemory) {
  std::string degrees = "[1";
  for (int d = 2; d <= 1000; ++d) degrees += ',' + std::to_string(d);
  degrees += ']';
  EXPECT_TRUE(read_scatter_instance(step('[' + repeated(199'999, "1,") + "1]", degrees)));
  EXPECT_THAT(refusal(read_scatter_instance(step('[' + repeated(200'000, "1,") + "1]", degrees))),
              HasSubstr("E108 /lengths: must be at most 200000000 sequences times degrees"));
}

std::string assign_step(const std::string& lengths, const std::string& constraints = "{}") {
  return R"({"format": "stowage/instance", "version": 1, "problem": "assign", "devices": 1000,
    "schemes": {"deep": {"tp": 1, "pp": 1000, "quadratic_ms": 0, "linear_ms": 1, "fixed_ms": 1,
    "max_tokens": 100000}}, "strategies": {"s": {"deep": 1}}, "constraints": )" +
         constraints + R"(, "lengths": )" + lengths + "}";
}

// Plans are simulated and verified row by row and stage by stage, independent of the time limit.
TEST(Limits, RowsTimesStages) {
  static_assert(kMaxPasses == 100'000'000);
  const std::string most = repeated(99'999, "1,");
  EXPECT_TRUE(read_assign_instance(assign_step('[' + most + "1]")));
  EXPECT_THAT(
      refusal(read_assign_instance(assign_step('[' + most + "1,1]"))),
      HasSubstr("E108 /lengths: must make at most 100000000 rows times stages, is 100001000"));
}

TEST(Limits, RowsOfChunksTimesStages) {
  static_assert(kMaxChunkPasses == 50'000'000);
  const std::string chunks = R"({"chunks": {"size_tokens": 2}})";
  EXPECT_TRUE(read_assign_instance(assign_step("[99997, 1]", chunks)));
  EXPECT_TRUE(read_assign_instance(assign_step("[100000]", chunks)));
  for (const std::string lengths : {"[99999, 1]", "[100000, 1]"}) {
    EXPECT_THAT(
        refusal(read_assign_instance(assign_step(lengths, chunks))),
        HasSubstr("E108 /constraints/chunks/size_tokens: must make at most 50000000 rows of "
                  "chunks times stages, is 50001000"));
  }
  // The computation of the size does not overflow.
  EXPECT_THAT(refusal(read_assign_instance(
                  assign_step("[9007199254740992]", R"({"chunks": {"size_tokens": 1}})"))),
              HasSubstr("E108 /constraints/chunks/size_tokens: must cut"));
}

TEST(Limits, ListsOfLengths) {
  const std::string lines = repeated(kMaxSequences, "1\n");
  const auto read = read_length_list(lines, "list.txt");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), static_cast<std::size_t>(kMaxSequences));
  EXPECT_THAT(refusal(read_length_list(lines + "1\n", "list.txt")), HasSubstr("E108"));
  EXPECT_TRUE(read_length_list(lines + "1\n", "list.txt", {.first = 1}));
  const LengthSelection beyond{.first = 5, .count = kMaxSequences};
  EXPECT_THAT(refusal(read_length_list("1\n", "list.txt", beyond)), HasSubstr("E403"));
}

// All tests above in one process: a refused document must not have been built before.
TEST(Limits, TakeNoMoreThanTheLimitsSay) {
  rusage use{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &use), 0);
  const auto before = use.ru_maxrss;
  EXPECT_FALSE(read_scatter_instance(step("[" + repeated(kMaxSequences + 1, "1,") + "1]")));
  EXPECT_FALSE(read_scatter_instance(repeated(20'000'000, "[")));
  EXPECT_FALSE(read_scatter_instance(step(std::string(100'000'000, '7'))));
  EXPECT_FALSE(read_scatter_instance('"' + std::string(100'000'000, 'x') + '"'));
  ASSERT_EQ(getrusage(RUSAGE_SELF, &use), 0);
  // A value takes about 40 bytes while it is read.
  EXPECT_LT(use.ru_maxrss - before, 1'500'000) << "KiB";
}

}  // namespace
}  // namespace stowage::limits_test
