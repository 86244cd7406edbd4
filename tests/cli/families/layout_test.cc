// The commands on layouts: from a table to a verified plan and back, and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::families_layout_test {
namespace {

using ::testing::HasSubstr;

class Layout : public testing::Test {
 protected:
  Layout() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments, RunOptions options = {}) const {
    options.directory = dir_.path();
    return run_stowage(arguments, options);
  }
  nlohmann::json answer(const std::vector<std::string>& arguments, int exit_code = 0) const {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    return nlohmann::json::parse(finished.out);
  }

  TempDir dir_;
};

TEST_F(Layout, FromATableToAProvenPlanAndBack) {
  ASSERT_EQ(run({"convert", "buffers.1048576.csv", "layout.json"}).exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(dir_.read("layout.json"))["capacity_bytes"], 1048576);

  const auto outcome = answer({"solve", "layout.json", "-o", "layout-plan.json"});
  EXPECT_EQ(outcome["status"], "optimal");
  EXPECT_EQ(outcome["objective_bytes"], 12);
  EXPECT_EQ(outcome["bound_bytes"], 12);
  EXPECT_TRUE(outcome["objective_bytes"].is_number_integer());
  EXPECT_FALSE(outcome.contains("objective_ms"));

  const auto verdict = answer({"verify", "layout.json", "layout-plan.json"});
  EXPECT_EQ(verdict["valid"], true);
  EXPECT_EQ(verdict["bound_bytes"], 12);
  EXPECT_EQ(verdict["bound_by"], "chain");

  const Finished table =
      run({"convert", "layout.json", "pinned.csv", "--plan", "layout-plan.json"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.err, HasSubstr("no room for the capacity"));
  EXPECT_THAT(dir_.read("pinned.csv"), HasSubstr("id,lower,upper,size,offset\nb1,0,3,4,"));
  ASSERT_EQ(run({"convert", "pinned.csv", "pinned.json"}).exit_code, 0);
  EXPECT_EQ(answer({"solve", "pinned.json"})["objective_bytes"], 12);
}

TEST_F(Layout, EveryMethodIsCompared) {
  ASSERT_EQ(run({"convert", "buffers.1048576.csv", "layout.json"}).exit_code, 0);
  const Finished table = run({"compare", "layout.json", "-t", "1", "--format", "table"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("best bytes"));
  EXPECT_THAT(table.out, HasSubstr("greedy-size"));
  EXPECT_THAT(table.out, testing::Not(HasSubstr("micro-batches")));
}

TEST_F(Layout, WithoutRoomItSaysWhenAndWho) {
  ASSERT_EQ(run({"convert", "buffers.1048576.csv", "small.json", "--capacity", "11"}).exit_code, 0);
  const Finished solved = run({"solve", "small.json"});
  EXPECT_EQ(solved.exit_code, 1);
  const auto outcome = nlohmann::json::parse(solved.out);
  EXPECT_EQ(outcome["status"], "infeasible");
  EXPECT_THAT(solved.err, HasSubstr("12"));
  EXPECT_THAT(std::string(outcome["detail"]), HasSubstr("11"));
}

TEST_F(Layout, PlansOfOtherProblemsAreRefused) {
  ASSERT_EQ(run({"convert", "buffers.1048576.csv", "layout.json"}).exit_code, 0);
  const Finished verified = run({"verify", "layout.json", "plan.json"});
  EXPECT_EQ(verified.exit_code, 2);
  EXPECT_THAT(verified.err,
              HasSubstr("plan.json: E209 /problem: must be \"layout\" like the instance's, is "
                        "\"scatter\""));
  EXPECT_EQ(run({"solve", "layout.json", "--start", "plan.json"}).exit_code, 2);
  EXPECT_EQ(run({"plan-stream", "-", "--instance", "layout.json"}).exit_code, 2);
}

TEST_F(Layout, FlagsWithoutEffectAreRefused) {
  const auto expect_refused = [this](std::vector<std::string> arguments, const char* why) {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(why));
  };
  expect_refused({"convert", "buffers.1048576.csv", "x.json", "--devices", "4"}, "--preset: ");
  expect_refused({"convert", "lengths.txt", "x.json", "--capacity", "4"}, "--capacity: ");
  expect_refused({"convert", "buffers.1048576.csv", "x.json", "--plan", "plan.json"}, "--plan: ");
  expect_refused({"convert", "instance.json", "x.csv"}, "instance.json: E209 /problem: must be");
  expect_refused({"generate", "layout", "--seed", "4"}, "--seed: has no effect with --kind trace");
  expect_refused({"generate", "layout", "--kind", "random", "--ranks", "4"}, "--ranks: has no");
  expect_refused({"generate", "layout", "--tokens", "many"},
                 "--tokens: must be 1 to 9007199254740 tokens");
  expect_refused({"generate", "layout", "--tokens", "100", "--ranks", "3"}, "--ranks: must divide");
  expect_refused({"generate", "layout", "--from-kernels", "--model", "gpt-7b"},
                 "--model: has no effect with --from-kernels");
  expect_refused({"generate", "layout", "--from-kernels", "--kind", "trace"},
                 "--kind: has no effect with --from-kernels");
  expect_refused({"generate", "layout", "--ffn", "8"}, "--ffn: has no effect with --kind trace");
  expect_refused({"generate", "layout", "--from-kernels", "--lengths", "4,x"},
                 "--lengths: must be");
  expect_refused({"generate", "layout", "--from-kernels", "--heads", "4", "--kv-heads", "3"},
                 "--kv-heads: must divide the heads, 4, is 3");
  expect_refused({"run", "layout.json", "layout-plan.json", "--work", "1"},
                 "--work: has no effect on a layout");
  expect_refused({"run", "layout.json", "layout-plan.json", "--max-ranks", "1"}, "--max-ranks: ");
  expect_refused({"run", "layout.json", "layout-plan.json", "--threads", "2"},
                 "--threads: has no effect on a layout");
}

TEST_F(Layout, RunNamesTheInstructionSetsOfTheMachine) {
  setenv("STOWAGE_ISA", "v9", 1);
  const Finished finished = run({"run", "layout.json", "layout-plan.json"});
  unsetenv("STOWAGE_ISA");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("STOWAGE_ISA: must be "));
  EXPECT_THAT(finished.err, HasSubstr("on this machine, is v9"));
}

