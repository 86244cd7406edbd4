// The promises of every method of every family: a start plan is never made worse, a requested gap
// is reached, and a node limit gives the same answer twice.
#include <gtest/gtest.h>

#include "instances/assign/json/json.h"
#include "instances/assign/verify/verify.h"
#include "instances/families.h"
#include "instances/layout/json/json.h"
#include "instances/layout/verify/verify.h"
#include "instances/order/json/json.h"
#include "instances/order/verify/verify.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/verify.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/verify/verify.h"
#include "solvers/solve.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/oracles/layout/brute_force.h"
#include "tests/oracles/order/brute_force.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/oracles/strategy/brute_force.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_order.h"
#include "tests/tiny_scatter.h"
#include "tests/tiny_strategy.h"

namespace stowage::solve_promises_test {
namespace {

constexpr std::int64_t kNodes = 60;

std::string bytes_of(const ScatterPlan& plan) { return write_scatter_plan(plan); }
std::string bytes_of(const AssignPlan& plan) { return write_assign_plan(plan); }
std::string bytes_of(const LayoutPlan& plan) { return write_layout_plan(plan); }
std::string bytes_of(const OrderPlan& plan) { return write_order_plan(plan); }
std::string bytes_of(const StrategyPlan& plan) { return write_strategy_plan(plan); }

struct Scatter {
  static ScatterInstance draw(std::uint64_t seed) { return tiny_scatter(seed); }
};
struct Assign {
  static AssignInstance draw(std::uint64_t seed) { return tiny_assign(seed); }
};
struct Layout {
  static LayoutInstance draw(std::uint64_t seed) { return tiny_layout(seed); }
};
struct Order {
  static OrderInstance draw(std::uint64_t seed) { return tiny_order(seed, 8); }
};
struct Strategies {
  // Nine of ten have a configuration.
  static StrategyInstance draw(std::uint64_t seed) {
    const bool any = seed % 10 == 0;
    StrategyInstance wanted = tiny_strategy(seed);
    while (!any && !brute_force(wanted)) wanted = tiny_strategy(seed += 1000);
    return wanted;
  }
};

template <class Family>
class SolvePromises : public testing::Test {
 protected:
  using InstanceT = decltype(Family::draw(0));
  using PlanT = typename PlanOf<InstanceT>::type;

