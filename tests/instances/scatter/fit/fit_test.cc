// Costs are recovered from rows that they generated.
#include "instances/scatter/fit/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "instances/numeric/numbers.h"
#include "instances/scatter/fit/terms.h"
#include "tests/instances/scatter/fit/rows.h"

namespace stowage::scatter_fit_fit_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using enum ExchangeKind;

// A cluster on which every coefficient affects some rows.
ScatterInstance plain_truth() {
  return {.cluster = {.devices = 8, .memory_mib = 40000, .degrees = {1, 2, 4, 8}},
          .model = {.states_mib = 2000, .activation_mib_per_token = 1},
          .cost = {.quadratic_ms = 5e-6,
                   .linear_ms = 0.05,
                   .fixed_ms = 12,
                   .all_to_all = {.mib_per_token = 2,
                                  .mib_per_ms = {{2, 50}, {4, 40}, {8, 25}},
                                  .latency_ms = {{2, 9}, {4, 14}, {8, 30}}}}};
}

ScatterInstance two_level_truth() {
  ScatterInstance truth = plain_truth();
  truth.cluster = {
      .devices = 16, .devices_per_node = 4, .memory_mib = 40000, .degrees = {1, 2, 4, 8, 16}};
  truth.cost.all_to_all = {};
  truth.cost.exchange = Exchange{.kinds = {{2, {all_to_all, ring}},
                                           {4, {all_to_all, ring, all_gather}},
                                           {8, {all_to_all, ring, two_level}},
                                           {16, {all_to_all, ring, two_level}}},
                                 .all_to_all_mib_per_token = 2,
                                 .keys_values_mib_per_token = 0.5,
                                 .inside_mib_per_ms = 60,
                                 .across_mib_per_ms = 12,
                                 .inside_latency_ms = 4,
                                 .across_latency_ms = 11};
  return truth;
}

// The coefficients as the fit names them, in its order.
double true_value(const ScatterCost& cost, const std::string& name) {
  if (name == "quadratic_ms") return cost.quadratic_ms;
  if (name == "linear_ms") return cost.linear_ms;
  if (name == "fixed_ms") return cost.fixed_ms;
  if (name == "sequence_fixed_ms") return cost.sequence_fixed_ms;
  if (name == "split_ms") return cost.split_ms;
  if (name == "exchange.inside_latency_ms") return cost.exchange->inside_latency_ms;
  if (name == "exchange.inside_mib_per_ms") return cost.exchange->inside_mib_per_ms;
  if (name == "exchange.across_latency_ms") return cost.exchange->across_latency_ms;
  if (name == "exchange.across_mib_per_ms") return cost.exchange->across_mib_per_ms;
  if (name == "exchange.overlap") return cost.exchange->overlap;
  const int degree = std::stoi(name.substr(name.rfind('.') + 1));
  return name.find("latency") != std::string::npos ? cost.all_to_all.latency_ms.at(degree)
                                                   : cost.all_to_all.mib_per_ms.at(degree);
}

// The largest relative error of a coefficient.
double furthest(const CostFit& fit, const ScatterCost& truth) {
  double most = 0;
  for (const Coefficient& own : fit.coefficients) {
    most = std::max(most, std::abs(own.value / true_value(truth, own.name) - 1));
  }
  return most;
}

CostFit fitted(const std::vector<TimedRow>& rows, const ScatterInstance& like,
               const FitOptions& options = {}) {
  const Result<CostFit> fit = fit_cost(rows, like, options);
  EXPECT_TRUE(fit) << to_string(fit.errors().front());
  return *fit;
}

TEST(FitCost, FindsAnExactCost) {
  std::mt19937_64 random(1);
  const ScatterInstance truth = plain_truth();
  const CostFit fit = fitted(rows_of(truth, 10, 20000, 0, random), truth);
  EXPECT_LT(furthest(fit, truth.cost), 1e-6);
  EXPECT_EQ(fit.coefficients.size(), 9U);
  EXPECT_LT(fit.held_out.p95, 1e-6);
  EXPECT_EQ(fit.cost.all_to_all.mib_per_token, 2);
  EXPECT_THAT(fit.outliers, ElementsAre());
}

TEST(FitCost, NoiseOfTwoPercentMovesNoCoefficientByThree) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::mt19937_64 random(seed);
    const ScatterInstance truth = plain_truth();
    const std::vector<TimedRow> rows = rows_of(truth, 100, 20000, 0.02, random);
    const CostFit fit = fitted(rows, truth);
    EXPECT_LT(furthest(fit, truth.cost), 0.03) << seed;
    EXPECT_NEAR(fit.noise, 0.02, 0.004);
    EXPECT_NEAR(fit.without_outliers.mean, 0.016, 0.004);
  }
}

