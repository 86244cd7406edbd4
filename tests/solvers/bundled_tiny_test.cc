// The bundled tiny steps: each feasible one carries its optimum, found by an exhaustive search that
// shares nothing with this library, each infeasible one the sequences to blame.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "formulations/scatter/bounds.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/solve.h"
#include "tests/oracles/scatter/brute_force.h"

namespace stowage::bundled_tiny_test {
namespace {

std::vector<std::filesystem::path> tiny_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances/data/scatter/tiny")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

class BundledTiny : public testing::TestWithParam<std::filesystem::path> {
 protected:
  BundledTiny() {
    std::ifstream in(GetParam());
    std::ostringstream text;
    text << in.rdbuf();
    notes_ = nlohmann::json::parse(text.str());
    Result<ScatterInstance> read = read_scatter_instance(text.str(), GetParam().parent_path());
    EXPECT_TRUE(read);
    if (read) instance_ = *std::move(read);
  }

  nlohmann::json notes_;
  ScatterInstance instance_;
};

TEST_P(BundledTiny, HasTheOutcomeItSays) {
  Budget budget({.node_limit = 200});
  const Outcome outcome = solve(instance_, {}, budget);
  if (notes_.contains("x-infeasible")) {
    EXPECT_EQ(outcome.status, Status::infeasible);
    EXPECT_EQ(outcome.unplaceable, notes_["x-infeasible"].get<std::vector<std::int64_t>>());
    EXPECT_FALSE(outcome.plan);
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
  if (instance_.lengths.size() > kBruteForceSequences) return;
  const auto best = brute_force(instance_);
  ASSERT_TRUE(best);
  EXPECT_NEAR(best->objective_ms, optimum, slack);
  EXPECT_TRUE(verify(instance_, *best).empty());
}

INSTANTIATE_TEST_SUITE_P(Files, BundledTiny, testing::ValuesIn(tiny_files()), [](const auto& file) {
  std::string name = file.param.stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace stowage::bundled_tiny_test
