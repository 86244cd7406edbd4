// Inputs on which GLPK 5.0 or CBC 2.10 answer wrongly, abort or print without precautions. The
// backends are called directly, without tidying and scaling, so that each must protect itself.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "formulations/assign/grouped.h"
#include "formulations/assign/milp.h"
#include "formulations/milp/scaling.h"
#include "formulations/scatter/milp.h"
#include "solvers/milp/backend.h"
#include "tests/solvers/oracle.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_scatter.h"
#ifdef STOWAGE_WITH_CBC
#include "solvers/milp/cbc_solver.h"
#endif
#ifdef STOWAGE_WITH_GLPK
#include "solvers/milp/glpk_solver.h"
#endif
#ifdef STOWAGE_WITH_HIGHS
#include "solvers/highs/highs_solver.h"
#endif

namespace stowage::milp_backend_traps_test {
namespace {

using milp::kInfinity;

struct Door {
  std::string name;
  MilpRun run;
};

void PrintTo(const Door& door, std::ostream* out) { *out << door.name; }

std::vector<Door> doors() {
  std::vector<Door> built;
#ifdef STOWAGE_WITH_CBC
  built.push_back({"cbc", run_cbc});
#endif
#ifdef STOWAGE_WITH_GLPK
  built.push_back({"glpk", run_glpk});
#endif
#ifdef STOWAGE_WITH_HIGHS
  built.push_back({"highs", run_highs});
#endif
  return built;
}

class Backend : public testing::TestWithParam<Door> {
 protected:
  static MilpResult run(const milp::Model& model, const MilpParams& params = {}) {
    Budget budget({.node_limit = 200000});
    const MilpObserver observer = [](const MilpEvent&) {};
    return GetParam().run({model, params, budget, observer});
  }
};

// Both bounds of -4x in [-7, -6] leave no integer; GLPK's presolver answers x = 2.
TEST_P(Backend, SingletonRangeWithoutAnInteger) {
  milp::Model model;
  model.add_variable({.lower = -1, .upper = 2, .objective = 1, .integer = true});
  model.add_row({.lower = -7, .upper = -6, .terms = {{0, -4}}});
  EXPECT_EQ(run(model).status, MilpStatus::infeasible);
}

// Small models whose rows outlive their columns in GLPK's presolver abort it with cover cuts on,
// ranges fool it; a given optimal start comes back as zeros through its undocumented use_sol.
TEST_P(Backend, RawRandomModels) {
  std::mt19937_64 random(8);
  int checked = 0;
  for (int k = 0; k < 2500; ++k) {
    SCOPED_TRACE("model " + std::to_string(k));
    const RandomModel instance = random_model(random);
    // integral bounds and merged terms, as every backend may expect, and no further tidying
    milp::Model raw;
    for (milp::Variable v : instance.model.variables()) {
      if (v.integer) {
        v.lower = std::ceil(v.lower);
        v.upper = std::floor(v.upper);
      }
      raw.add_variable(v);
    }
    for (milp::Row row : instance.model.rows()) {
      row.terms = milp::summed_terms(std::move(row.terms));
      if (!row.terms.empty()) raw.add_row(std::move(row));
    }
    raw.set_offset(instance.model.offset());
    const Truth truth = enumerate({raw, instance.line});
    const MilpResult result = run(raw);
    if (result.status == MilpStatus::unbounded) {  // the answer concerns only the relaxation
      ASSERT_NE(truth.status, MilpStatus::optimal);
      continue;
    }
    ++checked;
    ASSERT_EQ(result.status, truth.status);
    if (truth.status != MilpStatus::optimal) continue;
    ASSERT_NEAR(result.objective, truth.objective, 1e-6);
    ASSERT_LE(raw.violation(result.values), 1e-6);
    const MilpResult again = run(raw, {.start = result.values});
    ASSERT_EQ(again.status, MilpStatus::optimal);
    ASSERT_NEAR(again.objective, truth.objective, 1e-6);
    ASSERT_LE(raw.violation(again.values), 1e-6);
  }
  EXPECT_GT(checked, 1500);
}

// CbcModel alone reports an unbounded model as infeasible.
TEST_P(Backend, UnboundedIsNotInfeasible) {
  milp::Model model;
  model.add_variable({.objective = -1, .integer = true});
  model.add_variable({.objective = -1, .integer = true});
  model.add_row({.upper = 4, .terms = {{0, 1}, {1, -1}}});
  model.add_row({.lower = -4, .terms = {{0, 1}, {1, -1}}});
  EXPECT_EQ(run(model).status, MilpStatus::unbounded);
}

// Clp's presolve calls some unbounded relaxations infeasible.
TEST_P(Backend, UnboundedColumnInARowIsNotInfeasible) {
  milp::Model model;
  model.add_variable({.lower = -kInfinity, .objective = 1});
  model.add_variable({.upper = 3, .objective = 1, .integer = true});
  model.add_row({.upper = 5, .terms = {{0, 1}, {1, 2}}});
  EXPECT_EQ(run(model).status, MilpStatus::unbounded);
}

// CBC prunes what is not better by its cutoff increment, by default 1e-5 in absolute terms.
TEST_P(Backend, SmallObjectiveSteps) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const double truth = makespan_optimum(3, 7, seed);
    for (const double factor : {1e-3, 1e-5, 1e-6, 1e-7, 1e-8}) {
      milp::Model model = makespan_model(3, 7, seed);
      milp::Model small;
      for (milp::Variable v : model.variables()) {
        v.objective *= factor;
        small.add_variable(v);
      }
      for (const milp::Row& row : model.rows()) small.add_row(row);
      // The scaling of solve_milp is applied, because GLPK's simplex has an absolute dual tolerance
      // of its own.
      const milp::Scaling scaling = milp::find_scaling(small);
      const milp::Model& given = GetParam().name == "cbc" ? small : milp::apply(scaling, small);
      const MilpResult result = run(given);
      ASSERT_EQ(result.status, MilpStatus::optimal);
      EXPECT_NEAR(model.objective(result.values), truth, 1e-6 * truth)
          << "seed " << seed << " factor " << factor;
    }
  }
}