TEST(FitCost, OutliersMoveNoCoefficientByFivePercent) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    std::mt19937_64 random(seed);
    const ScatterInstance truth = plain_truth();
    std::vector<TimedRow> rows = rows_of(truth, 100, 20000, 0.02, random);
    const CostFit clean = fitted(rows, truth);
    for (std::size_t k = 0; k < rows.size() / 20; ++k) rows[draw(random, rows.size())].ms *= 3;
    const CostFit fit = fitted(rows, truth);
    EXPECT_LT(furthest(fit, truth.cost), 0.05) << seed;
    EXPECT_LT(furthest(fit, clean.cost), 0.05) << seed;
    EXPECT_GE(fit.outliers.size(), rows.size() / 20 - 3);
    EXPECT_GT(fit.held_out.mean, 0.03);
    EXPECT_LT(fit.without_outliers.p95, 0.06);
  }
}

TEST(FitCost, ACostPerSequenceIsThereOnlyIfRowsShowIt) {
  std::mt19937_64 random(3);
  ScatterInstance truth = plain_truth();
  truth.cost.sequence_fixed_ms = 1.5;
  const CostFit fit = fitted(rows_of(truth, 100, 20000, 0.02, random), truth);
  EXPECT_NEAR(fit.cost.sequence_fixed_ms, 1.5, 0.06);
  EXPECT_LT(furthest(fit, truth.cost), 0.05);
  truth.cost.sequence_fixed_ms = 0;
  EXPECT_EQ(fitted(rows_of(truth, 100, 20000, 0.02, random), truth).cost.sequence_fixed_ms, 0);
}

TEST(FitCost, TellsTheTwoLevelsOfAClusterApart) {
  std::mt19937_64 random(4);
  const ScatterInstance truth = two_level_truth();
  const CostFit fit = fitted(rows_of(truth, 40, 20000, 0.02, random), truth, {.overlap = false});
  EXPECT_LT(furthest(fit, truth.cost), 0.05);
  EXPECT_EQ(fit.cost.exchange->kinds, truth.cost.exchange->kinds);
}

TEST(FitCost, FindsTheOverlap) {
  std::mt19937_64 random(5);
  ScatterInstance truth = two_level_truth();
  truth.cost.exchange->overlap = 0.6;
  const std::vector<TimedRow> rows = rows_of(truth, 12, 20000, 0.01, random);
  const CostFit fit = fitted(rows, truth);
  EXPECT_NEAR(fit.cost.exchange->overlap, 0.6, 0.04);
  EXPECT_EQ(fit.coefficients.back().name, "exchange.overlap");
  EXPECT_LE(fit.coefficients.back().low, 0.6);
  EXPECT_GE(fit.coefficients.back().high, 0.6);
  truth.cost.exchange->overlap = 0;
  EXPECT_EQ(fitted(rows_of(truth, 12, 20000, 0.01, random), truth).cost.exchange->overlap, 0);
}

TEST(FitCost, FindsWhatSplittingAttentionLoses) {
  std::mt19937_64 random(15);
  ScatterInstance truth = two_level_truth();
  truth.cost.split_ms = 0.02;
  const std::vector<TimedRow> rows = rows_of(truth, 20, 20000, 0.01, random);
  const CostFit fit = fitted(rows, truth, {.overlap = false});
  EXPECT_NEAR(fit.cost.split_ms, 0.02, 0.001);
  EXPECT_LT(furthest(fit, truth.cost), 0.05);
  EXPECT_EQ(fitted(rows, truth, {.split = false, .overlap = false}).cost.split_ms, 0);
  truth.cost.split_ms = 0;
  EXPECT_EQ(fitted(rows_of(truth, 20, 20000, 0.01, random), truth).cost.split_ms, 0);
  // Bandwidths by degree have it in them.
  ScatterInstance plain = plain_truth();
  plain.cost.split_ms = 0.02;
  const CostFit by_degree = fitted(rows_of(plain, 20, 20000, 0, random), plain);
  EXPECT_EQ(by_degree.cost.split_ms, 0);
  EXPECT_LT(by_degree.held_out.p95, 1e-6);
}

TEST(FitCost, SequencesOneByOneAreRowsOfTheirOwn) {
  std::mt19937_64 random(6);
  ScatterInstance truth = plain_truth();
  truth.rules.packed = false;
  std::vector<TimedRow> rows = rows_of(truth, 30, 20000, 0, random);
  for (TimedRow& row : rows) {
    row.ms = 0;
    for (const Tokens length : row.lengths) row.ms += sequence_ms(truth, length, row.degree);
  }
  EXPECT_LT(furthest(fitted(rows, truth), truth.cost), 1e-5);
}

