// External faults: the command is killed at any moment, stopped, or runs out of disk space or
// memory. After every fault an output file is complete or unchanged, and the command reports the
// fault if it can.
//
// STOWAGE_LONG=1 tries every signal at fifty moments and every other fault twenty times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "instances/numeric/random.h"
#include "tests/cli/fixture.h"
#include "tests/cli/paths.h"
#include "tests/long_run.h"

namespace stowage::fault_test {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr char kOld[] = "old\n";

// A command and the files that it overwrites or creates.
struct Work {
  std::string name;
  std::vector<std::string> arguments;
  std::string output;  // an existing file, or a directory of new ones
};

void PrintTo(const Work& work, std::ostream* out) { *out << work.name; }

const Work kWorks[] = {
    {"solve", {"solve", "long.json", "-o", "out.json", "-t", "0.2"}, "out.json"},
    {"compare", {"compare", "long.json", "--methods", "fast,batch-ada"}, ""},
    {"plan_stream",
     {"plan-stream", "lengths.txt", "--batch-size", "2", "--devices", "16", "--method", "batch-ada",
      "--threads", "2", "-o", "plans"},
     "plans"},
    {"convert", {"convert", "buffers.1048576.csv", "out.json"}, "out.json"},
    {"generate",
     {"generate", "scatter", "--devices", "16", "--count", "50000", "-o", "out.json"},
     "out.json"},
    {"export", {"export", "instance.json", "-o", "out.lp"}, "out.lp"},
    {"run", {"run", "instance.json", "plan.json"}, ""},
};

bool is_whole(const std::string& name, const std::string& text) {
  if (name.ends_with(".lp")) return text.ends_with("End\n");
  return nlohmann::json::accept(text);
}

class Faults : public testing::TestWithParam<Work> {
 protected:
  Faults() {
    fill_with_examples(dir_);
    dir_.write("long.json", long_instance(2000));
    std::filesystem::create_directory(dir_ / "plans");
    const auto begin = std::chrono::steady_clock::now();
    const Finished whole = run_stowage(GetParam().arguments, {.directory = dir_.path()});
    usual_ = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(whole.exit_code, 0) << whole.err;
    EXPECT_TRUE(expect_nothing_lost());
    put_old();
  }

  bool makes_directory() const { return GetParam().output == "plans"; }

  void put_old() {
    if (makes_directory()) {
      std::filesystem::remove_all(dir_ / "plans");
      std::filesystem::create_directory(dir_ / "plans");
    } else if (!GetParam().output.empty()) {
      dir_.write(GetParam().output, kOld);
    }
  }

  // Expects that every output file of the command is complete or unchanged; temporary files are
  // ignored.
  bool expect_nothing_lost() const {
    const std::string& output = GetParam().output;
    if (output.empty()) return true;
    if (!makes_directory()) {
      const std::string text = dir_.read(output);
      EXPECT_TRUE(text == kOld || is_whole(output, text)) << output << ": " << text.size();
      return text == kOld || is_whole(output, text);
    }
    bool whole = true;
    for (const auto& entry : std::filesystem::directory_iterator(dir_ / "plans")) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".tmp")) continue;
      EXPECT_TRUE(is_whole(name, read_text(entry.path()))) << name;
      whole = whole && is_whole(name, read_text(entry.path()));
    }
    return whole;
  }

  // For a solve that was stopped and answered: the file has its best plan, and the plan is valid.
  void expect_best_plan(const Finished& run) const {
    const auto outcome = nlohmann::json::parse(run.out);
    if (outcome["plan"].is_null()) return;
    EXPECT_EQ(nlohmann::json::parse(dir_.read(GetParam().output)), outcome["plan"]);
    const Finished verified =
        run_stowage({"verify", "long.json", GetParam().output}, {.directory = dir_.path()});
    EXPECT_EQ(verified.exit_code, 0) << verified.err;
  }

  // A random moment of the command's usual run, or slightly after its end.
  Seconds moment() { return usual_ * 1.1 * draw_unit(random_); }

  TempDir dir_;
  Seconds usual_{0};
  std::mt19937_64 random_{std::random_device()()};  // other moments in every run
};

