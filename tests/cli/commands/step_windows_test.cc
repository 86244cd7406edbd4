// plan-stream --window: which sequences the steps of a window compute, and where they come from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/cli/fixture.h"

namespace stowage::commands_step_windows_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class StepWindows : public testing::Test {
 protected:
  StepWindows() { fill_with_examples(dir_); }

  // Plans the 64 lengths of lengths.txt as eight steps.
  Finished eight(std::vector<std::string> more) const {
    more.insert(more.begin(),
                {"plan-stream", "lengths.txt", "--batch-size", "8", "--devices", "16"});
    return run_stowage(more, {.directory = dir_.path()});
  }

  TempDir dir_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

double sum_of_objectives(const std::string& out, std::size_t first, std::size_t last) {
  double sum = 0;
  const std::vector<std::string> lines = lines_of(out);
  for (std::size_t s = first; s < last; ++s)
    sum += json::parse(lines[s])["objective_ms"].get<double>();
  return sum;
}

TEST_F(StepWindows, EverySequenceIsInOneStepThatIsNotTooLate) {
  const Finished drawn = eight({"--instances"});
  std::vector<std::vector<std::int64_t>> lengths;
  for (const std::string& line : lines_of(drawn.out)) {
    lengths.push_back(json::parse(line)["instance"]["lengths"]);
  }
  for (const auto& [window, delay] : {std::pair(4, 3), std::pair(4, 1), std::pair(3, 2)}) {
    const Finished run = eight(
        {"--instances", "--window", std::to_string(window), "--delay", std::to_string(delay)});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::vector<std::string> lines = lines_of(run.out);
    ASSERT_EQ(lines.size(), 8U);
    std::set<std::pair<int, int>> seen;
    int moved = 0;
    int latest = 0;
    for (std::size_t s = 0; s < lines.size(); ++s) {
      const json line = json::parse(lines[s]);
      EXPECT_EQ(line["step"], s);
      const json& from = line["drawn"];
      ASSERT_EQ(from.size(), 8U);
      for (std::size_t i = 0; i < 8; ++i) {
        const int step = from[i][0];
        const int index = from[i][1];
        EXPECT_TRUE(seen.emplace(step, index).second) << step << ' ' << index;
        EXPECT_EQ(step / window, static_cast<int>(s) / window);
        EXPECT_LE(static_cast<int>(s) - step, delay);
        EXPECT_EQ(line["instance"]["lengths"][i],
                  lengths[static_cast<std::size_t>(step)][static_cast<std::size_t>(index)]);
        moved += step != static_cast<int>(s) ? 1 : 0;
        latest = std::max(latest, static_cast<int>(s) - step);
      }
      dir_.write("step.json", line["instance"].dump());
      dir_.write("plan.json", line["plan"].dump());
      EXPECT_EQ(
          run_stowage({"verify", "step.json", "plan.json"}, {.directory = dir_.path()}).exit_code,
          0);
    }
    EXPECT_EQ(seen.size(), 64U);
    EXPECT_THAT(run.err, HasSubstr(std::to_string(moved) + " of 64 sequences moved, at most " +
                                   std::to_string(latest) + " step"));
    for (std::size_t first = 0; first < 8; first += static_cast<std::size_t>(window)) {
      const std::size_t last = std::min<std::size_t>(8, first + static_cast<std::size_t>(window));
      EXPECT_LE(sum_of_objectives(run.out, first, last),
                sum_of_objectives(drawn.out, first, last) * (1 + 1e-12));
    }
  }
}

TEST_F(StepWindows, TheOrderIsTheSameForEveryShareAndThread) {
  const std::vector<std::string> whole = lines_of(eight({"--window", "3"}).out);
  ASSERT_EQ(whole.size(), 8U);
  EXPECT_EQ(lines_of(eight({"--window", "3", "--threads", "3"}).out), whole);
  const std::vector<std::string> middle = {whole.begin() + 4, whole.begin() + 7};
  EXPECT_EQ(lines_of(eight({"--window", "3", "--from", "4", "--steps", "3"}).out), middle);
  std::vector<std::string> together;
  for (const char* shard : {"0/2", "1/2"}) {
    const std::vector<std::string> own = lines_of(eight({"--window", "3", "--shard", shard}).out);
    EXPECT_FALSE(own.empty());
    together.insert(together.end(), own.begin(), own.end());
  }
  const auto step = [](const std::string& line) { return json::parse(line)["step"].get<int>(); };
  std::ranges::sort(together, {}, step);
  EXPECT_EQ(together, whole);
}

// Equal lengths cannot gain, so the steps are those without the flag, but for `drawn`.
TEST_F(StepWindows, StepsThatCannotGainStayAsDrawn) {
  dir_.write("equal.jsonl", "[500, 500]\n[500, 500]\n[500, 500]\n");
  const auto plan = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"plan-stream", "equal.jsonl", "--devices", "16"});
    return run_stowage(more, {.directory = dir_.path()});
  };
  const std::vector<std::string> alone = lines_of(plan({}).out);
  const std::vector<std::string> window = lines_of(plan({"--window", "2"}).out);
  ASSERT_EQ(window.size(), alone.size());
  for (std::size_t s = 0; s < window.size(); ++s) {
    json line = json::parse(window[s]);
    EXPECT_EQ(line["drawn"], json::array({json::array({s, 0}), json::array({s, 1})}));
    line.erase("drawn");
    EXPECT_EQ(line, json::parse(alone[s]));
  }
}

