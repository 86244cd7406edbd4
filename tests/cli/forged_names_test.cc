// Names with control sequences of terminals, in every family and through every command that shows
// names. No such character may occur on stderr or in a picture, a page, a table, a model or a
// script, and no part of a name may begin a line. On stdout, documents are JSON with unchanged
// names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/cli/fixture.h"

namespace stowage::forged_names_test {
namespace {

using nlohmann::json;

// An independent list of the characters that control a terminal, a line or the direction of text,
// and of invisible characters.
constexpr std::array<std::pair<char32_t, char32_t>, 13> kSteering = {{{0x00, 0x1f},
                                                                      {0x7f, 0x9f},
                                                                      {0xad, 0xad},
                                                                      {0x61c, 0x61c},
                                                                      {0x180e, 0x180e},
                                                                      {0x200b, 0x200f},
                                                                      {0x2028, 0x202e},
                                                                      {0x2060, 0x206f},
                                                                      {0xfeff, 0xfeff},
                                                                      {0xfff9, 0xfffb},
                                                                      {0x1bca0, 0x1bca3},
                                                                      {0x1d173, 0x1d17a},
                                                                      {0xe0000, 0xe007f}}};
constexpr std::string_view kForged = "optimal  1 B  verified";

std::string utf8(char32_t code) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (code < 0x80) return {byte(code)};
  const auto tail = [&](int at) { return byte(0x80U | ((code >> at) & 0x3fU)); };
  if (code < 0x800) return {byte(0xc0U | code >> 6U), tail(0)};
  if (code < 0x10000) return {byte(0xe0U | code >> 12U), tail(6), tail(0)};
  return {byte(0xf0U | code >> 18U), tail(12), tail(6), tail(0)};
}

std::vector<char32_t> steering() {
  std::vector<char32_t> all;
  for (const auto& [first, last] : kSteering) {
    for (char32_t code = first; code <= last; ++code) all.push_back(code);
  }
  return all;
}

// Returns a name that is unique for its index. All names together contain every character. Each
// name has some of them at its beginning, where a picture that truncates it still shows them.
std::string forged(int index) {
  static const std::vector<char32_t> all = steering();
  std::string name = "n" + std::to_string(index) + "\x1b[1m\n" + std::string(kForged) + "\x1b[0m";
  const std::size_t share = all.size() / 12 + 1;
  const std::size_t from = share * static_cast<std::size_t>(index % 12);
  for (std::size_t k = from; k < std::min(from + share, all.size()); ++k) name += utf8(all[k]);
  return name;
}

// Returns the first position of a control character, or of a line that a name began; -1 without
// one. Line ends of the text itself are allowed.
std::ptrdiff_t first_fault(std::string_view text) {
  for (const char32_t code : steering()) {
    if (code == '\n' || code == 0) continue;
    const std::size_t at = text.find(utf8(code));
    if (at != std::string_view::npos) return static_cast<std::ptrdiff_t>(at);
  }
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
    return static_cast<std::ptrdiff_t>(at);
  }
  const std::size_t line = text.find('\n' + std::string(kForged));
  return line == std::string_view::npos ? -1 : static_cast<std::ptrdiff_t>(line);
}

void expect_clean(std::string_view text, const std::string& what) {
  const std::ptrdiff_t at = first_fault(text);
  if (at < 0) return;
  const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(at - 60, 0));
  ADD_FAILURE() << what << ", byte " << at << ": "
                << testing::PrintToString(std::string(text.substr(from, 120)));
}

class ForgedNames : public testing::Test {
 protected:
  // Runs a command, and expects that its output and the files that it writes are free of these
  // characters.
  Finished run(const std::vector<std::string>& arguments, std::initializer_list<int> codes = {0},
               bool answers_json = true) {
    std::string what;
    for (const std::string& argument : arguments) what += argument + ' ';
    Finished done = run_stowage(arguments, {.directory = dir_.path()});
    EXPECT_THAT(codes, testing::Contains(done.exit_code)) << what << done.err;
    expect_clean(done.err, what + "stderr");
    expect_clean(done.out, what + "stdout");
    if (answers_json && !done.out.empty()) {
      EXPECT_TRUE(json::accept(done.out)) << what;
    }
    return done;
  }

