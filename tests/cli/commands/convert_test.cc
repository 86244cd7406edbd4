// stowage convert: the detection of IN's format by its content, and instances that a table cannot
// represent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/fixture.h"

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
  expect_one_error({"-", "out.json"}, "IN: must be lengths, one a line without brackets and commas",
                   "[608,\n1040,\n32,\n64]\n");
  expect_one_error({"-", "out.json"},
                   "IN: must be lengths, one a line, or a stowage/trainer, is of",
                   "{\"format\": \"stowage/step\"}\n{\"format\": \"stowage/step\"}\n");
  for (const std::vector<std::string>& flag :
       {std::vector<std::string>{"--name", "x"}, {"--devices", "4"}, {"--assign", "llama-7b"}}) {
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
