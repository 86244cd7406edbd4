// The dense simplex against the duality of linear programmes, with and without a start basis.
#include "solvers/lp/dense_simplex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "instances/numeric/random.h"
#include "tests/long_run.h"

namespace stowage::lp_dense_simplex_test {
namespace {

const auto kModels = static_cast<std::uint64_t>(in_long_run(60, 2000));

class Covering {
 public:
  Covering(std::uint64_t seed, int columns) : random_(seed), columns_(columns) {
    for (int j = 0; j < columns; ++j) {
      model.add_variable({.name = "x" + std::to_string(j), .objective = number(1, 20)});
    }
  }

  // Rows have entries of both signs in some cases, and at least one positive entry, so that they
  // can be satisfied.
  void add_rows(int count) {
    for (int k = 0; k < count; ++k) {
      milp::Row row{.name = "r" + std::to_string(model.rows().size()), .lower = number(1, 9)};
      for (int j = 0; j < columns_; ++j) {
        if (draw(random_, 3) != 0) continue;
        row.terms.push_back({j, draw(random_, 5) == 0 ? -number(0, 1) : number(0, 3)});
      }
      const int sure = static_cast<int>(draw(random_, static_cast<std::uint64_t>(columns_)));
      std::erase_if(row.terms, [&](const milp::Term& term) { return term.variable == sure; });
      row.terms.push_back({sure, 100});
      model.add_row(std::move(row));
    }
  }

  milp::Model model;

 private:
  double number(int from, int to) {
    const auto steps = static_cast<std::uint64_t>(1000 * (to - from) + 1);
    return from + static_cast<double>(draw(random_, steps)) / 1000;
  }

  std::mt19937_64 random_;
  int columns_;
};

LpResult solved(const milp::Model& model, const LpBasis& start = {}) {
  Budget budget;
  return run_dense_simplex(model, start, budget);
}

// Expects weak duality to hold with equality: a feasible point, dual-feasible prices, and equal
// values.
void expect_optimal(const milp::Model& model, const LpResult& result) {
  ASSERT_TRUE(result.optimal) << result.detail;
  std::vector<double> priced(model.variables().size(), 0);
  double dual = 0;
  for (std::size_t i = 0; i < model.rows().size(); ++i) {
    const milp::Row& row = model.rows()[i];
    double sum = 0;
    EXPECT_GE(result.duals[i], 0);
    dual += result.duals[i] * row.lower;
    for (const milp::Term& term : row.terms) {
      const auto j = static_cast<std::size_t>(term.variable);
      sum += term.coefficient * result.values[j];
      priced[j] += term.coefficient * result.duals[i];
    }
    EXPECT_GE(sum, row.lower - 1e-6);
  }
  for (std::size_t j = 0; j < priced.size(); ++j) {
    EXPECT_GE(result.values[j], 0);
    EXPECT_LE(priced[j], model.variables()[j].objective + 1e-4);
  }
  EXPECT_NEAR(dual, result.objective, 1e-4 * std::max(1.0, result.objective));
}

TEST(DenseSimplex, IsOptimalAndGoesOnFromItsBasis) {
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    SCOPED_TRACE(seed);
    Covering made(seed, 5 + static_cast<int>(seed % 30));
    made.add_rows(3 + static_cast<int>(seed % 17));
    LpResult last = solved(made.model);
    expect_optimal(made.model, last);
    for (int round = 0; round < 4; ++round) {
      made.add_rows(2);
      const LpResult alone = solved(made.model);
      last = solved(made.model, last.basis);
      expect_optimal(made.model, last);
      EXPECT_NEAR(last.objective, alone.objective, 1e-5 * std::max(1.0, alone.objective));
    }
    // No pivot is needed from the optimal basis.
    const LpResult again = solved(made.model, last.basis);
    EXPECT_EQ(again.basis.variables, last.basis.variables);
    EXPECT_EQ(again.basis.rows, last.basis.rows);
  }
}

TEST(DenseSimplex, ABasisOfAnotherModelDoesNoHarm) {
  for (std::uint64_t seed = 0; seed < kModels; ++seed) {
    SCOPED_TRACE(seed);
    Covering made(seed, 12);
    made.add_rows(9);
    Covering other(seed + 1000, 9 + static_cast<int>(seed % 7));
    other.add_rows(5 + static_cast<int>(seed % 9));
    const LpResult alone = solved(made.model);
    const LpResult result = solved(made.model, solved(other.model).basis);
    expect_optimal(made.model, result);
    EXPECT_NEAR(result.objective, alone.objective, 1e-5 * std::max(1.0, alone.objective));
    LpBasis odd{.variables = std::vector<LpPlace>(12, LpPlace::basic), .rows = {}};
    expect_optimal(made.model, solved(made.model, odd));
  }
}

}  // namespace
}  // namespace stowage::lp_dense_simplex_test
