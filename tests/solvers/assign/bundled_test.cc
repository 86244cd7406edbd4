// The bundled tiny assign steps: each feasible one carries its optimum, found by an exhaustive
// search that shares nothing with this library, each infeasible one the sequences to blame.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "instances/assign/json/json.h"
#include "instances/assign/verify/verify.h"
#include "solvers/solve.h"
#include "tests/oracles/assign/brute_force.h"

namespace stowage::assign_bundled_test {
namespace {

std::vector<std::filesystem::path> tiny_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances/data/assign/tiny")) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

class BundledAssign : public testing::TestWithParam<std::filesystem::path> {
 protected:
  BundledAssign() {
    std::ifstream in(GetParam());
    std::ostringstream text;
    text << in.rdbuf();
    notes_ = nlohmann::json::parse(text.str());
    Result<AssignInstance> read = read_assign_instance(text.str());
    EXPECT_TRUE(read);
    if (read) instance_ = *std::move(read);
  }

  nlohmann::json notes_;
  AssignInstance instance_;
};

TEST_P(BundledAssign, HasTheOutcomeItSays) {
  Budget budget({.node_limit = 2000});
  const Outcome outcome = solve(instance_, {}, budget);
  const auto best = brute_force(instance_);
  if (notes_.contains("x-infeasible")) {
    EXPECT_EQ(outcome.status, Status::infeasible);
    EXPECT_EQ(outcome.unplaceable, notes_["x-infeasible"].get<std::vector<std::int64_t>>());
    EXPECT_FALSE(outcome.plan);
    EXPECT_FALSE(best);
    return;
  }
  const double optimum = notes_["x-optimal_ms"].get<double>();
  const double slack = 1e-6 * std::max(1.0, optimum);
  ASSERT_TRUE(outcome.plan);
  EXPECT_GE(*outcome.objective, optimum - slack);
  for (const NamedBound& bound : outcome.bounds) {
    EXPECT_LE(bound.value, optimum + slack) << bound.name;
  }
  if (outcome.status == Status::optimal) {
    EXPECT_NEAR(*outcome.objective, optimum, slack);
  }
  ASSERT_TRUE(best);
  EXPECT_NEAR(best->objective_ms, optimum, slack);
  EXPECT_TRUE(verify(instance_, *best).empty());
}

INSTANTIATE_TEST_SUITE_P(Files, BundledAssign, testing::ValuesIn(tiny_files()),
                         [](const auto& file) {
                           std::string name = file.param.stem().string();
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace stowage::assign_bundled_test
