// Tests of a clock that jumps, and of a time limit of 0.
//
// STOWAGE_LONG=1 tries both twenty times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"
#include "tests/cli/paths.h"
#include "tests/long_run.h"

namespace stowage::clock_test {
namespace {

// Returns the end of the exact search in two words.
std::string exact(const std::string& instance, const std::string& solver,
                  const RunOptions& options) {
  const Finished run = run_stowage(
      {"solve", instance, "--method", "exact", "--solver", solver, "-t", "1000"}, options);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json outcome = nlohmann::json::parse(run.out);
  return outcome["status"].get<std::string>() + ' ' + outcome["stopped_by"].get<std::string>();
}

// The backends have clocks of their own. A limit of 1000 s must not end early because these clocks
// jump.
TEST(JumpingClock, EndsNoSearch) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer must be loaded first";
#endif
  const TempDir dir;
  fill_with_examples(dir);
  const RunOptions jumping{.directory = dir.path(),
                           .environment = {{"LD_PRELOAD", kJumpingClockPath}}};
  for (const char* solver : {"glpk", "cbc", "highs"}) {
    if (run_stowage({"solve", "instance.json", "--solver", solver, "--method", "fast"}, jumping)
            .exit_code == 2) {
      continue;  // not built in
    }
    SCOPED_TRACE(solver);
    for (int k = 0; k < in_long_run(1, 20); ++k) {
      for (const char* instance : {"instance.json", "layout.json"}) {
        EXPECT_EQ(exact(instance, solver, jumping), "optimal proof") << instance;
      }
    }
  }
}

// With every flag that leaves no time, the command finds a valid plan.
TEST(NoTime, StillGivesAPlan) {
  const TempDir dir;
  fill_with_examples(dir);
  dir.write("long.json", long_instance(2000));
  for (int k = 0; k < in_long_run(2, 20); ++k) {
    for (const char* limit : {"0", "0.001"}) {
      for (const std::string instance : {"long.json", "layout.json"}) {
        const Finished run = run_stowage({"solve", instance, "-t", limit, "-o", "plan.json"},
                                         {.directory = dir.path()});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        EXPECT_EQ(
            run_stowage({"verify", instance, "plan.json"}, {.directory = dir.path()}).exit_code, 0);
      }
    }
  }
}

}  // namespace
}  // namespace stowage::clock_test
