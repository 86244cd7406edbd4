// The files of a command: where its output may go, and what its input may be.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/terminal/files.h"
#include "tests/cli/fixture.h"
#include "tests/cli/paths.h"

namespace stowage::terminal_files_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(DirectoryOf, Paths) {
  EXPECT_EQ(directory_of("a/b.json"), "a");
  EXPECT_EQ(directory_of("/b.json"), "/");
  EXPECT_EQ(directory_of("b.json"), ".");
  EXPECT_EQ(directory_of("-"), ".");
}

TEST(OutputFile, AMissingDirectoryIsFoundBeforeTheWork) {
  const TempDir dir;
  dir.write("instance.json", kTinyInstance);
  const Finished run =
      run_stowage({"solve", "instance.json", "-o", "none/plan.json"}, {.directory = dir.path()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err,
            "stowage: none/plan.json: cannot be written: its directory 'none': No such file or "
            "directory (errno 2)\n");
}

TEST(OutputFile, WhatCannotBeWrittenIsFoundBeforeTheWork) {
  const TempDir dir;
  fill_with_examples(dir);
  for (const std::vector<std::string>& before : std::vector<std::vector<std::string>>{
           {"propose", "assign.json", "-o"},
           {"generate", "scatter", "--lengths", "none.txt", "-o"},
           {"generate", "assign", "--lengths", "none.txt", "-o"},
           {"generate", "layout", "--from-kernels", "--lengths", "x", "-o"},
           {"convert", "none.txt"},
           {"convert", "none.csv"},
           {"convert", "instance.json", "--plan", "none.json"}}) {
    SCOPED_TRACE(testing::PrintToString(before));
    std::vector<std::string> arguments = before;
    arguments.emplace_back("none/out.json");
    const Finished run = run_stowage(arguments, {.directory = dir.path()});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, StartsWith("stowage: none/out.json: cannot be written: its directory"));
  }
  const Finished named = run_stowage({"solve", "instance.json", "-o", std::string(256, 'n')},
                                     {.directory = dir.path()});
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_THAT(named.err, StartsWith("stowage: nnn"));
  EXPECT_THAT(named.err, testing::EndsWith("File name too long (errno 36)\n"));
}

TEST(OutputFile, IsNoneOfTheInputs) {
  const TempDir dir;
  fill_with_examples(dir);
  std::filesystem::create_symlink("instance.json", dir / "link.svg");
  std::filesystem::create_hard_link(dir / "instance.json", dir / "hard.lp");
  std::filesystem::create_hard_link(dir / "outcome.json", dir / "outcome.html");
  std::filesystem::create_hard_link(dir / "buffers.1048576.csv", dir / "same.csv");
  const auto all = [&dir] {
    std::string text;
    for (const std::string& name : dir.names()) text += name + dir.read(name);
    return text;
  };
  const std::string before = all();
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"solve", "instance.json", "-o", "instance.json"},
           {"solve", "instance.json", "-o", "./link.svg"},
           {"solve", "instance.json", "--start", "plan.json", "-o", "hard.lp"},
           {"propose", "assign.json", "-o", "assign.json"},
           {"render", "instance.json", "plan.json", "-o", "link.svg"},
           {"render", "instance.json", "outcome.json", "-o", "outcome.html"},
           {"export", "instance.json", "-o", "hard.lp"},
           {"convert", "lengths.txt", "lengths.txt", "--devices", "16"},
           {"convert", "buffers.1048576.csv", "same.csv"},
           {"convert", "instance.json", "instance.json", "--plan", "plan.json"},
           {"convert", "instance.json", "plan.json", "--plan", "plan.json"},
           {"generate", "scatter", "--lengths", "lengths.txt", "-o", "lengths.txt"},
           {"generate", "assign", "--lengths", "lengths.txt", "-o", "lengths.txt"}}) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const Finished run = run_stowage(arguments, {.directory = dir.path()});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("is the input "));
    EXPECT_EQ(all(), before);
  }
  const Finished redirected =
      run_stowage({"solve", "-", "-o", "instance.json"},
                  {.command = {"/bin/sh", "-c", "exec \"$0\" \"$@\" < instance.json", kStowagePath},
                   .directory = dir.path()});
  EXPECT_EQ(redirected.exit_code, 2);
  EXPECT_THAT(redirected.err, HasSubstr("is the input "));
  EXPECT_EQ(all(), before);
}

TEST(OutputFile, MayBeThePlanToBeginWith) {
  const TempDir dir;
  fill_with_examples(dir);
  const Finished run = run_stowage(
      {"solve", "instance.json", "--start", "plan.json", "-o", "plan.json", "--node-limit", "10"},
      {.directory = dir.path()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(OutputFile, AFailedSolveLeavesTheOldPlan) {
  const TempDir dir;
  dir.write("infeasible.json", kInfeasibleInstance);
  dir.write("plan.json", "old");
  EXPECT_EQ(run_stowage({"solve", "infeasible.json", "-o", "plan.json"}, {.directory = dir.path()})
                .exit_code,
            1);
  EXPECT_EQ(dir.read("plan.json"), "old");
}

TEST(OutputFile, APlanThatCannotBeWrittenIsStillInTheOutcome) {
  const TempDir dir;
  dir.write("instance.json", kTinyInstance);
  const Finished run =
      run_stowage({"solve", "instance.json", "-o", "/dev/full", "--node-limit", "1000"},
                  {.directory = dir.path()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("stowage: /dev/full: cannot be written: No space left on device"));
  EXPECT_THAT(run.out, HasSubstr("\"exit_code\": 2,"));
  EXPECT_THAT(run.out, HasSubstr("\"micro_batches\""));
  EXPECT_THAT(run.err, testing::Not(HasSubstr("plan ->")));
}

TEST(InputFile, ASmallStackIsEnough) {
  const TempDir dir;
  fill_with_examples(dir);
  const auto on_little = [&dir](const std::vector<std::string>& arguments) {
    return run_stowage(arguments, {.command = {"/bin/sh", "-c",
                                               "ulimit -s 64 && exec \"$0\" \"$@\"", kStowagePath},
                                   .directory = dir.path()});
  };
  const Finished verified = on_little({"verify", "instance.json", "plan.json"});
  EXPECT_EQ(verified.exit_code, 0) << verified.signal << verified.err;
}

TEST(InputFile, EmptyFilesAndDirectories) {
  const TempDir dir;
  dir.write("empty.json", "");
  for (const std::string input : {"empty.json", "."}) {
    const Finished run = run_stowage({"solve", input}, {.directory = dir.path()});
    EXPECT_EQ(run.exit_code, 2) << input;
    EXPECT_THAT(run.err, HasSubstr("stowage: " + input + ": ")) << input;
  }
}

TEST(InputFile, UnreadableFiles) {
  if (!runs_unprivileged()) GTEST_SKIP() << "the binary is closed to others";
  const TempDir dir;
  dir.open_to_all();
  dir.write("secret.json", kTinyInstance);
  chmod((dir / "secret.json").c_str(), 0);
  const Finished run =
      run_stowage({"solve", "secret.json"}, {.directory = dir.path(), .unprivileged = true});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err, "stowage: secret.json: cannot be read: Permission denied (errno 13)\n");
}

}  // namespace
}  // namespace stowage::terminal_files_test
