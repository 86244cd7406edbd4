// Documents as large as they may be, on machines of different sizes.
//
// The test runs only with STOWAGE_LONG=1, since it takes minutes and gigabytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/fixture.h"
#include "tests/long_run.h"

namespace stowage::size_test {
namespace {

// A document with the largest number of numbers is read and planned, or refused with an error. Its
// memory limit is that of a small machine.
TEST(TenMillionNumbers, AreHandledOrRefused) {
  if (in_long_run(0, 1) == 0) GTEST_SKIP() << "STOWAGE_LONG is not set";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves terabytes";
#endif
  const TempDir dir;
  std::string step = long_instance(1);
  step.erase(step.find("\"lengths\"") + 12);
  std::string lengths;
  for (int i = 0; i < 10'000'000; ++i) lengths += (i == 0 ? "" : ",") + std::to_string(1 + i % 997);
  dir.write("many.json", step + lengths + "]}");
  const std::size_t gigabyte = std::size_t{1} << 30;
  for (const std::size_t memory : {gigabyte / 2, gigabyte, 2 * gigabyte, 4 * gigabyte}) {
    const Finished run =
        run_stowage({"solve", "many.json", "--method", "fast", "-t", "1", "-o", "plan.json"},
                    {.directory = dir.path(), .memory_limit = memory});
    EXPECT_EQ(run.signal, 0) << memory;
    EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 70) << run.exit_code << run.err;
    EXPECT_EQ(run.exit_code == 0, std::filesystem::exists(dir / "plan.json"));
    if (run.exit_code == 70) {
      EXPECT_THAT(run.err, testing::HasSubstr("memory"));
    }
    std::filesystem::remove(dir / "plan.json");
  }
  dir.write("more.json", step + lengths + ",1]}");
  const Finished more = run_stowage({"solve", "more.json"}, {.directory = dir.path()});
  EXPECT_EQ(more.exit_code, 2);
  EXPECT_THAT(more.err, testing::HasSubstr("E108"));
}

}  // namespace
}  // namespace stowage::size_test
