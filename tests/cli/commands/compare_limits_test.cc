// The limits of `compare` apply to every method of every family. The steps are chosen so that a
// baseline without a limit runs for minutes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/fixture.h"

namespace stowage::commands_compare_limits_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Hard {
  const char* name;
  // arguments of a command that writes hard.json, or a bundled instance
  std::vector<std::string> made_by;
};

void PrintTo(const Hard& hard, std::ostream* out) { *out << hard.name; }

const Hard kHard[] = {
    {"scatter", {"scatter/real/7b-64gpu-192k-code-0.json"}},
    {"assign", {"assign/real/32b-64gpu-200k-code-0.json"}},
    {"layout",
     {"generate", "layout", "--model", "llama-7b", "--tokens", "128k", "-o", "hard.json"}},
    {"order",
     {"generate", "order", "--kind", "unet", "--capacity-share", "0.7", "-o", "hard.json"}},
    {"order_with_host",
     {"generate", "order", "--kind", "unet", "--capacity-share", "0.7", "--host-rate", "1e7", "-o",
      "hard.json"}},
    {"strategy", {"generate", "strategy", "-o", "hard.json"}},
};

class CompareLimits : public testing::TestWithParam<Hard> {
 protected:
  CompareLimits() {
    const std::vector<std::string>& made_by = GetParam().made_by;
    if (made_by.size() == 1) {
      dir_.write("hard.json", read_text(STOWAGE_SOURCE_DIR "/instances/data/" + made_by[0]));
    } else {
      const Finished made = run_stowage(made_by, {.directory = dir_.path()});
      EXPECT_EQ(made.exit_code, 0) << made.err;
    }
  }

  Finished compare(std::vector<std::string> limits) const {
    limits.insert(limits.begin(), {"compare", "hard.json"});
    return run_stowage(limits, {.directory = dir_.path()});
  }

  TempDir dir_;
};

// Limit of the test in seconds per method. A backend that does not check a clock is abandoned five
// seconds after the limit, and a busy machine takes longer. Without working limits the baselines
// take minutes.
constexpr double kMaxSeconds = 40;  // seconds per method

TEST_P(CompareLimits, HoldForEveryMethod) {
  const Finished run = compare({"-t", "0.05", "--milp-limit", "0.05", "--baseline-limit", "0.1"});
  EXPECT_EQ(run.signal, 0);
  EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 3) << run.exit_code << run.err;
  const json answer = json::parse(run.out);
  EXPECT_GT(answer["methods"].size(), 3U);
  for (const json& method : answer["methods"]) {
    EXPECT_LT(method["seconds"], kMaxSeconds) << method["method"];
    EXPECT_NE(method["stopped_by"], "error") << method["method"] << method["detail"];
  }
  // The limit for baselines is twice that of a method, below the factor from which `compare` prints
  // the limits.
  EXPECT_THAT(run.err, Not(HasSubstr("limits    ")));
}

// With a limit of 0, methods that can take long report the limit as the reason of their end, also
// in the table.
TEST_P(CompareLimits, OfNoTimeEndAllBaselines) {
  const Finished run = compare({"-t", "0", "--baseline-limit", "0"});
  const json answer = json::parse(run.out);
  std::size_t ended = 0;
  std::size_t with_plan = 0;
  for (const json& method : answer["methods"]) {
    EXPECT_LT(method["seconds"], kMaxSeconds) << method["method"];
    if (method["kind"] != "baseline" || method["stopped_by"] != "time_limit") continue;
    ++ended;
    if (method["found_by"] != "") ++with_plan;
  }
  EXPECT_GT(ended, 0U);
  std::size_t marked = 0;
  for (std::size_t at = 0; (at = run.err.find("cut short\n", at)) != std::string::npos; ++at) {
    ++marked;
  }
  EXPECT_EQ(marked, with_plan) << run.err;
}

INSTANTIATE_TEST_SUITE_P(Cli, CompareLimits, testing::ValuesIn(kHard),
                         [](const auto& hard) { return hard.param.name; });

TEST(Compare, SaysHowLongItTakesAtMost) {
  const TempDir dir;
  fill_with_examples(dir);
  const auto told = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"compare", "instance.json", "--methods", "batch-ada,fast"});
    return run_stowage(arguments, {.directory = dir.path()}).err;
  };
  EXPECT_THAT(
      told({"-t", "2", "--milp-limit", "1"}),
      HasSubstr("limits    1 baseline of at most 60.00s (--baseline-limit), 1 other method of "
                "at most 2.00s: 62.00s in all\n"));
  EXPECT_THAT(told({"-t", "2", "--baseline-limit", "5"}), Not(HasSubstr("limits    ")));
  EXPECT_THAT(told({"--node-limit", "10", "--baseline-limit", "5"}), Not(HasSubstr("limits    ")));
}

}  // namespace
}  // namespace stowage::commands_compare_limits_test
