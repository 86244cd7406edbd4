#include "instances/assign/generate/generate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <set>

#include "instances/assign/json/json.h"
#include "instances/lengths/list.h"
#include "tests/instances/json_fixture.h"

namespace stowage::assign_generate_test {
namespace {

using Kind = LengthSource::Kind;

GeneratedAssign generate(const AssignGenerator& generator, const std::vector<Tokens>& list = {}) {
  Result<GeneratedAssign> made = generate_assign(generator, list);
  if (!made) {
    ADD_FAILURE() << to_string(made.errors()[0]);
    return {};
  }
  return *std::move(made);
}

std::string error_of(const AssignGenerator& generator, const std::vector<Tokens>& list = {}) {
  const Result<GeneratedAssign> made = generate_assign(generator, list);
  return made ? "" : to_string(made.errors()[0]);
}

TEST(GenerateAssign, AStepEndsBeforeItHasTooManyTokens) {
  const std::vector<Tokens> list = {40, 30, 30, 1, 99, 100, 60, 50, 7};
  AssignGenerator generator{.source = {.list = "l.txt"}, .tokens = 100, .limit_tokens = 99};
  EXPECT_EQ(generate(generator, list).instance.lengths, (std::vector<Tokens>{40, 30, 30}));
  generator.source.step = 1;
  const GeneratedAssign second = generate(generator, list);
  EXPECT_EQ(second.instance.lengths, (std::vector<Tokens>{1, 99}));
  EXPECT_EQ(second.above, 1);
  generator.source.step = 2;
  const GeneratedAssign third = generate(generator, list);
  EXPECT_EQ(third.instance.lengths, std::vector<Tokens>{60});
  EXPECT_EQ(third.above, 0);
  EXPECT_EQ(third.instance.name, "llama-32b-64gpu-l-2");
  generator.source.step = 3;
  EXPECT_EQ(error_of(generator, list),
            "E504 /step: must be a step that the lengths fill, is 3 of lengths that fill 3");
  generator.source.step = 2;
  generator.above_limit = AboveLimit::clip;
  const GeneratedAssign clipped = generate(generator, list);
  EXPECT_EQ(clipped.instance.lengths, std::vector<Tokens>{99});
  EXPECT_EQ(clipped.above, 1);
}

TEST(GenerateAssign, SamplesAndDistributionsFollowTheSeed) {
  std::vector<Tokens> list(500);
  std::iota(list.begin(), list.end(), 1);
  for (const LengthSource& source :
       {LengthSource{.kind = Kind::sample, .list = "l.txt"},
        LengthSource{.kind = Kind::lognormal, .mu = 5},
        LengthSource{.kind = Kind::uniform, .least = 3, .most = 400}}) {
    AssignGenerator generator{.source = source, .tokens = 10'000, .limit_tokens = 9'000};
    const std::vector<Tokens> first = generate(generator, list).instance.lengths;
    const Tokens sum = std::accumulate(first.begin(), first.end(), Tokens{0});
    EXPECT_LE(sum, 10'000);
    EXPECT_GT(sum, 1'000);
    EXPECT_EQ(generate(generator, list).instance.lengths, first);
    generator.seed = 1;
    EXPECT_NE(generate(generator, list).instance.lengths, first);
  }
}

TEST(GenerateAssign, WhatNoStrategyAdmitsIsTooLong) {
  const GeneratedAssign made = generate({.source = {.list = "l"},
                                         .limit_tokens = 100'000,
                                         .above_limit = AboveLimit::clip,
                                         .pad_multiple = 1000},
                                        {90'000, 50'000, 43'001, 9, 100'000, 80'000});
  EXPECT_EQ(made.longest_allowed, 43'000);
  EXPECT_EQ(made.above, 4);
  EXPECT_TRUE(unplaceable_sequences(made.instance).empty());
}

TEST(GenerateAssign, OptionsThatMakeNoSenseAreNamed) {
  EXPECT_EQ(error_of({.model = "gpt"}).substr(0, 11), "E501 /model");
  EXPECT_EQ(error_of({.tokens = 0}).substr(0, 12), "E504 /tokens");
  EXPECT_EQ(error_of({.tokens = 100, .limit_tokens = 101}),
            "E504 /limit_tokens: must be an integer from 1 to 100, is 101");
  EXPECT_EQ(error_of({.seed = UINT64_MAX}).substr(0, 10), "E504 /seed");
  EXPECT_EQ(error_of({.pad_multiple = 0}).substr(0, 18), "E504 /pad_multiple");
  EXPECT_EQ(error_of({.source = {.kind = Kind::lognormal, .mu = 31}}).substr(0, 8), "E504 /mu");
  EXPECT_EQ(error_of({.pad_multiple = 50'000}).substr(0, 18), "E503 /pad_multiple");
  // All lengths are dropped.
  EXPECT_EQ(
      error_of({.source = {.kind = Kind::constant, .least = 20}, .tokens = 10, .limit_tokens = 10}),
      "E504 /least: must make sequences of at most 10 tokens (the least of what the step, the "
      "limit and a replica allow), is 20: lower it, allow more, or clip them");
  EXPECT_EQ(
      error_of({.source = {.kind = Kind::uniform, .least = 40'000, .most = 50'000}}).substr(0, 12),
      "E504 /least:");
  EXPECT_EQ(error_of({.source = {.kind = Kind::lognormal, .mu = 30, .sigma = 0}}).substr(0, 9),
            "E504 /mu:");
  // A list from which no step can be generated.
  for (const Kind kind : {Kind::slice, Kind::sample}) {
    EXPECT_EQ(
        error_of({.source = {.kind = kind, .list = "l.txt"}, .tokens = 100, .limit_tokens = 50},
                 {40, 60, 30}),
        "E504 /tokens: must be less than the list has within the limit, is 100 of 70");
  }
}

void expect_remembered(const AssignGenerator& generator) {
  const GeneratedAssign made = generate(generator, {40, 30, 30, 1, 99, 100, 60, 50, 7});
  const std::string text = write_generated(made);
  const Result<AssignGenerator> back = read_assign_generator(text);
  ASSERT_TRUE(back) << to_string(back.errors()[0]);
  EXPECT_EQ(*back, generator);
  const Result<AssignInstance> instance = read_assign_instance(text);
  ASSERT_TRUE(instance) << to_string(instance.errors()[0]);
  EXPECT_EQ(*instance, made.instance);
}

TEST(GenerateAssign, TheDocumentRemembersItsGenerator) {
  AssignGenerator generator;
  generator.source = {.list = "l.txt", .step = 1};
  generator.tokens = 100;
  generator.limit_tokens = 99;
  generator.name = "mine";
  expect_remembered(generator);
  generator.model = "llama-7b";
  generator.source = {.kind = Kind::sample, .list = "l.txt"};
  generator.seed = 7;
  generator.name = "";
  expect_remembered(generator);
  generator.source = {.kind = Kind::lognormal, .mu = 3.25, .sigma = 0.5};
  generator.above_limit = AboveLimit::clip;
  generator.pad_multiple = 64;
  expect_remembered(generator);
}

std::set<std::filesystem::path> bundled(const char* folder) {
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kInstancesDir / "data" / folder)) {
    paths.insert(entry.path());
  }
  return paths;
}

// With STOWAGE_UPDATE_DATA set, the test writes the files.
TEST(BundledAssign, EachStepIsWhatItsGeneratorMakes) {
  const auto paths = bundled("assign/real");
  EXPECT_GE(paths.size(), 12U);
  for (const auto& path : paths) {
    const std::string text = file_text(path);
    const Result<AssignGenerator> generator = read_assign_generator(text);
    ASSERT_TRUE(generator) << path << ": " << to_string(generator.errors()[0]);
    const auto list = read_length_file(kInstancesDir / "data" / "lengths" / generator->source.list);
    ASSERT_TRUE(list) << path;
    const std::string again = write_generated(generate(*generator, *list));
    if (again != text && std::getenv("STOWAGE_UPDATE_DATA") != nullptr) {
      std::ofstream(path, std::ios::binary) << again;
    } else {
      EXPECT_TRUE(again == text) << path << " is not what its x-generator makes";
    }
  }
}

TEST(BundledAssign, EachStepCanBePlannedAndIsNamedAfterItsFile) {
  for (const auto& path : bundled("assign/real")) {
    const auto instance = read_assign_instance(file_text(path));
    ASSERT_TRUE(instance) << path << ": " << to_string(instance.errors()[0]);
    EXPECT_TRUE(unplaceable_sequences(*instance).empty()) << path;
    EXPECT_EQ(instance->name + ".json", path.filename().string());
  }
}

// The text between `key` and the end of its line.
std::string line_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return "";
  return text.substr(at + key.size(), text.find('\n', at) - at - key.size());
}

TEST(BundledAssign, EachTinyCaseIsWhatItSays) {
  const auto paths = bundled("assign/tiny");
  EXPECT_GE(paths.size(), 9U);
  for (const auto& path : paths) {
    const std::string text = file_text(path);
    const auto instance = read_assign_instance(text);
    ASSERT_TRUE(instance) << path << ": " << to_string(instance.errors()[0]);
    EXPECT_EQ(instance->name + ".json", path.filename().string());
    std::string infeasible = "[";
    for (const std::int64_t id : unplaceable_sequences(*instance)) {
      infeasible += (infeasible.size() > 1 ? ", " : "") + std::to_string(id);
    }
    if (infeasible.size() > 1) {
      EXPECT_EQ(line_after(text, "\"x-infeasible\": "), infeasible + ']') << path;
    } else {  // or a constraint that cannot be met
      EXPECT_TRUE(!line_after(text, "\"x-optimal_ms\": ").empty() ||
                  line_after(text, "\"x-infeasible\": ") == "[]")
          << path;
    }
  }
}

std::string row(const AssignInstance& instance) {
  Tokens tokens = 0;
  Tokens longest = 0;
  for (const Tokens length : instance.lengths) {
    tokens += length;
    longest = std::max(longest, length);
  }
  return std::to_string(instance.lengths.size()) + " | " + std::to_string(tokens) + " | " +
         std::to_string(longest) + " | " + std::to_string(usable_strategies(instance).size()) +
         " of " + std::to_string(instance.strategies.size()) + " |";
}

TEST(BundledAssign, TheTablesOfTheReadmeAreTrue) {
  const std::string readme = file_text(kDocsDir / "benchmarks/instances.md");
  for (const std::string folder : {"assign/tiny", "assign/real"}) {
    // Names may come again in the tables of other families.
    const std::string table = readme.substr(readme.find("\n## " + folder + '\n'));
    for (const auto& path : bundled(folder.c_str())) {
      const auto instance = read_assign_instance(file_text(path));
      ASSERT_TRUE(instance) << path;
      const std::string line = line_after(table, "| `" + instance->name + "` |");
      EXPECT_NE(line.find(" " + row(*instance)), std::string::npos)
          << path << ": " << row(*instance) << " is not in " << line;
    }
  }
}

}  // namespace
}  // namespace stowage::assign_generate_test
