// generate: the values of the flags and the names of instances.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::commands_generate_test {
namespace {

using ::testing::HasSubstr;

class Generate : public testing::Test {
 protected:
  Generate() { fill_with_examples(dir_); }

  Finished run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "generate");
    return run_stowage(arguments, {.directory = dir_.path()});
  }

  TempDir dir_;
};

TEST_F(Generate, ANameHasNoFolder) {
  const Finished near = run({"scatter", "--lengths", "lengths.txt", "--count", "8"});
  const auto path = (dir_ / "lengths.txt").string();
  for (const std::string& far : {std::string("./lengths.txt"), path}) {
    const Finished same = run({"scatter", "--lengths", far, "--count", "8"});
    EXPECT_EQ(nlohmann::json::parse(same.out)["name"], nlohmann::json::parse(near.out)["name"]);
  }
  EXPECT_EQ(nlohmann::json::parse(near.out)["name"], "gpt-7b-64gpu-192k-lengths-0");
}

TEST_F(Generate, TakesMillionsOfTokens) {
  const Finished million = run({"assign", "--tokens", "1M"});
  ASSERT_EQ(million.exit_code, 0) << million.err;
  EXPECT_EQ(million.out, run({"assign", "--tokens", "1048576"}).out);
  for (const char* wrong : {"1G", "1MK", "M", "9007199255M"}) {
    EXPECT_EQ(run({"assign", "--tokens", wrong}).exit_code, 2) << wrong;
  }
}

TEST_F(Generate, AnErrorNamesTheFlagThatWasGiven) {
  EXPECT_THAT(run({"layout", "--model", "mixtral-8x7b"}).err,
              ::testing::HasSubstr("stowage: --model: must be a model without experts"));
  EXPECT_THAT(run({"strategy", "--formulas", "5"}).err, ::testing::HasSubstr("--formulas"));
}

TEST_F(Generate, KnowsTheProgressFlag) {
  for (const char* family : {"scatter", "assign", "layout", "order", "strategy"}) {
    EXPECT_EQ(run({family, "--progress", "never"}).exit_code, 0) << family;
  }
}

// The most common node. The share in the warning has a plan, and the next smaller share has none.
TEST_F(Generate, WarnsOfACapacityThatNoOrderKeeps) {
  const std::vector<std::string> wanted = {"order", "--from-kernels", "--capacity-share"};
  const auto with = [&](const std::string& share) {
    std::vector<std::string> arguments = wanted;
    arguments.insert(arguments.end(), {share, "-o", "graph.json"});
    return run(arguments).err;
  };
  const std::string warned = with("0.7");
  ASSERT_THAT(warned, HasSubstr("no plan keeps the capacity of"));
  const std::string flag = "--capacity-share ";
  const std::size_t from = warned.find(flag) + flag.size();
  const std::string enough = warned.substr(from, warned.find(' ', from) - from);
  EXPECT_GT(std::stod(enough), 0.7);
  EXPECT_EQ(with(enough).find("no plan keeps"), std::string::npos);
  EXPECT_THAT(with(std::to_string(std::stod(enough) - 0.002)), HasSubstr("no plan keeps"));
}

TEST_F(Generate, AnyModelFitsEightDevices) {
  for (const char* model : {"gpt-7b", "gpt-13b"}) {
    const Finished node =
        run({"scatter", "--preset", model, "--devices", "8", "--count", "20", "-o", "node.json"});
    ASSERT_EQ(node.exit_code, 0) << node.err;
    const Finished solved =
        run_stowage({"solve", "node.json", "--method", "fast"}, {.directory = dir_.path()});
    EXPECT_EQ(solved.exit_code, 0) << solved.err;
  }
}

}  // namespace
}  // namespace stowage::commands_generate_test
