// The statements of the documents in the tree must be true. Their commands run unchanged, their
// instances have the stated results, and their programs are those that other tests build and run.
// Their links are valid, and their tables of codes match the code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "cli/flags/command.h"
#include "cli/terminal/error/exit_codes.h"
#include "solvers/milp/backends.h"
#include "tests/cli/paths.h"
#include "tests/cli/process.h"
#include "tests/tree/source_files.h"

namespace stowage::readme_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kRoot = STOWAGE_SOURCE_DIR;

std::string text_of(const std::string& path) { return read_text(kRoot / path); }

std::vector<SourceFile> documents() {
  std::vector<SourceFile> all = source_files();
  std::erase_if(all, [](const SourceFile& file) { return !file.path.ends_with(".md"); });
  return all;
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

std::vector<std::string> lines_of_blocks(const std::string& text, const std::string& language) {
  std::vector<std::string> lines;
  for (const std::string& block : blocks(text, language)) {
    for (std::string& line : lines_of(block)) lines.push_back(std::move(line));
  }
  return lines;
}

// Runs a line in bash with the commands of this build. Returns its output if it fails.
std::string complaint_of(const std::string& line, const fs::path& directory) {
  const std::string path = fs::path(kStowagePath).parent_path().string() + ':' +
                           fs::path(kBenchPath).parent_path().string();
  {
    std::ofstream script(directory / "line.sh");
    script << "cd '" << directory.string() << "' && PATH='" << path << "':$PATH\n" << line << '\n';
  }
  const std::string said = directory / "said.txt";
  const std::string command =
      "bash '" + (directory / "line.sh").string() + "' >'" + said + "' 2>&1";
  return std::system(command.c_str()) == 0 ? "" : "failed: " + read_text(said);
}

// A test per document, so that documents run in parallel.
class DocumentCommands : public testing::TestWithParam<std::string> {};

TEST_P(DocumentCommands, RunAsTheyStand) {
  const TempDir dir;
  // The folder resembles the source tree, where a reader would run the commands.
  for (const char* folder : {"instances", "bench"}) {
    fs::create_directory_symlink(kRoot / folder, dir / folder);
  }
  for (const std::string& line : lines_of_blocks(text_of(GetParam()), "console")) {
    ASSERT_TRUE(line.starts_with("$ ")) << line;
    EXPECT_EQ(complaint_of(line.substr(2), dir.path()), "") << line;
  }
}

std::vector<std::string> documents_with_commands() {
  std::vector<std::string> paths;
  for (const SourceFile& document : documents()) {
    if (!blocks(document.text, "console").empty()) paths.push_back(document.path);
  }
  return paths;
}

INSTANTIATE_TEST_SUITE_P(Documents, DocumentCommands, testing::ValuesIn(documents_with_commands()),
                         [](const auto& path) {
                           std::string name = path.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

TEST(Documents, HoldCommandsThatAreRun) {
  std::size_t commands = 0;
  for (const SourceFile& document : documents()) {
    commands += lines_of_blocks(document.text, "console").size();
  }
  EXPECT_GE(commands, 30U);
}

// `sh` blocks contain commands of developers. They take too long for a test, and .ci/run runs them.
TEST(Documents, DeveloperCommandsNameWhatThereIs) {
  const std::string presets = text_of("CMakePresets.json");
  const std::string dev = text_of("dev");
  const auto preset_exists = [&](const std::string& name) {
    return presets.find("\"name\": \"" + name + '"') != std::string::npos;
  };
  int commands = 0;
  for (const SourceFile& document : documents()) {
    for (std::string line : lines_of_blocks(document.text, "sh")) {
      SCOPED_TRACE(document.path + ": " + line);
      line = line.substr(0, line.find("  "));  // the rest of the line is a comment
      std::istringstream in(line);
      const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
      ASSERT_FALSE(words.empty());
      ++commands;
      if (words[0].starts_with('#')) continue;  // a comment of a batch script
      if (words[0] == "mpirun" || words[0] == "srun") {
        const auto stowage = std::ranges::find(words, "stowage");
        ASSERT_LT(stowage + 1, words.end());
        EXPECT_EQ(run_stowage({*(stowage + 1), "--help"}).exit_code, 0);
      } else if (words[0] == "./dev") {
        EXPECT_THAT(dev, HasSubstr("\nverb_" + words.at(1) + "() {"));
        for (std::size_t i = 2; words[1] == "test" && i < words.size(); ++i) {
          // The frameworks are not a preset but a function of dev.
          EXPECT_TRUE(preset_exists(words[i]) ||
                      dev.find("\ntest_" + words[i].substr(words[i].find('-') + 1) + "() {") !=
                          std::string::npos)
              << words[i];
        }
      } else if (words[0] == "cmake") {
        EXPECT_EQ(words.at(words.size() - 2), "--preset");
        EXPECT_TRUE(preset_exists(words.back()));
      } else if (words[0] == "ctest") {
        EXPECT_TRUE(preset_exists(fs::path(words.at(2)).filename())) << words[2];
      } else if (words[0] == "pip") {
        EXPECT_EQ(line, "pip install .");
        EXPECT_FALSE(text_of("pyproject.toml").empty());
      } else {
        EXPECT_EQ(line, "export PATH=\"$PWD/build/release/cli:$PATH\"");
      }
    }
  }
  EXPECT_GE(commands, 5);
}

TEST(Documents, CommandsStandInBlocksThatAreRun) {
  const std::regex command(
      "^(    |\\$ |)(\\$ |stowage [a-z]|stowage_bench |\\./dev |cmake -|source ).*");
  const std::set<std::string> known = {"console", "sh", "json", "cpp", "cmake", "python", "text"};
  for (const SourceFile& document : documents()) {
    std::string block;
    for (const std::string& line : lines_of(document.text)) {
      if (line.starts_with("```")) {
        EXPECT_TRUE(!block.empty() || known.contains(line.substr(3)))
            << document.path << ": " << line;
        block = block.empty() ? line.substr(3) : "";
        continue;
      }
      if (block == "console" || block == "sh") continue;
      const bool prose = block.empty() && !line.starts_with("    ");
      EXPECT_TRUE(prose || !std::regex_match(line, command)) << document.path << ": " << line;
    }
  }
}

// Returns the anchor that GitHub makes of a heading.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

std::set<std::string> anchors_of(const std::string& text) {
  std::set<std::string> anchors;
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with('#')) continue;
    anchors.insert(anchor_of(line.substr(std::min(line.find(' '), line.size() - 1) + 1)));
  }
  return anchors;
}

TEST(Documents, LinksLeadSomewhere) {
  const std::regex link("\\]\\(([^)#: ]*)(#([^) ]*))?\\)");
  int links = 0;
  for (const SourceFile& document : documents()) {
    const fs::path folder = (kRoot / document.path).parent_path();
    for (auto it = std::sregex_iterator(document.text.begin(), document.text.end(), link);
         it != std::sregex_iterator(); ++it) {
      ++links;
      const std::string file = (*it)[1];
      const std::string anchor = (*it)[3];
      const fs::path target = file.empty() ? kRoot / document.path : folder / file;
      EXPECT_TRUE(fs::exists(target)) << document.path << ": " << it->str();
      if (anchor.empty() || !fs::exists(target)) continue;
      EXPECT_TRUE(anchors_of(read_text(target)).contains(anchor))
          << document.path << ": " << it->str();
    }
  }
  EXPECT_GE(links, 80);
}

// The pages of the formats contain other documents too, which their own test reads
// (tests/instances/readme_test.cc).
TEST(Documents, InstancesAreSolved) {
  int solved = 0;
  for (const SourceFile& document : documents()) {
    for (const std::string& block : blocks(document.text, "json")) {
      if (block.find("\"stowage/instance\"") == std::string::npos) {
        EXPECT_TRUE(document.path.starts_with("instances/") ||
                    document.path.starts_with("docs/reference/"))
            << document.path << '\n'
            << block;
        continue;
      }
      // Lists that they name are relative to this directory.
      const Finished run = run_stowage({"solve", "-", "--node-limit", "1000"},
                                       {.input = block, .directory = kRoot / "instances"});
      EXPECT_EQ(run.exit_code, 0) << document.path << '\n' << block << run.err;
      ++solved;
    }
  }
  EXPECT_GE(solved, 7);
}

TEST(Readme, PictureIsWhatItsCommandDraws) {
  const TempDir dir;
  // the test writes to it, so it is a copy
  std::filesystem::create_directories(dir / "instances/pictures");
  std::filesystem::create_directory_symlink(
      std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances/data", dir / "instances/data");
  dir.write("instances/pictures/step-outcome.json",
            text_of("instances/pictures/step-outcome.json"));
  int commands = 0;
  for (const std::string& block : blocks(text_of("docs/reference/pictures.md"), "console")) {
    std::istringstream in(block.substr(10));
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    const Finished run = run_stowage(words, {.directory = dir.path()});
    EXPECT_EQ(run.exit_code, 0) << block << '\n' << run.err;
    ++commands;
  }
  EXPECT_EQ(commands, 1);
  EXPECT_TRUE(dir.read("instances/pictures/step.svg") == text_of("instances/pictures/step.svg"))
      << "instances/pictures/step.svg differs: run the command in docs/reference/pictures.md";
}

TEST(Readme, InstanceSolvesToWhatTheTextSays) {
  const std::string text = text_of("docs/reference/documents.md");
  const auto instances = blocks(text, "json");
  ASSERT_EQ(instances.size(), 1U);
  const Finished run = run_stowage({"solve", "-"}, {.input = instances[0]});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("\"status\": \"optimal\""));
  EXPECT_THAT(run.out, HasSubstr("\"objective_ms\": 39,"));
  EXPECT_THAT(text, HasSubstr("39 ms"));
}

TEST(Readme, ProgramIsTheOneThatIsBuiltAndRun) {
  EXPECT_THAT(blocks(text_of("docs/start/cpp.md"), "cpp"),
              testing::ElementsAre(text_of("tests/install/consumer/main.cc")));
  EXPECT_THAT(blocks(text_of("docs/start/cpp.md"), "cmake"),
              testing::ElementsAre(text_of("tests/install/consumer/CMakeLists.txt")));
}

// Returns the first groups of all matches of `pattern` in `text`.
std::set<std::string> found_in(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> all;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), regex);
       it != std::sregex_iterator(); ++it) {
    all.insert((*it)[1]);
  }
  return all;
}

