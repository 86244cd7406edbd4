// Ctrl-C: once for the best plan, twice for the end.
#include "cli/interrupt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage {
namespace {

class FirstSignal : public testing::TestWithParam<int> {};

TEST_P(FirstSignal, EndsWithAVerifiedPlan) {
  const TempDir dir;
  dir.write("long.json", long_instance(400));
  Child child({"solve", "long.json", "-o", "plan.json"}, {.directory = dir.path()});
  ASSERT_TRUE(child.wait_for_err("\nH "));  // the first plan has been found
  child.send(GetParam());
  const auto begin = std::chrono::steady_clock::now();
  const Finished run = child.finish();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(run.signal, 0);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json outcome = nlohmann::json::parse(run.out);
  EXPECT_EQ(outcome["status"], "feasible");
  EXPECT_EQ(outcome["stopped_by"], "interrupted");
  EXPECT_EQ(run_stowage({"verify", "long.json", "plan.json"}, {.directory = dir.path()}).exit_code,
            0);
}

INSTANTIATE_TEST_SUITE_P(Cli, FirstSignal, testing::Values(SIGINT, SIGTERM),
                         [](const auto& each) { return each.param == SIGINT ? "INT" : "TERM"; });

TEST(Interrupt, TheSecondSignalEndsAtOnce) {
  const TempDir dir;
  dir.write("long.json", long_instance(4000));
  Child child({"solve", "long.json"}, {.directory = dir.path()});
  ASSERT_TRUE(child.wait_for_err("\nH "));
  child.send(SIGINT);
  // The outcome is larger than a pipe holds and nobody reads it: the command waits in its answer.
  ASSERT_TRUE(child.wait_for_err("stopped_by interrupted"));
  child.send(SIGINT);
  const Finished run = child.wait_without_reading();
  EXPECT_EQ(run.signal, 0);
  EXPECT_EQ(run.exit_code, 130);
}

TEST(Interrupt, AComparisonEndsWithWhatItHas) {
  const TempDir dir;
  dir.write("long.json", long_instance(400));
  Child child({"compare", "long.json", "--methods", "auto", "--log-level", "debug"},
              {.directory = dir.path()});
  ASSERT_TRUE(child.wait_for_err("running   auto"));
  child.send(SIGINT);
  const Finished run = child.finish();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, testing::HasSubstr("interrupted"));
  EXPECT_EQ(nlohmann::json::parse(run.out)["methods"][0]["stopped_by"], "interrupted");
}

int seen = 0;  // written by the handler below

TEST(InterruptScope, PutsTheOldHandlersBack) {
  struct sigaction before = {};
  before.sa_handler = [](int signal) { seen = signal; };
  sigaction(SIGTERM, &before, nullptr);
  {
    const InterruptScope scope;
    EXPECT_FALSE(scope.flag());
    raise(SIGTERM);
    EXPECT_TRUE(scope.flag());
    EXPECT_EQ(seen, 0);
  }
  raise(SIGTERM);
  EXPECT_EQ(seen, SIGTERM);
  std::signal(SIGTERM, SIG_DFL);
  const InterruptScope fresh;
  EXPECT_FALSE(fresh.flag()) << "an old signal must not stop a new solve";
}

TEST(InterruptScope, AnIgnoredInterruptStaysIgnored) {
  std::signal(SIGINT, SIG_IGN);
  {
    const InterruptScope scope;
    raise(SIGINT);
    EXPECT_FALSE(scope.flag());
  }
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace
}  // namespace stowage
