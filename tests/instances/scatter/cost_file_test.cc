// A cost that stands in a file beside its instance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "instances/scatter/json/json.h"

namespace stowage::scatter_cost_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CostFile : public testing::Test {
 protected:
  CostFile()
      : directory_(std::filesystem::temp_directory_path() /
                   ("stowage-cost-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(directory_);
  }
  ~CostFile() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }

  Result<ScatterInstance> read(const std::string& cost) const {
    return read_scatter_instance(
        R"({"format": "stowage/instance", "version": 1, "problem": "scatter",
            "cluster": {"devices": 2, "memory_mib": 100, "degrees": [1, 2]},
            "model": {"states_mib": 20, "activation_mib_per_token": 1},
            "lengths": [100, 64], "cost": )" +
            cost + "}",
        directory_);
  }

  std::string errors_of(const std::string& cost) const {
    std::string text;
    if (const auto instance = read(cost); !instance) {
      for (const InputError& error : instance.errors()) text += to_string(error) + '\n';
    }
    return text;
  }

  std::filesystem::path directory_;
};

constexpr char kCost[] = R"({"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 3})";

TEST_F(CostFile, IsTheSameAsTheCostItself) {
  write("cost.json", kCost);
  const auto instance = read(R"({"file": "cost.json"})");
  ASSERT_TRUE(instance);
  const auto inlined = read(kCost);
  ASSERT_TRUE(inlined);
  EXPECT_EQ(*instance, *inlined);
  EXPECT_EQ(instance_hash(*instance), instance_hash(*inlined));
}

TEST_F(CostFile, LiesBesideTheInstance) {
  write("cost.json", kCost);
  for (const std::string path : {"/etc/passwd", ""}) {
    EXPECT_EQ(errors_of("{\"file\": \"" + path + "\"}"),
              "E401 /cost/file: must be a path relative to the instance, is \"" + path + "\"\n");
  }
  EXPECT_THAT(errors_of(R"({"file": 7})"), HasSubstr("E203 /cost/file"));
  EXPECT_THAT(errors_of(R"({"file": "cost.json", "linear_ms": 1})"),
              HasSubstr("E202 /cost/linear_ms"));
  EXPECT_THAT(errors_of(R"({"file": "none.json"})"), HasSubstr("E110 "));
  EXPECT_THAT(errors_of(R"({"file": "."})"), HasSubstr("is a directory or a device"));
}

TEST_F(CostFile, ErrorsNameTheFileAndThePlaceInIt) {
  const std::string file = (directory_ / "cost.json").string();
  write("cost.json", R"({"quadratic_ms": -1, "linear_ms": 0.5, "fixed": 3})");
  const std::string errors = errors_of(R"({"file": "cost.json"})");
  EXPECT_THAT(errors, HasSubstr("E206 " + file + " /quadratic_ms: "));
  EXPECT_THAT(errors, HasSubstr("E202 " + file + " /fixed: "));
  write("cost.json", "{");
  EXPECT_THAT(errors_of(R"({"file": "cost.json"})"), HasSubstr("E101 " + file));
  write("cost.json", "7");
  EXPECT_THAT(errors_of(R"({"file": "cost.json"})"), HasSubstr("E203 " + file));
}

// A file that names itself is not a cost: the key has no meaning in a cost.
TEST_F(CostFile, NamesNoFurtherFile) {
  write("cost.json", R"({"file": "cost.json"})");
  EXPECT_THAT(errors_of(R"({"file": "cost.json"})"), HasSubstr("E202 "));
}

}  // namespace
}  // namespace stowage::scatter_cost_file_test