// Six blocks and a seventh of three layers are recorded, planned, and run at the planned offsets.
TEST_F(Layout, RecordedBlocksRunInTheirPlannedMemory) {
  const std::vector<std::vector<std::string>> shapes = {
      {},
      {"--lengths", "65,1,130"},
      {"--lengths", "64", "--heads", "4", "--kv-heads", "1"},
      {"--lengths", "33,1,20", "--hidden", "48", "--heads", "6", "--kv-heads", "3", "--head-dim",
       "10", "--ffn", "70"},
      {"--lengths", "90", "--hidden", "128", "--heads", "4", "--head-dim", "32", "--ffn", "300"},
      {"--lengths", "5", "--hidden", "7", "--heads", "1", "--head-dim", "2", "--ffn", "3"},
      {"--lengths", "17,40", "--layers", "3", "--alignment", "256"}};
  for (const std::vector<std::string>& shape : shapes) {
    SCOPED_TRACE(testing::PrintToString(shape));
    std::vector<std::string> make = {"generate", "layout", "--from-kernels", "-o", "block.json"};
    make.insert(make.end(), shape.begin(), shape.end());
    const Finished made = run(make);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const auto outcome =
        answer({"solve", "block.json", "-o", "block-plan.json", "--node-limit", "10000"});
    const auto executed = answer({"run", "block.json", "block-plan.json", "--timeless"});
    EXPECT_EQ(executed["format"], "stowage/execution");
    EXPECT_EQ(executed["problem"], "layout");
    EXPECT_EQ(executed["executed"], "block");
    EXPECT_EQ(executed["passed"], true);
    EXPECT_EQ(executed["complete"], true);
    EXPECT_EQ(executed["peak_bytes"], outcome["objective_bytes"]);
    EXPECT_EQ(executed["high_water_bytes"], executed["peak_bytes"]);
    EXPECT_LT(executed["peak_bytes"], executed["separate_bytes"]);
    EXPECT_EQ(executed["weight_gradient"]["differing"], 0);
    EXPECT_GT(executed["weight_gradient"]["compared"], 0);
    EXPECT_GT(executed["canary_bytes_checked"], 0);
  }
}

