// The assignment problem: no permutation costs less, and no fractional solution.
#include "solvers/configure/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "formulations/milp/model.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "solvers/lp/solver.h"
#include "solvers/milp/solver.h"

namespace stowage::configure_assignment_test {
namespace {

std::vector<std::vector<double>> drawn_costs(std::mt19937_64& random, std::size_t rows,
                                             std::size_t columns) {
  std::vector<std::vector<double>> costs(rows, std::vector<double>(columns));
  for (std::vector<double>& row : costs) {
    for (double& cost : row) cost = static_cast<double>(draw(random, 12));
  }
  return costs;
}

double least_by_trying(const std::vector<std::vector<double>>& costs) {
  std::vector<std::size_t> columns(costs.front().size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  double least = kInfinity;
  do {
    double sum = 0;
    for (std::size_t row = 0; row < costs.size(); ++row) sum += costs[row][columns[row]];
    least = std::min(least, sum);
  } while (std::ranges::next_permutation(columns).found);
  return least;
}

// Returns the optimum of the linear programme, which allows fractions.
double least_of_lp(MilpBackend backend, const std::vector<std::vector<double>>& costs) {
  milp::Model model;
  std::vector<milp::Row> columns(costs.front().size(), {.name = "column", .upper = 1});
  std::vector<milp::Row> rows(costs.size(), {.name = "row", .lower = 1, .upper = 1});
  for (std::size_t row = 0; row < costs.size(); ++row) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const int x = model.add_variable({.name = "x", .upper = 1, .objective = costs[row][column]});
      rows[row].terms.push_back({x, 1});
      columns[column].terms.push_back({x, 1});
    }
  }
  for (const milp::Row& row : rows) model.add_row(row);
  for (const milp::Row& column : columns) model.add_row(column);
  Budget budget;
  const LpResult result = solve_lp(backend, model, {}, budget);
  EXPECT_TRUE(result.optimal) << result.detail;
  return result.objective;
}

TEST(Assignment, NoneCostsLess) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    const std::size_t rows = 1 + draw(random, 6);
    const std::size_t columns = rows + draw(random, 7 - rows);
    const auto costs = drawn_costs(random, rows, columns);
    const Assignment least = least_assignment(costs);
    EXPECT_EQ(least.cost, least_by_trying(costs)) << i;
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) sum += costs[row][at(least.columns[row])];
    EXPECT_EQ(sum, least.cost);
    std::vector<std::int64_t> taken = least.columns;
    std::ranges::sort(taken);
    EXPECT_EQ(std::ranges::adjacent_find(taken), taken.end());
    for (const MilpBackend backend : built_backends()) {
      if (i >= 50) break;
      EXPECT_NEAR(least_of_lp(backend, costs), least.cost, 1e-6) << i;
    }
  }
}

TEST(Assignment, OfNothingIsNothing) {
  EXPECT_TRUE(least_assignment({}).columns.empty());
  EXPECT_EQ(least_assignment({{4, 1}, {2, 0}}).columns, (std::vector<std::int64_t>{1, 0}));
}

}  // namespace
}  // namespace stowage::configure_assignment_test