TEST_P(Faults, KilledAtAnyMoment) {
  for (int k = 0; k < in_long_run(4, 50); ++k) {
    put_old();
    Child child(GetParam().arguments, {.directory = dir_.path()});
    std::this_thread::sleep_for(moment());
    child.send(SIGKILL);
    const Finished run = child.finish();
    EXPECT_TRUE(run.signal == SIGKILL || run.exit_code == 0) << run.exit_code << run.err;
    ASSERT_TRUE(expect_nothing_lost());
  }
  // Remaining temporary files must not affect the next run.
  EXPECT_EQ(run_stowage(GetParam().arguments, {.directory = dir_.path()}).exit_code, 0);
}

TEST_P(Faults, StoppedAtAnyMoment) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGXCPU}) {
    for (int k = 0; k < in_long_run(1, 50); ++k) {
      put_old();
      Child child(GetParam().arguments, {.directory = dir_.path()});
      std::this_thread::sleep_for(moment());
      child.send(signal);
      const Finished run = child.finish();
      // Before the handler is installed the signal ends the process; afterwards the command answers
      // with its best plan.
      EXPECT_TRUE(run.signal == signal || run.exit_code == 0 || run.exit_code == 3)
          << run.exit_code << run.err;
      ASSERT_TRUE(expect_nothing_lost());
      if (GetParam().name == "solve" && run.exit_code == 0) expect_best_plan(run);
    }
  }
}

TEST_P(Faults, StoppedTwiceAtAnyMoment) {
  for (int k = 0; k < in_long_run(2, 20); ++k) {
    put_old();
    Child child(GetParam().arguments, {.directory = dir_.path()});
    std::this_thread::sleep_for(moment());
    child.send(SIGINT);
    std::this_thread::sleep_for(moment() / 20);
    child.send(SIGINT);
    const Finished run = child.finish();
    EXPECT_TRUE(run.signal == SIGINT || run.exit_code == 0 || run.exit_code == 3 ||
                run.exit_code == 130)
        << run.exit_code << run.err;
    ASSERT_TRUE(expect_nothing_lost());
  }
}

TEST_P(Faults, AFileThatMayNotGrow) {
  if (GetParam().output.empty()) GTEST_SKIP() << "writes no file";
  for (int k = 0; k < in_long_run(2, 20); ++k) {
    put_old();
    const std::size_t most = 1 + draw(random_, 200);
    const Finished run =
        run_stowage(GetParam().arguments, {.directory = dir_.path(), .file_limit = most});
    EXPECT_EQ(run.signal, 0);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_THAT(run.err, testing::HasSubstr("cannot be written: File too large (errno 27)"));
    ASSERT_TRUE(expect_nothing_lost());
    for (const std::string& name : dir_.names()) EXPECT_FALSE(name.ends_with(".tmp")) << name;
  }
}

TEST_P(Faults, ADirectoryThatMayNotBeWritten) {
  if (GetParam().output.empty()) GTEST_SKIP() << "writes no file";
  if (!runs_unprivileged()) GTEST_SKIP() << "the binary is closed to others";
  const auto directory = makes_directory() ? dir_ / "plans" : dir_.path();
  dir_.open_to_all();
  std::filesystem::permissions(directory, std::filesystem::perms(0555));
  for (int k = 0; k < in_long_run(1, 20); ++k) {
    const Finished run =
        run_stowage(GetParam().arguments, {.directory = dir_.path(), .unprivileged = true});
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_THAT(run.err, testing::HasSubstr("cannot be written: Permission denied"));
    EXPECT_TRUE(expect_nothing_lost());
  }
  std::filesystem::permissions(directory, std::filesystem::perms(0755));
}

// stdout is closed, a pipe without a reader, or a full device: the error is on stderr, and the file
// is written.
TEST_P(Faults, AnAnswerThatNobodyTakes) {
  // A command with an empty stdout does not fail.
  const bool only_files =
      GetParam().output == "plans" || GetParam().name == "convert" || GetParam().name == "generate";
  for (int k = 0; k < in_long_run(3, 60); ++k) {
    put_old();
    RunOptions options{.directory = dir_.path()};
    if (k % 3 == 0) options.close_out = true;
    if (k % 3 == 1) options.broken_out = true;
    if (k % 3 == 2) options.out_path = "/dev/full";
    const Finished run = run_stowage(GetParam().arguments, options);
    EXPECT_EQ(run.signal, 0);
    EXPECT_EQ(run.exit_code, only_files ? 0 : 70) << k % 3 << ' ' << run.err;
    if (!only_files) {
      EXPECT_THAT(run.err, testing::HasSubstr("stdout: cannot be written: "));
    }
    ASSERT_TRUE(expect_nothing_lost());
    const std::string& output = GetParam().output;
    if (!output.empty() && !makes_directory()) {
      EXPECT_NE(dir_.read(output), kOld);
    }
  }
}

