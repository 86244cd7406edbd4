// The command neither loads the system's LAPACK nor waits for it. A threaded OpenBLAS starts
// threads before main(). If memory is short these threads never end, and if no thread can be
// started they end the process.
//
// The test uses an OpenBLAS of the machine or of build/openblas, where `./dev test` unpacks one.
// Without OpenBLAS it only checks that the command does not name such a library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>

#include "tests/cli/fixture.h"
#include "tests/cli/paths.h"

namespace stowage::blas_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns a directory with OpenBLAS as liblapack.so.3, or an empty path.
std::filesystem::path openblas() {
  for (const std::filesystem::path& root :
       {std::filesystem::path(STOWAGE_SOURCE_DIR) / "build/openblas/usr/lib",
        std::filesystem::path("/usr/lib")}) {
    if (!std::filesystem::exists(root)) continue;
    for (const auto& machine : std::filesystem::directory_iterator(root)) {
      std::error_code closed;
      if (std::filesystem::exists(machine.path() / "openblas-pthread/liblapack.so.3", closed)) {
        return machine.path() / "openblas-pthread";
      }
    }
  }
  return {};
}

// Returns the libraries that the loader loads for a program.
std::string libraries_of(const std::string& program) {
  const Finished listed = run_stowage(
      {}, {.command = {program},
           .environment = {{"LD_TRACE_LOADED_OBJECTS", "1"}, {"LD_LIBRARY_PATH", openblas()}}});
  EXPECT_THAT(listed.out, HasSubstr("libc.so"));
  return listed.out;
}

TEST(Blas, TheCommandLoadsNone) {
  const std::string libraries = libraries_of(kStowagePath);
  EXPECT_THAT(libraries, Not(HasSubstr("lapack")));
  EXPECT_THAT(libraries, Not(HasSubstr("blas")));
}

class ThreadedBlas : public testing::Test {
 protected:
  ThreadedBlas() { fill_with_examples(dir_); }

  // Returns false without OpenBLAS, which skips the test. A program that loads LAPACK shows that
  // the library would be found.
  bool can_run() const {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;  // a sanitizer reserves terabytes and needs threads of its own
#endif
    if (openblas().empty()) return false;
    const std::string bench = libraries_of(kBenchPath);
    EXPECT_TRUE(bench.find("lapack") == std::string::npos ||
                bench.find("openblas-pthread/liblapack") != std::string::npos)
        << bench;
    return true;
  }

  // Runs the command, which must end.
  Finished run(const std::vector<std::string>& arguments, RunOptions options) const {
    options.directory = dir_.path();
    options.environment.emplace_back("LD_LIBRARY_PATH", openblas());
    Child child(arguments, options);
    auto end = std::async(std::launch::async, [&child] { return child.finish(); });
    if (end.wait_for(std::chrono::minutes(2)) != std::future_status::ready) {
      ADD_FAILURE() << "does not end";
      child.send(SIGKILL);
    }
    return end.get();
  }

  TempDir dir_;
};

TEST_F(ThreadedBlas, EndsWhereMemoryIsShort) {
  if (!can_run()) GTEST_SKIP() << "no OpenBLAS";
  for (const std::size_t kib : {60'000U, 100'000U, 150'000U, 250'000U}) {
    SCOPED_TRACE(kib);
    const RunOptions little{.memory_limit = kib * 1024};
    const Finished version = run({"--version"}, little);
    EXPECT_TRUE(version.exit_code == 0 || version.exit_code == 70 || version.exit_code == 127)
        << version.exit_code << version.err;
    const Finished solved = run({"solve", "instance.json", "--solver", "cbc", "-t", "1"}, little);
    EXPECT_TRUE(solved.exit_code == 0 || solved.exit_code == 2 || solved.exit_code == 70 ||
                solved.exit_code == 127)
        << solved.exit_code << solved.err;
  }
}

TEST_F(ThreadedBlas, AnswersWithoutThreads) {
  if (!can_run()) GTEST_SKIP() << "no OpenBLAS";
  if (!runs_unprivileged()) GTEST_SKIP() << "the binary is closed to others";
  dir_.open_to_all();
  const Finished solved = run({"solve", "instance.json", "--method", "fast"},
                              {.thread_limit = 1, .unprivileged = true});
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
}

}  // namespace
}  // namespace stowage::blas_test