TEST(FitCost, SaysWhatTheRowsDoNotShowAndWhatWould) {
  std::mt19937_64 random(7);
  ScatterInstance truth = plain_truth();
  truth.cluster.degrees = {2};
  const std::vector<TimedRow> alone = rows_of(truth, 40, 20000, 0.01, random);
  const CostFit fit = fitted(alone, structure_of(alone, 2));
  for (const Coefficient& own : fit.coefficients) {
    EXPECT_EQ(own.determined, own.name == "quadratic_ms") << own.name;
  }
  ASSERT_TRUE(fit.next);
  EXPECT_EQ(fit.next->degree, 1);
  EXPECT_GT(fit.next->by, 0.1);
  EXPECT_LT(fit.without_outliers.mean, 0.02);  // errors of these rows
  // With that row the interval of its coefficient becomes narrower.
  ScatterInstance whole = plain_truth();
  EXPECT_THAT(fitted(alone, whole).missing, ElementsAre(4, 8));
}

TEST(FitCost, TheNextRowNarrowsWhatItSays) {
  std::mt19937_64 random(8);
  const ScatterInstance truth = plain_truth();
  std::vector<TimedRow> rows = rows_of(truth, 8, 20000, 0.02, random);
  const CostFit before = fitted(rows, truth);
  ASSERT_TRUE(before.next);
  TimedRow next{.degree = before.next->degree,
                .lengths = std::vector<Tokens>(static_cast<std::size_t>(before.next->sequences),
                                               before.next->tokens)};
  next.ms = true_ms(truth, next);
  for (int k = 0; k < 6; ++k) rows.push_back(next);
  const CostFit after = fitted(rows, truth);
  const auto width = [&](const CostFit& fit) {
    const auto own = std::ranges::find(fit.coefficients, before.next->narrows, &Coefficient::name);
    return (own->high - own->low) / own->value;
  };
  EXPECT_LT(width(after), width(before));
}

TEST(FitCost, MemoryIsFittedToPeaks) {
  std::mt19937_64 random(9);
  const ScatterInstance truth = two_level_truth();
  std::vector<TimedRow> rows = rows_of(truth, 10, 20000, 0.02, random);
  for (TimedRow& row : rows) {
    double tokens = 0;
    for (const Tokens length : row.lengths) tokens += static_cast<double>(length);
    double mib = 2000 + 1.25 * tokens / row.degree + 30 * static_cast<double>(row.lengths.size());
    if (row.exchange == ring || row.exchange == two_level) mib += 0.5 * tokens / row.degree;
    if (row.exchange == all_gather) mib += 0.5 * tokens;
    row.mib = mib * (1 + 0.005 * draw_normal(random));
  }
  rows[3].mib.reset();
  const CostFit fit = fitted(rows, truth, {.overlap = false});
  ASSERT_TRUE(fit.memory);
  EXPECT_EQ(fit.memory->rows, std::ssize(rows) - 1);
  EXPECT_NEAR(fit.memory->model.states_mib / 2000, 1, 0.02);
  EXPECT_NEAR(fit.memory->model.activation_mib_per_token / 1.25, 1, 0.03);
  EXPECT_NEAR(fit.memory->model.keys_values_mib_per_token / 0.5, 1, 0.05);
  EXPECT_NEAR(fit.memory->model.sequence_mib / 30, 1, 0.05);
  EXPECT_LT(fit.memory->held_out.mean, 0.01);
  for (TimedRow& row : rows) row.mib.reset();
  EXPECT_FALSE(fitted(rows, truth, {.overlap = false}).memory);
}

TEST(FitCost, RefusesRowsThatBreakRules) {
  const auto errors_of = [](const std::vector<TimedRow>& rows, const ScatterInstance& like) {
    std::string said;
    if (const auto fit = fit_cost(rows, like); !fit) {
      for (const InputError& error : fit.errors()) said += to_string(error) + '\n';
    }
    return said;
  };
  const TimedRow good{.degree = 2, .lengths = {10}, .ms = 1};
  const std::vector<TimedRow> bad = {
      {.degree = 0, .lengths = {1}, .ms = 1},
      {.degree = 1, .lengths = {}, .ms = 0},
      {.degree = 1, .lengths = {3}, .ms = 1, .mib = -1, .exchange = ring},
      {.degree = 2, .lengths = {3}, .ms = kInfinity, .exchange = two_level},
      {.degree = 2, .lengths = {kMaxExact}, .ms = 1}};
  EXPECT_EQ(errors_of(bad, two_level_truth()),
            "E205 /samples/0/degree: must be an integer from 1 to 1000000, is 0\n"
            "E206 /samples/1/ms: must be a number above 0, at most 2^53, is 0\n"
            "E205 /samples/1/lengths: must be one length or more, each at least 1, of at most 2^52 "
            "tokens together\n"
            "E206 /samples/2/mib: must be a number above 0, at most 2^53, is -1\n"
            "E361 /samples/2/exchange: must be none for a group of degree 1, is ring\n"
            "E206 /samples/3/ms: must be a number above 0, at most 2^53, is inf\n"
            "E361 /samples/3/exchange: must be one that a group of degree 2 can have on this "
            "cluster, is two_level\n"
            "E205 /samples/4/lengths: must be one length or more, each at least 1, of at most 2^52 "
            "tokens together\n"
            "E361 /samples/4/exchange: must say which exchange a group of degree 2 used, is "
            "empty\n");
  EXPECT_THAT(errors_of({{.degree = 2, .lengths = {3}, .ms = 1, .exchange = ring}}, plain_truth()),
              HasSubstr("must be all_to_all without an instance that has cost.exchange, is ring"));
  EXPECT_EQ(errors_of({good, good}, plain_truth()),
            "E362 /samples: must be at least 6 samples of 1 degree, one more than coefficients, "
            "are 2\n");
  EXPECT_THAT(errors_of({}, plain_truth()), HasSubstr("E362 /samples: must be at least 4"));
}

