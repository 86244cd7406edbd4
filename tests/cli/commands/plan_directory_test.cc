// Directories of plans: the trainer's file beside a plan always belongs to that plan, and a valid
// plan is never planned again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::commands_plan_directory_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPlan[] = "plans/00000003.json";
constexpr char kBinary[] = "plans/00000003.trainer.bin";
constexpr char kJson[] = "plans/00000003.trainer.json";

class PlanDirectory : public testing::Test {
 protected:
  PlanDirectory() { fill_with_examples(dir_); }

  // Plans the 64 lengths of lengths.txt as steps of `sequences` sequences.
  Finished steps_of(const char* sequences, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"plan-stream", "lengths.txt", "--batch-size", sequences,
                                          "--devices",   "16",          "-o",           "plans"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_stowage(arguments, {.directory = dir_.path()});
  }
  Finished eight(const std::vector<std::string>& more) const { return steps_of("8", more); }
  // Plans steps with more sequences than the verifier's exhaustive search takes.
  Finished four() const { return steps_of("16", {}); }

  void begin(const std::vector<std::string>& more) const {
    const Finished first = eight(more);
    ASSERT_EQ(first.exit_code, 0) << first.err;
    ASSERT_THAT(first.err, Not(HasSubstr("warning")));
  }

  // Expects that the trainer's file of a plan equals a conversion of the plan.
  void expect_trainer_of_plan(const char* file) const {
    const RunOptions here{.directory = dir_.path()};
    ASSERT_EQ(run_stowage({"generate", "scatter", "--lengths", "lengths.txt", "--count", "8",
                           "--step", "3", "--devices", "16", "-o", "step.json"},
                          here)
                  .exit_code,
              0);
    auto step = nlohmann::json::parse(dir_.read("step.json"));
    const RunOptions one{.input = dir_.read(kPlan), .directory = dir_.path()};
    step["name"] = "gpt-7b-16gpu-192k-3";  // the name of the step in a stream
    dir_.write("step.json", step.dump());
    const std::string made = std::string(file).ends_with(".bin") ? "made.bin" : "made.json";
    const Finished converted = run_stowage({"convert", "step.json", made, "--plan", "-"}, one);
    ASSERT_EQ(converted.exit_code, 0) << converted.err;
    EXPECT_EQ(dir_.read(file), dir_.read(made));
  }

  TempDir dir_;
};

