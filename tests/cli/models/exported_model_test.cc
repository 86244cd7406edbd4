// From an instance to a model, to a solution, and back to a plan, for every family.
#include "cli/models/exported_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/families/families.h"
#include "formulations/milp/column_names.h"
#include "formulations/milp/export_text.h"
#include "formulations/milp/read_solution.h"
#include "formulations/milp/solution_values.h"
#include "formulations/milp/write_lp.h"
#include "formulations/milp/write_mps.h"
#include "instances/verify.h"
#include "solvers/milp/backends.h"
#include "solvers/milp/solver.h"
#include "tests/cli/fixture.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_scatter.h"
#include "tests/tiny_strategy.h"

namespace stowage::models_exported_model_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Returns a solution in Gurobi's format.
std::string solution_text(const milp::Model& model, const std::vector<double>& values) {
  const milp::ColumnNames names = milp::column_names(model);
  std::string text = "# Solution for model obj\n";
  for (std::size_t j = 0; j < values.size(); ++j) {
    text += names.variables[j] + ' ' + milp::number_text(values[j]) + '\n';
  }
  return text + names.offset + " 1\n";
}

// Returns whether there was a model with a solution, and expects that its plan is as good as the
// solution.
bool expect_round_trip(const Instance& instance, const ModelFlags& flags) {
  const std::vector<MilpBackend> backends = built_backends();
  if (backends.empty()) return false;
  const ModelAnswer answer = exported_model(instance, flags);
  const auto* exported = std::get_if<ExportedModel>(&answer);
  if (exported == nullptr) return false;
  Budget budget({.node_limit = 20'000});
  const MilpResult solved = solve_milp(backends.front(), exported->model, {}, budget);
  if (!has_point(solved.status)) return false;
  const Result<milp::SolutionFile> file =
      milp::read_solution(solution_text(exported->model, solved.values), "m.sol");
  if (!file) {
    ADD_FAILURE() << to_string(file.errors().front());
    return false;
  }
  const Result<std::vector<double>> values = milp::values_of(exported->model, *file);
  if (!values) {
    ADD_FAILURE() << to_string(values.errors().front());
    return false;
  }
  Plan plan = exported->plan(*values);
  std::visit([&](auto& own) { own.instance_hash = hash_of(instance); }, plan);
  for (const Violation& violation : verify(instance, plan)) ADD_FAILURE() << to_string(violation);
  // The model's unit is ms, or units of bytes.
  if (!std::holds_alternative<LayoutInstance>(instance)) {
    EXPECT_LE(plan_objective(plan), solved.objective * (1 + 1e-6) + 1e-6);
  }
  if (exported->bound) {
    EXPECT_GE(plan_objective(plan), exported->bound->value * (1 - 1e-9));
  }
  return true;
}

TEST(ExportedModel, SolutionsBecomePlans) {
  if (built_backends().empty()) GTEST_SKIP() << "no backend is built in";
  int scatter = 0;
  int assign = 0;
  int layout = 0;
  int strategy = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    scatter += static_cast<int>(expect_round_trip(tiny_scatter(seed), {}));
    scatter += static_cast<int>(expect_round_trip(tiny_scatter(seed), {.published = true}));
    assign += static_cast<int>(expect_round_trip(tiny_assign(seed), {.exact = true}));
    layout += static_cast<int>(expect_round_trip(tiny_layout(seed), {}));
    LayoutInstance published = tiny_layout(seed);
    published.capacity.reset();  // published rows have no capacity
    layout += static_cast<int>(expect_round_trip(published, {.published = true}));
    strategy += static_cast<int>(expect_round_trip(tiny_strategy(seed), {}));
    strategy +=
        static_cast<int>(expect_round_trip(with_partial_sharing(tiny_experts(seed), seed), {}));
    if (HasFailure()) return;
  }
  EXPECT_GE(scatter, 40);
  EXPECT_GE(assign, 20);
  EXPECT_GE(layout, 40);
  EXPECT_GE(strategy, 20);
}

TEST(ExportedModel, SaysWhatItsNamesMean) {
  ScatterInstance step = tiny_scatter(3);
  step.lengths = {1};
  const Instance instance = step;
  const ModelAnswer answer = exported_model(instance, {});
  ASSERT_TRUE(std::holds_alternative<ExportedModel>(answer));
  const auto& exported = std::get<ExportedModel>(answer);
  std::ostringstream lp;
  write_lp(exported.model, lp, exported.legend);
  EXPECT_THAT(lp.str(), HasSubstr("\\ columns: T_bB ms of micro-batch B;"));
  std::ostringstream mps;
  write_mps(exported.model, mps, exported.legend);
  EXPECT_THAT(mps.str(), StartsWith("* columns: T_bB ms of micro-batch B;"));
}

// The command `import`: its output and its errors.
class Import : public testing::Test {
 protected:
  void SetUp() override {
    dir_.write("instance.json", R"({"format": "stowage/instance", "version": 1,
      "problem": "scatter", "name": "two",
      "cluster": {"devices": 2, "memory_mib": 100, "degrees": [1, 2]},
      "model": {"states_mib": 20, "activation_mib_per_token": 1},
      "cost": {"quadratic_ms": 0, "linear_ms": 0.5, "fixed_ms": 3}, "lengths": [64, 80]})");
  }
  Finished import(const std::string& solution, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"import", "instance.json", "-", "-o", "plan.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_stowage(arguments, {.input = solution, .directory = dir_.path()});
  }
  TempDir dir_;
};

