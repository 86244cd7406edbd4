// Time tables from measured rows: better than a formula where no formula fits, and not much worse
// elsewhere.
#include "instances/scatter/fit/time_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "instances/documents.h"
#include "instances/scatter/fit/fit.h"
#include "tests/instances/scatter/fit/rows.h"

namespace stowage::scatter_fit_time_table_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;

ScatterInstance cluster() {
  return {.cluster = {.devices = 4, .memory_mib = 8000, .degrees = {1, 2, 4}},
          .model = {.states_mib = 1000, .activation_mib_per_token = 1},
          .cost = {.quadratic_ms = 5e-6,
                   .linear_ms = 0.05,
                   .fixed_ms = 12,
                   .all_to_all = {.mib_per_token = 2, .mib_per_ms = {{2, 50}, {4, 40}}}}};
}

// Returns rows for which tokens beyond a cache take twice as long and large rows of attention run
// faster.
std::vector<TimedRow> bent_rows(int each, double noise, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<TimedRow> rows = rows_of(cluster(), each, 4000, 0, random);
  for (TimedRow& row : rows) {
    double tokens = 0;
    double squares = 0;
    for (const Tokens length : row.lengths) {
      tokens += static_cast<double>(length);
      squares += static_cast<double>(length) * static_cast<double>(length);
    }
    const double d = row.degree;
    row.ms = 20 + 0.05 / d * (tokens + std::max(0.0, tokens - 1000 * d)) +
             2e-5 / d * (squares - 0.7 * std::max(0.0, squares - 1e6 * d * d));
    row.ms *= 1 + noise * draw_normal(random);
  }
  return rows;
}

TEST(FitTable, PredictsWhatNoFormulaDoes) {
  const std::vector<TimedRow> rows = bent_rows(100, 0.01, 1);
  const Result<TableFit> table = fit_table(rows, cluster());
  const Result<CostFit> formula = fit_cost(rows, cluster());
  ASSERT_TRUE(table && formula);
  EXPECT_LT(table->held_out.mean, 0.02);
  EXPECT_GT(formula->held_out.mean, 2 * table->held_out.mean);
  EXPECT_EQ(table->held_out.rows, std::ssize(rows));
  EXPECT_EQ(table->table.size(), 3U);
}

TEST(FitTable, IsNoMuchWorseWhereAFormulaFits) {
  std::mt19937_64 random(7);
  const std::vector<TimedRow> rows = rows_of(cluster(), 40, 4000, 0.02, random);
  const Result<TableFit> table = fit_table(rows, cluster());
  const Result<CostFit> formula = fit_cost(rows, cluster());
  ASSERT_TRUE(table && formula);
  EXPECT_LT(table->held_out.mean, 1.3 * formula->held_out.mean);
}

// Instances accept the table: times do not fall, and the grid covers all groups.
TEST(FitTable, IsACostThatInstancesTake) {
  ScatterInstance instance = cluster();
  const Result<TableFit> table = fit_table(bent_rows(30, 0.05, 4), instance);
  ASSERT_TRUE(table);
  instance.cost = {.table = table->table};
  instance.lengths = {7000, 300, 200};
  const Result<Instance> read = read_instance(write_instance(instance));
  ASSERT_TRUE(read) << to_string(read.errors().front());
  EXPECT_EQ(std::get<ScatterInstance>(*read).cost, instance.cost);
  EXPECT_GE(table->table.at(1).tokens.back(), 7000);
}

TEST(FitTable, OfFourRowsIsAPlaneAndOfFewerNone) {
  std::vector<TimedRow> rows;
  for (const Tokens length : {100, 200, 400, 800, 1600, 3200}) {
    rows.push_back({.degree = 1,
                    .lengths = {length, length},
                    .ms = 5 + 0.01 * 2.0 * static_cast<double>(length)});
  }
  const ScatterInstance like = structure_of(rows);
  const Result<TableFit> plane = fit_table(rows, like);
  ASSERT_TRUE(plane);
  EXPECT_NEAR(plane->table.at(1).at(1000, 500'000), 15, 1e-6);
  for (const Tokens length : {100, 200, 400}) {
    rows.push_back({.degree = 2, .lengths = {length}, .ms = static_cast<double>(length)});
  }
  const Result<TableFit> few = fit_table(rows, structure_of(rows));
  ASSERT_FALSE(few);
  EXPECT_THAT(few.errors(), ElementsAre(Field(&InputError::code, "E362")));
}

TEST(FitTable, SaysHowFarRowsReachAndGoesOn) {
  const std::vector<TimedRow> rows = bent_rows(20, 0.01, 5);
  const Result<TableFit> within = fit_table(rows, structure_of(rows));
  const Result<TableFit> beyond = fit_table(rows, cluster());
  ASSERT_TRUE(within && beyond);
  const TableReach reach = within->reach.at(1);
  EXPECT_EQ(within->table.at(1).tokens.back(), reach.tokens);
  EXPECT_EQ(within->table.at(1).squares.back(), reach.tokens * reach.tokens);
  EXPECT_GT(beyond->table.at(1).tokens.back(), reach.tokens);
  EXPECT_EQ(beyond->reach.at(1).tokens, reach.tokens);
}

// Squares beyond 2^53 leave no room for a step of 1.
TEST(FitTable, AxesAscendHoweverLongRowsAre) {
  std::vector<TimedRow> rows;
  for (int k = 0; k < 38; ++k) {
    const Tokens length = k < 18 ? Tokens{10'000'000} * (1 + k % 6) : 200'000'000;
    rows.push_back({.degree = 1, .lengths = {length}, .ms = 1e-7 * static_cast<double>(length)});
  }
  const Result<TableFit> fit = fit_table(rows, structure_of(rows));
  ASSERT_TRUE(fit);
  for (const auto& axis : {fit->table.at(1).tokens, fit->table.at(1).squares}) {
    EXPECT_TRUE(std::ranges::adjacent_find(axis, std::greater_equal<>()) == axis.end());
  }
}

TEST(FitTable, RowsOfSeveralExchangesAreRefused) {
  ScatterInstance like = cluster();
  like.cost.all_to_all = {};
  like.cost.exchange = Exchange{.kinds = {{2, {ExchangeKind::all_to_all, ExchangeKind::ring}},
                                          {4, {ExchangeKind::all_to_all, ExchangeKind::ring}}},
                                .all_to_all_mib_per_token = 2,
                                .keys_values_mib_per_token = 0.5,
                                .inside_mib_per_ms = 60,
                                .across_mib_per_ms = 12};
  std::mt19937_64 random(3);
  const Result<TableFit> mixed = fit_table(rows_of(like, 20, 2000, 0.01, random), like);
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.errors().size(), 2U);
  EXPECT_THAT(mixed.errors(), Each(Field(&InputError::code, "E361")));
}

}  // namespace
}  // namespace stowage::scatter_fit_time_table_test
