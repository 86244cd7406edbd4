// The files of a stream: what is planned once, resumed after an interrupt, and planned anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/commands/plan_stream_command.h"

namespace stowage::commands_plan_stream_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::ptrdiff_t files_in(const std::filesystem::path& directory) {
  return std::distance(std::filesystem::directory_iterator(directory), {});
}

TEST_F(PlanStreamCommand, ResumesWhereItEnded) {
  const Finished whole = eight({});
  const Finished begin = eight({"--steps", "3"});
  const Finished rest = eight({"--from", "3"});
  EXPECT_EQ(begin.out + rest.out, whole.out);
  const Finished beyond = eight({"--from", "9"});
  EXPECT_EQ(beyond.exit_code, 0);
  EXPECT_EQ(beyond.out, "");
  EXPECT_THAT(beyond.err, HasSubstr("the stream has 8 steps, none from --from 9 on"));
}

TEST_F(PlanStreamCommand, FilesAreOnePerStepAndNotPlannedTwice) {
  ASSERT_EQ(eight({"-o", "plans", "--shard", "1/2"}).exit_code, 0);
  const auto before = std::filesystem::last_write_time(dir_ / "plans/00000003.json");
  const Finished rest = eight({"-o", "plans"});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("end  4 steps"));
  EXPECT_THAT(rest.err, HasSubstr("4 had their plan already"));
  EXPECT_THAT(rest.out, IsEmpty());
  EXPECT_EQ(std::filesystem::last_write_time(dir_ / "plans/00000003.json"), before);
  const auto line = nlohmann::json::parse(lines_of(eight({}).out)[6]);
  EXPECT_EQ(nlohmann::json::parse(dir_.read("plans/00000006.json")), line["plan"]);
}

TEST_F(PlanStreamCommand, ADirectoryHoldsPlansOfOneStreamOnly) {
  ASSERT_EQ(eight({"-o", "plans", "--steps", "3"}).exit_code, 0);
  const std::string first = dir_.read("plans/00000000.json");
  const Finished other =
      run({"lengths.txt", "--batch-size", "4", "--devices", "16", "-o", "plans"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("plans/00000000.json: must be the plan of step 0"));
  EXPECT_EQ(dir_.read("plans/00000000.json"), first);
  dir_.write("plans/00000003.json", "{");
  const Finished broken = eight({"-o", "plans"});
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, HasSubstr("plans/00000003.json: must be the plan of step 3"));
  EXPECT_EQ(dir_.read("plans/00000003.json"), "{");
}

TEST_F(PlanStreamCommand, ATrainerFindsEachStepBesideItsPlan) {
  ASSERT_EQ(eight({"-o", "plans", "--steps", "1"}).exit_code, 0);  // without the flag at first
  ASSERT_EQ(eight({"-o", "plans", "--steps", "2", "--trainer", "bin"}).exit_code, 0);
  ASSERT_EQ(eight({"-o", "text", "--steps", "2", "--trainer", "json"}).exit_code, 0);
  const RunOptions here{.directory = dir_.path()};
  ASSERT_EQ(run_stowage({"convert", "plans/00000001.trainer.bin", "back.json"}, here).exit_code, 0);
  EXPECT_EQ(dir_.read("back.json"), dir_.read("text/00000001.trainer.json"));
  EXPECT_EQ(files_in(dir_ / "plans"), 6);  // including the outcomes with their certificates
}

// Reading a pipe would wait forever.
TEST_F(PlanStreamCommand, APipeInTheDirectoryIsNoPlan) {
  ASSERT_EQ(eight({"-o", "plans", "--steps", "1"}).exit_code, 0);
  ASSERT_EQ(mkfifo((dir_ / "plans/00000001.json").c_str(), 0600), 0);
  const Finished broken = eight({"-o", "plans"});
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, HasSubstr("plans/00000001.json: must be a file for a plan, is a pipe"));
}

TEST_F(PlanStreamCommand, WhatIsRefusedLeavesNoDirectory) {
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"missing.txt", "--batch-size", "3", "--devices", "16"},
           {".", "--batch-size", "3", "--devices", "16"},
           {"lengths.txt", "--batch-size", "3", "--devices", "1", "--pad-multiple", "1073741824",
            "--above-limit", "clip"}}) {
    std::vector<std::string> arguments = wrong;
    arguments.insert(arguments.end(), {"-o", "fresh"});
    EXPECT_EQ(run(arguments).exit_code, 2) << testing::PrintToString(wrong);
    EXPECT_FALSE(std::filesystem::exists(dir_ / "fresh")) << testing::PrintToString(wrong);
  }
}