// The site's page of commands is made of these files. STOWAGE_UPDATE_GOLDEN=1 writes them.
TEST(Reference, HoldsTheHelpOfEveryCommand) {
  if (built_backends().empty()) GTEST_SKIP() << "the help lists methods that need a backend";
  const fs::path folder = kRoot / "docs/reference/help";
  const bool update = std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr;
  std::set<std::string> expected;
  for (const auto& command : make_commands()) {
    std::vector<std::string> words;
    std::istringstream in{std::string(command->text().name)};
    for (std::string word; in >> word;) words.push_back(word);
    std::string file = words[0];
    for (std::size_t i = 1; i < words.size(); ++i) file += '-' + words[i];
    file += ".txt";
    words.emplace_back("--help");
    const Finished run = run_stowage(words);
    EXPECT_EQ(run.exit_code, 0) << file;
    if (update) std::ofstream(folder / file, std::ios::binary) << run.out;
    EXPECT_EQ(run.out, read_text(folder / file)) << folder / file;
    expected.insert(file);
  }
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) found.insert(entry.path().filename());
  EXPECT_EQ(found, expected);
}

// The table of all bounds must contain each name on the page of outcomes.
TEST(Theory, NamesEveryBoundOfOutcomes) {
  const std::string outcomes = text_of("instances/outcomes.md");
  const std::size_t begin = outcomes.find("\n| a bound by | is |");
  ASSERT_NE(begin, std::string::npos);
  const std::string table = outcomes.substr(begin, outcomes.find("\n\n", begin) - begin);
  std::set<std::string> rows;
  for (const std::string& line : lines_of(text_of("docs/theory/bounds.md"))) {
    if (line.starts_with("| `"))
      rows.merge(found_in(line.substr(0, line.find(" | ")), "`([^`]+)`"));
  }
  int names = 0;
  for (const std::string& line : lines_of(table)) {
    for (const std::string& name : found_in(line.substr(0, line.find(" | ")), "`([^`]+)`")) {
      if (name == "none") continue;
      ++names;
      EXPECT_TRUE(rows.contains(name)) << name;
    }
  }
  EXPECT_GE(names, 25);
}

TEST(CliReadme, TablesAreThoseOfTheCode) {
  const std::string text = text_of("docs/reference/commands.md");
  std::set<std::string> in_sources;
  for (const char* source :
       {"cli/terminal/error/error_codes.h", "formulations/milp/read_solution.h",
        "formulations/milp/solution_values.h"}) {
    in_sources.merge(found_in(text_of(source), "\"(E[0-9]{3})\""));
  }
  EXPECT_EQ(found_in(text, "\n\\| (E[0-9]{3}) \\| [^|]+ \\| [^|]+ \\|"), in_sources);
  std::set<std::string> codes;
  for (const ExitCodeText& each : kExitCodeTexts) codes.insert(std::to_string(to_int(each.code)));
  EXPECT_EQ(found_in(text, "\n\\| ([0-9]+) \\|"), codes);
  EXPECT_EQ(found_in(text_of("cli/terminal/error/exit_codes.h"), " = ([0-9]+),").size(),
            codes.size());
}

}  // namespace
}  // namespace stowage::readme_test
