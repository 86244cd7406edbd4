#include "formulations/milp/model.h"

#include <gtest/gtest.h>

#include <limits>

namespace stowage::milp::milp_model_test {
namespace {

// x integer in [0, 4], y in [-1, inf); C1: 2x + y <= 200, C2: 1 <= x + y + x.
Model example() {
  Model model;
  const int x = model.add_variable({.name = "x", .upper = 4, .objective = -1, .integer = true});
  const int y = model.add_variable({.name = "y", .lower = -1, .objective = 0.5});
  model.add_row({.name = "C1", .upper = 200, .terms = {{x, 2}, {y, 1}}});
  model.add_row({.name = "C2", .lower = 1, .terms = {{x, 1}, {y, 1}, {x, 1}}});
  model.set_offset(10);
  return model;
}

TEST(Model, IndicesCountUp) {
  Model model;
  EXPECT_EQ(model.add_variable({}), 0);
  EXPECT_EQ(model.add_variable({}), 1);
  EXPECT_EQ(model.add_row({}), 0);
  EXPECT_EQ(model.add_row({}), 1);
}

TEST(Model, ObjectiveIncludesTheOffset) {
  EXPECT_EQ(example().objective({3, 4}), 10 - 3 + 2);
  EXPECT_EQ(Model{}.objective({}), 0);
}

TEST(Model, ObjectiveAddsInLongDouble) {
  Model model;
  for (const double c : {1e16, 1.0, -1e16}) model.add_variable({.objective = c});
  EXPECT_EQ(model.objective({1, 1, 1}), 1);
}

struct Case {
  const char* what;
  std::vector<double> values;
  double violation;
};

TEST(Model, ViolationIsTheLargestBreak) {
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const Case cases[] = {
      {.what = "feasible", .values = {3, 4}, .violation = 0},
      {.what = "upper bound, absolute", .values = {6, 4}, .violation = 2},
      {.what = "lower bound, absolute", .values = {4, -1.5}, .violation = 0.5},
      {.what = "integrality", .values = {2.75, 4}, .violation = 0.25},
      {.what = "row, relative to its bound", .values = {0, 300}, .violation = 0.5},
      {.what = "row with a term that stands twice", .values = {0, 0.5}, .violation = 0.5},
      {.what = "NaN", .values = {kNan, 0}, .violation = kInfinity},
      {.what = "infinity", .values = {0, kInfinity}, .violation = kInfinity},
  };
  for (const Case& one : cases) {
    EXPECT_DOUBLE_EQ(example().violation(one.values), one.violation) << one.what;
  }
}

TEST(Model, SummedTermsAddSortAndCancel) {
  const std::vector<Term> terms =
      summed_terms({{2, 1}, {0, 0.1}, {2, 3}, {0, 0.2}, {0, -0.3}, {1, 0}});
  ASSERT_EQ(terms.size(), 1U);
  EXPECT_EQ(terms[0].variable, 2);
  EXPECT_EQ(terms[0].coefficient, 4);
}

}  // namespace
}  // namespace stowage::milp::milp_model_test
