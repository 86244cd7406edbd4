#include "solvers/lp/column_generation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "solvers/milp/solver.h"

namespace stowage::lp_column_generation_test {
namespace {

// Cutting rolls of length 10 into pieces of 3, 4 and 5 with the fewest rolls (Gilmore and Gomory,
// 1961).
class CuttingStock {
 public:
  CuttingStock() {
    for (const double demand : {20.0, 10.0, 10.0}) master_.add_row({.lower = demand});
    for (int piece = 0; piece < 3; ++piece) add(piece, 1, piece, 0);
  }

  const milp::Model& master() const { return master_; }

  // Adds the roll with the highest value by the prices. With effort 0 only rolls of one kind of
  // piece are considered.
  Pricing price(const std::vector<double>& duals, int effort) {
    double best = 1 + 1e-5;  // the dense simplex raises costs slightly
    std::vector<int> columns;
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        for (int many = 0; many * kPieces[a] <= 10; ++many) {
          const int rest = (10 - many * kPieces[a]) / kPieces[b];
          if (effort == 0 && a != b && many > 0) continue;
          const double worth = many * duals[a] + rest * duals[b];
          if (worth <= best) continue;
          best = worth;
          columns = {a, many, b, rest};
        }
      }
    }
    if (columns.empty()) return Pricing::nothing;
    add(columns[0], columns[1], columns[2], columns[3]);
    return Pricing::added;
  }

 private:
  static constexpr int kPieces[] = {3, 4, 5};

  void add(int a, int many, int b, int rest) {
    const int roll = master_.add_variable({.objective = 1});
    if (many > 0) master_.add_term(a, {roll, double(many)});
    if (rest > 0) master_.add_term(b, {roll, double(rest)});
  }

  milp::Model master_;
};

class OfBackend : public testing::TestWithParam<std::optional<MilpBackend>> {};

TEST_P(OfBackend, ReachesTheOptimumOverAllColumns) {
  CuttingStock stock;
  Budget budget;
  LpResult solution;
  std::vector<int> efforts;
  const ColumnGeneration rounds(GetParam(), {.efforts = 2, .counts_nodes = true});
  ASSERT_TRUE(rounds.run(stock.master(), solution, budget, [&](const PricingRound& round) {
    EXPECT_EQ(round.number, static_cast<int>(efforts.size()));
    efforts.push_back(round.effort);
    return stock.price(solution.duals, round.effort);
  }));
  // Ten rolls of 3 + 3 + 4 and five of 5 + 5.
  EXPECT_NEAR(solution.objective, 15, 1e-6);
  EXPECT_TRUE(std::ranges::is_sorted(efforts));
  EXPECT_EQ(efforts.front(), 0);
  EXPECT_EQ(efforts.back(), 1);
  EXPECT_EQ(budget.nodes(), static_cast<std::int64_t>(efforts.size()));
}

TEST_P(OfBackend, EndsWhenToldTo) {
  CuttingStock stock;
  Budget budget;
  LpResult solution;
  int calls = 0;
  const auto enough = [&](const PricingRound&) { return ++calls, Pricing::enough; };
  EXPECT_TRUE(ColumnGeneration(GetParam(), {}).run(stock.master(), solution, budget, enough));
  EXPECT_EQ(calls, 1);
  EXPECT_NEAR(solution.objective, 40, 1e-6);

  const auto more = [&](const PricingRound&) { return ++calls, Pricing::added; };
  const ColumnGeneration short_one(GetParam(), {.most_rounds = 7});
  EXPECT_TRUE(short_one.run(stock.master(), solution, budget, more));
  EXPECT_EQ(calls, 8);
}

// The objective does not change, so each measurement except the first is a stall.
TEST_P(OfBackend, CountsStalls) {
  for (const double progress : {-0.01, 0.01}) {
    CuttingStock stock;
    Budget budget;
    LpResult solution;
    std::vector<int> stalls;
    const ColumnGeneration rounds(
        GetParam(), {.most_rounds = 5, .rounds_per_measurement = 2, .progress = progress});
    rounds.run(stock.master(), solution, budget, [&](const PricingRound& round) {
      stalls.push_back(round.stalls);
      return Pricing::added;
    });
    EXPECT_EQ(stalls, (std::vector<int>{0, 0, 1, 1, 2}));
  }
}

TEST_P(OfBackend, KeepsTheLastSolutionWhenTheBudgetEnds) {
  CuttingStock stock;
  Budget budget({.node_limit = 1});
  LpResult solution;
  const ColumnGeneration rounds(GetParam(), {.counts_nodes = true});
  EXPECT_FALSE(rounds.run(stock.master(), solution, budget,
                          [&](const PricingRound&) { return stock.price(solution.duals, 1); }));
  EXPECT_TRUE(solution.optimal);
  EXPECT_NEAR(solution.objective, 40, 1e-6);
}

std::vector<std::optional<MilpBackend>> all_backends() {
  std::vector<std::optional<MilpBackend>> all{std::nullopt};
  for (const MilpBackend backend : built_backends()) all.push_back(backend);
  return all;
}

INSTANTIATE_TEST_SUITE_P(ColumnGeneration, OfBackend, testing::ValuesIn(all_backends()));

}  // namespace
}  // namespace stowage::lp_column_generation_test