  void expect_clean_files(const std::filesystem::path& directory) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      // Files of the test itself, whose JSON contains the characters unchanged.
      static const std::set<std::string> kGiven = {"in.json", "wrong.json", "steps.jsonl"};
      if (!entry.is_regular_file() || kGiven.contains(entry.path().filename().string())) continue;
      expect_clean(read_text(entry.path()), entry.path().filename().string());
    }
  }

  // Runs the commands that every family supports.
  void plan_and_show(const json& instance, const std::string& methods) {
    dir_.write("in.json", instance.dump());
    const Finished solved =
        run({"solve", "in.json", "-o", "plan.json", "--node-limit", "200", "--log-level", "debug"});
    const json outcome = json::parse(solved.out);
    EXPECT_EQ(outcome["name"], instance["name"]);
    EXPECT_EQ(outcome["plan"]["name"], instance["name"]);
    dir_.write("outcome.json", solved.out);
    const Finished compared =
        run({"compare", "in.json", "--methods", methods, "--node-limit", "50"});
    dir_.write("compared.json", compared.out);
    run({"compare", "in.json", "--methods", "fast", "--node-limit", "50", "--format", "markdown"},
        {0}, false);
    run({"verify", "in.json", "outcome.json"});
    run({"explain", "in.json", "plan.json", "--node-limit", "50"});
    run({"render", "in.json", "outcome.json", "-o", "plan.svg"});
    run({"render", "in.json", "outcome.json", "-o", "page.html", "--comparison", "compared.json"});
    run({"render", "in.json", "outcome.json", "-o", "both.html", "--against", "plan.json"});
    // A plan with control characters in every text.
    json wrong = outcome["plan"];
    forge(wrong, 100);
    dir_.write("wrong.json", wrong.dump());
    run({"verify", "in.json", "wrong.json"}, {1, 2});
    run({"render", "in.json", "wrong.json", "-o", "wrong.svg"}, {1, 2});
    run({"explain", "in.json", "wrong.json", "--node-limit", "50"}, {1, 2});
    run({"solve", "in.json", "--start", "wrong.json", "--node-limit", "50"}, {0, 1, 2});
    expect_clean_files(dir_.path());
  }

  static void forge(json& value, int index) {
    for (auto& [key, member] : value.items()) {
      if (key == "format" || key == "problem") continue;
      if (member.is_string()) {
        member = forged(index++);
      } else if (member.is_structured()) {
        forge(member, index);
      }
    }
  }

  TempDir dir_;
};

json head(const char* problem) {
  return {
      {"format", "stowage/instance"}, {"version", 1}, {"problem", problem}, {"name", forged(0)}};
}

json scatter() {
  json instance = head("scatter");
  instance["cluster"] = {
      {"devices", 4}, {"devices_per_node", 2}, {"memory_mib", 100}, {"degrees", {1, 2}}};
  for (int k = 0; k < 2; ++k) {
    instance["cluster"]["kinds"].push_back(
        {{"name", forged(1 + k)}, {"nodes", 1}, {"memory_mib", 100}});
  }
  instance["model"] = {{"states_mib", 20}, {"activation_mib_per_token", 1}};
  for (int k = 0; k < 9; k += 3) {
    instance["model"]["recomputation"].push_back(
        {{"name", forged(3 + k)}, {"activation_mib_per_token", 1 - 0.1 * k}});
  }
  instance["cost"] = {{"quadratic_ms", 0.01}, {"linear_ms", 0.5}, {"fixed_ms", 3}};
  instance["lengths"] = {100, 64, 80, 8, 16, 24, 70, 60, 50, 40, 30, 12};
  return instance;
}

json assign() {
  json instance = head("assign");
  instance["devices"] = 8;
  for (int k = 0; k < 6; ++k) {
    instance["schemes"][forged(1 + k)] = {{"tp", 1 + k},       {"pp", 1},
                                          {"quadratic_ms", 0}, {"linear_ms", 0.1 / (1 + k)},
                                          {"fixed_ms", 5},     {"max_tokens", 100}};
    instance["strategies"][forged(7 + k)] = {{forged(1 + k), 1}};
  }
  instance["lengths"] = {60, 40, 70, 30, 55, 45, 90, 10};
  return instance;
}

json layout() {
  json instance = head("layout");
  instance["capacity_bytes"] = 100;
  for (int k = 0; k < 12; ++k) {
    instance["buffers"].push_back(
        {{"id", forged(1 + k)}, {"lower", k}, {"upper", k + 3}, {"size_bytes", 4 + k}});
  }
  instance["layers"] = {{{"name", forged(13)}, {"occurrences", json::array()}}};
  return instance;
}

json order() {
  json instance = head("order");
  for (int k = 0; k < 12; ++k) {
    instance["tensors"].push_back(
        {{"id", forged(1 + k)}, {"size_bytes", 8 + k}, {"output", k == 11}});
    json op = {{"id", forged(20 + k)}, {"writes", {forged(1 + k)}}, {"recompute", true}, {"ms", 1}};
    if (k > 0) op["reads"] = {forged(k)};
    if (k > 1) op["after"] = {forged(20 + k - 2)};
    instance["operators"].push_back(op);
  }
  return instance;
}