TEST_F(StepWindows, AWindowWithAStepThatCannotBeReadStaysAsDrawn) {
  dir_.write("steps.jsonl",
             "{\"lengths\": [9000, 400], \"id\": \"a\"}\n{\"lengths\": [-1]}\n[700, 90000]\n");
  const Finished run =
      run_stowage({"plan-stream", "steps.jsonl", "--window", "3"}, {.directory = dir_.path()});
  EXPECT_EQ(run.exit_code, 2);
  const std::vector<std::string> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(json::parse(lines[0])["id"], "a");
  EXPECT_EQ(json::parse(lines[0])["drawn"], json::parse("[[0, 0], [0, 1]]"));
  EXPECT_EQ(json::parse(lines[1])["status"], "error");
  EXPECT_FALSE(json::parse(lines[1]).contains("drawn"));
  EXPECT_EQ(json::parse(lines[2])["drawn"], json::parse("[[2, 0], [2, 1]]"));
  const Finished fast = run_stowage({"plan-stream", "steps.jsonl", "--window", "3", "--fail-fast"},
                                    {.directory = dir_.path()});
  EXPECT_EQ(fast.exit_code, 2);
  EXPECT_EQ(lines_of(fast.out), std::vector<std::string>{lines[0]});
}

TEST_F(StepWindows, FlagsThatDoNotGoTogetherAreRefused) {
  for (const auto& [flags, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--delay", "1"}, "--delay: has no effect without --window"},
           {{"--token-spread", "2"}, "--token-spread: has no effect without --window"},
           {{"--window", "4", "--token-spread", "0.5"}, "--token-spread: must be"},
           {{"--window", "4", "--delay", "4"}, "--delay: must be below --window, 4, is 4"},
           {{"--window", "1"}, "--window: must be"}}) {
    const Finished run = eight(flags);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr(message));
  }
}

// Names and contents of all files of a directory.
std::map<std::string, std::string> files_of(const std::filesystem::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    files[entry.path().filename()] = read_text(entry.path());
  }
  return files;
}