// Both sequences on both devices: 0.5 (64 + 80) / 2 + 3 ms.
constexpr char kSolved[] =
    "# Objective value = 39\nT_b0 39\nm_b0_d2_0 1\nA_b0_d2_0_q0 1\n"
    "A_b0_d2_0_q1 1\n";

TEST_F(Import, WritesAVerifiedPlan) {
  const Finished run = import(kSolved);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\"solver\": \"Gurobi\""));
  EXPECT_THAT(run.out, HasSubstr("\"objective_ms\": 39,"));
  EXPECT_THAT(run.err, HasSubstr("verified  -> plan.json"));
  EXPECT_EQ(
      run_stowage({"verify", "instance.json", "plan.json"}, {.directory = dir_.path()}).exit_code,
      0);
}

TEST_F(Import, RefusesWithoutTouchingTheOldPlan) {
  dir_.write("plan.json", "old");
  const auto refusal = [&](const std::string& solution, std::vector<std::string> more = {}) {
    const Finished run = import(solution, std::move(more));
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_EQ(dir_.read("plan.json"), "old");
    return run.err;
  };
  EXPECT_THAT(refusal("hello\n"), HasSubstr("stdin:1: must begin a solution file"));
  EXPECT_THAT(refusal("# Objective value = 39\nA_b0_d2_0_q0 1\n"), HasSubstr("must keep row C"));
  EXPECT_THAT(refusal(kSolved, {"--exact"}), HasSubstr("--exact: has no effect on a scatter step"));
  EXPECT_THAT(refusal("# Objective value = 39\nT_b7 1\n"),
              HasSubstr("export and import need the same instance and flags"));
}

TEST_F(Import, FlagsOfOtherFamiliesAreNamed) {
  dir_.write("layout.json", R"({"format": "stowage/instance", "version": 1, "problem": "layout",
    "name": "one", "buffers": [{"id": "a", "lower": 0, "upper": 1, "size_bytes": 4}]})");
  for (const char* flag : {"--slots=2", "--strategy=S0", "--apart", "--exact"}) {
    const Finished run =
        run_stowage({"export", "layout.json", "-o", "model.lp", flag}, {.directory = dir_.path()});
    EXPECT_EQ(run.exit_code, 2) << flag;
    EXPECT_THAT(run.err, HasSubstr("has no effect on a layout")) << flag;
  }
  EXPECT_EQ(run_stowage({"export", "layout.json", "-o", "model.lp", "--published"},
                        {.directory = dir_.path()})
                .exit_code,
            0);
}

TEST_F(Import, SolutionsOfTheGroupedModelAreNoPlans) {
  ASSERT_EQ(run_stowage({"generate", "assign", "--tokens", "10k", "-o", "assign.json"},
                        {.directory = dir_.path()})
                .exit_code,
            0);
  const Finished run =
      run_stowage({"import", "assign.json", "-", "-o", "plan.json"},
                  {.input = "# Objective value = 1\nZ 1\n", .directory = dir_.path()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--exact: must be given to export and to import"));
}

}  // namespace
}  // namespace stowage::models_exported_model_test
