// Signals that end a solve: the best plan is written. A second Ctrl-C ends the process at once.
#include "cli/terminal/interrupt.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <future>
#include <istream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "cli/terminal/files.h"
#include "solvers/milp/watch.h"
#include "tests/cli/fixture.h"
#include "tests/cli/paths.h"

namespace stowage::terminal_interrupt_test {
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

INSTANTIATE_TEST_SUITE_P(Cli, FirstSignal, testing::ValuesIn(kInterruptSignals),
                         [](const auto& each) { return sigabbrev_np(each.param); });

// Slurm and LSF send several signals, `timeout` and a closing terminal send a signal twice, and the
// kernel sends SIGXCPU every second.
TEST(Interrupt, NoRepeatedSignalTakesThePlanAway) {
  const TempDir dir;
  dir.write("long.json", long_instance(400));
  const std::vector<std::vector<int>> ways = {
      {SIGTERM, SIGTERM},         {SIGINT, SIGINT},  // at once, as `timeout -s INT` does
      {SIGINT, SIGTERM, SIGTERM}, {SIGHUP, SIGHUP, SIGTERM, SIGHUP},
      {SIGUSR2, SIGINT, SIGTERM}, {SIGXCPU, SIGXCPU, SIGUSR1}};
  for (const std::vector<int>& signals : ways) {
    dir.write("plan.json", "old");
    Child child({"solve", "long.json", "-o", "plan.json"}, {.directory = dir.path()});
    ASSERT_TRUE(child.wait_for_err("\nH "));
    for (const int signal : signals) child.send(signal);
    const Finished run = child.finish();
    EXPECT_EQ(run.exit_code, 0) << signals.front() << run.signal << run.err;
    EXPECT_TRUE(nlohmann::json::accept(dir.read("plan.json"))) << signals.front();
  }
}

// `ulimit -t`, as batch systems set it: SIGXCPU after a second of CPU time, and then every second.
TEST(Interrupt, ALimitOfCpuTimeEndsWithThePlan) {
  const TempDir dir;
  dir.write("long.json", long_instance(2000));
  const Finished run =
      run_stowage({"solve", "long.json", "-o", "plan.json", "--log-level", "warn"},
                  {.command = {"/bin/sh", "-c", "ulimit -S -t 1; exec \"$@\"", "sh", kStowagePath},
                   .directory = dir.path()});
  EXPECT_EQ(run.exit_code, 0) << run.signal << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["stopped_by"], "interrupted");
  EXPECT_EQ(run_stowage({"verify", "long.json", "plan.json"}, {.directory = dir.path()}).exit_code,
            0);
}

TEST(Interrupt, TheSecondSignalEndsAtOnce) {
  const TempDir dir;
  dir.write("long.json", long_instance(4000));
  Child child({"solve", "long.json"}, {.directory = dir.path()});
  ASSERT_TRUE(child.wait_for_err("\nH "));
  child.send(SIGINT);
  // The outcome is larger than a pipe's buffer and is not read, so the command waits in its answer.
  ASSERT_TRUE(child.wait_for_err("stopped_by interrupted"));
  // Within 0.2 s the two signals would count as one.
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
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
  seen = 0;
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

TEST(InterruptScope, AnIgnoredSignalStaysIgnored) {
  for (const int signal : kInterruptSignals) {
    SCOPED_TRACE(signal);
    std::signal(signal, SIG_IGN);
    {
      const InterruptScope scope;
      raise(signal);
      EXPECT_FALSE(scope.flag());
    }
    std::signal(signal, SIG_DFL);
  }
}

TEST(InterruptibleInput, GivesAllThatThereIs) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const std::string text(300'000, 'x');
  auto writer = std::async(std::launch::async, [&] {
    const bool whole = write_all(ends[1], text + "\nend") == 0;
    close(ends[1]);
    return whole;
  });
  const InterruptScope scope;
  InterruptibleInput input(ends[0]);
  std::istream stream(&input);
  std::string line;
  EXPECT_TRUE(std::getline(stream, line));
  EXPECT_EQ(line, text);
  EXPECT_TRUE(std::getline(stream, line));
  EXPECT_EQ(line, "end");
  EXPECT_TRUE(stream.eof());
  EXPECT_FALSE(stream.bad());
  EXPECT_TRUE(writer.get());
}

TEST(InterruptibleInput, ASignalEndsTheWait) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  ASSERT_EQ(write_all(ends[1], "half a li"), 0);
  const InterruptScope scope;
  InterruptibleInput input(ends[0]);
  std::istream stream(&input);
  std::string line;
  auto reader = std::async(std::launch::async, [&] { std::getline(stream, line); });
  raise(SIGTERM);  // this thread handles the signal, whether or not the other thread waits already
  EXPECT_EQ(reader.wait_for(std::chrono::minutes(2)), std::future_status::ready);
  close(ends[1]);
  reader.wait();
  EXPECT_TRUE(stream.eof());
}

TEST(InterruptibleInput, AReadErrorIsNoEnd) {
  const InterruptScope scope;
  InterruptibleInput input(open("/", O_RDONLY | O_CLOEXEC));
  std::istream stream(&input);
  EXPECT_EQ(stream.get(), std::istream::traits_type::eof());
  EXPECT_TRUE(stream.bad());
}

// Its thread sleeps beyond the end of the test, like the computing thread of a real backend.
TEST(LeftBehind, IsKnownAtTheEndOfTheProcess) {
  const auto leave_one_behind = [] {
    if (backend_left_behind()) _exit(1);
    const milp::Model model;
    const MilpParams params;
    const MilpObserver observer;
    Budget budget({.time_limit_s = 0});
    const MilpRun never_returns = [](const MilpTask&) -> MilpResult {
      while (true) pause();
    };
    const MilpResult answer = run_watched(never_returns, {model, params, budget, observer});
    _exit(answer.status == MilpStatus::error && backend_left_behind() ? 0 : 2);
  };
  EXPECT_EXIT(leave_one_behind(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stowage::terminal_interrupt_test
