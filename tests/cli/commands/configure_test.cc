// configure: the files that it writes atomically, and its errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/terminal/files.h"
#include "cli/terminal/new_directory.h"
#include "tests/cli/fixture.h"
#include "tests/svg_document.h"

namespace stowage::commands_configure_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::map<std::string, std::string> files_in(const fs::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().filename()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

class Configured : public ::testing::Test {
 protected:
  Configured() { dir_.write("lengths.txt", length_list()); }

  Finished configure(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"configure", "--timeless"});
    return run_stowage(arguments, {.directory = dir_.path()});
  }

  TempDir dir_;
  const std::vector<std::string> two_steps_ = {"--nodes",     "1",  "--lengths", "lengths.txt",
                                               "--sequences", "16", "--steps",   "2"};
};

// The experts do not fit on one device, so ranks share them, and every answer states that.
TEST_F(Configured, SharesExperts) {
  const Finished run = configure({"--preset", "olmoe-1b-7b", "--nodes", "1", "--memory-mib",
                                  "22000", "--sequences", "16", "--tokens", "2k", "-o", "run"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr(" dp  ep  ZeRO "));
  EXPECT_THAT(run.err, HasSubstr("layout    the heaviest rank needs "));
  const json first = json::parse(run.out)["configurations"][0];
  const std::string ep = std::to_string(first["ep"].get<int>());
  EXPECT_GT(first["ep"], 1);
  const std::map<std::string, std::string> files = files_in(dir_ / "run");
  EXPECT_THAT(files.at("launch-megatron.sh"),
              HasSubstr("--expert-model-parallel-size " + ep + ' '));
  EXPECT_THAT(files.at("page.html"), HasSubstr(", ep " + ep + ','));
  EXPECT_THAT(files.at("layout.json"), HasSubstr("0.received"));
  const Finished verdict =
      run_stowage({"verify", "strategy.json", "configuration.json"}, {.directory = dir_ / "run"});
  EXPECT_EQ(verdict.exit_code, 0) << verdict.err;
}

TEST_F(Configured, WritesWhatIsVerified) {
  std::vector<std::string> arguments = two_steps_;
  arguments.insert(arguments.end(), {"-o", "run"});
  const Finished run = configure(arguments);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("configured  pp "));
  const std::map<std::string, std::string> files = files_in(dir_ / "run");
  EXPECT_EQ(files.at("ranking.json"), run.out);
  EXPECT_EQ(files.size(), 12U);
  const std::string& page = files.at("page.html");
  for (const char* shown : {"Where the time goes", "Every plan was verified", "what binds"}) {
    EXPECT_THAT(page, HasSubstr(shown));
  }
  EXPECT_EQ(SvgDocument(page).complaints(), "");
  const auto count = [&page](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = page.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  // Each listed configuration is a row, and opens a plan of its own.
  const json listed = json::parse(run.out)["configurations"];
  const auto with_plan = static_cast<std::size_t>(
      std::ranges::count_if(listed, [](const json& each) { return each.contains("step_ms"); }));
  EXPECT_GT(with_plan, 1U);
  EXPECT_EQ(count("<details><summary>plan of a step"), std::min<std::size_t>(with_plan, 10));
  EXPECT_EQ(count("<tbody><tr>"), count("<details>"));
  const std::pair<const char*, const char*> pairs[] = {{"strategy.json", "configuration.json"},
                                                       {"step-000.json", "step-000.plan.json"},
                                                       {"step-001.json", "step-001.plan.json"},
                                                       {"layout.json", "layout.plan.json"}};
  for (const auto& [instance, plan] : pairs) {
    const Finished verdict = run_stowage({"verify", instance, plan}, {.directory = dir_ / "run"});
    EXPECT_EQ(verdict.exit_code, 0) << instance << '\n' << verdict.err;
  }
  const json ranking = json::parse(run.out);
  EXPECT_EQ(ranking["format"], "stowage/ranking");
  EXPECT_EQ(ranking["steps"], 2);
  EXPECT_TRUE(ranking["layout"]["fits"]);
  const json& first = ranking["configurations"][0];
  EXPECT_EQ(first["steps_planned"], 2);
  EXPECT_EQ(first["behind"], 1);
  const json plan = json::parse(files.at("configuration.json"))["plan"];
  for (const char* key : {"pp", "v", "tp", "cp", "dp"}) EXPECT_EQ(plan[key], first[key]) << key;
  struct stat status = {};
  ASSERT_EQ(::stat((dir_ / "run/launch-megatron.sh").c_str(), &status), 0);
  EXPECT_NE(status.st_mode & S_IXUSR, 0U);

  // A second run in another directory must give the same bytes.
  arguments.back() = "again";
  ASSERT_EQ(configure(arguments).exit_code, 0);
  EXPECT_EQ(files_in(dir_ / "again"), files);
}

TEST_F(Configured, TakesAnInstanceWithItsOwnLengths) {
  ASSERT_EQ(run_stowage(
                {"generate", "strategy", "--nodes", "1", "--sequences", "8", "-o", "strategy.json"},
                {.directory = dir_.path()})
                .exit_code,
            0);
  const Finished run = configure({"strategy.json", "-o", "run", "--candidates", "2"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LE(json::parse(run.out)["configurations"].size(), 2U);
  EXPECT_THAT(configure({"strategy.json", "-o", "other", "--nodes", "2"}).err,
              HasSubstr("--nodes: has no effect with INSTANCE"));
  EXPECT_THAT(configure({"strategy.json", "-o", "other", "--steps", "2"}).err,
              HasSubstr("--steps: has no effect on the lengths of INSTANCE"));
}

TEST_F(Configured, SaysWhatLimitsTheChoice) {
  const std::vector<std::string> seven = {"--nodes", "1", "--tokens", "2k", "--sequences", "7"};
  std::vector<std::string> arguments = seven;
  arguments.insert(arguments.end(), {"-o", "seven"});
  const Finished run = configure(arguments);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("dp must divide the 7 of a step: a multiple of 8 leaves every"));
  EXPECT_EQ(json::parse(run.out)["stopped_by"], "heuristic_end");

  std::vector<std::string> ended = two_steps_;
  ended.insert(ended.end(), {"--memory-mib", "40960", "-t", "0", "-o", "ended"});
  const Finished early = configure(ended);
  ASSERT_EQ(early.exit_code, 0) << early.err;
  EXPECT_THAT(early.err, Not(HasSubstr("dp must divide")));  // 16 sequences, 8 devices
  EXPECT_THAT(early.err, HasSubstr("stopped_by time_limit"));
  EXPECT_EQ(json::parse(early.out)["stopped_by"], "time_limit");
  const json outcome = json::parse(files_in(dir_ / "ended").at("configuration.json"));
  EXPECT_EQ(outcome["found_by"], "true lengths");
  EXPECT_EQ(outcome["stopped_by"], "time_limit");

  // The number of devices is limited, and dp must divide the number of sequences.
  EXPECT_THAT(configure({"--nodes", "100000", "--devices-per-node", "64", "-o", "run"}).err,
              HasSubstr("--nodes: must be at most 15625 with 64 devices a node"));
  const Finished none = configure({"--nodes", "10", "--sequences", "16", "-o", "run"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("what is left of them, dp, the 16 sequences"));
  EXPECT_THAT(none.err, HasSubstr("a multiple of the devices as sequences"));
}

TEST_F(Configured, LeavesNothingBehindWhereItRefuses) {
  const auto refusal = [this](std::vector<std::string> more) {
    std::vector<std::string> arguments = two_steps_;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished run = configure(arguments);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    return run.err;
  };
  EXPECT_THAT(refusal({}), HasSubstr("--output: is required"));
  fs::create_directory(dir_ / "full");
  dir_.write("full/a", "b");
  EXPECT_THAT(refusal({"-o", "full"}), HasSubstr("must be a new or an empty directory"));
  EXPECT_THAT(refusal({"-o", "lengths.txt"}), HasSubstr("is a file: name another directory"));
  fs::create_directory_symlink("full", dir_ / "link");
  EXPECT_THAT(refusal({"-o", "link"}), HasSubstr("link: must be a new or an empty directory, is a "
                                                 "symbolic link"));
  EXPECT_THAT(refusal({"-o", "none/run"}),
              HasSubstr("stowage: none/run: cannot be written: its directory 'none'"));
  EXPECT_THAT(refusal({"-o", "run", "--tokens", "8k"}),
              HasSubstr("--tokens: has no effect with --lengths"));
  EXPECT_THAT(configure({"--lengths", "lengths.txt", "--sequences", "100", "-o", "run"}).err,
              HasSubstr("must hold the lines 1 to 100, is a list of 64 lines: lower --sequences"));
  EXPECT_FALSE(fs::exists(dir_ / "run"));

  const Finished none =
      configure({"--nodes", "1", "--memory-mib", "1000", "--sequences", "8", "-o", "run"});
  EXPECT_EQ(none.exit_code, 1) << none.err;
  EXPECT_EQ(json::parse(none.out)["status"], "infeasible");
  EXPECT_THAT(none.err, HasSubstr("MiB"));
  EXPECT_FALSE(fs::exists(dir_ / "run"));
  EXPECT_EQ(files_in(dir_ / "full").size(), 1U);
}

// Replanning after a lost device writes the same kinds of files, and reports the moved data.
TEST_F(Configured, ReplacesAnOldConfiguration) {
  const std::vector<std::string> lengths = {"--lengths", "lengths.txt", "--sequences", "12"};
  std::vector<std::string> first = {"--nodes", "2", "--devices-per-node", "4", "-o", "old"};
  first.insert(first.end(), lengths.begin(), lengths.end());
  ASSERT_EQ(configure(first).exit_code, 0);
  const Finished run = configure({"--from", "old", "--lost", "5", "-o", "new"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* said : {"before    pp ", "after     pp ", " of 7 devices that are left: ",
                           "move      ", " over one link", "configured  pp "}) {
    EXPECT_THAT(run.err, HasSubstr(said));
  }
  const json moved = json::parse(run.out)["replanned"];
  const std::int64_t used = moved["nodes"].get<int>() * moved["devices_per_node"].get<int>();
  EXPECT_TRUE(used == 4 || used == 6) << used;
  EXPECT_EQ(moved["lost"], json({5}));
  EXPECT_EQ(moved["before"]["devices"], 8);
  EXPECT_EQ(moved["device_of_rank"].size(), static_cast<std::size_t>(used));
  const std::map<std::string, std::string> files = files_in(dir_ / "new");
  EXPECT_EQ(files.at("ranking.json"), run.out);
  const json cluster = json::parse(files.at("strategy.json"))["cluster"];
  EXPECT_EQ(cluster["nodes"], moved["nodes"]);
  EXPECT_EQ(cluster["devices_per_node"], moved["devices_per_node"]);
  const Finished verdict =
      run_stowage({"verify", "strategy.json", "configuration.json"}, {.directory = dir_ / "new"});
  EXPECT_EQ(verdict.exit_code, 0) << verdict.err;

  // At the extreme weights the result is the fastest configuration, or the one that moves the
  // least.
  const auto with_weight = [&](const std::string& weight) {
    const Finished end = configure(
        {"--from", "old", "--lost", "0,4-5", "--move-weight", weight, "-o", "weight-" + weight});
    EXPECT_EQ(end.exit_code, 0) << end.err;
    return json::parse(end.out);
  };
  const json fresh = with_weight("0");
  const json near = with_weight("1e9");
  EXPECT_LE(fresh["configurations"][0]["mean_step_objective_ms"],
            near["configurations"][0]["mean_step_objective_ms"]);
  EXPECT_GE(fresh["replanned"]["move_ms"], near["replanned"]["move_ms"]);
  EXPECT_EQ(fresh["replanned"]["lost_mib"], near["replanned"]["lost_mib"]);
  EXPECT_EQ(near["replanned"]["lost"], json({0, 4, 5}));
}

TEST_F(Configured, RefusesToReplaceWhatIsNotThere) {
  ASSERT_EQ(
      configure({"--nodes", "1", "--tokens", "2k", "--sequences", "8", "-o", "old"}).exit_code, 0);
  const auto refusal = [this](std::vector<std::string> arguments, int code = 2) {
    arguments.insert(arguments.end(), {"-o", "new"});
    const Finished run = configure(arguments);
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_FALSE(fs::exists(dir_ / "new"));
    return run.err;
  };
  const std::string from = "--from";
  const std::string lost = "--lost";
  EXPECT_THAT(refusal({from, "old"}), HasSubstr("--lost: is required with --from"));
  EXPECT_THAT(refusal({lost, "3"}), HasSubstr("--lost: has no effect without --from"));
  EXPECT_THAT(refusal({"--move-weight", "1"}),
              HasSubstr("--move-weight: has no effect without --from"));
  EXPECT_THAT(refusal({"a.json", from, "old", lost, "3"}),
              HasSubstr("--from: has no effect with INSTANCE"));
  EXPECT_THAT(refusal({from, "old", lost, "3", "--nodes", "1"}),
              HasSubstr("--nodes: has no effect with --from"));
  EXPECT_THAT(refusal({from, "old", lost, "3,8"}), HasSubstr("--lost: must be at most 7, is 8"));
  EXPECT_THAT(refusal({from, "old", lost, "3,2-4"}), HasSubstr("--lost: names device 3 twice"));
  for (const char* word : {"x", "-1", "4-3", "3-", "1-2-3", "99999999999999999999"}) {
    EXPECT_THAT(refusal({from, "old", "--lost=" + std::string(word)}),
                HasSubstr("--lost: must be device numbers and ranges like 8-15"));
  }
  EXPECT_THAT(refusal({from, "old", lost, "0-7"}), HasSubstr("--lost: must leave a device"));
  EXPECT_THAT(refusal({from, "none", lost, "3"}), HasSubstr("none/strategy.json"));
  // One device of 8 is too small for the model.
  EXPECT_THAT(refusal({from, "old", lost, "0-6"}, 1), HasSubstr("MiB"));

  // A directory without a plan, and a directory with a plan of another problem.
  fs::create_directory(dir_ / "other");
  std::map<std::string, std::string> files = files_in(dir_ / "old");
  dir_.write("other/strategy.json", files.at("strategy.json"));
  EXPECT_THAT(refusal({from, "other", lost, "3"}), HasSubstr("other/configuration.json"));
  dir_.write("other/configuration.json", files.at("layout.plan.json"));
  EXPECT_THAT(refusal({from, "other", lost, "3"}), HasSubstr("E209"));
  json broken = json::parse(files.at("configuration.json"));
  broken["plan"] = nullptr;
  dir_.write("other/configuration.json", broken.dump());
  EXPECT_THAT(refusal({from, "other", lost, "3"}), HasSubstr("E211"));
  broken = json::parse(files.at("configuration.json"));
  broken["plan"]["dp"] = broken["plan"]["dp"].get<int>() + 1;
  dir_.write("other/configuration.json", broken.dump());
  EXPECT_THAT(refusal({from, "other", lost, "3"}), HasSubstr("the plan is invalid"));
}

TEST(NewDirectory, IsThereWholeOrNotAtAll) {
  const TempDir dir;
  const std::string path = dir / "new";
  EXPECT_TRUE(write_new_directory(path, {{"a", "1"}, {"none/b", "2"}}));
  EXPECT_THAT(files_in(dir.path()), IsEmpty());
  EXPECT_FALSE(write_new_directory(path, {{"a", "1"}, {"b", "2", true}}));
  EXPECT_EQ(files_in(path), (std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}}));
  EXPECT_TRUE(write_new_directory(path, {{"a", "3"}}));
  EXPECT_EQ(files_in(path).at("a"), "1");
  const std::string empty = dir / "empty";
  fs::create_directory(empty);
  EXPECT_FALSE(write_new_directory(empty + '/', {{"a", "1"}}));
  EXPECT_EQ(files_in(empty).size(), 1U);
}

// Several processes create one directory at the same time. One process succeeds, each other process
// reports an error, and no temporary files remain.
TEST(NewDirectory, IsMadeByOneOfManyAtOnce) {
  constexpr int kWriters = 8;
  const TempDir dir;
  const std::string path = dir / "run";
  std::vector<NamedFile> files;
  for (int k = 0; k < 20; ++k) files.push_back({std::to_string(k), std::string(1000, 'x')});
  for (int k = 0; k < kWriters; ++k) {
    if (fork() != 0) continue;
    const auto error = write_new_directory(path, files);
    if (error)
      write_file(dir / ("error" + std::to_string(k)), error->pointer + ": " + error->message);
    _exit(error ? 1 : 0);
  }
  int made = 0;
  for (int k = 0; k < kWriters; ++k) {
    int status = 0;
    ASSERT_GT(wait(&status), 0);
    made += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(files_in(path).size(), files.size());
  std::size_t told = 0;
  for (const std::string& name : dir.names()) {
    if (name == "run") continue;
    EXPECT_TRUE(name.starts_with("error")) << name;
    ++told;
    EXPECT_THAT(dir.read(name), AllOf(HasSubstr("run: must be a new or an empty directory, "),
                                      HasSubstr("name another directory")));
  }
  EXPECT_EQ(told, kWriters - 1U);
}

}  // namespace
}  // namespace stowage::commands_configure_test
