// plan-stream: lines in order, complete shares, resuming, and errors of steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/commands/stream/shard.h"
#include "tests/cli/commands/plan_stream_command.h"

namespace stowage::commands_plan_stream_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(PlanStreamCommand, GivesALineAStepInOrderWhateverTheThreads) {
  const Finished alone = eight({});
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const std::vector<std::string> lines = lines_of(alone.out);
  ASSERT_EQ(lines.size(), 8U);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = nlohmann::json::parse(lines[i]);
    EXPECT_EQ(line["format"], "stowage/step");
    EXPECT_EQ(line["step"], i);
    EXPECT_EQ(line["plan"]["format"], "stowage/plan");
    EXPECT_GE(line["objective_ms"], line["bound_ms"]);
  }
  EXPECT_EQ(eight({"--threads", "3"}).out, alone.out);
  EXPECT_THAT(alone.err, HasSubstr("steps/s"));
  EXPECT_EQ(eight({"--timeless"}).err, eight({"--timeless", "--threads", "2"}).err);
}

TEST_F(PlanStreamCommand, APlanIsThatOfTheStepAlone) {
  const Finished stream = eight({"--from", "3", "--steps", "1"});
  ASSERT_EQ(run_stowage({"generate", "scatter", "--lengths", "lengths.txt", "--count", "8",
                         "--step", "3", "--devices", "16", "-o", "step.json"},
                        {.directory = dir_.path()})
                .exit_code,
            0);
  dir_.write("one.json", nlohmann::json::parse(stream.out)["plan"].dump());
  const Finished verdict =
      run_stowage({"verify", "step.json", "one.json"}, {.directory = dir_.path()});
  EXPECT_EQ(verdict.exit_code, 0) << verdict.err;
}

// Offload and mixed micro-batches are those of generate and convert, with the same flags.
TEST_F(PlanStreamCommand, StepsMayOffloadAndMixRows) {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--offload", "24"}, {"--mixed", "0.5", "--degrees", "local-or-sharded"}}) {
    std::vector<std::string> make = {"generate",  "scatter", "--lengths", "lengths.txt",
                                     "--count",   "8",       "--step",    "3",
                                     "--devices", "16",      "-o",        "step.json"};
    make.insert(make.end(), flags.begin(), flags.end());
    ASSERT_EQ(run_stowage(make, {.directory = dir_.path()}).exit_code, 0);
    std::vector<std::string> range = {"--from", "3", "--steps", "1"};
    range.insert(range.end(), flags.begin(), flags.end());
    const Finished stream = eight(range);
    ASSERT_EQ(stream.exit_code, 0) << stream.err;
    dir_.write("one.json", nlohmann::json::parse(stream.out)["plan"].dump());
    EXPECT_EQ(
        run_stowage({"verify", "step.json", "one.json"}, {.directory = dir_.path()}).exit_code, 0)
        << flags.front();
    std::vector<std::string> convert = {"convert", "lengths.txt", "all.json", "--devices", "16"};
    convert.insert(convert.end(), flags.begin(), flags.end());
    ASSERT_EQ(run_stowage(convert, {.directory = dir_.path()}).exit_code, 0);
    const auto made = nlohmann::json::parse(dir_.read("step.json"));
    const auto all = nlohmann::json::parse(dir_.read("all.json"));
    EXPECT_EQ(made["model"], all["model"]);
    EXPECT_EQ(made.contains("mixed"), all.contains("mixed"));
  }
  EXPECT_THAT(eight({"--mixed", "0.5"}).err, HasSubstr("--mixed: must stand beside the degrees"));
}

TEST_F(PlanStreamCommand, SharesMakeTheWhole) {
  std::vector<std::string> together;
  for (const char* shard : {"0/3", "1/3", "2/3"}) {
    for (const std::string& line : lines_of(eight({"--shard", shard}).out)) {
      together.push_back(line);
    }
  }
  std::vector<std::string> whole = lines_of(eight({}).out);
  std::ranges::sort(together);
  std::ranges::sort(whole);
  EXPECT_EQ(together, whole);
}

