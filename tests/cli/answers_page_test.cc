// Every key that a command prints must have a row in docs/reference/answers.md.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/fixture.h"
#include "tests/cli/process.h"
#include "tests/tree/source_files.h"

namespace stowage::answers_page_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kRoot = STOWAGE_SOURCE_DIR;

// Returns the keys of the first column by section of the page. Each section also has the keys of
// every answer.
std::map<std::string, std::set<std::string>> rows_of_page() {
  std::map<std::string, std::set<std::string>> rows;
  const std::regex key("`([^`]+)`");
  std::string section;
  for (const std::string& line : lines_of(read_text(kRoot / "docs/reference/answers.md"))) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find(" | "));
    for (auto it = std::sregex_iterator(cell.begin(), cell.end(), key);
         it != std::sregex_iterator(); ++it) {
      rows[section].insert((*it)[1]);
    }
  }
  return rows;
}

// Collects the paths of all keys of an answer. Embedded documents, tensors of a shape and keys of
// the user are described on other pages.
void add_paths(const json& value, const std::string& path, std::set<std::string>& paths) {
  static const std::set<std::string> kElsewhere = {"plan", "cost", "instance", "trainer", "shape"};
  if (value.is_array()) {
    for (const json& each : value) add_paths(each, path + "[]", paths);
  }
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    if (key.starts_with("x-")) continue;
    const std::string at = path.empty() ? key : path + '.' + key;
    paths.insert(at);
    if (!kElsewhere.contains(key) || !inner.is_object()) add_paths(inner, at, paths);
  }
}

// A row for several objects of one kind names the first object.
std::string shown(const std::string& path) {
  std::string text = path;
  for (const char* same : {"input_gradient", "weight_gradient", "losses", "weight", "activation"}) {
    const std::string prefix = std::string(same) + '.';
    if (text.starts_with(prefix) && text != "weight_gradient.weight") {
      text = "output." + text.substr(prefix.size());
    }
  }
  return text;
}

TEST(AnswersPage, HasARowForEveryKeyThatCommandsPrint) {
  const TempDir dir;
  fs::create_directory_symlink(kRoot / "instances", dir / "instances");
  dir.write("tiny.json", kTinyInstance);
  dir.write("lengths.txt", "9000\n4000\n120000\n512\n700\n38000\n");
  dir.write(
      "steps.jsonl",
      "{\"lengths\": [9000, 400], \"id\": \"a\"}\n{\"lengths\": []\n{\"lengths\": [2000000]}\n");
  dir.write("work.json", R"({"lengths": [6, 5, 4], "partition": [[0, 1], [2]]})");
  dir.write("groups.json", R"({"lengths": [6, 5], "sample_id_groups": [[[0], [1]]]})");
  const std::string two_branches = "instances/data/order/tiny/two-branches.json";
  const std::string five = "instances/data/layout/tiny/five.json";
  // The answer of each command is stored under its number.
  const std::vector<std::string> commands = {
      "solve tiny.json -o plan.json",
      "verify tiny.json 0.json",
      "run tiny.json plan.json",
      "compare tiny.json -t 0.1 --milp-limit 0.1 --measure",
      "explain tiny.json -t 0.1",
      "render tiny.json 0.json -o plan.svg",
      "export tiny.json -o model.lp",
      "solve nowhere.json",
      "generate assign --tokens 20k --limit 8k --seed 7 -o assign.json",
      "solve assign.json --method fast -o assign-plan.json",
      "run assign.json assign-plan.json --work 1",
      "memory assign.json",
      "export assign.json -o model.lp",
      "solve " + five + " -o layout-plan.json",
      "verify " + five + " 13.json",
      "run " + five + " layout-plan.json",
      "explain " + five,
      "export " + five + " -o model.lp",
      "generate layout --from-kernels -o block.json",
      "solve block.json --method fast -o block-plan.json",
      "run block.json block-plan.json",
      "solve " + two_branches + " -o order-plan.json",
      "verify " + two_branches + " 21.json",
      "run " + two_branches + " order-plan.json",
      "generate order --from-kernels -o step.json",
      "solve step.json --method fast -o step-plan.json",
      "run step.json step-plan.json",
      "convert lengths.txt long.json --devices 64",
      "solve long.json --method fast -o long-plan.json",
      "memory long.json long-plan.json --model gpt-7b",
      "fit instances/data/samples/kernels.csv -o cost.json --table",
      "plan-stream steps.jsonl --instances --trainer json",
      "partition lengths.txt --bins 3",
      "partition lengths.txt --bins 3 --multiple-of 1",
      "audit work.json",
      "audit groups.json",
      "configure --preset llama-7b --nodes 2 --lengths lengths.txt --sequences 6 -o run",
      "configure --from run --lost 3 -o smaller",
      "export run/strategy.json -o model.lp",
      "run run/strategy.json run/configuration.json",
      "explain instances/data/scatter/tiny/too-long.json",
      "solve instances/data/scatter/tiny/too-long.json",
      "verify instances/data/scatter/tiny/too-long.json 38.json",
      "params scatter --json",
      "compare tiny.json --ablate --node-limit 10",
      "compare tiny.json long.json --ablate --node-limit 2",
      "generate scatter --preset gpt-7b --devices 8 --count 60 --seed 3 --offload 24 -o away.json",
      "solve away.json --method fast -o away-plan.json",
      "run away.json away-plan.json --work 1",
  };
  auto rows = rows_of_page();
  std::set<std::string> seen;
  for (std::size_t n = 0; n < commands.size(); ++n) {
    SCOPED_TRACE(commands[n]);
    std::istringstream in(commands[n]);
    const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
    const Finished run = run_stowage(words, {.directory = dir.path()});
    if (!run.out.empty()) dir.write(std::to_string(n) + ".json", run.out);
    for (const std::string& line :
         words[0] == "plan-stream" ? lines_of(run.out) : std::vector<std::string>{run.out}) {
      if (line.empty()) continue;
      const json answer = json::parse(line);
      const std::string format = answer.at("format").get<std::string>();
      const std::string name = format.substr(format.find('/') + 1);
      ASSERT_TRUE(rows.contains(name)) << format;
      seen.insert(name);
      // documented in instances/outcomes.md
      if (name == "outcome" && answer.at("exit_code") != 2) continue;
      std::set<std::string> paths;
      add_paths(answer, "", paths);
      for (const std::string& path : paths) {
        // the same as in a verdict
        if (path.starts_with("violations[]") && name != "verdict") continue;
        EXPECT_TRUE(rows[name].contains(shown(path)) ||
                    rows["Keys of every answer"].contains(path) ||
                    (name == "outcome" && answer.at(path.substr(0, path.find('['))).is_null()))
            << path << " of " << format << " has no row";
      }
    }
  }
  // A calibration takes minutes.
  std::set<std::string> sections;
  for (const auto& [section, keys] : rows) sections.insert(section);
  sections.erase("Keys of every answer");
  sections.erase("calibration");
  EXPECT_EQ(seen, sections);
}

}  // namespace
}  // namespace stowage::answers_page_test