// The vertex (1, 0.999999) is integral within CBC's default tolerance; rounded it breaks the row,
// and CBC then drops the node and with it every feasible point.
TEST_P(Backend, NearlyIntegralVertex) {
  for (const double large : {1e5, 1e6}) {
    milp::Model model;
    model.add_variable({.upper = 1, .objective = -1, .integer = true});
    model.add_variable({.upper = 1, .objective = -1.5, .integer = true});
    model.add_row({.upper = large, .terms = {{0, 1}, {1, large}}});
    const MilpResult result = run(model);
    ASSERT_EQ(result.status, MilpStatus::optimal) << large;
    EXPECT_NEAR(result.objective, -1.5, 1e-9) << large;
  }
}

// A cutoff and a start in one call: the start is known to be below the cutoff, or not given.
TEST_P(Backend, CutoffWithAnOffset) {
  milp::Model model = makespan_model(3, 7, 3);
  model.set_offset(-1000);
  const double truth = makespan_optimum(3, 7, 3) - 1000;
  const MilpResult above = run(model, {.cutoff = truth + 0.5});
  ASSERT_EQ(above.status, MilpStatus::optimal);
  EXPECT_NEAR(above.objective, truth, 1e-6);
  EXPECT_EQ(run(model, {.cutoff = truth - 0.5}).status, MilpStatus::infeasible);
}

// On this model a branch leaves its variable where it was, and GLPK's pseudo-costs fail an
// assertion.
TEST_P(Backend, BranchWithoutAStep) {
  const ScatterInstance instance = tiny_scatter(318);
  const ScatterMilp built = build_scatter_milp(instance, exact_classes(ScatterTable(instance)),
                                               {.slots = 1, .strengthened = false});
  EXPECT_EQ(run(built.model).status, MilpStatus::infeasible);
}