  static Outcome solved(const InstanceT& instance, const SolveOptions& options) {
    Budget budget({.node_limit = kNodes});
    Outcome outcome = solve(Instance(instance), options, budget);
    if (outcome.plan) {
      EXPECT_TRUE(verify(instance, std::get<PlanT>(*outcome.plan)).empty()) << options.method;
    }
    return outcome;
  }
};

// Annealing of layouts takes seconds for every size; the tests of bundled layouts cover it.
bool too_long(const Method& method) { return method.name == "reinsert"; }

using Families = testing::Types<Scatter, Assign, Layout, Order, Strategies>;
TYPED_TEST_SUITE(SolvePromises, Families);

// The optimal start and a bad start, for every method of the family.
TYPED_TEST(SolvePromises, AStartIsNeverMadeWorse) {
  int started = 0;
  for (std::uint64_t seed = 100; seed < 125; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto instance = TypeParam::draw(seed);
    const auto best = brute_force(instance);
    if (!best) continue;
    auto optimal = *best;
    optimal.instance_hash = instance_hash(instance);
    for (const Method& method : methods(Instance(instance))) {
      if (too_long(method)) continue;
      SCOPED_TRACE(method.name);
      const Outcome alone = this->solved(instance, {.method = method.name});
      const Outcome helped =
          this->solved(instance, {.method = method.name, .start = Plan(optimal)});
      ASSERT_TRUE(helped.plan) << helped.detail;
      EXPECT_LE(*helped.objective, objective_of(optimal));
      ++started;
      if (!alone.plan) continue;
      const Outcome again = this->solved(instance, {.method = "fast", .start = alone.plan});
      ASSERT_TRUE(again.plan) << again.detail;
      EXPECT_LE(*again.objective, *alone.objective);
    }
  }
  EXPECT_GT(started, 100);
}

TYPED_TEST(SolvePromises, AGapStopHasReachedIt) {
  int stopped = 0;
  for (std::uint64_t seed = 200; seed < 260; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto instance = TypeParam::draw(seed);
    for (const double gap : {0.01, 0.2, 0.9}) {
      const Outcome outcome = this->solved(instance, {.gap = gap});
      if (outcome.stopped_by != StoppedBy::gap) continue;
      ++stopped;
      ASSERT_TRUE(outcome.gap());
      EXPECT_LE(*outcome.gap(), gap);
      EXPECT_EQ(outcome.status, Status::feasible);
    }
  }
  EXPECT_GT(stopped, 5);
}

TYPED_TEST(SolvePromises, ANodeLimitGivesTheSameBytesTwice) {
  for (std::uint64_t seed = 300; seed < 315; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto instance = TypeParam::draw(seed);
    for (const Method& method : methods(Instance(instance))) {
      if (too_long(method)) continue;
      SCOPED_TRACE(method.name);
      const Outcome first = this->solved(instance, {.method = method.name, .seed = 3});
      const Outcome second = this->solved(instance, {.method = method.name, .seed = 3});
      EXPECT_EQ(first.status, second.status);
      EXPECT_EQ(first.stopped_by, second.stopped_by);
      EXPECT_EQ(first.nodes, second.nodes);
      EXPECT_EQ(first.bound, second.bound);
      EXPECT_EQ(first.detail, second.detail);
      ASSERT_EQ(first.plan.has_value(), second.plan.has_value());
      if (!first.plan) continue;
      const auto bytes = [](const Plan& plan) {
        return std::visit([](const auto& any) { return bytes_of(any); }, plan);
      };
      EXPECT_EQ(bytes(*first.plan), bytes(*second.plan));
    }
  }
}

// Removes the properties of a step for which a fast method may find no plan.
ScatterInstance easy(ScatterInstance step) { return step; }
AssignInstance easy(AssignInstance step) {
  step.constraints = {};
  return step;
}
LayoutInstance easy(LayoutInstance layout) {
  layout.capacity.reset();
  return layout;
}
OrderInstance easy(OrderInstance graph) {
  graph.capacity.reset();
  return graph;
}
StrategyInstance easy(StrategyInstance wanted) {
  wanted.cluster.memory_mib = 1e6;
  return wanted;
}

TYPED_TEST(SolvePromises, NoTimeIsEnoughForAPlan) {
  int planned = 0;
  for (std::uint64_t seed = 400; seed < 440; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto instance = easy(TypeParam::draw(seed));
    if (!brute_force(instance)) continue;
    for (const char* method : {"auto", "fast", "exact"}) {
      if (std::string(method) == "exact" && built_backends().empty()) continue;
      for (const double seconds : {0.0, 0.001}) {
        Budget budget({.time_limit_s = seconds});
        const Outcome outcome = solve(Instance(instance), {.method = method}, budget);
        ASSERT_TRUE(outcome.plan) << method << ' ' << seconds << ' ' << outcome.detail;
        EXPECT_TRUE(verify(instance, std::get<typename TestFixture::PlanT>(*outcome.plan)).empty());
        ++planned;
      }
    }
  }
  EXPECT_GT(planned, 100);
}

// A moved-from outcome has the values of an empty one, and can be copied.
TYPED_TEST(SolvePromises, AnOutcomeIsCopiedAfterAMove) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Budget budget({.node_limit = kNodes});
    Outcome first = solve(Instance(TypeParam::draw(seed)), {}, budget);
    const Outcome moved = std::move(first);
    Outcome copy = first;  // NOLINT(*use-after-move)
    copy = moved;
    EXPECT_EQ(copy.certificate.has_value(), moved.certificate.has_value());
    EXPECT_EQ(copy.plan, moved.plan);
    first = copy;
    EXPECT_EQ(first.objective, moved.objective);
  }
}

TEST(Enumerators, WithoutANameAreErrors) {
  for (int value = 5; value < 256; ++value) {
    EXPECT_EQ(to_string(static_cast<Status>(value)), "error");
    if (value > 6) {
      EXPECT_EQ(to_string(static_cast<StoppedBy>(value)), "error");
    }
  }
}

// Small limits end every method, also without a budget: a baseline ends by the limits of its MILPs.
TYPED_TEST(SolvePromises, LimitsOfMilpsEndBaselines) {
  const auto instance = TypeParam::draw(7);
  for (const Method& method : methods(instance)) {
    if (method.kind != MethodKind::baseline) continue;
    Budget endless;
    const Outcome outcome =
        solve(Instance(instance), {.method = method.name, .milp_seconds = 0}, endless);
    EXPECT_NE(outcome.status, Status::error) << method.name << outcome.detail;
  }
}

}  // namespace
}  // namespace stowage::solve_promises_test
