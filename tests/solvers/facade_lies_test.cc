// The facade above backends with wrong answers. This program defines its own run_cbc, run_glpk and
// run_highs, which the linker uses instead of the library's, so that they answer every MILP of
// every method.
//
// For every wrong answer the plan is valid, the bound is true, the status is justified, no earlier
// result is lost, and the detail names the error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <new>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>

#include "instances/assign/json/json.h"
#include "instances/assign/verify/verify.h"
#include "instances/families.h"
#include "solvers/milp/backend.h"
#include "solvers/milp/solver.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/oracles/layout/brute_force.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_scatter.h"

namespace stowage {
namespace {

using milp::kInfinity;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The backend's current behaviour, and the number of its calls. A backend is a function, so these
// cannot be members.
MilpRun backend_in_use;
std::atomic<int> asked = 0;

MilpResult ask_backend(const MilpTask& task) {
  ++asked;
  return backend_in_use(task);
}

std::vector<double> lower_bounds(const MilpTask& task, double shift) {
  std::vector<double> values;
  for (const milp::Variable& variable : task.model.variables()) {
    values.push_back(std::isfinite(variable.lower) ? variable.lower + shift : shift);
  }
  return values;
}

// Returns the start, or without one the lower bounds, which break a row of every model used here.
std::vector<double> some_point(const MilpTask& task) {
  return task.params.start.empty() ? lower_bounds(task, 0) : task.params.start;
}

MilpResult optimal(double objective, std::vector<double> values) {
  return {.status = MilpStatus::optimal,
          .objective = objective,
          .bound = objective,
          .values = std::move(values)};
}

struct Lie {
  std::string name;
  MilpRun backend;
  enum { at_once, with_a_plan, never } detected = at_once;
};

void PrintTo(const Lie& lie, std::ostream* out) { *out << lie.name; }

const Lie kLies[] = {
    {"WrongObjective",
     [](const MilpTask& task) {
       const std::vector<double> point = some_point(task);
       return optimal(task.model.objective(point) - 100, point);
     }},
    {"InfeasiblePointCalledOptimal",
     [](const MilpTask& task) {
       const std::vector<double> point = lower_bounds(task, -1);
       return optimal(task.model.objective(point), point);
     }},
    {"FractionalPointCalledOptimal",
     [](const MilpTask& task) {
       const std::vector<double> point = lower_bounds(task, 0.5);
       return optimal(task.model.objective(point), point);
     }},
    {"FalseInfeasible",
     [](const MilpTask&) { return MilpResult{.status = MilpStatus::infeasible}; }},
    {"FalseUnbounded", [](const MilpTask&) { return MilpResult{.status = MilpStatus::unbounded}; }},
    {"FalseBound",
     [](const MilpTask&) { return MilpResult{.limit = StopReason::node_limit, .bound = 1e9}; },
     Lie::with_a_plan},
    {"NanObjectiveAndBound", [](const MilpTask& task) { return optimal(kNan, some_point(task)); }},
    {"InfiniteValues",
     [](const MilpTask& task) {
       return optimal(-kInfinity, std::vector<double>(task.model.variables().size(), kInfinity));
     }},
    {"WrongSize",
     [](const MilpTask& task) {
       std::vector<double> point = some_point(task);
       const double objective = task.model.objective(point);
       point.push_back(1);
       return optimal(objective, std::move(point));
     }},
    {"Throws", [](const MilpTask&) -> MilpResult { throw std::runtime_error("boom"); }},
    {"ThrowsWhatIsNoException", [](const MilpTask&) -> MilpResult { throw 42; }},
    {"RunsOutOfMemory", [](const MilpTask&) -> MilpResult { throw std::bad_alloc(); }},
    {"StatusThatDoesNotExist",
     [](const MilpTask&) { return MilpResult{.status = static_cast<MilpStatus>(77)}; }},
    {"IncumbentsThatAreNone",
     [](const MilpTask& task) {
       const std::vector<double> point = lower_bounds(task, -1);
       task.observer({.objective = -1e9, .values = &point});
       task.observer({.bound = kNan});
       return MilpResult{.limit = StopReason::node_limit};
     },
     Lie::never},  // no effect of it is visible, so none can be reported
    {"GivesUp", [](const MilpTask&) { return MilpResult{.detail = "gave up"}; }, Lie::never},
};

// A step or a graph on which each of these methods calls the backend, and the least known
// objective; for layouts it is the optimum. Steps must have too many sequences for the searches
// without a backend, and therefore for brute force too.
struct Case {
  std::string name;
  std::vector<std::string> methods;
  Instance instance;
  double least = 0;
  bool optimal = false;
};

bool asks(const Instance& instance, const std::string& method) {
  backend_in_use = [](const MilpTask&) { return MilpResult{.detail = "gave up"}; };
  asked = 0;
  Budget quick({.node_limit = 1});
  const Outcome known = solve(instance, {.method = "fast"}, quick);
  Budget budget({.node_limit = 100});
  solve(instance, {.method = method, .start = known.plan}, budget);
  return asked > 0;
}

double least_known(const LayoutInstance& layout) { return objective_of(*brute_force(layout)); }

// Solved without a backend.
template <class Step>
double least_known(const Step& step) {
  Budget budget({.node_limit = 2000});
  return *solve(step, {.method = "joint"}, budget).objective;
}

bool has_plan(const LayoutInstance& layout) { return brute_force(layout).has_value(); }

template <class Step>
bool has_plan(const Step& step) {
  Budget quick({.node_limit = 1});
  return solve(step, {.method = "fast"}, quick).plan.has_value();
}

// Returns the first instance from `seed` on that has a plan and cannot be settled without the
// backend. Every test draws it anew, so that it must be among the first ten.
template <class Draw>
Case make_case(std::string name, std::vector<std::string> methods, Draw draw,
               std::uint64_t seed = 1) {
  for (const std::uint64_t end = seed + 10; seed < end; ++seed) {
    const auto instance = draw(seed);
    const auto asked_by = [&](const std::string& method) { return asks(instance, method); };
    if (!has_plan(instance) || !std::ranges::all_of(methods, asked_by)) continue;
    const bool optimal = std::is_same_v<std::decay_t<decltype(instance)>, LayoutInstance>;
    return {std::move(name), std::move(methods), instance, least_known(instance), optimal};
  }
  std::cerr << name << ": none of ten instances needs a backend: begin with another seed\n";
  std::abort();
}

// `step` with `count` sequences, no two of the same length, the added ones short.
template <class Step>
Step with_sequences(Step step, std::size_t count) {
  std::set<Tokens> lengths(step.lengths.begin(), step.lengths.end());
  for (Tokens length = 1; lengths.size() < count; ++length) lengths.insert(length);
  step.lengths.assign(lengths.begin(), lengths.end());
  return step;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      make_case(
          "scatter", {"auto", "exact", "flexsp"},
          [](std::uint64_t seed) { return with_sequences(tiny_scatter(seed, 8), 20); },
          158),  // most are settled within a tenth of a second
      make_case("assign", {"auto", "exact", "hydraulis"},
                [](std::uint64_t seed) { return with_sequences(tiny_assign(seed, 8), 18); }),
      make_case("layout", {"mip", "mip-published"},
                [](std::uint64_t seed) { return tiny_layout(seed); })};
  return kCases;
}

void check(const Case& problem, const Outcome& outcome) {
  EXPECT_LE(outcome.bound, problem.least * (1 + kOptimalityGap));
  EXPECT_NE(outcome.status, Status::infeasible) << outcome.detail;
  if (outcome.status == Status::optimal) {
    EXPECT_LE(*outcome.objective, problem.least * (1 + 2 * kOptimalityGap));
  }
  if (!outcome.plan) return;
  std::visit(
      [&](const auto& instance) {
        using PlanT = typename PlanOf<std::decay_t<decltype(instance)>>::type;
        const auto& plan = std::get<PlanT>(*outcome.plan);
        EXPECT_TRUE(verify(instance, plan).empty());
        EXPECT_EQ(plan.instance_hash, instance_hash(instance));
      },
      problem.instance);
  if (problem.optimal) {
    EXPECT_GE(*outcome.objective, problem.least * (1 - kOptimalityGap));
  }
}

class FacadeLies : public testing::TestWithParam<Lie> {
 protected:
  // `auto` and `exact` call the backend in the same way after their own search. Each gets every
  // other wrong answer, and all of them in a long run.
  static std::vector<std::string> methods_for(const Case& problem) {
    std::vector<std::string> methods = problem.methods;
    const std::string& name = GetParam().name;
    const auto lie = std::ranges::find(kLies, name, &Lie::name) - std::begin(kLies);
    if (in_long_run(0, 1) == 0) std::erase(methods, lie % 2 == 0 ? "auto" : "exact");
    return methods;
  }
};

TEST_P(FacadeLies, TheAnswerStaysTrue) {
  const std::vector<Case>& problems = cases();  // cases() changes the backend
  backend_in_use = GetParam().backend;
  for (const Case& problem : problems) {
    for (const std::string& method : methods_for(problem)) {
      SCOPED_TRACE(problem.name + " " + method);
      Budget quick({.node_limit = 100});
      const Outcome known = solve(problem.instance, {.method = "fast"}, quick);
      Budget budget({.node_limit = 100});
      asked = 0;
      const Outcome outcome =
          solve(problem.instance, {.method = method, .start = known.plan}, budget);
      EXPECT_GT(asked, 0) << "the backend was not needed";
      check(problem, outcome);
      ASSERT_TRUE(outcome.plan) << "the start was lost: " << outcome.detail;
      EXPECT_LE(*outcome.objective, *known.objective) << "the best plan was lost";
      EXPECT_TRUE(GetParam().detected == Lie::never || !outcome.detail.empty());
      // Also without a start, so that a wrong answer can only be compared with the model.
      Budget alone({.node_limit = 100});
      const Outcome unaided = solve(problem.instance, {.method = method}, alone);
      if (unaided.plan || GetParam().detected != Lie::with_a_plan) check(problem, unaided);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FacadeLies, testing::ValuesIn(kLies),
                         [](const auto& lie) { return lie.param.name; });

// A backend that ignores its limits, which needs a clock. It is released at the end, so that its
// thread ends before the program.
class NeverReturns : public testing::Test {
 protected:
  NeverReturns() {
    cases();  // cases() changes the backend
    backend_in_use = [this](const MilpTask&) {
      ++inside_;
      while (!let_go_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      --inside_;
      return MilpResult{.status = MilpStatus::infeasible};
    };
  }
  ~NeverReturns() override {
    let_go_ = true;
    while (inside_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  std::atomic<bool> let_go_ = false;
  std::atomic<int> inside_ = 0;
};

TEST_F(NeverReturns, TheTimeLimitEndsTheSolveWithItsPlan) {
  // The backend gets five more seconds, so a usual run tests one family and a long run all.
  const std::size_t families = in_long_run(0, 1) == 0 ? 1 : cases().size();
  for (const Case& problem : std::span(cases()).first(families)) {
    const std::string& method = problem.methods.back();
    SCOPED_TRACE(problem.name + " " + method);
    Outcome outcome;
    asked = 0;
    // On a slow machine the call of the backend takes longer.
    for (double limit = 0.3; asked == 0 && limit < 100; limit *= 4) {
      Budget budget({.time_limit_s = limit});
      outcome = solve(problem.instance, {.method = method}, budget);
    }
    EXPECT_GT(asked, 0);
    check(problem, outcome);
    ASSERT_TRUE(outcome.plan);
    EXPECT_EQ(outcome.stopped_by, StoppedBy::time_limit);
    EXPECT_THAT(outcome.detail, testing::HasSubstr("left behind"));
  }
}

TEST_F(NeverReturns, AnInterruptEndsTheSolveWithItsPlan) {
  const Case problem = cases().front();
  std::atomic<bool> interrupt = false;
  Budget budget({.interrupt = &interrupt});
  std::jthread user([&] {
    while (inside_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    interrupt = true;
  });
  const Outcome outcome = solve(problem.instance, {.method = "exact"}, budget);
  check(problem, outcome);
  ASSERT_TRUE(outcome.plan);
  EXPECT_EQ(outcome.stopped_by, StoppedBy::interrupted);
  EXPECT_THAT(outcome.detail, testing::HasSubstr("left behind"));
}

// A node limit is not a clock: the facade waits for a backend that takes long over its last node.
TEST_F(NeverReturns, ANodeLimitWaits) {
  backend_in_use = [](const MilpTask& task) {
    task.budget.count_nodes(1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return MilpResult{.limit = StopReason::node_limit, .detail = "came back"};
  };
  milp::Model model;
  model.add_variable({.upper = 4, .objective = -1, .integer = true});
  model.add_variable({.upper = 4, .objective = -1, .integer = true});
  model.add_row({.upper = 3, .terms = {{0, 1}, {1, 1}}});
  Budget budget({.node_limit = 10});
  const MilpResult result = solve_milp(built_backends().front(), model, {}, budget);
  EXPECT_EQ(result.status, MilpStatus::unknown);
  EXPECT_EQ(result.detail, "came back");
  EXPECT_EQ(budget.nodes(), 1000);
}

}  // namespace

// These replace the library's functions.
MilpResult run_cbc(const MilpTask& task) { return ask_backend(task); }
MilpResult run_glpk(const MilpTask& task) { return ask_backend(task); }
MilpResult run_highs(const MilpTask& task) { return ask_backend(task); }

}  // namespace stowage