TEST_F(StepWindows, ADirectoryHasThePlansOfStdoutAndTheDealOfEachWindow) {
  const Finished run = eight({"--window", "3", "-o", "plans", "--trainer", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  for (const std::string& text : lines_of(eight({"--window", "3"}).out)) {
    const json line = json::parse(text);
    const int step = line["step"];
    const std::string name = "plans/0000000" + std::to_string(step);
    EXPECT_EQ(json::parse(read_text(dir_ / (name + ".json"))), line["plan"]);
    const int first = step / 3 * 3;
    const json window =
        json::parse(read_text(dir_ / ("plans/0000000" + std::to_string(first) + ".window.json")));
    EXPECT_EQ(window["first_step"], first);
    EXPECT_EQ(window["drawn"][static_cast<std::size_t>(step - first)], line["drawn"]);
    EXPECT_TRUE(std::filesystem::exists(dir_ / (name + ".trainer.json")));
  }
}

TEST_F(StepWindows, ADirectoryIsResumed) {
  ASSERT_EQ(eight({"--window", "4", "-o", "whole", "--instances"}).exit_code, 0);
  const auto whole = files_of(dir_ / "whole");
  const auto plans = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"-o", "plans", "--instances"});
    return eight(more);
  };
  // In parts that cut the windows, and in shares.
  EXPECT_EQ(plans({"--window", "4", "--from", "2", "--steps", "3"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "plans" / "00000001.json"));
  EXPECT_EQ(plans({"--window", "4", "--shard", "1/2"}).exit_code, 0);
  EXPECT_EQ(plans({"--window", "4", "--shard", "0/2"}).exit_code, 0);
  EXPECT_EQ(files_of(dir_ / "plans"), whole);
  // After a run that was killed, or that lost a file beside a plan.
  std::filesystem::remove(dir_ / "plans" / "00000002.json");
  std::filesystem::remove(dir_ / "plans" / "00000005.instance.json");
  const Finished again = plans({"--window", "4"});
  EXPECT_THAT(again.err, HasSubstr("7 had their plan already"));
  EXPECT_THAT(again.err, HasSubstr("00000005.instance.json: was missing"));
  EXPECT_EQ(files_of(dir_ / "plans"), whole);
  std::filesystem::remove_all(dir_ / "plans");
  std::filesystem::create_directory(dir_ / "plans");
  std::filesystem::copy(dir_ / "whole" / "00000004.window.json",
                        dir_ / "plans" / "00000004.window.json");
  EXPECT_EQ(plans({"--window", "4"}).exit_code, 0);
  EXPECT_EQ(files_of(dir_ / "plans"), whole);
}

TEST_F(StepWindows, PlansThatAreNotOfTheWindowsAreKept) {
  ASSERT_EQ(eight({"--window", "4", "-o", "plans"}).exit_code, 0);
  const auto refused = [&](const std::vector<std::string>& flags, const std::string& file) {
    const auto before = files_of(dir_ / "plans");
    std::vector<std::string> all = {"-o", "plans"};
    all.insert(all.end(), flags.begin(), flags.end());
    const Finished run = eight(all);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr("plans/" + file + ": must "));
    EXPECT_THAT(run.err, HasSubstr("is kept"));
    EXPECT_EQ(files_of(dir_ / "plans"), before);
  };
  const Finished plain = eight({"-o", "plans"});
  EXPECT_EQ(plain.exit_code, 2);
  EXPECT_THAT(plain.err, HasSubstr(".window.json: must not be there without --window"));
  refused({"--window", "4", "--delay", "1"}, "00000000.window.json");
  refused({"--window", "4", "--token-spread", "1"}, "00000000.window.json");
  refused({"--window", "8"}, "00000000.window.json");
  std::filesystem::remove(dir_ / "plans" / "00000000.window.json");
  refused({"--window", "4"}, "00000000.json");
  for (const std::string text :
       {"", "{}", R"({"first_step": 0, "drawn": [[[0, 0]], 3]})", R"({"first_step": 0})",
        R"({"first_step": 0, "drawn": [[[0, 99]], [], [], []]})",
        R"({"first_step": 0, "drawn": [[[0, 0, 0]], [[1]], ["a"], []]})",
        R"({"first_step": 1, "drawn": [[], [], [], []]})"}) {
    dir_.write("plans/00000000.window.json", text);
    refused({"--window", "4"}, "00000000.window.json");
  }
}

