// Backends with one kind of wrong answer each, behind the same interface as the real ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "solvers/milp/backend.h"
#include "solvers/milp/watch.h"

namespace stowage::milp_lying_backend_test {
namespace {

using milp::kInfinity;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// min -3x - 2y, x + y <= 3, x + 3y <= 5: the optimum is x = 3, y = 0 with -9.
milp::Model small_model() {
  milp::Model model;
  model.add_variable({.name = "x", .upper = 4, .objective = -3, .integer = true});
  model.add_variable({.name = "y", .upper = 4, .objective = -2, .integer = true});
  model.add_row({.name = "C1", .upper = 3, .terms = {{0, 1}, {1, 1}}});
  model.add_row({.name = "C2", .upper = 5, .terms = {{0, 1}, {1, 3}}});
  return model;
}

MilpResult optimal(std::vector<double> values, double objective) {
  return {.status = MilpStatus::optimal,
          .objective = objective,
          .bound = objective,
          .values = std::move(values)};
}

MilpRun answering(const MilpResult& answer) {
  return [answer](const MilpTask&) { return answer; };
}

MilpResult ask(const MilpRun& run, const MilpParams& params = {}) {
  Budget budget;
  return run_checked(run, small_model(), params, budget);
}

TEST(LyingBackend, TheTruthPasses) {
  const MilpResult result = ask(answering(optimal({3, 0}, -9)));
  EXPECT_EQ(result.status, MilpStatus::optimal) << result.detail;
  EXPECT_EQ(result.objective, -9);
  EXPECT_EQ(result.bound, -9);
  EXPECT_EQ(result.detail, "");
}

// An assertion of a backend ends only the work of its thread.
TEST(LyingBackend, AnAbortIsAnError) {
  const auto before = std::signal(SIGABRT, SIG_DFL);
  survive_aborts();
  const MilpResult result = ask([](const MilpTask&) -> MilpResult { std::abort(); });
  EXPECT_EQ(result.status, MilpStatus::error);
  EXPECT_THAT(result.detail, HasSubstr("aborted"));
  EXPECT_EQ(ask(answering(optimal({3, 0}, -9))).status, MilpStatus::optimal);
  std::signal(SIGABRT, before);
}

struct Lie {
  std::string name;
  MilpResult answer;
  std::string detail;  // a part of the expected error message
  std::vector<double> start = {};
};

class Lies : public testing::TestWithParam<Lie> {};

TEST_P(Lies, AreErrors) {
  const MilpResult result = ask(answering(GetParam().answer), {.start = GetParam().start});
  EXPECT_EQ(result.status, MilpStatus::error);
  EXPECT_THAT(result.detail, HasSubstr(GetParam().detail));
  EXPECT_TRUE(result.values.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, Lies,
    testing::Values(
        Lie{"ObjectiveOfAnotherPoint", optimal({3, 0}, -10), "objective does not belong"},
        Lie{"ObjectiveOfAWorsePoint", optimal({3, 0}, -8), "objective does not belong"},
        Lie{"InfeasiblePoint", optimal({4, 0}, -12), "row C1"},
        Lie{"PointOutsideItsBounds", optimal({5, -2}, -11), "bound of"},
        Lie{"FractionalInteger", optimal({2.5, 0.5}, -8.5), "integrality of"},
        Lie{"NanObjective", optimal({3, 0}, kNan), "NaN"},
        Lie{"NanBound",
            {.status = MilpStatus::unknown, .limit = StopReason::time_limit, .bound = kNan},
            "NaN"},
        Lie{"NanValue", optimal({3, kNan}, -9), "objective does not belong"},
        Lie{"InfiniteValue", optimal({3, kInfinity}, -kInfinity), "objective does not belong"},
        Lie{"PointOfTheWrongSize", optimal({3}, -9), "wrong size"},
        Lie{"NoPointAtAll", optimal({}, -9), "wrong size"},
        Lie{"BoundAboveItsOwnPoint",
            {.status = MilpStatus::feasible, .objective = -6, .bound = -5, .values = {2, 0}},
            "bound lies above"},
        Lie{"ErrorWithoutWords", {.status = MilpStatus::error}, "no reason"},
        Lie{"UnboundedAlthoughBoxed", {.status = MilpStatus::unbounded}, "no direction"},
        Lie{"InfeasibleAgainstAStart",
            {.status = MilpStatus::infeasible},
            "although the start is feasible",
            {2, 0}},
        Lie{"OptimalButWorseThanTheStart", optimal({2, 0}, -6), "better than the bound", {3, 0}},
        Lie{"UnknownWithABoundAboveTheStart",
            {.limit = StopReason::time_limit, .bound = -6},
            "better than the bound",
            {3, 0}},
        Lie{"FeasibleWithABoundAboveTheStart",
            {.status = MilpStatus::feasible, .objective = -6, .bound = -7, .values = {2, 0}},
            "better than the bound",
            {3, 0}},
        Lie{"StatusThatDoesNotExist", {.status = static_cast<MilpStatus>(77)}, "does not exist"}),
    [](const auto& lie) { return lie.param.name; });

TEST(LyingBackend, ExceptionsAreErrors) {
  const MilpResult thrown = ask([](const MilpTask&) -> MilpResult { throw BackendError("boom"); });
  EXPECT_EQ(thrown.status, MilpStatus::error);
  EXPECT_THAT(thrown.detail, HasSubstr("boom"));
  const MilpResult odd = ask([](const MilpTask&) -> MilpResult { throw 42; });
  EXPECT_EQ(odd.status, MilpStatus::error);
  EXPECT_FALSE(odd.detail.empty());
}

// The answer is false and cannot be detected from outside, but the result must be consistent.
TEST(LyingBackend, AFeasiblePointWithATooLowBoundStaysFeasible) {
  const MilpResult result = ask(
      answering({.status = MilpStatus::feasible, .objective = -9, .bound = -20, .values = {3, 0}}));
  EXPECT_EQ(result.status, MilpStatus::feasible);
  EXPECT_EQ(result.bound, -20);
}

TEST(LyingBackend, AClosedGapIsOptimalWhateverEndedTheRun) {
  const MilpResult result = ask(answering({.status = MilpStatus::feasible,
                                           .gap_reached = true,
                                           .limit = StopReason::time_limit,
                                           .objective = -9,
                                           .bound = -9,
                                           .values = {3, 0}}));
  EXPECT_EQ(result.status, MilpStatus::optimal);
  EXPECT_FALSE(result.gap_reached);
  EXPECT_EQ(result.limit, StopReason::none);
}

TEST(LyingBackend, NearlyIntegralPointsAreRounded) {
  const MilpResult result = ask(answering(optimal({3 - 1e-8, 1e-8}, -9 + 1e-8)));
  EXPECT_EQ(result.status, MilpStatus::optimal) << result.detail;
  EXPECT_EQ(result.values, (std::vector<double>{3, 0}));
  EXPECT_EQ(result.objective, -9);
}

// x = 1 - 1e-6 lets the continuous makespan end 1e-3 too low; rounding x needs a new makespan.
TEST(LyingBackend, ContinuousVariablesAreRecomputedAfterRounding) {
  milp::Model model;
  const int x = model.add_variable({.name = "x", .upper = 1, .integer = true});
  const int y = model.add_variable({.name = "y", .upper = 1, .integer = true});
  const int t = model.add_variable({.name = "t", .objective = 1});
  model.add_row({.name = "C1", .lower = 1, .terms = {{x, 1}, {y, 1}}});
  model.add_row({.name = "C2", .lower = 0, .terms = {{t, 1}, {x, -1000}, {y, -2000}}});
  Budget budget;
  const MilpResult result =
      run_checked(answering(optimal({1 - 1e-6, 1e-6, 1000.001}, 1000.001)), model, {}, budget);
  ASSERT_TRUE(has_point(result.status)) << result.detail;
  EXPECT_EQ(result.values, (std::vector<double>{1, 0, 1000.001}));
  const MilpResult low =
      run_checked(answering(optimal({1 - 1e-6, 0, 999.999}, 999.999)), model, {}, budget);
  ASSERT_TRUE(has_point(low.status)) << low.detail;
  EXPECT_EQ(low.values, (std::vector<double>{1, 0, 1000}));
  EXPECT_EQ(low.objective, 1000);
  EXPECT_THAT(low.detail, HasSubstr("recomputed"));
}

// A linear programme has no variables to round: a slightly infeasible point is one error.
TEST(LyingBackend, ASlightlyInfeasibleLinearProgrammeIsAnError) {
  milp::Model model;
  model.add_variable({.upper = 4, .objective = -1});
  model.add_variable({.upper = 4, .objective = -1});
  model.add_row({.name = "C1", .upper = 3, .terms = {{0, 1}, {1, 1}}});
  int calls = 0;
  Budget budget;
  const MilpResult result = run_checked(
      [&](const MilpTask&) {
        ++calls;
        return optimal({2, 1 + 3e-5}, -3 - 3e-5);
      },
      model, {}, budget);
  EXPECT_EQ(result.status, MilpStatus::error);
  EXPECT_THAT(result.detail, HasSubstr("row C1"));
  EXPECT_EQ(calls, 1);
}

TEST(LyingBackend, AProofMovedByRoundingIsNoProof) {
  milp::Model model;
  const int x = model.add_variable({.upper = 1, .integer = true});
  const int t = model.add_variable({.objective = 1});
  model.add_row({.lower = 0, .terms = {{t, 1}, {x, -1000}}});
  model.add_row({.lower = 1, .terms = {{t, 0.0625}, {x, 1}}});
  Budget budget;
  const double t_low = 1000 * (1 - 9e-6);
  const MilpResult result =
      run_checked(answering(optimal({1 - 9e-6, t_low}, t_low)), model, {}, budget);
  ASSERT_EQ(result.status, MilpStatus::feasible) << result.detail;
  EXPECT_EQ(result.objective, 1000);
  EXPECT_EQ(result.bound, t_low);
}

TEST(LyingBackend, TheModelIsWrittenOnlyOnRequest) {
  const auto lie = answering(optimal({4, 0}, -12));
  EXPECT_THAT(ask(lie).detail, testing::Not(HasSubstr("written")));
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / "stowage_lying_backend";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const MilpResult result = ask(lie, {.dump_directory = directory.string()});
  EXPECT_THAT(result.detail, HasSubstr("model written to "));
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    ++files;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_THAT(text, HasSubstr("C2: + 1 x + 3 y <= 5"));
  }
  EXPECT_EQ(files, 1);
  std::filesystem::remove_all(directory);
  EXPECT_THAT(ask(lie, {.dump_directory = directory.string()}).detail,
              HasSubstr("could not be written"));
}

TEST(LyingBackend, ObserversHearOnlyCheckedAndForwardSteps) {
  const MilpRun run = [](const MilpTask& task) {
    const std::vector<double> infeasible{4, 4};
    const std::vector<double> poor{1, 0};
    const std::vector<double> best{3, 0};
    task.observer({.objective = -20, .values = &infeasible});
    task.observer({.objective = -3, .values = &poor});
    task.observer({.objective = -9, .values = &best});
    task.observer({.objective = -3, .values = &poor});
    task.observer({.bound = -12});
    task.observer({.bound = -15});
    task.observer({.bound = kNan});
    task.observer({.bound = -2});
    return optimal({3, 0}, -9);
  };
  std::vector<std::pair<double, double>> heard;
  Budget budget;
  run_checked(run, small_model(), {}, budget, [&](const MilpEvent& event) {
    heard.emplace_back(event.objective, event.bound);
    if (event.values != nullptr) {
      EXPECT_EQ(small_model().objective(*event.values), event.objective);
    }
  });
  EXPECT_EQ(heard, (std::vector<std::pair<double, double>>{
                       {-3, -kInfinity}, {-9, -kInfinity}, {-9, -12}}));
}

}  // namespace
}  // namespace stowage::milp_lying_backend_test
