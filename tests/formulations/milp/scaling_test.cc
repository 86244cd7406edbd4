#include "formulations/milp/scaling.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stowage::milp::milp_scaling_test {
namespace {

// A makespan model: t - sum p_j x_j >= 0 with processing times of the given magnitude.
Model makespan(double factor, bool integer_makespan = false) {
  Model model;
  const int t = model.add_variable({.objective = 1, .integer = integer_makespan});
  Row row{.lower = 0, .terms = {{t, 1}}};
  for (const double p : {10.0, 35.0, 999.0}) {
    const int x = model.add_variable({.upper = 1, .integer = true});
    row.terms.push_back({x, -p * factor});
  }
  model.add_row(row);
  return model;
}

TEST(Scaling, LeavesGoodModelsAlone) {
  const Scaling scaling = find_scaling(makespan(1));
  EXPECT_EQ(scaling.row, std::vector<int>(1));
  EXPECT_EQ(scaling.column, std::vector<int>(4));
  EXPECT_EQ(scaling.objective, 0);
}

TEST(Scaling, ReportsMagnitudesWithoutZeroAndInfinity) {
  Model model = makespan(1);
  model.add_variable({.lower = -7, .upper = kInfinity});
  const RangeReport report = coefficient_ranges(model);
  EXPECT_EQ(report.rows.min, 1);
  EXPECT_EQ(report.rows.max, 999);
  EXPECT_EQ(report.bounds.min, 1);
  EXPECT_EQ(report.bounds.max, 7);
  EXPECT_EQ(to_string(report), "coef 1..999, obj 1..1, bounds 1..7");
  EXPECT_EQ(to_string(coefficient_ranges(Model{})), "coef none, obj none, bounds none");
}

TEST(Scaling, JudgesBySpread) {
  const auto verdict = [](double small, double large) {
    return judge({.rows = {.min = small, .max = large}});
  };
  EXPECT_EQ(verdict(1, 1e6), RangeVerdict::good);
  EXPECT_EQ(verdict(1, 2e6), RangeVerdict::warn);
  EXPECT_EQ(verdict(1e-3, 1e6), RangeVerdict::warn);
  EXPECT_EQ(verdict(1, 2e9), RangeVerdict::refuse);
  EXPECT_EQ(judge({.objective = {.min = 1, .max = 2e9}}), RangeVerdict::refuse);
  EXPECT_EQ(judge({.bounds = {.min = 1, .max = 2e9}}), RangeVerdict::warn);
}

struct Case {
  double factor;
  bool integer_makespan;
  RangeVerdict verdict;
};

class ScalingTable : public testing::TestWithParam<Case> {};

TEST_P(ScalingTable, BringsCoefficientsHomeOrSaysNo) {
  const Model model = makespan(GetParam().factor, GetParam().integer_makespan);
  const Scaling scaling = find_scaling(model);
  const RangeReport report = coefficient_ranges(apply(scaling, model));
  EXPECT_EQ(judge(report), GetParam().verdict) << to_string(report);
  if (GetParam().verdict != RangeVerdict::good) return;
  EXPECT_GE(report.rows.min, kSmallestCoefficient);
  EXPECT_LE(report.rows.max, kLargestCoefficient);
  EXPECT_GE(report.objective.min, kSmallestCoefficient);
  EXPECT_LE(report.objective.max, kLargestCoefficient);
}

// A continuous makespan takes up any factor; an integral one cannot be scaled.
INSTANTIATE_TEST_SUITE_P(
    All, ScalingTable,
    testing::Values(Case{1e-12, false, RangeVerdict::good}, Case{1e-8, false, RangeVerdict::good},
                    Case{1e-3, false, RangeVerdict::good}, Case{1e5, false, RangeVerdict::good},
                    Case{1e9, false, RangeVerdict::good}, Case{1e15, false, RangeVerdict::good},
                    Case{1e2, true, RangeVerdict::good}, Case{1e5, true, RangeVerdict::warn},
                    Case{1e9, true, RangeVerdict::refuse}));

TEST(Scaling, IsExact) {
  Model model;
  const int x = model.add_variable({.lower = -0.1, .upper = 1.7e9, .objective = 3e-9});
  const int y = model.add_variable({.upper = 5, .objective = 1e-9, .integer = true});
  model.add_row({.lower = 0.3, .upper = 7.7e8, .terms = {{x, 1e-8 / 3}, {y, 123456.789}}});
  model.set_offset(1.0 / 3);
  const Scaling scaling = find_scaling(model);
  EXPECT_NE(scaling.column[0], 0);
  EXPECT_EQ(scaling.column[1], 0) << "an integer column must keep its step of 1";
  EXPECT_NE(scaling.objective, 0);
  const Model scaled = apply(scaling, model);
  const std::vector<double> values{1.0 / 7, 3};
  EXPECT_EQ(unscale(scaling, scale(scaling, values)), values);
  EXPECT_EQ(scaled.objective(scale(scaling, values)),
            std::ldexp(model.objective(values), scaling.objective));
  Scaling back = scaling;  // undoing the factors gives every number back
  for (int& e : back.row) e = -e;
  for (int& e : back.column) e = -e;
  back.objective = -back.objective;
  const Model again = apply(back, scaled);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_EQ(again.variables()[j].lower, model.variables()[j].lower);
    EXPECT_EQ(again.variables()[j].upper, model.variables()[j].upper);
    EXPECT_EQ(again.variables()[j].objective, model.variables()[j].objective);
    EXPECT_EQ(again.rows()[0].terms[j].coefficient, model.rows()[0].terms[j].coefficient);
  }
  EXPECT_EQ(again.rows()[0].lower, model.rows()[0].lower);
  EXPECT_EQ(again.rows()[0].upper, model.rows()[0].upper);
  EXPECT_EQ(again.offset(), model.offset());
}

}  // namespace
}  // namespace stowage::milp::milp_scaling_test
