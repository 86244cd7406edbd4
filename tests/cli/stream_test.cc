// The streams: a stdout that fails, a terminal, and runs with equal bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/fixture.h"

namespace stowage::stream_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Streams : public testing::Test {
 protected:
  Streams() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments, RunOptions options = {}) const {
    options.directory = dir_.path();
    return run_stowage(arguments, options);
  }

  TempDir dir_;
};

TEST_F(Streams, AReaderThatHasGoneIsAnErrorAndNoDeath) {
  const Finished broken = run({"verify", "instance.json", "plan.json"}, {.broken_out = true});
  EXPECT_EQ(broken.signal, 0);
  EXPECT_EQ(broken.exit_code, 70);
  EXPECT_THAT(broken.err, HasSubstr("stowage: stdout: cannot be written: Broken pipe (errno 32)"));
}

TEST_F(Streams, AClosedStdoutIsAnError) {
  const Finished closed = run({"verify", "instance.json", "plan.json"}, {.close_out = true});
  EXPECT_EQ(closed.exit_code, 70);
  EXPECT_THAT(closed.err, HasSubstr("stowage: stdout: cannot be written: Bad file descriptor"));
}

TEST_F(Streams, AFullStdoutIsAnErrorAndThePlanFileIsWritten) {
  const Finished full = run({"solve", "instance.json", "-o", "new.json", "--node-limit", "1000"},
                            {.out_path = "/dev/full"});
  EXPECT_EQ(full.exit_code, 70);
  EXPECT_THAT(full.err, HasSubstr("stowage: stdout: cannot be written: No space left on device"));
  EXPECT_EQ(run({"verify", "instance.json", "new.json"}).exit_code, 0);
}

TEST_F(Streams, TimelessRunsAreEqualByteForByte) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"solve", "instance.json", "--timeless", "--node-limit", "1000"},
           {"compare", "instance.json", "--timeless", "--node-limit", "1000"},
           {"run", "instance.json", "plan.json", "--timeless"},
           {"verify", "instance.json", "plan.json", "--timeless"},
           {"export", "instance.json", "-o", "model.lp", "--timeless"},
           {"generate", "scatter", "--timeless"}}) {
    const Finished first = run(arguments);
    const Finished second = run(arguments);
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(first.out, second.out) << arguments.front();
    EXPECT_EQ(first.err, second.err) << arguments.front();
    EXPECT_THAT(first.out, Not(HasSubstr("seconds"))) << arguments.front();
    EXPECT_THAT(first.err, Not(testing::ContainsRegex("[0-9]s( |\n)"))) << arguments.front();
  }
}

TEST_F(Streams, NothingIsWrittenOverOffATerminal) {
  const Finished solved = run({"solve", "instance.json", "--node-limit", "1000"});
  EXPECT_THAT(solved.err, Not(HasSubstr("\r")));
  EXPECT_THAT(solved.err, Not(HasSubstr("\033")));
}

TEST_F(Streams, C1AndBidiControlsDoNotEither) {
  dir_.write("steering.json", R"({"format": "stowage/instance", "version": 1, "problem": "layout",
      "name": "n\u009b31m", "capacity_bytes": 1,
      "buffers": [{"id": "b\u001b[2J\u202e", "lower": 0, "upper": 3, "size_bytes": 4}]})");
  const Finished solved = run({"solve", "steering.json"});
  EXPECT_EQ(solved.exit_code, 1) << solved.err;
  EXPECT_THAT(solved.err, HasSubstr("buffers b?[2J?"));
  for (const char* control : {"\x1b", "\xC2\x9B", "\xE2\x80\xAE"}) {
    EXPECT_THAT(solved.err, Not(HasSubstr(control)));
    EXPECT_THAT(solved.out, Not(HasSubstr(control)));
  }
}

TEST_F(Streams, ColoursOnATerminalUnlessRefused) {
  if (access("/dev/ptmx", R_OK | W_OK) != 0 || access("/dev/pts", X_OK) != 0) {
    GTEST_SKIP() << "a bare root without terminals";
  }
  const std::vector<std::string> solve = {"solve", "instance.json", "--node-limit", "1000"};
  EXPECT_THAT(run(solve, {.terminal = true}).err, HasSubstr("\033[1m"));
  EXPECT_THAT(run(solve, {.environment = {{"NO_COLOR", "1"}}, .terminal = true}).err,
              Not(HasSubstr("\033[1m")));
  EXPECT_THAT(run(solve, {.environment = {{"TERM", "dumb"}}, .terminal = true}).err,
              Not(HasSubstr("\033[1m")));
}

TEST_F(Streams, TheProgressTableCanBeHadOrNot) {
  const std::vector<std::string> solve = {"solve", "instance.json", "--node-limit", "1000"};
  const auto with = [&solve](std::vector<std::string> more) {
    more.insert(more.begin(), solve.begin(), solve.end());
    return more;
  };
  const std::string header = "       time     bound      best      gap   nodes  by\n";
  EXPECT_THAT(run(solve).err, HasSubstr(header));
  EXPECT_THAT(run(with({"--progress", "never"})).err, Not(HasSubstr(header)));
  EXPECT_THAT(run(with({"--log-level", "warn"})).err, Not(HasSubstr(header)));
  EXPECT_THAT(run(with({"--log-level", "warn", "--progress", "always"})).err, HasSubstr(header));
}

TEST_F(Streams, NamesFromFilesDoNotSteerTheTerminal) {
  std::string instance = kTinyInstance;
  instance.replace(instance.find("\"tiny\""), 6, "\"evil\\u001b[2J\"");
  dir_.write("evil.json", instance);
  const Finished solved = run({"solve", "evil.json", "--node-limit", "1000"});
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_THAT(solved.err, Not(HasSubstr("\033")));
  EXPECT_THAT(solved.err, HasSubstr("evil?[2J"));
}

TEST_F(Streams, ComparisonsAsTextAndMarkdown) {
  const std::vector<std::string> compare = {"compare",      "instance.json", "--methods", "auto",
                                            "--node-limit", "1000",          "--format"};
  const auto in_format = [&](const std::string& format) {
    std::vector<std::string> arguments = compare;
    arguments.push_back(format);
    return run(arguments);
  };
  EXPECT_THAT(in_format("table").out, testing::StartsWith("method  kind  "));
  EXPECT_THAT(in_format("markdown").out, testing::StartsWith("| method | kind |"));
  EXPECT_THAT(in_format("json").err, HasSubstr("method  kind  "));
}

}  // namespace
}  // namespace stowage::stream_test