TEST_F(PlanStreamCommand, TheEnvironmentNamesTheShare) {
  const std::string first = eight({"--shard", "1/4"}).out;
  const Finished mpi =
      eight({}, {.environment = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}}});
  EXPECT_EQ(mpi.out, first);
  EXPECT_THAT(mpi.err, HasSubstr("shard 1/4 by OMPI_COMM_WORLD_RANK"));
  EXPECT_EQ(eight({}, {.environment = {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}}).out, first);
  const std::vector<std::pair<std::string, std::string>> array = {{"SLURM_ARRAY_TASK_ID", "12"},
                                                                  {"SLURM_ARRAY_TASK_MIN", "10"},
                                                                  {"SLURM_ARRAY_TASK_STEP", "2"},
                                                                  {"SLURM_ARRAY_TASK_COUNT", "4"}};
  EXPECT_EQ(eight({}, {.environment = array}).out, first);
  auto nested = array;
  nested.insert(nested.end(), {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  EXPECT_EQ(eight({}, {.environment = nested}).out, eight({"--shard", "3/8"}).out);
  EXPECT_EQ(eight({"--shard", "1/4"}, {.environment = nested}).out, first);
  const Finished half = eight({}, {.environment = {{"OMPI_COMM_WORLD_RANK", "1"}}});
  EXPECT_EQ(half.exit_code, 2);
  EXPECT_THAT(half.err, HasSubstr("OMPI_COMM_WORLD_SIZE: must be a number of ranks, is missing"));
}

TEST(Shard, IsAFractionBelowOne) {
  EXPECT_EQ(parse_shard("3/8"), (Shard{.index = 3, .count = 8}));
  for (const char* wrong : {"8/8", "-1/8", "3", "3/", "/8", "0/0", "3/8/2", "a/b", " 3/8"}) {
    EXPECT_EQ(parse_shard(wrong), std::nullopt) << wrong;
  }
}

// A training job writes the lengths of a batch and waits for its plan before it continues.
TEST_F(PlanStreamCommand, AnswersBeforeTheNextStepIsGiven) {
  const std::filesystem::path pipe = dir_ / "steps";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Child child({"plan-stream", "steps", "--devices", "16", "-o", "plans"},
              {.directory = dir_.path()});
  std::ofstream steps(pipe);
  for (const char* plan : {"plans/00000000.json", "plans/00000001.json"}) {
    steps << "[608, 1040]" << std::endl;
    const auto late = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (!std::filesystem::exists(dir_ / plan) && std::chrono::steady_clock::now() < late) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(std::filesystem::exists(dir_ / plan));
  }
  steps.close();
  const Finished run_ = child.finish();
  EXPECT_EQ(run_.exit_code, 0) << run_.err;
}

TEST_F(PlanStreamCommand, AStepWithoutAPlanDoesNotEndTheStream) {
  const RunOptions input{.input = "[8, 9]\n[8, 400]\n{\"lengths\": [10]}\n"};
  const Finished run_ = run({"-", "--instance", "instance.json"}, input);
  EXPECT_EQ(run_.exit_code, 1);
  std::vector<std::string> statuses;
  for (const std::string& line : lines_of(run_.out)) {
    statuses.push_back(nlohmann::json::parse(line)["status"]);
  }
  EXPECT_THAT(statuses, ElementsAre("optimal", "infeasible", "optimal"));
  EXPECT_THAT(run_.err, HasSubstr("step 1: sequence 1 has 400 tokens"));
  const Finished clipped =
      run({"-", "--instance", "instance.json", "--above-limit", "clip"}, input);
  EXPECT_EQ(clipped.exit_code, 0);
  EXPECT_THAT(clipped.err, HasSubstr("1 sequence was too long and is clipped"));
}

// The invalid step has its line, the following steps are planned, and the exit code reports the
// error.
TEST_F(PlanStreamCommand, AStepThatCannotBeReadDoesNotEndTheStream) {
  const RunOptions input{.input = "[8, 9]\n{\"id\": 7, \"lengths\": [100, -3, 0]}\n[10]\n"};
  const Finished alone = run({"-", "--devices", "16"}, input);
  EXPECT_EQ(alone.exit_code, 2);
  const std::vector<std::string> lines = lines_of(alone.out);
  ASSERT_EQ(lines.size(), 3U) << alone.err;
  const auto bad = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(bad["step"], 1);
  EXPECT_EQ(bad["id"], 7);
  EXPECT_EQ(bad["status"], "error");
  EXPECT_EQ(bad["error"]["code"], "E205");
  EXPECT_EQ(bad["error"]["pointer"], "/lengths/1");
  EXPECT_EQ(bad["more_errors"], 1);
  EXPECT_EQ(bad["plan"], nullptr);
  EXPECT_EQ(bad["bound_ms"], nullptr);
  const auto behind = nlohmann::json::parse(lines[2]);
  EXPECT_EQ(behind["step"], 2);
  EXPECT_EQ(behind["plan"]["format"], "stowage/plan");
  EXPECT_THAT(alone.err, HasSubstr("step 1: stdin:2: E205 /lengths/1: must be an integer from 1"));
  EXPECT_THAT(alone.err, HasSubstr("3 steps  3 sequences  mean gap 0.0"));
  EXPECT_EQ(run({"-", "--devices", "16", "--threads", "3"}, input).out, alone.out);

  const Finished kept = run({"-", "--devices", "16", "-o", "plans"}, input);
  EXPECT_EQ(kept.exit_code, 2);
  EXPECT_EQ(kept.out, lines[1] + '\n');
  EXPECT_EQ(plans_in(dir_ / "plans"), 2);
}

TEST_F(PlanStreamCommand, WithFailFastAStepThatCannotBeReadEndsItBehindThoseBeforeIt) {
  const Finished broken =
      run({"-", "--devices", "16", "--fail-fast"}, {.input = "[8, 9]\n[8, -1]\n[10]\n"});
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_EQ(lines_of(broken.out).size(), 1U);
  EXPECT_THAT(broken.err, HasSubstr("stdin:2: E205 /1: must be an integer from 1"));
}

TEST_F(PlanStreamCommand, ABadLineOfAListSpoilsItsStepAlone) {
  const Finished list =
      run({"-", "--batch-size", "2", "--devices", "16"}, {.input = "8\n9\nx\n9\n7\n8\n"});
  EXPECT_EQ(list.exit_code, 2);
  const std::vector<std::string> lines = lines_of(list.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["error"]["pointer"], "stdin:3");
  EXPECT_EQ(nlohmann::json::parse(lines[2])["step"], 2);
}

TEST_F(PlanStreamCommand, EchoesIdsAndKeysOfTheUsers) {
  const Finished run_ = run(
      {"-", "--instance", "instance.json"},
      {.input = "{\"id\": \"a/1\", \"x-epoch\": {\"n\": [1, 2.5, null]}, \"lengths\": [8]}\n[9]\n"
                "{\"id\": [], \"x-kept\": true, \"lengths\": [8]}\n"});
  const std::vector<std::string> lines = lines_of(run_.out);
  ASSERT_EQ(lines.size(), 3U) << run_.err;
  const auto line = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(line["id"], "a/1");
  EXPECT_EQ(line["x-epoch"], nlohmann::json::parse(R"({"n": [1, 2.5, null]})"));
  EXPECT_FALSE(nlohmann::json::parse(lines[1]).contains("id"));
  const auto wrong = nlohmann::json::parse(lines[2]);
  EXPECT_EQ(wrong["error"]["pointer"], "/id");
  EXPECT_EQ(wrong["x-kept"], true);
}

// The files that the stream wrote suffice to verify one of its plans.
TEST_F(PlanStreamCommand, AStepMayBringANewCostForAllAfterIt) {
  dir_.write("cost.json", R"({"quadratic_ms": 0.02, "linear_ms": 1, "fixed_ms": 6})");
  dir_.write("steps.jsonl",
             "[100, 64, 80]\n"
             R"({"lengths": [100, 64, 80], "cost": {"file": "cost.json"}})"
             "\n[100, 64, 80]\n[100, 64, 80]\n");
  const std::vector<std::string> arguments = {"steps.jsonl", "--instance", "instance.json",
                                              "--instances"};
  const Finished whole = run(arguments);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const std::vector<std::string> lines = lines_of(whole.out);
  ASSERT_EQ(lines.size(), 4U);
  const double before = nlohmann::json::parse(lines[0])["objective_ms"];
  for (std::size_t i = 1; i < 4; ++i) {  // all coefficients are twice those of the instance
    const auto line = nlohmann::json::parse(lines[i]);
    EXPECT_NEAR(line["objective_ms"].get<double>(), 2 * before, 1e-9);
    EXPECT_EQ(line["instance"]["cost"]["fixed_ms"], 6);
  }
  // A share that does not plan the step still reads its cost.
  std::vector<std::string> share = arguments;
  share.insert(share.end(), {"--shard", "0/2"});
  EXPECT_EQ(lines_of(run(share).out), (std::vector{lines[0], lines[2]}));
}

TEST_F(PlanStreamCommand, APlanCanBeVerifiedFromTheFilesOfTheStream) {
  ASSERT_EQ(eight({"-o", "plans", "--steps", "1"}).exit_code, 0);  // without the flag at first
  ASSERT_EQ(eight({"-o", "plans", "--steps", "2", "--instances"}).exit_code, 0);
  const RunOptions here{.directory = dir_.path()};
  for (const char* step : {"plans/00000000", "plans/00000001"}) {
    const Finished verdict = run_stowage(
        {"verify", std::string(step) + ".instance.json", std::string(step) + ".json"}, here);
    EXPECT_EQ(verdict.exit_code, 0) << verdict.err;
  }
  const auto line = nlohmann::json::parse(eight({"--steps", "1", "--instances"}).out);
  EXPECT_EQ(line["instance"], nlohmann::json::parse(dir_.read("plans/00000000.instance.json")));
  // A file beside a plan is kept consistent with the plan, whether it is requested or not.
  dir_.write("plans/00000001.instance.json", "{}");
  const Finished again = eight({"-o", "plans", "--steps", "2"});
  EXPECT_THAT(again.err, HasSubstr("00000001.instance.json: was missing or not of its plan"));
}

TEST_F(PlanStreamCommand, ATrainersStepMayStandInTheLine) {
  ASSERT_EQ(eight({"-o", "plans", "--steps", "1", "--trainer", "json"}).exit_code, 0);
  const Finished lines = eight({"--steps", "1", "--trainer", "json"});
  EXPECT_EQ(lines_of(lines.out).size(), 1U);
  EXPECT_EQ(nlohmann::json::parse(lines.out)["trainer"],
            nlohmann::json::parse(dir_.read("plans/00000000.trainer.json")));
}

TEST_F(PlanStreamCommand, ALineWithoutEndEndsIt) {
  for (const std::vector<std::string>& how :
       std::vector<std::vector<std::string>>{{}, {"--from", "5"}, {"--batch-size", "2"}}) {
    std::vector<std::string> arguments = {"/dev/zero", "--devices", "16"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const Finished endless = run(arguments);
    EXPECT_EQ(endless.exit_code, 2);
    EXPECT_EQ(endless.out, "");
    EXPECT_THAT(endless.err, testing::ContainsRegex("/dev/zero:1: .*must be a line of at most "));
  }
}

TEST_F(PlanStreamCommand, AnEmptyLineIsNoStep) {
  const Finished broken =
      run({"-", "--devices", "16", "--fail-fast"}, {.input = "[8, 9]\n \r\n[10]\n"});
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_EQ(lines_of(broken.out).size(), 1U);
  EXPECT_THAT(broken.err, HasSubstr("stdin:2: E101 1:1: must be a step, is an empty line: remove"));
  EXPECT_EQ(lines_of(run({"-", "--devices", "16"}, {.input = "[8]\n[]\n[9]\n"}).out).size(), 3U);
}

TEST_F(PlanStreamCommand, RefusesWhatMakesNoSense) {
  const auto expect_refused = [this](std::vector<std::string> arguments, const char* why) {
    const Finished refused = run(std::move(arguments));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(why));
  };
  expect_refused({"missing.txt", "--batch-size", "8"}, "missing.txt: cannot be read");
  expect_refused({".", "--batch-size", "8"},
                 "stowage: .: cannot be read: Is a directory (errno 21)");
  expect_refused({".", "--from", "3"}, "stowage: .: cannot be read: Is a directory (errno 21)");
  expect_refused({"lengths.txt", "--shard", "4/4"}, "--shard: must be I/N with I below N");
  expect_refused({"lengths.txt", "--drop-last"}, "--drop-last: has no effect");
  expect_refused({"lengths.txt", "--batch-size", "8", "-o", "lengths.txt"},
                 "lengths.txt: cannot be written: Not a directory");
  expect_refused({"lengths.txt", "--instance", "instance.json", "--devices", "8"},
                 "--instance: has cluster and model already");
  expect_refused({"lengths.txt", "--method", "fats"}, "did you mean");
  expect_refused({"lengths.txt", "--trainer", "bin"}, "--trainer: bin needs -o");
}

TEST_F(PlanStreamCommand, AReaderThatHasGoneEndsIt) {
  const Finished broken = eight({}, {.broken_out = true});
  EXPECT_EQ(broken.exit_code, 70);
  EXPECT_THAT(broken.err, HasSubstr("Broken pipe"));
}

}  // namespace
}  // namespace stowage::commands_plan_stream_test