TEST_F(PlanStreamCommand, AfterCtrlCItSaysWhereToGoOn) {
  std::string steps;
  for (int i = 0; i < 100000; ++i) steps += "[100, 64, 80, 8, 16, 24, 70, 60, 50, 40, 30, 12]\n";
  dir_.write("many.jsonl", steps);
  Child child({"plan-stream", "many.jsonl", "--instance", "instance.json", "-o", "plans",
               "--progress", "always"},
              {.directory = dir_.path()});
  ASSERT_TRUE(child.wait_for_err("step"));
  child.send(SIGINT);
  const Finished run_ = child.finish();
  EXPECT_EQ(run_.exit_code, 3) << run_.err;
  const std::size_t at = run_.err.find("go on with --from ");
  ASSERT_NE(at, std::string::npos) << run_.err;
  EXPECT_EQ(std::to_string(files_in(dir_ / "plans")),
            run_.err.substr(at + 18, run_.err.find('\n', at) - at - 18));
}

// A stream that stays open, like that of a training job between steps.
class OpenStream : public PlanStreamCommand, public testing::WithParamInterface<int> {
 protected:
  OpenStream() { EXPECT_EQ(mkfifo((dir_ / "steps").c_str(), 0600), 0); }

  // Returns the command's output after a signal, while the stream stays open.
  Finished after_signal(Child& child, std::ofstream& steps) const {
    child.send(GetParam());
    auto end = std::async(std::launch::async, [&child] { return child.finish(); });
    EXPECT_EQ(end.wait_for(std::chrono::minutes(2)), std::future_status::ready);
    steps.close();
    return end.get();
  }
};

TEST_P(OpenStream, EndsAtASignalWithWhatIsPlanned) {
  Child child({"plan-stream", "steps", "--devices", "16", "-o", "plans"},
              {.directory = dir_.path()});
  std::ofstream steps(dir_ / "steps");
  steps << "[608, 1040]\n[608, 10" << std::flush;  // the second line is incomplete
  const auto late = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!std::filesystem::exists(dir_ / "plans/00000000.json") &&
         std::chrono::steady_clock::now() < late) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const Finished run_ = after_signal(child, steps);
  EXPECT_EQ(run_.exit_code, 3) << run_.err;
  EXPECT_THAT(run_.err, HasSubstr("interrupted  1 step "));
  EXPECT_THAT(run_.err, HasSubstr("go on with --from 1\n"));
  EXPECT_EQ(plans_in(dir_ / "plans"), 1);
}

TEST_P(OpenStream, EndsAtASignalBeforeTheFirstStep) {
  Child child({"plan-stream", "steps", "--devices", "16", "--from", "1000", "-o", "plans"},
              {.directory = dir_.path()});
  std::ofstream steps(dir_ / "steps");
  for (int i = 0; i < 100; ++i) steps << "[608, 1040]\n";
  steps << std::flush;
  ASSERT_TRUE(child.wait_for_err("stream    scatter"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const Finished run_ = after_signal(child, steps);
  EXPECT_EQ(run_.exit_code, 3) << run_.err;
  EXPECT_THAT(run_.err, HasSubstr("go on with --from 1000\n"));
}

INSTANTIATE_TEST_SUITE_P(Cli, OpenStream, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGXCPU),
                         [](const auto& each) { return sigabbrev_np(each.param); });

TEST_F(PlanStreamCommand, PlansAnewWhatIsInvalid) {
  ASSERT_EQ(eight({"-o", "plans"}).exit_code, 0);
  const std::string good = dir_.read("plans/00000003.json");
  auto plan = nlohmann::json::parse(good);
  plan["objective_ms"] = 1;
  dir_.write("plans/00000003.json", plan.dump());
  const Finished again = eight({"-o", "plans"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("end  1 step "));
  EXPECT_THAT(again.err, HasSubstr("7 had their plan already"));
  EXPECT_THAT(again.err, HasSubstr("warning: plans/00000003.json: "));
  EXPECT_EQ(dir_.read("plans/00000003.json"), good);
}

TEST_F(PlanStreamCommand, APlanThatCannotBeReadIsNotMissing) {
  ASSERT_EQ(eight({"-o", "plans"}).exit_code, 0);
  std::filesystem::remove(dir_ / "plans/00000003.json");
  std::filesystem::create_symlink("00000003.json", dir_ / "plans/00000003.json");
  const Finished again = eight({"-o", "plans"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("plans/00000003.json: cannot be read: Too many levels of"));
}

}  // namespace
}  // namespace stowage::commands_plan_stream_test
