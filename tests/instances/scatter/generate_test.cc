#include "instances/scatter/generate/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>

#include "instances/lengths/list.h"
#include "instances/scatter/json/json.h"
#include "tests/instances/json_fixture.h"

namespace stowage::scatter_generate_test {
namespace {

using Kind = LengthSource::Kind;

GeneratedScatter generate(const ScatterGenerator& generator, const std::vector<Tokens>& list = {}) {
  Result<GeneratedScatter> made = generate_scatter(generator, list);
  if (!made) {
    ADD_FAILURE() << to_string(made.errors()[0]);
    return {};
  }
  return *std::move(made);
}

std::vector<Tokens> up_to(Tokens last) {
  std::vector<Tokens> list(static_cast<std::size_t>(last));
  std::iota(list.begin(), list.end(), 1);
  return list;
}

TEST(Generate, SlicesAreConsecutiveAndDisjoint) {
  ScatterGenerator generator{.source = {.kind = Kind::slice, .list = "l.txt"}, .count = 3};
  EXPECT_EQ(generate(generator, up_to(9)).instance.lengths, (std::vector<Tokens>{1, 2, 3}));
  generator.source.step = 2;
  const GeneratedScatter third = generate(generator, up_to(9));
  EXPECT_EQ(third.instance.lengths, (std::vector<Tokens>{7, 8, 9}));
  EXPECT_EQ(third.instance.name, "gpt-7b-64gpu-192k-l-2");
}

TEST(Generate, SamplesRepeatNoLineAndFollowTheSeed) {
  ScatterGenerator generator{.source = {.kind = Kind::sample, .list = "l.txt"}, .count = 50};
  const std::vector<Tokens> first = generate(generator, up_to(60)).instance.lengths;
  EXPECT_EQ(std::set<Tokens>(first.begin(), first.end()).size(), 50U);
  EXPECT_EQ(generate(generator, up_to(60)).instance.lengths, first);
  generator.seed = 1;
  EXPECT_NE(generate(generator, up_to(60)).instance.lengths, first);
}

TEST(Generate, DistributionsHaveTheirMoments) {
  const GeneratedScatter lognormal = generate(
      {.source = {.kind = Kind::lognormal, .mu = 7, .sigma = 1.2}, .count = 20000, .seed = 3});
  double sum = 0;
  double squares = 0;
  for (const Tokens length : lognormal.instance.lengths) {
    const double z = (std::log(static_cast<double>(length)) - 7) / 1.2;
    sum += z;
    squares += z * z;
  }
  EXPECT_NEAR(sum / 20000, 0, 0.03);
  EXPECT_NEAR(squares / 20000, 1, 0.03);

  const auto uniform =
      generate({.source = {.kind = Kind::uniform, .least = 10, .most = 13}, .count = 400});
  EXPECT_EQ(std::set<Tokens>(uniform.instance.lengths.begin(), uniform.instance.lengths.end()),
            (std::set<Tokens>{10, 11, 12, 13}));
  const auto constant = generate({.source = {.kind = Kind::constant, .least = 5}, .count = 3});
  EXPECT_EQ(constant.instance.lengths, (std::vector<Tokens>{5, 5, 5}));
}

TEST(Generate, WhatIsTooLongIsDroppedOrClippedAndCounted) {
  struct Case {
    AboveLimit above_limit;
    std::vector<Tokens> lengths;
  };
  const std::vector<Tokens> list = {100, 140480, 140481, 300000};
  for (const Case& c : {Case{AboveLimit::drop, {100, 140480}},
                        Case{AboveLimit::clip, {100, 140480, 140480, 140480}}}) {
    // 16 devices hold 16 * 8780 = 140480 tokens, less than the limit of 192000.
    const GeneratedScatter made = generate({.preset = {.devices = 16},
                                            .source = {.kind = Kind::slice, .list = "l"},
                                            .count = 4,
                                            .above_limit = c.above_limit},
                                           list);
    EXPECT_EQ(made.instance.lengths, c.lengths);
    EXPECT_EQ(made.longest_allowed, 140480);
    EXPECT_EQ(made.above, 2);
    EXPECT_TRUE(unplaceable_sequences(made.instance).empty());
  }
}

TEST(Generate, PaddingNeverMakesASequenceTooLong) {
  const GeneratedScatter made = generate({.preset = {.devices = 16},
                                          .source = {.kind = Kind::constant, .least = 150000},
                                          .count = 1,
                                          .above_limit = AboveLimit::clip,
                                          .pad_multiple = 1000});
  EXPECT_EQ(made.instance.lengths, std::vector<Tokens>{140000});
  EXPECT_TRUE(unplaceable_sequences(made.instance).empty());
}

TEST(Generate, TheDocumentRemembersItsGenerator) {
  const std::vector<ScatterGenerator> generators = {
      {.source = {.kind = Kind::slice, .list = "l.txt", .step = 1}, .count = 2, .name = "mine"},
      {.source = {.kind = Kind::sample, .list = "l.txt"}, .count = 2, .seed = 7},
      {.source = {.kind = Kind::lognormal, .mu = 6.25, .sigma = 0.1}, .count = 2},
      {.source = {.kind = Kind::uniform, .least = 3, .most = 9}, .above_limit = AboveLimit::clip},
      {.preset = {.degrees = DegreeSet::local_or_sharded, .largest_degree = 16},
       .source = {.kind = Kind::constant, .least = 9}},
      {.preset = {.model = "gpt-13b", .memory_mib = 28672.5},
       .source = {.kind = Kind::constant, .least = 9},
       .pad_multiple = 64},
  };
  for (const ScatterGenerator& generator : generators) {
    const GeneratedScatter made = generate(generator, up_to(9));
    const std::string text = write_generated(made);
    const Result<ScatterGenerator> back = read_scatter_generator(text);
    ASSERT_TRUE(back) << to_string(back.errors()[0]);
    ScatterGenerator said = generator;
    said.preset.memory_mib = generator.preset.memory_mib.value_or(30720);  // the default is told
    EXPECT_EQ(*back, said);
    const Result<ScatterInstance> instance = read_scatter_instance(text);
    ASSERT_TRUE(instance) << to_string(instance.errors()[0]);
    EXPECT_EQ(*instance, made.instance);
  }
}

std::set<std::filesystem::path> bundled(const char* folder) {
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kInstancesDir / "data" / folder)) {
    paths.insert(entry.path());
  }
  return paths;
}