TEST_F(Layout, OtherLayoutsAreExercised) {
  const auto executed = answer({"run", "layout.json", "layout-plan.json"});
  EXPECT_EQ(executed["executed"], "exercise");
  EXPECT_EQ(executed["passed"], true);
  EXPECT_EQ(executed["scale"], 1);
  EXPECT_EQ(executed["fillings"], 5);
  EXPECT_EQ(executed["peak_bytes"], 12);
  EXPECT_EQ(executed["high_water_bytes"], 12);

  ASSERT_EQ(run({"generate", "layout", "--tokens", "128k", "--layers", "2", "-o", "trace.json"})
                .exit_code,
            0);
  ASSERT_EQ(run({"solve", "trace.json", "-o", "trace-plan.json"}).exit_code, 0);
  const auto large = answer({"run", "trace.json", "trace-plan.json", "--scale", "4096"});
  EXPECT_EQ(large["passed"], true);
  EXPECT_EQ(large["scale"], 4096);
  EXPECT_EQ(large["high_water_bytes"], large["peak_bytes"]);
  EXPECT_LT(large["arena_bytes"], large["peak_bytes"]);
  EXPECT_EQ(run({"run", "trace.json", "trace-plan.json", "-t", "0"}).exit_code, 3);
}

TEST_F(Layout, APlanThatOverlapsIsNotRun) {
  auto plan = nlohmann::json::parse(dir_.read("layout-plan.json"));
  plan["offsets"][0] = plan["offsets"][2];
  dir_.write("broken.json", plan.dump());
  const Finished refused = run({"run", "layout.json", "broken.json"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("violation overlap at /offsets"));
  EXPECT_THAT(refused.err, HasSubstr("was not executed"));
}

TEST_F(Layout, ABlockThatIsNotItsBuffersIsRefused) {
  ASSERT_EQ(
      run({"generate", "layout", "--from-kernels", "--lengths", "9", "-o", "b.json"}).exit_code, 0);
  auto block = nlohmann::json::parse(dir_.read("b.json"));
  block["recorded_from"]["lengths"] = {8};
  dir_.write("b.json", block.dump());
  ASSERT_EQ(run({"solve", "b.json", "-o", "b-plan.json"}).exit_code, 0);
  const Finished refused = run({"run", "b.json", "b-plan.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("b.json: E337 /recorded_from: must describe the block"));
}

TEST_F(Layout, GeneratedOnesSolveToTheirOptimum) {
  ASSERT_EQ(run({"generate", "layout", "--kind", "guillotine", "--buffers", "60", "--bytes", "4096",
                 "-o", "cut.json"})
                .exit_code,
            0);
  EXPECT_EQ(answer({"solve", "cut.json", "--node-limit", "1000000"})["objective_bytes"], 4096);
  ASSERT_EQ(run({"generate", "layout", "--one-layer", "-o", "layer.json"}).exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(dir_.read("layer.json"))["buffers"].size(), 41U);
  EXPECT_EQ(answer({"solve", "layer.json"})["status"], "optimal");
}

}  // namespace
}  // namespace stowage::families_layout_test
