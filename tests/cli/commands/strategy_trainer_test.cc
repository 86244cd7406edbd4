// stowage verify --trainer: what a trainer refuses of plans of strategies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::commands_strategy_trainer_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class StrategyTrainer : public testing::Test {
 protected:
  StrategyTrainer() {
    const Finished made = run({"generate", "strategy", "--preset", "llama3.2-1b", "--nodes", "1",
                               "--sequences", "32", "--tokens", "4096", "-o", "strategy.json"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    json instance = json::parse(dir_.read("strategy.json"));
    instance["options"]["pipeline_zero"] = 3;  // as no trainer takes it
    instance["options"]["zero"] = {1, 2, 3};
    dir_.write("strategy.json", instance.dump());
  }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }

  TempDir dir_;
};

TEST_F(StrategyTrainer, RefusesAConfigurationThatItDoesNotRun) {
  const std::vector<std::string> asked = {
      "verify", "strategy.json", "--configuration",
      "pp=2,tp=1,dp=4,zero=3,recompute=full,micro_batch_size=1"};
  const Finished any = run(asked);
  EXPECT_EQ(any.exit_code, 0) << any.err;
  std::vector<std::string> of_trainer = asked;
  of_trainer.insert(of_trainer.end(), {"--trainer", "deepspeed"});
  const Finished refused = run(of_trainer);
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("DeepSpeed refuses ZeRO 2 and 3 with pipelines"));
  const json verdict = json::parse(refused.out);
  EXPECT_FALSE(verdict["valid"]);
  ASSERT_FALSE(verdict["violations"].empty());
  EXPECT_EQ(verdict["violations"][0]["rule"], "options");
  // torchtitan keeps parameters gathered in pipelines, and runs ZeRO 2.
  of_trainer[3] = "pp=2,tp=1,dp=4,zero=2,recompute=full,micro_batch_size=1";
  of_trainer.back() = "torchtitan";
  EXPECT_EQ(run(of_trainer).exit_code, 0) << run(of_trainer).err;
  of_trainer[3] = "pp=1,tp=1,dp=8,zero=1,recompute=full,micro_batch_size=1";
  EXPECT_EQ(run(of_trainer).exit_code, 1);
}

TEST_F(StrategyTrainer, TakesPlansOfAllOptionsAndOfThoseThatItLeaves) {
  const std::vector<std::string> solve = {"solve", "strategy.json", "--method",
                                          "fast",  "--trainer",     "megatron"};
  const Finished solved = run(solve);
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  dir_.write("outcome.json", solved.out);
  EXPECT_EQ(run({"verify", "strategy.json", "outcome.json"}).exit_code, 1);  // another instance
  const Finished valid = run({"verify", "strategy.json", "outcome.json", "--trainer", "megatron"});
  EXPECT_EQ(valid.exit_code, 0) << valid.err;
  // A plan of all options, of which the trainer takes each that it has.
  const Finished all = run({"solve", "strategy.json", "--method", "fast"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  dir_.write("all.json", all.out);
  const Finished its = run({"verify", "strategy.json", "all.json", "--trainer", "megatron"});
  const json plan = json::parse(all.out)["plan"];
  const bool taken = plan["pp"] == 1 || plan["stages"][0]["zero"] == 1;
  EXPECT_EQ(its.exit_code, taken ? 0 : 1) << its.err;
}

TEST_F(StrategyTrainer, IsForStrategiesAlone) {
  fill_with_examples(dir_);
  const Finished refused = run({"verify", "instance.json", "plan.json", "--trainer", "deepspeed"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--trainer"));
  EXPECT_EQ(run({"verify", "strategy.json", "plan.json", "--trainer", "horovod"}).exit_code, 2);
}

}  // namespace
}  // namespace stowage::commands_strategy_trainer_test