// A wall clock that jumps by hours at every call has no effect.
TEST_P(Faults, AClockThatJumps) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer must be loaded first";
#endif
  for (int k = 0; k < in_long_run(1, 20); ++k) {
    put_old();
    const Finished run =
        run_stowage(GetParam().arguments,
                    {.directory = dir_.path(), .environment = {{"LD_PRELOAD", kJumpingClockPath}}});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    ASSERT_TRUE(expect_nothing_lost());
  }
}

// Only the main thread may exist.
TEST_P(Faults, NoThreads) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs threads of its own";
#endif
  if (!runs_unprivileged()) GTEST_SKIP() << "the binary is closed to others";
  dir_.open_to_all();
  for (int k = 0; k < in_long_run(1, 20); ++k) {
    put_old();
    if (makes_directory()) {
      std::filesystem::permissions(dir_ / "plans", std::filesystem::perms::all);
    }
    const Finished run = run_stowage(
        GetParam().arguments, {.directory = dir_.path(), .thread_limit = 1, .unprivileged = true});
    const bool kernels = GetParam().name == "run";  // ranks are threads
    EXPECT_EQ(run.exit_code, kernels ? 1 : 0) << run.err;
    ASSERT_TRUE(expect_nothing_lost());
  }
}

// Memory limits from too little for the libraries to plenty. Below the libraries' needs the loader
// fails with its own message and exit code 127. Below the program's needs the kernel ends it
// without a message.
TEST_P(Faults, LittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves terabytes";
#endif
  for (int k = 0; k < in_long_run(5, 20); ++k) {
    put_old();
    const std::size_t most = std::size_t{1} << 20;
    const Finished run =
        run_stowage(GetParam().arguments,
                    {.directory = dir_.path(), .memory_limit = most * (20 + draw(random_, 140))});
    EXPECT_EQ(run.signal, 0) << run.err;
    // A run whose kernels get no threads has failed with exit code 1.
    const bool failed_run = run.exit_code == 1 && GetParam().name == "run";
    EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 2 || run.exit_code == 3 ||
                run.exit_code == 70 || run.exit_code == 127 || failed_run)
        << run.exit_code << run.err;
    EXPECT_TRUE(run.exit_code == 0 || !run.err.empty()) << "no word of what happened";
    ASSERT_TRUE(expect_nothing_lost());
  }
}

// `configure` creates a directory with all its files or none, after every fault.
TEST(FaultsOfConfigure, LeaveAWholeDirectoryOrNone) {
  const std::vector<std::string> arguments = {
      "configure", "--preset",     "llama-7b",    "--nodes", "1",
      "--tokens",  "8k",           "--sequences", "4",       "--candidates",
      "2",         "--node-limit", "50",          "-o",      "run"};
  const TempDir whole;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run_stowage(arguments, {.directory = whole.path()}).exit_code, 0);
  const Seconds usual = std::chrono::steady_clock::now() - begin;
  std::mt19937_64 random{std::random_device()()};
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGXCPU, SIGKILL}) {
    for (int k = 0; k < in_long_run(1, 20); ++k) {
      const TempDir dir;
      Child child(arguments, {.directory = dir.path()});
      std::this_thread::sleep_for(usual * draw_unit(random));
      child.send(signal);
      const Finished run = child.finish();
      EXPECT_TRUE(run.signal == signal || run.exit_code == 0 || run.exit_code == 3)
          << run.exit_code << run.err;
      if (run.exit_code != 0 && !std::filesystem::exists(dir / "run")) continue;
      for (const char* name : {"strategy.json", "configuration.json", "ranking.json", "page.html",
                               "step-000.json", "step-000.plan.json", "launch-megatron.sh"}) {
        EXPECT_TRUE(std::filesystem::exists(dir / "run" / name)) << signal << ' ' << name;
      }
      EXPECT_EQ(run_stowage({"verify", "run/step-000.json", "run/step-000.plan.json"},
                            {.directory = dir.path()})
                    .exit_code,
                0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cli, Faults, testing::ValuesIn(kWorks),
                         [](const auto& work) { return work.param.name; });

}  // namespace
}  // namespace stowage::fault_test
