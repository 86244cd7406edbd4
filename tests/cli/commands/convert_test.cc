// stowage convert: the detection of IN's format by its content, and instances that a table cannot
// represent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"
#include "tests/instances/lengths/binary_files.h"

namespace stowage::commands_convert_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Convert : public testing::Test {
 protected:
  Convert() {
    fill_with_examples(dir_);
    EXPECT_EQ(convert({"instance.json", "t.bin", "--plan", "plan.json"}).exit_code, 0);
    EXPECT_EQ(convert({"t.bin", "t.json"}).exit_code, 0);
  }

  Finished convert(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), "convert");
    return run_stowage(arguments, {.input = input, .directory = dir_.path()});
  }

  // Expects one error, on one line, and no file.
  void expect_one_error(const std::vector<std::string>& arguments, const std::string& why,
                        const std::string& input = "") const {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const Finished refused = convert(arguments, input);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("stowage: " + why));
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(dir_ / "out.json"));
  }

  TempDir dir_;
};

TEST_F(Convert, ATrainersFileIsKnownByItsBytes) {
  const Finished piped = convert({"-", "piped.json"}, dir_.read("t.bin"));
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(dir_.read("piped.json"), dir_.read("t.json"));
  EXPECT_EQ(convert({"t.json", "copy.json"}).exit_code, 0);
  EXPECT_EQ(dir_.read("copy.json"), dir_.read("t.json"));
  const Finished shown = convert({"-", "-"}, dir_.read("t.json"));
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(shown.out, dir_.read("t.json"));
  dir_.write("renamed", dir_.read("t.bin"));
  EXPECT_EQ(convert({"renamed", "renamed.json"}).exit_code, 0);
  EXPECT_EQ(dir_.read("renamed.json"), dir_.read("t.json"));
}

TEST_F(Convert, LengthsBeyondTheModelsLimitAreCounted) {
  dir_.write("long.txt", "300000\n5000\n192000\n");
  const Finished run = convert({"long.txt", "long.json"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("1 of 3 sequences is longer than the model's limit of 192 000"));
  EXPECT_THAT(convert({"lengths.txt", "short.json"}).err, Not(HasSubstr("limit")));
}

TEST_F(Convert, APresetOfAssignHasItsCluster) {
  expect_one_error({"lengths.txt", "out.json", "--assign", "llama-7b", "--devices", "16"},
                   "--assign: is a preset with a cluster of its own");
}

TEST_F(Convert, ABrokenTrainersFileIsOneError) {
  expect_one_error({"-", "out.json"}, "stdin: E601 byte 0: must be a trainer file", "\x93STOWAGE");
  const std::string text = dir_.read("t.json");
  expect_one_error({"-", "out.json"}, "stdin: E101 ", text.substr(0, text.size() / 2));
}

TEST_F(Convert, AMistakenInputIsOneErrorWithItsRemedy) {
  expect_one_error({"instance.json", "out.json"}, "--plan: is needed to make a trainer's file");
  expect_one_error({"-", "out.json"}, "--plan: is needed", dir_.read("layout.json"));
  expect_one_error({"plan.json", "out.json"}, "IN: must be the instance, with its plan behind ");
  expect_one_error({"outcome.json", "out.json"}, "IN: must be the instance, with its plan behind");
  expect_one_error({"-", "out.json"}, "IN: must be a file whose name ends in .csv if it is a table",
                   dir_.read("buffers.1048576.csv"));
  dir_.write("table.txt", dir_.read("buffers.1048576.csv"));
  expect_one_error({"table.txt", "out.json"}, "IN: must be a file whose name ends in .csv");
  expect_one_error({"-", "out.json"},
                   "IN: must be lengths ([...], {\"lengths\": [...]} or JSON lines",
                   "{\"tokens\": [608, 1040]}\n");
  expect_one_error({"-", "out.json"},
                   "IN: must be lengths, one a line, or a stowage/trainer, is of",
                   "{\"format\": \"stowage/step\"}\n");
  for (const std::vector<std::string>& flag : {std::vector<std::string>{"--name", "x"},
                                               {"--column", "x"},
                                               {"--devices", "4"},
                                               {"--assign", "llama-7b"}}) {
    std::vector<std::string> arguments = {"t.json", "out.json"};
    arguments.insert(arguments.end(), flag.begin(), flag.end());
    const std::string named = flag.front() == "--devices" ? "--preset" : flag.front();
    expect_one_error(arguments, named + ": has no effect on a trainer's file");
  }
}

TEST_F(Convert, AListIsStillAListWhateverItsName) {
  EXPECT_EQ(convert({"-", "step.json", "--devices", "16"}, "608\r\n1040\n").exit_code, 0);
  const Finished wrong = convert({"-", "out.json", "--devices", "16"}, "608\nmany\n");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("stdin:2: must be an integer"));
}