TEST(FitCost, TheSameRowsGiveTheSameCost) {
  std::mt19937_64 random(10);
  const ScatterInstance truth = plain_truth();
  const std::vector<TimedRow> rows = rows_of(truth, 20, 20000, 0.02, random);
  EXPECT_EQ(fitted(rows, truth).cost, fitted(rows, truth).cost);
}

// Rows of n times 8,192 tokens: one of quadratic and linear time would take all of it.
std::vector<TimedRow> rows_of_one_length(const ScatterCost& truth) {
  std::vector<TimedRow> rows;
  for (std::size_t n = 1; n <= 6; ++n) {
    TimedRow row{.degree = 1, .lengths = std::vector<Tokens>(n, 8192)};
    row.ms = truth.fixed_ms +
             static_cast<double>(n) * 8192 * (truth.linear_ms + 8192 * truth.quadratic_ms);
    rows.push_back(row);
  }
  return rows;
}

TEST(Fit, SplitsWhatRowsOfOneLengthCannotTellApartAsTheInstanceDoes) {
  const ScatterCost truth{.quadratic_ms = 5e-6, .linear_ms = 0.05, .fixed_ms = 12};
  const std::vector<TimedRow> rows = rows_of_one_length(truth);
  ScatterInstance like = structure_of(rows, 1);
  like.cost = {.quadratic_ms = 1e-5, .linear_ms = 0.1};  // twice as slow, the same ratio
  const Result<CostFit> fit = fit_cost(rows, like);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->cost.quadratic_ms, truth.quadratic_ms, 1e-3 * truth.quadratic_ms);
  EXPECT_NEAR(fit->cost.linear_ms, truth.linear_ms, 1e-3 * truth.linear_ms);
  EXPECT_NEAR(fit->cost.fixed_ms, truth.fixed_ms, 0.1);
  EXPECT_THAT(fit->cost.undetermined, ElementsAre("quadratic_ms", "linear_ms"));
}

TEST(Fit, SplitsByAPublishedModelWhereTheInstanceHasNoCost) {
  const ScatterCost truth{.quadratic_ms = 5e-6, .linear_ms = 0.05, .fixed_ms = 12};
  const std::vector<TimedRow> rows = rows_of_one_length(truth);
  const Result<CostFit> fit = fit_cost(rows, structure_of(rows, 1));
  ASSERT_TRUE(fit);
  const ScatterCost& cost = fit->cost;
  EXPECT_GT(cost.quadratic_ms, 0);
  EXPECT_GT(cost.linear_ms, 0);
  // Each is a tenth of the time at least, and together they are all of it.
  const double sum = cost.linear_ms + 8192 * cost.quadratic_ms;
  EXPECT_NEAR(sum, truth.linear_ms + 8192 * truth.quadratic_ms, 1e-3 * sum);
  EXPECT_GT(cost.linear_ms, 0.1 * sum);
  EXPECT_GT(8192 * cost.quadratic_ms, 0.1 * sum);
  EXPECT_THAT(cost.undetermined, ElementsAre("quadratic_ms", "linear_ms"));
}

TEST(Fit, MarksNothingThatRowsTellApart) {
  std::vector<TimedRow> rows = rows_of_one_length({.quadratic_ms = 5e-6, .linear_ms = 0.05});
  for (const Tokens length : {1024, 2048, 30000}) {
    rows.push_back({.degree = 1, .lengths = {length}});
    const auto tokens = static_cast<double>(length);
    rows.back().ms = tokens * (0.05 + tokens * 5e-6);
  }
  const Result<CostFit> fit = fit_cost(rows, structure_of(rows, 1));
  ASSERT_TRUE(fit);
  EXPECT_TRUE(fit->cost.undetermined.empty());
}

}  // namespace
}  // namespace stowage::scatter_fit_fit_test