json strategy() {
  json instance =
      json::parse(R"({"model": {"hidden": 512, "heads": 8, "vocabulary": 1000, "blocks": []},
    "cluster": {"nodes": 1, "devices_per_node": 4, "memory_mib": 8000,
                "mib_per_ms": {"inside": 224, "across": 24}},
    "cost": {"linear_tflops": 193, "attention_tflops": 140},
    "options": {"pp": [1, 2], "tp": [1, 2], "cp": [1, 2]}, "lengths": [2048, 2048, 1024, 512]})");
  instance.update(head("strategy"));
  for (int k = 0; k < 6; ++k) {
    instance["model"]["blocks"].push_back(
        {{"name", forged(1 + k)}, {"count", 1}, {"ffn", 1024 + k}});
  }
  return instance;
}

TEST_F(ForgedNames, OfScatter) {
  plan_and_show(scatter(), "fast,auto");
  json one_kind = scatter();  // kernels and models do not support unequal devices
  one_kind["cluster"].erase("kinds");
  dir_.write("in.json", one_kind.dump());
  run({"solve", "in.json", "-o", "plan.json", "--node-limit", "50"});
  run({"run", "in.json", "plan.json", "--work", "0.001"});
  run({"export", "in.json", "-o", "model.lp"}, {0, 2});
  run({"convert", "in.json", "trainer.json", "--plan", "plan.json"});
  run({"convert", "trainer.json", "-"});
  run({"memory", "in.json", "plan.json"}, {2});
  run({"memory", "in.json", "plan.json", "--model", "gpt-7b"}, {0, 1, 2});
  dir_.write("steps.jsonl", "[5, 6]\n[700000]\n[\"\\u001b\"]\n" + std::string("\x1b[1m\n"));
  run({"plan-stream", "steps.jsonl", "--instance", "in.json", "-o", "plans"}, {1, 2}, false);
  one_kind["lengths"] = {100, 100000};
  dir_.write("in.json", one_kind.dump());
  run({"solve", "in.json"}, {1});
  run({"explain", "in.json", "--node-limit", "50"}, {1});
  expect_clean_files(dir_.path());
}

TEST_F(ForgedNames, OfAssign) {
  plan_and_show(assign(), "fast,auto");
  run({"propose", "in.json", "-o", "proposed.json"});
  run({"memory", "in.json"}, {2});
  run({"memory", "in.json", "--model", "llama-7b"}, {0, 1, 2, 3});
  run({"run", "in.json", "plan.json", "--work", "0.001"});
  run({"convert", "in.json", "trainer.json", "--plan", "plan.json"});
  run({"export", "in.json", "-o", "model.lp"});
  run({"export", "in.json", "-o", "model.mps", "--exact", "--strategy", forged(7)}, {0, 2});
  run({"export", "in.json", "-o", "model.lp", "--strategy", forged(99)}, {2});
  json infeasible = assign();
  infeasible["lengths"] = {60, 4000};
  dir_.write("in.json", infeasible.dump());
  run({"solve", "in.json"}, {1});
  run({"explain", "in.json", "--node-limit", "50"}, {1});
  expect_clean_files(dir_.path());
}

TEST_F(ForgedNames, OfLayouts) {
  plan_and_show(layout(), "fast,auto");
  run({"run", "in.json", "plan.json"});
  run({"convert", "in.json", "table.csv"}, {2});
  run({"export", "in.json", "-o", "model.lp"});
  json infeasible = layout();
  infeasible["capacity_bytes"] = 5;
  dir_.write("in.json", infeasible.dump());
  run({"solve", "in.json"}, {1});
  run({"explain", "in.json", "--node-limit", "50"}, {1});
  json twice = layout();
  twice["buffers"].push_back(twice["buffers"][0]);
  dir_.write("in.json", twice.dump());
  run({"solve", "in.json"}, {2});
  EXPECT_FALSE(std::filesystem::exists(dir_ / "table.csv"));
  expect_clean_files(dir_.path());
}

// A table cannot contain such an id; every id is tried.
TEST_F(ForgedNames, NoTableHasOne) {
  json instance = layout();
  instance.erase("layers");
  instance["buffers"] = json::array();
  const std::vector<char32_t> all = steering();
  for (const char32_t code : all) {
    instance["buffers"].push_back({{"id", "b" + std::to_string(code) + utf8(code)},
                                   {"lower", 0},
                                   {"upper", 1},
                                   {"size_bytes", 0}});
  }
  dir_.write("in.json", instance.dump());
  const Finished refused = run({"convert", "in.json", "table.csv"}, {2});
  const json errors = json::parse(refused.out)["errors"];
  EXPECT_EQ(errors.size(), 101U);  // the first hundred errors, and the number of the others
  EXPECT_THAT(refused.err, testing::HasSubstr("and " + std::to_string(all.size() - 100) + " more"));
}

