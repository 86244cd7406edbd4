// Runs the `stowage` binary as a user's shell does, but without a shell.
//
//   TempDir dir;
//   const Finished run = run_stowage({"solve", "instance.json"}, {.directory = dir.path()});
//   EXPECT_EQ(run.exit_code, 0) << run.err;
//
// With STOWAGE_UNDER="/usr/bin/valgrind -q --error-exitcode=99" in the environment the binary runs
// under valgrind, and every finding of valgrind gives a wrong exit code.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace stowage {

struct Finished {
  int exit_code = -1;  // -1 if a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

struct RunOptions {
  // the program that the arguments belong to; empty: the stowage binary
  std::vector<std::string> command;
  std::string input;                // stdin
  std::filesystem::path directory;  // empty: the current one
  std::vector<std::pair<std::string, std::string>> environment;
  std::string out_path;          // stdout goes to this file and Finished::out stays empty
  bool close_out = false;        // stdout is closed before the start
  bool broken_out = false;       // stdout is a pipe nobody reads
  bool terminal = false;         // stderr is a terminal
  std::size_t memory_limit = 0;  // bytes of its address space; 0: no limit
  std::size_t file_limit = 0;    // bytes of each file that it writes; 0: no limit
  std::size_t thread_limit = 0;  // threads of all processes of its user; 0: no limit
  // not as root, since permissions and the limit on threads do not apply to root
  bool unprivileged = false;
};

// Runs the binary and waits for its end.
Finished run_stowage(const std::vector<std::string>& arguments, const RunOptions& options = {});

// A running binary that the test can control.
class Child {
 public:
  Child(const std::vector<std::string>& arguments, const RunOptions& options);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Reads stderr until it contains `text`. Returns false if the binary ended before.
  bool wait_for_err(const std::string& text);
  void send(int signal) const;
  // Reads both streams to their ends and waits.
  Finished finish();
  // Waits for the end without reading the output.
  Finished wait_without_reading();

 private:
  void reap(Finished& run);

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  Finished run_;
};

// A directory that is removed at the end of the scope.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void open_to_all() const;  // allows an unprivileged child to read and write here
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  std::vector<std::string> names() const;  // sorted

 private:
  std::filesystem::path path_;
};

// Returns whether a user other than root could run the binary: false if a directory above it is
// closed to others.
bool runs_unprivileged();

std::string read_text(const std::filesystem::path& path);

}  // namespace stowage
