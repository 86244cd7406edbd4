// Files that are missing, huge, empty or in the way; outputs that are whole or not there at all.
#include "cli/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "instances/json.h"
#include "tests/cli/fixture.h"

namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ReadFile, TakesEverythingUpToTheLimit) {
  const TempDir dir;
  const std::string bytes = std::string("a\0b\n", 4) + std::string(200'000, 'x');
  dir.write("some", bytes);
  const Result<std::string> read = read_file(dir / "some");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, bytes);
}

TEST(ReadFile, SaysWhyNot) {
  const TempDir dir;
  EXPECT_EQ(read_file(dir / "none").errors(),
            (std::vector<InputError>{
                {"E110", dir / "none", "cannot be read: No such file or directory (errno 2)"}}));
  EXPECT_EQ(read_file(dir.path()).errors().front().message,
            "cannot be read: Is a directory (errno 21)");
}

TEST(ReadFile, RefusesMoreThanTheLimitUnread) {
  const TempDir dir;
  dir.write("huge", "");
  // A sparse file: it has the size but no content, so reading it would be noticed by its time only.
  ASSERT_EQ(truncate((dir / "huge").c_str(), static_cast<off_t>(kMaxDocumentBytes) + 1), 0);
  const Result<std::string> read = read_file(dir / "huge");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.errors().front().code, "E107");
  const Finished run = run_stowage({"solve", dir / "huge"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("must be at most 536870912 bytes, is larger"));
}

TEST(ReadFile, ReadsPipes) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  std::thread writer([&dir] { dir.write("pipe", "from a pipe"); });
  const Result<std::string> read = read_file(dir / "pipe");
  writer.join();
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, "from a pipe");
}

TEST(WriteFile, ReplacesTheOldFileAndLeavesNothingBeside) {
  const TempDir dir;
  dir.write("plan.json", "old");
  chmod((dir / "plan.json").c_str(), 0640);
  EXPECT_EQ(write_file(dir / "plan.json", "new"), std::nullopt);
  EXPECT_EQ(dir.read("plan.json"), "new");
  EXPECT_THAT(dir.names(), ElementsAre("plan.json"));
  struct stat status = {};
  ASSERT_EQ(stat((dir / "plan.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0640U);
}

TEST(WriteFile, FollowsLinks) {
  const TempDir dir;
  dir.write("plan.json", "old");
  std::filesystem::create_symlink("plan.json", dir / "link");
  EXPECT_EQ(write_file(dir / "link", "new"), std::nullopt);
  EXPECT_EQ(dir.read("plan.json"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
}

TEST(WriteFile, DoesNotReplaceDevices) {
  EXPECT_EQ(write_file("/dev/null", "gone"), std::nullopt);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(WriteFile, SaysWhyNot) {
  const TempDir dir;
  dir.write("file", "");
  struct Case {
    std::string path;
    std::string message;
  };
  for (const Case& c :
       {Case{dir.path(), "cannot be written: Is a directory (errno 21)"},
        Case{dir / "none/plan.json", "cannot be written: No such file or directory (errno 2)"},
        Case{dir / "file/plan.json", "cannot be written: Not a directory (errno 20)"},
        Case{"/dev/full", "cannot be written: No space left on device (errno 28)"},
        Case{"/proc/plan.json", "cannot be written: No such file or directory (errno 2)"}}) {
    if (c.path.starts_with("/proc/") && access("/proc/self", F_OK) != 0) continue;  // a bare root
    const std::optional<InputError> error = write_file(c.path, "new");
    ASSERT_TRUE(error) << c.path;
    EXPECT_EQ(error->message, c.message) << c.path;
  }
  EXPECT_THAT(dir.names(), ElementsAre("file"));
}

TEST(WriteFile, AFullDiskLeavesTheOldFile) {
  // A limit on the size of files stands for the full disk; EFBIG for ENOSPC.
  const TempDir dir;
  dir.write("plan.json", "old");
  const auto write_with_little_room = [&dir] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto error = write_file(dir / "plan.json", std::string(100'000, 'x'));
    _exit(error && error->message == "cannot be written: File too large (errno 27)" ? 0 : 1);
  };
  EXPECT_EXIT(write_with_little_room(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(dir.read("plan.json"), "old");
  EXPECT_THAT(dir.names(), ElementsAre("plan.json"));
}

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
}  // namespace stowage
