// solve: its start plan, and the paths that its output must not have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::commands_solve_test {
namespace {

using ::testing::HasSubstr;

class Solve : public testing::Test {
 protected:
  Solve() {
    fill_with_examples(dir_);
    auto other = nlohmann::json::parse(dir_.read("instance.json"));
    other["lengths"][0] = 99;
    dir_.write("another.json", other.dump());
  }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }

  TempDir dir_;
};

TEST_F(Solve, BeginsWithNoPlanOfAnotherInstance) {
  const Finished foreign = run({"solve", "another.json", "--start", "plan.json", "-t", "1"});
  EXPECT_EQ(foreign.exit_code, 2);
  EXPECT_THAT(foreign.err, HasSubstr("--start: must be a plan of this instance, "));
  EXPECT_EQ(run({"solve", "instance.json", "--start", "plan.json", "-t", "1"}).exit_code, 0);
}

// Other violations would only follow from the wrong instance, one line per sequence.
TEST_F(Solve, APlanOfAnotherInstanceIsOneViolation) {
  const Finished verdict = run({"verify", "another.json", "plan.json"});
  EXPECT_EQ(verdict.exit_code, 1);
  const auto violations = nlohmann::json::parse(verdict.out)["violations"];
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0]["rule"], "instance_hash");
  ASSERT_EQ(run({"generate", "scatter", "--count", "100", "-o", "hundred.json"}).exit_code, 0);
  const Finished shorter = run({"verify", "hundred.json", "plan.json"});
  EXPECT_EQ(nlohmann::json::parse(shorter.out)["violations"].size(), 1U);
}

TEST_F(Solve, DoesNotWriteOverWhatTheInstanceNames) {
  auto listed = nlohmann::json::parse(dir_.read("instance.json"));
  listed["lengths"] = {{"file", "few.txt"}};
  dir_.write("few.txt", "8\n9\n");
  dir_.write("listed.json", listed.dump());
  listed["cost"] = {{"file", "cost.json"}};
  const std::string cost = R"({"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 3})";
  dir_.write("cost.json", cost);
  dir_.write("priced.json", listed.dump());
  std::filesystem::create_symlink("few.txt", dir_ / "link");
  for (const char* output : {"few.txt", "./few.txt", "link", "cost.json"}) {
    const Finished refused = run({"solve", "priced.json", "--method", "fast", "-o", output});
    EXPECT_EQ(refused.exit_code, 2) << output;
    EXPECT_THAT(refused.err, HasSubstr("--output: must be another file"));
  }
  EXPECT_EQ(dir_.read("few.txt"), "8\n9\n");
  EXPECT_EQ(run({"solve", "listed.json", "--method", "fast", "-o", "cost.json"}).exit_code, 0);
  dir_.write("cost.json", cost);
  dir_.write("model.lp", "8\n9\n");
  listed["lengths"] = {{"file", "model.lp"}};
  dir_.write("priced.json", listed.dump());
  EXPECT_THAT(run({"export", "priced.json", "-o", "model.lp"}).err,
              HasSubstr("--output: must be another file"));
  ASSERT_EQ(run({"solve", "priced.json", "--method", "fast", "-o", "own.json"}).exit_code, 0);
  EXPECT_THAT(run({"convert", "priced.json", "model.lp", "--plan", "own.json"}).err,
              HasSubstr("OUT: must be another file"));
  EXPECT_EQ(dir_.read("model.lp"), "8\n9\n");
}

TEST_F(Solve, CountsOneOfAThingAsOne) {
  auto one = nlohmann::json::parse(dir_.read("instance.json"));
  one["lengths"] = {8};
  dir_.write("one.json", one.dump());
  EXPECT_THAT(run({"solve", "one.json", "--method", "fast"}).err,
              HasSubstr("   1 sequence, 8 tokens, 4 devices\n"));
  EXPECT_THAT(run({"export", "one.json", "--slots", "1", "-o", "one.lp"}).err,
              HasSubstr("at most 1 micro-batch  -> one.lp\n"));
}

}  // namespace
}  // namespace stowage::commands_solve_test