// With STOWAGE_UPDATE_DATA set, writes the files instead of complaining.
TEST(BundledData, EachRealStepIsWhatItsGeneratorMakes) {
  const auto paths = bundled("scatter/real");
  EXPECT_GE(paths.size(), 14U);
  for (const auto& path : paths) {
    const std::string text = file_text(path);
    const Result<ScatterGenerator> generator = read_scatter_generator(text);
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

TEST(BundledData, EachRealStepIsFeasibleAndNamedAfterItsFile) {
  for (const auto& path : bundled("scatter/real")) {
    const auto instance = read_scatter_instance(file_text(path));
    ASSERT_TRUE(instance) << path << ": " << to_string(instance.errors()[0]);
    EXPECT_TRUE(unplaceable_sequences(*instance).empty()) << path;
    EXPECT_EQ(instance->name + ".json", path.filename().string());
    EXPECT_GE(instance->lengths.size(), 120U) << path;
  }
}

// The text between `key` and the end of its line.
std::string line_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return "";
  return text.substr(at + key.size(), text.find('\n', at) - at - key.size());
}

TEST(BundledData, EachTinyCaseIsWhatItSays) {
  const auto paths = bundled("scatter/tiny");
  EXPECT_GE(paths.size(), 12U);
  for (const auto& path : paths) {
    const std::string text = file_text(path);
    const auto instance = read_scatter_instance(text);
    ASSERT_TRUE(instance) << path << ": " << to_string(instance.errors()[0]);
    EXPECT_EQ(instance->name + ".json", path.filename().string());
    std::string infeasible = "[";
    for (const std::int64_t id : unplaceable_sequences(*instance)) {
      infeasible += (infeasible.size() > 1 ? ", " : "") + std::to_string(id);
    }
    if (infeasible.size() > 1) {
      EXPECT_EQ(line_after(text, "\"x-infeasible\": "), infeasible + ']') << path;
    } else {
      EXPECT_NE(line_after(text, "\"x-optimal_ms\": "), "") << path;
    }
  }
}

std::string row(const ScatterInstance& instance) {
  const std::vector<Tokens> padded = padded_lengths(instance);
  Tokens tokens = 0;
  Tokens longest = 0;
  for (const Tokens length : instance.lengths) {
    tokens += length;
    longest = std::max(longest, length);
  }
  return std::to_string(instance.lengths.size()) + " | " + std::to_string(tokens) + " | " +
         std::to_string(longest) + " | " +
         std::to_string(std::set<Tokens>(padded.begin(), padded.end()).size()) + " |";
}

TEST(BundledData, TheTablesOfTheReadmeAreTrue) {
  const std::string readme = file_text(kDocsDir / "benchmarks/instances.md");
  for (const char* folder : {"scatter/tiny", "scatter/real"}) {
    for (const auto& path : bundled(folder)) {
      const auto instance = read_scatter_instance(file_text(path));
      ASSERT_TRUE(instance) << path;
      const std::string line = line_after(readme, "| `" + instance->name + "` |");
      EXPECT_NE(line.find("| " + row(*instance)), std::string::npos) << path << ": " << line;
    }
  }
}

TEST(BundledData, ListsAreReadable) {
  std::size_t lists = 0;
  for (const auto& path : bundled("lengths")) {
    if (path.extension() != ".txt") continue;
    ++lists;
    const auto list = read_length_file(path);
    ASSERT_TRUE(list) << to_string(list.errors()[0]);
    EXPECT_GT(list->size(), 5000U) << path;
  }
  EXPECT_EQ(lists, 6U);
}

}  // namespace
}  // namespace stowage::scatter_generate_test