// With CglKnapsackCover among its cuts CBC calls 88.44 the optimum of the first, where 86.608 is;
// the relaxations came out above their strategies' optima, 8.571 and 49.5 ms.
TEST_P(Backend, CoverCutsThatLoseOptima) {
  const AssignTable wide(tiny_assign(0));
  const MilpResult exact = run(build_assign_milp(wide, 0, kInfinity).model);
  ASSERT_EQ(exact.status, MilpStatus::optimal);
  EXPECT_NEAR(exact.objective, 86.608, 1e-6);
  for (const auto& [seed, optimum] : {std::pair(119, 8.5715), std::pair(288, 49.5)}) {
    const AssignTable table(tiny_assign(static_cast<std::uint64_t>(seed)));
    const AssignGrouped grouped = build_assign_grouped(table, 1, {.upper = optimum, .apart = true});
    const MilpResult relaxed = run(grouped.model);
    ASSERT_EQ(relaxed.status, MilpStatus::optimal) << seed;
    EXPECT_LE(relaxed.bound, optimum + 1e-6) << seed;
  }
}

// Implications whose largest value is exactly the total turn infeasible when their numbers are
// rounded; CBC then calls the model infeasible though plans exist. With room in them it does not
// matter that an exported file carries nine digits.
TEST_P(Backend, ImplicationsKeepRoomForRounding) {
  AssignInstance instance{.devices = 8,
                          .schemes = {{.name = "1x2",
                                       .pp = 2,
                                       .quadratic_ms = 2.046e-6,
                                       .linear_ms = 0.1183,
                                       .fixed_ms = 65.4,
                                       .max_tokens = 12416}},
                          .strategies = {{.name = "all", .replicas = {4}}}};
  for (Tokens k = 1; k <= 40; ++k) instance.lengths.push_back(12011 - 173 * k);
  const AssignTable table(instance);
  const AssignGrouped grouped = build_assign_grouped(table, 0, {.whole = 0});
  milp::Model rounded;
  for (const milp::Variable& v : grouped.model.variables()) rounded.add_variable(v);
  for (milp::Row row : grouped.model.rows()) {
    for (milp::Term& term : row.terms) {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.9g", term.coefficient);
      term.coefficient = std::strtod(digits, nullptr);
    }
    rounded.add_row(std::move(row));
  }
  const milp::Scaling scaling = milp::find_scaling(rounded);
  const MilpResult result = run(milp::apply(scaling, rounded));
  ASSERT_EQ(result.status, MilpStatus::optimal);
  const MilpResult exact = run(milp::apply(milp::find_scaling(grouped.model), grouped.model));
  ASSERT_EQ(exact.status, MilpStatus::optimal);
  const double value = grouped.model.objective(milp::unscale(scaling, result.values));
  EXPECT_NEAR(
      value,
      grouped.model.objective(milp::unscale(milp::find_scaling(grouped.model), exact.values)),
      1e-6 * value);
}

// A fatal error inside GLPK ends in an exception, not in abort(), and the next solve works.
TEST_P(Backend, RecoversFromAFatalError) {
  if (GetParam().name != "glpk") GTEST_SKIP() << "only GLPK aborts";
  milp::Model broken;
  broken.add_variable({.upper = 1});
  broken.add_variable({.upper = 1});
  broken.add_row({.upper = 1, .terms = {{0, 1}, {0, 1}}});  // a duplicate is fatal for GLPK
  EXPECT_THROW(run(broken), BackendError);
  EXPECT_NEAR(run(makespan_model(3, 7, 1)).objective, makespan_optimum(3, 7, 1), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Built, Backend, testing::ValuesIn(doors()),
                         [](const auto& door) { return door.param.name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Backend);

}  // namespace
}  // namespace stowage::milp_backend_traps_test
