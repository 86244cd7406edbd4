// README.md: its commands run as they stand, its instance solves to what it says, its program is
// the one that the install test builds and runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/cli/process.h"

namespace stowage {
namespace {

using ::testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream in(std::string(STOWAGE_SOURCE_DIR) + '/' + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The contents of every fenced block of `language`.
std::vector<std::string> blocks(const std::string& text, const std::string& language) {
  std::vector<std::string> found;
  const std::string fence = "\n```" + language + '\n';
  for (std::size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) {
    const std::size_t begin = at + fence.size();
    found.push_back(text.substr(begin, text.find("\n```", begin) + 1 - begin));
  }
  return found;
}

TEST(Readme, CommandsRunAsTheyStand) {
  const TempDir dir;
  // As in the source tree, where a reader would try them.
  std::filesystem::create_directory_symlink(std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances",
                                            dir / "instances");
  int commands = 0;
  for (const std::string& block : blocks(text_of("README.md"), "console")) {
    std::istringstream lines(block);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("$ stowage ")) continue;
      std::istringstream in(line.substr(10));
      std::vector<std::string> words;
      for (std::string word; in >> word;) words.push_back(word);
      const Finished run = run_stowage(words, {.directory = dir.path()});
      EXPECT_EQ(run.exit_code, 0) << line << '\n' << run.err;
      ++commands;
    }
  }
  EXPECT_GE(commands, 4);
}

TEST(Readme, PictureIsWhatItsCommandDraws) {
  const TempDir dir;
  std::filesystem::create_directory_symlink(std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances",
                                            dir / "instances");
  std::filesystem::create_directory(dir / "pictures");  // written to: a copy
  dir.write("pictures/step-outcome.json", text_of("pictures/step-outcome.json"));
  int commands = 0;
  for (const std::string& block : blocks(text_of("pictures/README.md"), "console")) {
    std::istringstream in(block.substr(10));
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    const Finished run = run_stowage(words, {.directory = dir.path()});
    EXPECT_EQ(run.exit_code, 0) << block << '\n' << run.err;
    ++commands;
  }
  EXPECT_EQ(commands, 1);
  EXPECT_TRUE(dir.read("pictures/step.svg") == text_of("pictures/step.svg"))
      << "pictures/step.svg differs: run the command in pictures/README.md";
}

TEST(Readme, InstanceSolvesToWhatTheTextSays) {
  const std::string text = text_of("README.md");
  const auto instances = blocks(text, "json");
  ASSERT_EQ(instances.size(), 1U);
  const Finished run = run_stowage({"solve", "-"}, {.input = instances[0]});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("\"status\": \"optimal\""));
  EXPECT_THAT(run.out, HasSubstr("\"objective_ms\": 39,"));
  EXPECT_THAT(text, HasSubstr("39 ms"));
}

TEST(Readme, ProgramIsTheOneThatIsBuiltAndRun) {
  const std::string text = text_of("README.md");
  EXPECT_THAT(blocks(text, "cpp"), testing::ElementsAre(text_of("tests/install/consumer/main.cc")));
  EXPECT_THAT(blocks(text, "cmake"),
              testing::ElementsAre(text_of("tests/install/consumer/CMakeLists.txt")));
}

}  // namespace
}  // namespace stowage
