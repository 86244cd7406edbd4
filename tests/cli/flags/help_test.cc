// The help: it is complete, on stdout, and its examples run unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/flags/command.h"
#include "tests/cli/fixture.h"

namespace stowage::flags_help_test {
namespace {

using ::testing::HasSubstr;

// Splits at blanks: the examples need no quotes.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The lines of a help text after "Examples:".
std::vector<std::string> examples_in(const std::string& help) {
  std::istringstream in(help.substr(help.find("\nExamples:\n") + 11));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void run_examples(const std::string& help) {
  const std::vector<std::string> examples = examples_in(help);
  ASSERT_EQ(examples.size(), 3U) << help;
  const TempDir dir;
  fill_with_examples(dir);
  for (const std::string& example : examples) {
    std::vector<std::string> words = words_of(example);
    ASSERT_EQ(words.front(), "stowage");
    words.erase(words.begin());
    const Finished run = run_stowage(words, {.directory = dir.path()});
    EXPECT_EQ(run.exit_code, 0) << example << '\n' << run.err;
  }
}

class Help : public testing::TestWithParam<std::string> {};

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const auto& command : make_commands()) names.emplace_back(command->text().name);
  return names;
}

TEST_P(Help, IsTheSameByEveryWayAndItsExamplesRun) {
  const auto with = [words = words_of(GetParam())](std::vector<std::string> before,
                                                   const std::vector<std::string>& after) {
    before.insert(before.end(), words.begin(), words.end());
    before.insert(before.end(), after.begin(), after.end());
    return run_stowage(before);
  };
  const Finished run = with({}, {"--help"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, HasSubstr("Usage: stowage " + GetParam() + ' '));
  EXPECT_EQ(with({"help"}, {}).out, run.out);
  EXPECT_EQ(with({}, {"-h", "--nonsense"}).out, run.out);
  EXPECT_THAT(run.out, testing::Not(HasSubstr("\t")));
  std::istringstream options(run.out.substr(0, run.out.find("\nExamples:\n")));
  for (std::string line; std::getline(options, line);) EXPECT_LE(line.size(), 100U) << line;
  run_examples(run.out);
}

INSTANTIATE_TEST_SUITE_P(Cli, Help, testing::ValuesIn(command_names()), [](const auto& each) {
  std::string name = each.param;
  for (char& c : name) c = c == '-' || c == ' ' ? '_' : c;
  return name;
});

TEST(Overview, NamesEveryCommandAndItsExamplesRun) {
  const Finished run = run_stowage({"--help"});
  EXPECT_EQ(run.exit_code, 0);
  for (const std::string& name : command_names()) {
    EXPECT_THAT(run.out, HasSubstr("\n  " + name + ' '));
  }
  run_examples(run.out);
}

TEST(Version, NamesBackendsAndLicences) {
  const Finished run = run_stowage({"-V"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, testing::StartsWith("stowage "));
  EXPECT_THAT(run.out, HasSubstr("MILP backends: "));
  EXPECT_THAT(run.out, HasSubstr("CLI11 (BSD-3-Clause)"));
  EXPECT_EQ(run_stowage({"solve", "--version"}).out, run.out);
}

TEST(HelpOfFamilies, ListsThem) {
  const Finished run = run_stowage({"generate", "--help"});
  EXPECT_EQ(run.exit_code, 0);
  for (const char* family : {"generate scatter ", "generate assign ", "generate layout "}) {
    EXPECT_THAT(run.out, HasSubstr(family));
  }
  EXPECT_EQ(run_stowage({"help", "generate"}).out, run.out);
}

}  // namespace
}  // namespace stowage::flags_help_test