// Traces and lists as their owners have them, with the lengths 4808 and 3180.
TEST_F(Convert, ReadsTheFilesThatOwnersHave) {
  struct File {
    std::string name;
    std::string bytes;
    std::vector<std::string> flags;
  };
  const std::vector<std::string> context = {"--column", "ContextTokens"};
  for (const File& file : std::vector<File>{
           {"azure.csv",
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,4808,10\n"
            "2023-11-16 18:17:04.03,3180,8\n",
            context},
           {"-", "TIMESTAMP,ContextTokens\n1,4808\n2,3180\n\n", context},
           {"mooncake.jsonl",
            "{\"timestamp\": 0, \"input_length\": 4808, \"hash_ids\": [0]}\n"
            "{\"timestamp\": 0, \"input_length\": 3180, \"hash_ids\": [1]}\n",
            {"--column", "input_length"}},
           {"burst.csv",
            "Timestamp,Model,Request tokens,Response tokens\n5,ChatGPT,4808,18\n45,GPT-4,3180,2\n",
            {"--column", "Request tokens"}},
           {"list.json", "[4808, 3180]\n", {}},
           {"step.json", "{\"lengths\": [4808, 3180]}\n", {}},
           {"rows.json", "[{\"n\": 4808}, {\"n\": 3180}]\n", {"--column", "n"}},
           {"header.txt", "tokens\n4808\n3180\n\n\n", {}},
           {"header.csv", "tokens\n4808\n3180\n", {}},
           {"plain.csv", "4808\n3180\n", {}},
           {"array.npy", npy_file("<i8", "(2,)", {4808, 3180}), {}},
           {"text_document.idx", megatron_index({4808, 3180}, {0, 1, 2}), {}},
       }) {
    SCOPED_TRACE(file.name);
    if (file.name != "-") dir_.write(file.name, file.bytes);
    for (const std::vector<std::string>& kind :
         {std::vector<std::string>{"--devices", "8"}, {"--assign", "llama-7b"}}) {
      std::vector<std::string> arguments = {file.name, "made.json"};
      arguments.insert(arguments.end(), kind.begin(), kind.end());
      arguments.insert(arguments.end(), file.flags.begin(), file.flags.end());
      const Finished run = convert(arguments, file.name == "-" ? file.bytes : "");
      ASSERT_EQ(run.exit_code, 0) << run.err;
      EXPECT_EQ(nlohmann::json::parse(dir_.read("made.json"))["lengths"],
                nlohmann::json({4808, 3180}));
    }
    if (file.name == "-") continue;
    for (std::vector<std::string> arguments : std::vector<std::vector<std::string>>{
             {"generate", "scatter", "--lengths", file.name, "--count", "2"},
             {"generate", "strategy", "--lengths", file.name, "--preset", "llama-7b", "--nodes",
              "1"}}) {
      arguments.insert(arguments.end(), file.flags.begin(), file.flags.end());
      const Finished run = run_stowage(arguments, {.directory = dir_.path()});
      ASSERT_EQ(run.exit_code, 0) << run.err;
      EXPECT_EQ(nlohmann::json::parse(run.out)["lengths"], nlohmann::json({4808, 3180}));
    }
    std::vector<std::string> configured = {
        "configure", "--nodes", "1",   "--lengths", file.name,        "--sequences",
        "2",         "-t",      "0.1", "-o",        "of " + file.name};
    configured.insert(configured.end(), file.flags.begin(), file.flags.end());
    const Finished run = run_stowage(configured, {.directory = dir_.path()});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    std::vector<std::string> bins = {"partition", file.name, "--bins", "2"};
    bins.insert(bins.end(), file.flags.begin(), file.flags.end());
    EXPECT_EQ(run_stowage(bins, {.directory = dir_.path()}).exit_code, 0);
  }
}

TEST_F(Convert, AColumnThatIsMissingIsListed) {
  const std::string table = "TIMESTAMP,ContextTokens,GeneratedTokens\n1,4808,10\n";
  dir_.write("azure.csv", table);
  const std::string columns = "has \"TIMESTAMP\", \"ContextTokens\", \"GeneratedTokens\"";
  expect_one_error({"azure.csv", "out.json"},
                   "azure.csv: must be read with a column of lengths (--column NAME), " + columns);
  expect_one_error({"-", "out.json"}, "stdin: must be read with a column", table);
  expect_one_error({"azure.csv", "out.json", "--column", "contexttokens"},
                   "azure.csv: must have the column \"contexttokens\", " + columns);
  expect_one_error({"instance.json", "out.csv", "--column", "x"},
                   "--column: has an effect only on lists of lengths");
  const Finished list = convert({"-", "made.json", "--devices", "8"}, "tokens\n64\n");
  EXPECT_THAT(list.err, HasSubstr("stdin: the first line, \"tokens\", is taken for a header"));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"generate", "scatter"},
                                                {"generate", "strategy"},
                                                {"configure", "-o", "d"}}) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"--column", "x"});
    EXPECT_THAT(run_stowage(arguments, {.directory = dir_.path()}).err,
                HasSubstr("--column: has no effect"));
  }
}

TEST_F(Convert, WhatATableCannotHoldIsSaid) {
  ASSERT_EQ(run_stowage(
                {"generate", "layout", "--from-kernels", "--lengths", "8,9", "-o", "recorded.json"},
                {.directory = dir_.path()})
                .exit_code,
            0);
  const Finished recorded = convert({"recorded.json", "recorded.csv"});
  EXPECT_EQ(recorded.exit_code, 0);
  EXPECT_THAT(recorded.err, HasSubstr("warning: a table has no room for recorded_from"));
  dir_.write("layers.json", R"({"format": "stowage/instance", "version": 1, "problem": "layout",
    "name": "two", "buffers": [{"id": "a", "lower": 0, "upper": 1, "size_bytes": 4},
                               {"id": "b", "lower": 1, "upper": 2, "size_bytes": 4}],
    "layers": [{"name": "block", "occurrences": [[0], [1]]}]})");
  const Finished layers = convert({"layers.json", "layers.csv"});
  EXPECT_EQ(layers.exit_code, 0) << layers.err;
  EXPECT_THAT(layers.err, HasSubstr("warning: a table has no room for layers: 1 repeated blocks"));
  EXPECT_THAT(layers.err, Not(HasSubstr("recorded_from")));
}

}  // namespace
}  // namespace stowage::commands_convert_test
