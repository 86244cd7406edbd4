#include "solvers/milp/tidy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace stowage::milp_tidy_test {
namespace {

using milp::kInfinity;
using Verdict = TidyModel::Verdict;

struct Case {
  std::string name;
  std::vector<milp::Variable> variables;
  std::vector<milp::Row> rows;
  Verdict verdict;
  std::vector<double> values = {};  // values of the original variables after the solve
};

class Tidy : public testing::TestWithParam<Case> {};

TEST_P(Tidy, ReachesTheVerdict) {
  milp::Model model;
  for (const milp::Variable& v : GetParam().variables) model.add_variable(v);
  for (const milp::Row& row : GetParam().rows) model.add_row(row);
  const TidyModel tidied = tidy(model);
  ASSERT_EQ(tidied.verdict, GetParam().verdict) << tidied.detail;
  if (tidied.verdict == Verdict::solved) {
    EXPECT_EQ(tidied.expand({}), GetParam().values);
    EXPECT_LE(model.violation(tidied.expand({})), 1e-9);
  } else if (tidied.verdict != Verdict::open) {
    EXPECT_FALSE(tidied.detail.empty());
  } else {
    EXPECT_FALSE(tidied.model.variables().empty());
    EXPECT_FALSE(tidied.model.rows().empty());
  }
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

INSTANTIATE_TEST_SUITE_P(
    All, Tidy,
    testing::Values(
        Case{"Nothing", {}, {}, Verdict::solved},
        Case{"EmptyRowThatHolds", {}, {{.lower = -1, .upper = 1}}, Verdict::solved},
        Case{"EmptyRowThatFails", {}, {{.lower = 1}}, Verdict::infeasible},
        Case{"RowThatCancelsToNothing",
             {{.upper = 2}},
             {{.lower = 1, .terms = {{0, 0.1}, {0, 0.2}, {0, -0.3}}}},
             Verdict::infeasible},
        Case{"LonelyVariablesGoToTheirBetterBound",
             {{.lower = -2, .upper = 3, .objective = 1},
              {.lower = -2, .upper = 3, .objective = -1},
              {.lower = 1, .upper = 3},
              {.lower = -kInfinity}},
             {},
             Verdict::solved,
             {-2, 3, 1, 0}},
        Case{"LonelyVariableWithoutABound", {{.objective = -1}}, {}, Verdict::unbounded},
        Case{"LonelyVariableWithoutABoundBesideRows",
             {{.objective = -1}, {.upper = 9}, {.upper = 9}},
             {{.upper = 3, .terms = {{1, 1}, {2, 1}}}},
             Verdict::open},
        Case{"FractionalBoundsOfAnInteger",
             {{.lower = 0.5, .upper = 1.5, .objective = -1, .integer = true}},
             {},
             Verdict::solved,
             {1}},
        Case{"NoIntegerBetweenTheBounds",
             {{.lower = 0.25, .upper = 0.75, .integer = true}},
             {},
             Verdict::infeasible},
        Case{"BoundsCrossed", {{.lower = 2, .upper = 1}}, {}, Verdict::infeasible},
        Case{"BoundsEqual", {{.lower = 2.5, .upper = 2.5}}, {}, Verdict::solved, {2.5}},
        Case{"SingletonRangeWithoutAnInteger",
             {{.lower = -1, .upper = 2, .integer = true}},
             {{.lower = -7, .upper = -6, .terms = {{0, -4}}}},
             Verdict::infeasible},
        Case{"SingletonDivisionThatRoundsBelow",  // 0.3 / 0.1 is 2.9999999999999996
             {{.upper = 9, .objective = -1, .integer = true}},
             {{.upper = 0.3, .terms = {{0, 0.1}}}},
             Verdict::solved,
             {3}},
        Case{"NegativeSingletonSwapsItsSides",
             {{.lower = -kInfinity, .objective = 1}},
             {{.lower = -6, .upper = 8, .terms = {{0, -2}}}},
             Verdict::solved,
             {-4}},
        Case{"ChainOfSingletons",
             {{.upper = 9, .objective = 1}, {.upper = 9, .objective = 1}},
             {{.lower = 7, .upper = 7, .terms = {{0, 1}, {1, 2}}},
              {.lower = 3, .upper = 3, .terms = {{0, 1}}}},
             Verdict::solved,
             {3, 2}},
        Case{"RowBeyondItsActivity",
             {{.upper = 1}, {.upper = 1}},
             {{.lower = 3, .terms = {{0, 1}, {1, 1}}}},
             Verdict::infeasible},
        Case{"RowWithCrossedSides",
             {{}, {}},
             {{.lower = 3, .upper = 2, .terms = {{0, 1}, {1, 1}}}},
             Verdict::infeasible},
        Case{"FreeRowIsNoRow",
             {{.upper = 1, .objective = -1}, {.upper = 1}},
             {{.terms = {{0, 1}, {1, 1}}}},
             Verdict::solved,
             {1, 0}},
        Case{"NanBound", {{.lower = kNan}}, {}, Verdict::invalid},
        Case{"NanObjective", {{.objective = kNan}}, {}, Verdict::invalid},
        Case{"InfiniteObjective", {{.objective = kInfinity}}, {}, Verdict::invalid},
        Case{"LowerBoundPlusInfinity", {{.lower = kInfinity}}, {}, Verdict::invalid},
        Case{"UpperBoundMinusInfinity", {{.upper = -kInfinity}}, {}, Verdict::invalid},
        Case{"MisspeltInfinity", {{.upper = 1e30}}, {}, Verdict::invalid},
        Case{"NanCoefficient", {{}}, {{.upper = 1, .terms = {{0, kNan}}}}, Verdict::invalid},
        Case{"NanSide", {{}}, {{.upper = kNan, .terms = {{0, 1}}}}, Verdict::invalid}),
    [](const auto& one) { return one.param.name; });

TEST(TidyModel, KeepsTheRestWithSummedTermsAndMovedSides) {
  milp::Model model;
  model.add_variable({.name = "a", .lower = 2, .upper = 2, .objective = 5});
  model.add_variable({.name = "b", .upper = 4, .objective = 1, .integer = true});
  model.add_variable({.name = "c", .upper = 4, .objective = 1});
  model.add_row({.lower = 1, .upper = 8, .terms = {{2, 1}, {0, 3}, {1, 1}, {1, 2}}});
  model.set_offset(0.5);
  const TidyModel tidied = tidy(model);
  ASSERT_EQ(tidied.verdict, Verdict::open);
  EXPECT_EQ(tidied.origin, (std::vector<int>{1, 2}));
  EXPECT_EQ(tidied.model.offset(), 10.5);
  ASSERT_EQ(tidied.model.rows().size(), 1U);
  const milp::Row& row = tidied.model.rows()[0];
  EXPECT_EQ(row.lower, -5);
  EXPECT_EQ(row.upper, 2);
  ASSERT_EQ(row.terms.size(), 2U);
  EXPECT_EQ(row.terms[0].coefficient, 3);
  EXPECT_EQ(tidied.expand({7, 8}), (std::vector<double>{2, 7, 8}));
  EXPECT_EQ(tidied.reduce({2, 9, -1}), (std::vector<double>{4, 0}));
}

}  // namespace
}  // namespace stowage::milp_tidy_test