// The window that is being read is cut short, and is no other window than the stored one.
TEST_F(StepWindows, AnInterruptOfAResumedStreamIsNoError) {
  ASSERT_EQ(eight({"--window", "4", "-o", "plans"}).exit_code, 0);
  std::filesystem::remove(dir_ / "plans" / "00000005.json");
  const std::filesystem::path pipe = dir_ / "lengths.pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Child child({"plan-stream", "lengths.pipe", "--batch-size", "8", "--devices", "16", "--window",
               "4", "-o", "plans"},
              {.directory = dir_.path()});
  std::ofstream steps(pipe);  // opens once the command reads
  const std::vector<std::string> lengths = lines_of(dir_.read("lengths.txt"));
  for (std::size_t k = 0; k < 48; ++k) steps << lengths[k] << '\n';
  steps.flush();
  EXPECT_TRUE(child.wait_for_err("stream"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  child.send(SIGTERM);
  const Finished run = child.finish();
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(run.err, HasSubstr("go on with --from"));
}

// A window of which a step was planned before stays as it was drawn, so that no sequence is lost.
TEST_F(StepWindows, PlansOfSingleStepsStay) {
  ASSERT_EQ(eight({"-o", "alone"}).exit_code, 0);
  const auto alone = files_of(dir_ / "alone");
  ASSERT_EQ(eight({"-o", "plans", "--from", "1", "--steps", "1"}).exit_code, 0);
  ASSERT_EQ(eight({"-o", "plans", "--window", "4", "--from", "2", "--steps", "2"}).exit_code, 0);
  ASSERT_EQ(eight({"-o", "plans", "--window", "4", "--steps", "4"}).exit_code, 0);
  const auto plans = files_of(dir_ / "plans");
  for (const auto& [name, text] : plans) EXPECT_EQ(text, alone.at(name)) << name;
  EXPECT_TRUE(plans.contains("00000003.json"));
  EXPECT_EQ(eight({"-o", "none", "--window", "4", "--from", "5", "--steps", "0"}).exit_code, 0);
  EXPECT_TRUE(files_of(dir_ / "none").empty());
}

// A step that cannot be read keeps its window as drawn, before and after it is mended.
TEST_F(StepWindows, ADirectoryIsResumedAfterAStepIsMended) {
  const std::string good = "[1000, 2000]\n[3000, 9000]\n[500, 700]\n[800, 4000]\n";
  const std::string bad = "[1000, 2000]\n[3000, 0]\n[500, 700]\n[800, 4000]\n";
  const auto run = [&](const std::string& steps, std::vector<std::string> more) {
    dir_.write("steps.jsonl", steps);
    more.insert(more.begin(), {"plan-stream", "steps.jsonl", "--devices", "8", "--window", "4"});
    return run_stowage(more, {.directory = dir_.path()});
  };
  const std::vector<std::vector<std::string>> manners = {{}, {"--fail-fast"}};
  for (const std::vector<std::string>& flags : manners) {
    std::filesystem::remove_all(dir_ / "plans");
    std::vector<std::string> all = {"-o", "plans"};
    all.insert(all.end(), flags.begin(), flags.end());
    const Finished broken = run(bad, all);
    EXPECT_EQ(broken.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(dir_ / "plans" / "00000000.window.json"));
    EXPECT_TRUE(std::filesystem::exists(dir_ / "plans" / "00000000.json"));
    const Finished mended = run(good, all);
    EXPECT_EQ(mended.exit_code, 0) << mended.err;
    EXPECT_TRUE(std::filesystem::exists(dir_ / "plans" / "00000003.json"));
  }
  // The window is dealt, and then a step breaks: its error is told, and nothing is lost.
  std::filesystem::remove_all(dir_ / "plans");
  ASSERT_EQ(run(good, {"-o", "plans"}).exit_code, 0);
  const auto before = files_of(dir_ / "plans");
  EXPECT_THAT(run(bad, {"-o", "plans", "--fail-fast"}).err, HasSubstr("steps.jsonl:2: E205"));
  EXPECT_THAT(run(bad, {"-o", "plans"}).err, HasSubstr("while a step of its window cannot be"));
  // A deal is of steps that agree on whether targets are stated.
  const std::string stated =
      R"({"lengths": [1000, 2000], "loss_tokens": [1, 1]})" + good.substr(good.find('\n'));
  EXPECT_THAT(run(stated, {"-o", "plans"}).err, HasSubstr("00000000.window.json: must"));
  EXPECT_EQ(files_of(dir_ / "plans"), before);
}

}  // namespace
}  // namespace stowage::commands_step_windows_test