TEST_F(PlanDirectory, AMissingTrainerIsMadeOfThePlanThatIsThere) {
  begin({"--method", "batch-ada"});
  const std::string plan = dir_.read(kPlan);
  const auto before = std::filesystem::last_write_time(dir_ / kPlan);
  // another method than that of the stored plans
  const Finished again = eight({"--trainer", "bin"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("end  0 steps"));
  EXPECT_THAT(again.err, HasSubstr("8 had their plan already"));
  EXPECT_THAT(again.err, HasSubstr("warning: plans/00000000.trainer.bin: was missing or not of its "
                                   "plan, as 7 more, and is written from it"));
  EXPECT_EQ(std::filesystem::last_write_time(dir_ / kPlan), before);
  EXPECT_EQ(dir_.read(kPlan), plan);
  expect_trainer_of_plan(kBinary);
}

TEST_F(PlanDirectory, ATrainerOfAnotherPlanIsWrittenAnew) {
  begin({"--trainer", "bin"});
  const std::string good = dir_.read(kBinary);
  std::string changed = good;  // same length, different content
  changed.back() = static_cast<char>(changed.back() ^ 1);
  for (const std::string& wrong : {good.substr(0, good.size() / 2), std::string(), changed,
                                   good + '\n', dir_.read("plans/00000004.trainer.bin")}) {
    dir_.write(kBinary, wrong);
    const Finished again = eight({"--trainer", "bin"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("end  0 steps"));
    EXPECT_THAT(again.err, HasSubstr("warning: plans/00000003.trainer.bin: was missing or not of "
                                     "its plan, and is written from it\n"));
    EXPECT_EQ(dir_.read(kBinary), good);
  }
  const auto before = std::filesystem::last_write_time(dir_ / kBinary);
  EXPECT_THAT(eight({"--trainer", "bin"}).err, Not(HasSubstr("warning")));
  EXPECT_EQ(std::filesystem::last_write_time(dir_ / kBinary), before);
}

TEST_F(PlanDirectory, ATrainerOfTheOtherFormatStaysThatOfThePlan) {
  begin({"--trainer", "json"});
  // A step is planned again by another method, once because its plan is missing and once because it
  // is invalid. No message mentions trainers.
  for (const std::vector<std::string>& trainer :
       {std::vector<std::string>{"--trainer", "bin"}, std::vector<std::string>{}}) {
    const std::string plan = dir_.read(kPlan);
    const std::string stale = dir_.read(kJson);
    if (trainer.empty()) {
      auto invalid = nlohmann::json::parse(plan);
      invalid["objective_ms"] = 1;
      dir_.write(kPlan, invalid.dump());
    } else {
      std::filesystem::remove(dir_ / kPlan);
    }
    std::vector<std::string> more = {"--method", trainer.empty() ? "fast" : "batch-ada"};
    more.insert(more.end(), trainer.begin(), trainer.end());
    const Finished again = eight(more);
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_NE(dir_.read(kPlan), plan);
    EXPECT_NE(dir_.read(kJson), stale);
    expect_trainer_of_plan(kJson);
    expect_trainer_of_plan(kBinary);
  }
}

TEST_F(PlanDirectory, AStaleTrainerBesideAValidPlanIsFoundWhateverIsAskedFor) {
  begin({"--trainer", "json"});
  dir_.write(kJson, dir_.read("plans/00000004.trainer.json"));
  const Finished again = eight({});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("warning: plans/00000003.trainer.json: was missing or not of"));
  expect_trainer_of_plan(kJson);
  EXPECT_FALSE(std::filesystem::exists(dir_ / kBinary));
}

TEST_F(PlanDirectory, ATrainerThatCannotBeWrittenIsNamed) {
  begin({});
  std::filesystem::create_directory(dir_ / kBinary);
  const Finished again = eight({"--trainer", "bin"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err,
              HasSubstr("plans/00000003.trainer.bin: cannot be written: Is a directory"));
  std::filesystem::remove(dir_ / kBinary);
  std::filesystem::create_symlink("00000003.trainer.bin", dir_ / kBinary);
  const Finished loop = eight({"--trainer", "bin"});
  EXPECT_EQ(loop.exit_code, 2);
  EXPECT_THAT(loop.err,
              HasSubstr("plans/00000003.trainer.bin: cannot be read: Too many levels of"));
}

// A plan whose bound is not confirmed by a closed form or a certificate is planned again, for every
// name of the bound; the bytes equal the first run's. A bound reported by a backend is kept, and
// the output says that it is not proven.
TEST_F(PlanDirectory, AFalsifiedBoundIsNotKept) {
  ASSERT_EQ(four().exit_code, 0);
  const std::string honest = dir_.read(kPlan);
  const auto resume = [&](const char* bound_by) {
    auto plan = nlohmann::json::parse(honest);
    plan["bound_ms"] = plan["objective_ms"];
    plan["bound_by"] = bound_by;
    dir_.write(kPlan, plan.dump());
    return four();
  };
  ASSERT_NE(nlohmann::json::parse(honest)["bound_ms"],
            nlohmann::json::parse(honest)["objective_ms"]);
  for (const char* name : {"step-lp", "profile", "area", "longest", "oracle"}) {
    const Finished again = resume(name);
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr(std::string(kPlan) + ": is invalid")) << name;
    EXPECT_EQ(dir_.read(kPlan), honest) << name;
  }
  const Finished said = resume("milp-cbc");
  EXPECT_THAT(said.err, HasSubstr(std::string(kPlan) + ": has a bound that is not proven"));
  EXPECT_NE(dir_.read(kPlan), honest);
}

// An unchanged run is resumed without a message, including its certificates.
TEST_F(PlanDirectory, AnHonestBoundIsKept) {
  ASSERT_EQ(four().exit_code, 0);
  const Finished again = four();
  EXPECT_THAT(again.err, HasSubstr("4 had their plan already"));
  EXPECT_THAT(again.err, Not(HasSubstr("warning")));
  // A bound that needs a certificate counts as false without it.
  std::size_t outcomes = 0;
  for (const auto& file : std::filesystem::directory_iterator(dir_ / "plans")) {
    if (!file.path().string().ends_with(".outcome.json")) continue;
    ++outcomes;
    std::filesystem::remove(file.path());
  }
  ASSERT_GT(outcomes, 0U);
  const Finished planned = four();
  EXPECT_THAT(planned.err, HasSubstr("is planned anew"));
  EXPECT_THAT(four().err, HasSubstr("4 had their plan already"));
}

}  // namespace
}  // namespace stowage::commands_plan_directory_test
