// Ranks as processes: the collectives and their failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mpi/mpirun.h"

namespace stowage::ranks_test {
namespace {

using ::testing::HasSubstr;

Finished program(int processes, const std::string& what) {
  return mpirun(processes, {STOWAGE_MPI_PROGRAM, what});
}

TEST(MpiRanks, CollectivesHaveTheBitsOfThreads) {
  for (const int processes : {1, 2, 4, 8}) {
    const Finished run = program(processes, "same");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, "ok " + std::to_string(processes) + '\n');
  }
}

TEST(MpiRanks, AttentionHasTheBitsOfThreadsForEveryExchange) {
  for (const int processes : {2, 4, 8}) {
    const Finished run = program(processes, "attention");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, "ok " + std::to_string(processes) + '\n');
  }
}

TEST(MpiRanks, AFailureInAGroupReachesEveryRankOfIt) {
  for (const int processes : {2, 5}) {
    const Finished run = program(processes, "failures");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, "ok " + std::to_string(processes) + '\n');
  }
}

TEST(MpiRanks, ARankThatThrowsEndsTheJob) {
  const Finished run = program(4, "throws");
  EXPECT_EQ(run.exit_code, 70) << run.err;
  EXPECT_THAT(run.err, HasSubstr("rank 3: lost a wheel"));
  EXPECT_EQ(run.out, "");
}

TEST(MpiRanks, StrategiesHaveTheBitsOfThreads) {
  const Finished run = program(4, "strategies");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "ok 4\n");
}

TEST(MpiRanks, ARankOfAStrategyThatThrowsEndsTheJob) {
  const Finished run = program(4, "strategy_throws");
  EXPECT_EQ(run.exit_code, 70) << run.err;
  EXPECT_THAT(run.err, HasSubstr("rank 1: a backward pass before its forward pass"));
}

TEST(MpiRanks, AProcessThatDiesEndsTheJob) {
  const Finished run = program(4, "dies");
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("signal 9"));
  EXPECT_EQ(run.out, "");
}

}  // namespace
}  // namespace stowage::ranks_test