TEST_F(ForgedNames, OfOrders) {
  plan_and_show(order(), "fast,auto");
  run({"solve", "in.json", "-o", "plan.json", "--layout", "offsets.json", "--node-limit", "50"});
  run({"run", "in.json", "plan.json"});
  run({"convert", "in.json", "buffers.json", "--plan", "plan.json"});
  run({"export", "in.json", "-o", "model.lp"});
  json infeasible = order();
  infeasible["capacity_bytes"] = 5;
  dir_.write("in.json", infeasible.dump());
  run({"solve", "in.json"}, {1});
  run({"explain", "in.json", "--node-limit", "50"}, {1});
  json cycle = order();
  cycle["operators"][0]["after"] = {cycle["operators"][5]["id"]};
  dir_.write("in.json", cycle.dump());
  run({"solve", "in.json"}, {2});
  json unknown = order();
  unknown["operators"][0]["reads"] = {forged(77)};
  dir_.write("in.json", unknown.dump());
  run({"solve", "in.json"}, {2});
  expect_clean_files(dir_.path());
}

TEST_F(ForgedNames, OfStrategies) {
  plan_and_show(strategy(), "fast,auto");
  run({"configure", "in.json", "-o", "configured", "--candidates", "2", "--node-limit", "50"});
  run({"configure", "--preset", "llama-7b", "--nodes", "1", "--tokens", "4k", "--sequences", "2",
       "--candidates", "1", "--node-limit", "20", "--name", "n\n" + std::string(kForged), "-o",
       "named"});
  expect_clean_files(dir_.path());
}

// Arguments of the command line, names of files, and files of other programs.
TEST_F(ForgedNames, OfEverythingElse) {
  const std::string word = "x\x1b[1m\n" + std::string(kForged) + "\xe2\x80\xae\xc2\x9b\xff";
  run({word}, {2});
  run({"solve", word}, {2});
  run({"solve", "--" + word}, {2});
  run({"generate", word}, {2});
  run({"generate", "scatter", "--preset", word}, {2});
  run({"generate", "scatter", "--devices", word}, {2});
  dir_.write("in.json", layout().dump());
  run({"solve", "in.json", "--method", word}, {2});
  run({"solve", "in.json", "-o", "nowhere/" + word}, {2});
  run({"solve", "in.json", "-o", "p" + word, "--node-limit", "20"});
  dir_.write("lengths.txt", "5\n" + word + "\n7\n");
  run({"convert", "lengths.txt", "made.json"}, {2});
  dir_.write("samples.csv", "degree,lengths_tokens,time_ms\n1," + word + ",3\n");
  run({"fit", "samples.csv"}, {2});
  dir_.write("table.csv", "id,lower,upper,size\n\x1b[1mx,0,3," + std::string(kForged) + "\n");
  run({"convert", "table.csv", "made.json"}, {2});
  json table = layout();
  table["x-" + word.substr(0, 5)] = 1;
  table[word.substr(0, 5)] = 1;
  dir_.write("in.json", table.dump());
  run({"solve", "in.json"}, {2});
  dir_.write("tiny.json", kTinyInstance);
  dir_.write("model.sol",
             "Optimal\x1b[1m - objective value 162.84\xe2\x80\xae\n" +
                 std::string(kTinySolution).substr(std::string(kTinySolution).find('\n') + 1));
  run({"import", "tiny.json", "model.sol", "-o", "made.json"}, {0, 1, 2});
}

// The command adds its own colours after it has made names printable, so a name cannot contain one.
TEST_F(ForgedNames, NoNameIsColouredOnATerminal) {
  dir_.write("in.json", layout().dump());
  const Finished done = run_stowage({"solve", "in.json", "--node-limit", "50"},
                                    {.directory = dir_.path(),
                                     .environment = {{"TERM", "xterm"}, {"NO_COLOR", ""}},
                                     .terminal = true});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  std::string err = done.err;
  for (const std::string_view own : {"\x1b[1m", "\x1b[0m", "\x1b[31m", "\x1b[K", "\r"}) {
    EXPECT_EQ(err.find(std::string(own) + '\n' + std::string(kForged)), std::string::npos);
    for (std::size_t at = err.find(own); at != std::string::npos; at = err.find(own)) {
      err.erase(at, own.size());
    }
  }
  EXPECT_THAT(done.err, testing::HasSubstr("n0?[1m?" + std::string(kForged) + "?[0m"));
  expect_clean(err, "a terminal");
}

}  // namespace
}  // namespace stowage::forged_names_test
