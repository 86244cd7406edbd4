// Input files that are missing, huge or empty, output paths that cannot be written, and atomic
// outputs.
#include "cli/terminal/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <thread>

#include "instances/json/limits.h"
#include "tests/cli/process.h"

namespace stowage::terminal_files_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns whether the work ends by itself, however slow the machine is.
template <class T>
bool ends(const std::future<T>& work) {
  return work.wait_for(std::chrono::minutes(2)) == std::future_status::ready;
}

// Returns all bytes of a descriptor until its end, read with a delay.
std::string read_late(int fd) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::string text;
  std::array<char, 4096> piece;
  for (ssize_t got = 0; (got = read(fd, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

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
  // A sparse file has the size without content, so reading it would be noticed only by the time it
  // takes.
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

TEST(ReadFile, WaitsForAStdinThatDoesNotBlock) {
  const auto read_stdin = [] {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_NONBLOCK) != 0) _exit(2);
    dup2(ends[0], STDIN_FILENO);
    std::thread writer([&ends] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      write_all(ends[1], "late");
      close(ends[1]);
    });
    const Result<std::string> read = read_file("-");
    writer.join();
    _exit(read && *read == "late" ? 0 : 1);
  };
  EXPECT_EXIT(read_stdin(), testing::ExitedWithCode(0), "");
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

TEST(WriteFile, MakesTheTargetOfADanglingLink) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "plans");
  std::filesystem::create_symlink("plans/second", dir / "first");
  std::filesystem::create_symlink("plan.json", dir / "plans/second");
  EXPECT_EQ(check_writable(dir / "first"), std::nullopt);
  EXPECT_EQ(write_file(dir / "first", "new"), std::nullopt);
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "plans/second"));
  EXPECT_EQ(dir.read("plans/plan.json"), "new");
  std::filesystem::create_symlink(dir / "none/plan.json", dir / "astray");
  EXPECT_TRUE(check_writable(dir / "astray"));
  EXPECT_TRUE(write_file(dir / "astray", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "astray"));
}

TEST(WriteFile, RefusesALoopOfLinks) {
  const TempDir dir;
  std::filesystem::create_symlink("b", dir / "a");
  std::filesystem::create_symlink("a", dir / "b");
  const InputError loop{"E002", dir / "a",
                        "cannot be written: Too many levels of symbolic links (errno 40)"};
  EXPECT_EQ(check_writable(dir / "a"), loop);
  EXPECT_EQ(write_file(dir / "a", "new"), loop);
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "a"));
}

TEST(WriteFile, AStaleTemporaryIsInNobodysWay) {
  const TempDir dir;
  const std::string stale = "plan.json." + std::to_string(getpid());
  dir.write(stale + ".tmp", "cut");
  dir.write(stale + ".1.tmp", "short");
  EXPECT_EQ(write_file(dir / "plan.json", "new"), std::nullopt);
  EXPECT_THAT(dir.names(), ElementsAre("plan.json", stale + ".1.tmp", stale + ".tmp"));
  EXPECT_EQ(dir.read("plan.json"), "new");
  EXPECT_EQ(dir.read(stale + ".tmp") + dir.read(stale + ".1.tmp"), "cutshort");
}

TEST(WriteFile, ANameMayBeAsLongAsNamesAre) {
  std::string accents;  // valid UTF-8 only if it is cut between two characters
  for (int i = 0; i < 127; ++i) accents += "\u00e9";
  for (const std::string& name : {std::string(255, 'n'), accents, 'n' + accents}) {
    SCOPED_TRACE(name);
    const TempDir dir;
    EXPECT_EQ(check_writable(dir / name), std::nullopt);
    EXPECT_EQ(write_file(dir / name, "new"), std::nullopt);
    EXPECT_THAT(dir.names(), ElementsAre(name));
  }
}

TEST(WriteFile, WaitsForNoReaderOfAPipe) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  auto error = std::async(std::launch::async, [&] { return write_file(dir / "pipe", "new"); });
  if (!ends(error)) {
    ADD_FAILURE() << "still waiting for a reader";
    const std::ifstream reader(dir / "pipe");
    error.wait();
  }
  const std::optional<InputError> why = error.get();
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, "E002");
  EXPECT_THAT(why->message, HasSubstr("nobody reads"));
}

TEST(WriteFile, APipeGetsEverythingAtItsReadersPace) {
  const TempDir dir;
  const std::string text(1'000'000, 'x');
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  const int reader = open((dir / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_EQ(fcntl(reader, F_SETFL, 0), 0);
  // Without this open writer, a reader that is earlier than the writer would see the end of the
  // stream.
  const int held = open((dir / "pipe").c_str(), O_WRONLY);
  auto read = std::async(std::launch::async, [&] { return read_late(reader); });
  EXPECT_EQ(write_file(dir / "pipe", text), std::nullopt);
  close(held);
  EXPECT_EQ(read.get(), text);
  close(reader);
}

TEST(WriteAll, WaitsForAPipeThatDoesNotBlock) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_NONBLOCK), 0);
  ASSERT_EQ(fcntl(ends[0], F_SETFL, 0), 0);
  const std::string text(1'000'000, 'x');
  auto read = std::async(std::launch::async, [&] { return read_late(ends[0]); });
  EXPECT_EQ(write_all(ends[1], text), 0);
  close(ends[1]);
  EXPECT_EQ(read.get(), text);
  close(ends[0]);
}

TEST(WriteFile, DoesNotReplaceDevices) {
  EXPECT_EQ(write_file("/dev/null", "gone"), std::nullopt);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(WriteFile, SaysWhyNot) {
  const TempDir dir;
  dir.write("file", "");
  const std::string temporary = '.' + std::to_string(getpid()) + ".tmp";
  struct Case {
    std::string path;
    std::string message;
  };
  for (const Case& c :
       {Case{dir.path(), "cannot be written: Is a directory (errno 21)"},
        Case{dir / "none/plan.json", "cannot be written: its temporary file '" +
                                         (dir / "none/plan.json").string() + temporary +
                                         "': No such file or directory (errno 2)"},
        Case{dir / "file/plan.json", "cannot be written: Not a directory (errno 20)"},
        Case{"/dev/full", "cannot be written: No space left on device (errno 28)"},
        Case{"/proc/plan.json", "cannot be written: its temporary file '/proc/plan.json" +
                                    temporary + "': No such file or directory (errno 2)"},
        Case{"", "cannot be written: No such file or directory (errno 2)"}}) {
    // a root directory without /proc
    if (c.path.starts_with("/proc/") && access("/proc/self", F_OK) != 0) continue;
    const std::optional<InputError> error = write_file(c.path, "new");
    ASSERT_TRUE(error) << c.path;
    EXPECT_EQ(error->message, c.message) << c.path;
  }
  EXPECT_THAT(dir.names(), ElementsAre("file"));
}

TEST(WriteFile, AFullDiskLeavesTheOldFile) {
  // A limit on the size of files simulates a full disk, with EFBIG instead of ENOSPC.
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

}  // namespace
}  // namespace stowage::terminal_files_test
