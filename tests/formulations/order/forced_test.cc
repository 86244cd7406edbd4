// Forced precedences: every better order satisfies them, their bounds are true and pass the check,
// and they prove more than single cuts.
#include "formulations/order/forced.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "formulations/order/bounds.h"
#include "instances/order/generate/generate.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/exhaustive_check.h"
#include "tests/instances/draw.h"
#include "tests/tiny_order.h"

namespace stowage::order_forced_test {
namespace {

using ::testing::IsEmpty;

constexpr std::int64_t kEnough = 100'000;  // cuts

ForcedOrder forced(const OrderInstance& graph, Bytes below) {
  return force_order(graph, below, {}, kEnough, Budget());
}

Bytes best_cut(const OrderInstance& graph) {
  const OrderTable table(graph);
  LeastLive least(table);
  Bytes best = 0;
  for (int op = 0; op < table.operators(); ++op) {
    best = std::max(best, cut_bound(table, least, op).bound_bytes);
  }
  return best;
}

// Calls visit(order) for every order of a graph of few operators.
template <class Visit>
void for_each_order(const OrderTable& table, Visit visit) {
  std::vector<int> order(static_cast<std::size_t>(table.operators()));
  std::iota(order.begin(), order.end(), 0);
  std::vector<int> place(order.size());
  do {
    for (std::size_t k = 0; k < order.size(); ++k) {
      place[static_cast<std::size_t>(order[k])] = static_cast<int>(k);
    }
    bool sound = true;
    for (int op = 0; op < table.operators() && sound; ++op) {
      for (const int first : table.before(op)) {
        sound =
            sound && place[static_cast<std::size_t>(first)] < place[static_cast<std::size_t>(op)];
      }
    }
    if (sound) visit(order, place);
  } while (std::ranges::next_permutation(order).found);
}

TEST(ForcedOrder, EveryBetterOrderKeepsIt) {
  std::int64_t steps = 0;
  std::int64_t better_orders = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const OrderInstance graph = tiny_order(seed, 7, false);
    const OrderTable table(graph);
    if (table.operators() == 0) continue;
    const Bytes best = *least_peak(graph);
    for (const Bytes below : {best + 1, best + 3}) {
      const ForcedOrder found = forced(graph, below);
      ASSERT_FALSE(found.proof) << seed;
      EXPECT_TRUE(found.complete) << seed;
      steps += std::ssize(found.steps);
      if (found.steps.empty()) continue;
      for_each_order(table, [&](const std::vector<int>& order, const std::vector<int>& place) {
        if (peak_of(table, order) >= below) return;
        ++better_orders;
        for (const ForcedStep& step : found.steps) {
          EXPECT_LT(place[static_cast<std::size_t>(step.precedence.first)],
                    place[static_cast<std::size_t>(step.precedence.second)])
              << seed;
          EXPECT_GE(step.need, below) << seed;
        }
      });
    }
  }
  EXPECT_GT(steps, 300);
  EXPECT_GT(better_orders, 1000);
}

TEST(ForcedOrder, WhatItProvesIsTrueAndMoreThanCuts) {
  std::int64_t more = 0;
  std::int64_t optimal = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const OrderInstance graph = tiny_order(seed, 9, false);
    if (graph.operators.empty()) continue;
    const Bytes best = *least_peak(graph);
    const Bytes cut = best_cut(graph);
    for (Bytes below = std::max<Bytes>(1, best - 2); below <= best + 1; ++below) {
      const ForcedOrder found = forced(graph, below);
      if (!found.proof) {
        EXPECT_GT(below, cut) << seed;
        continue;
      }
      const OrderCertificateCheck check = check_certificate(graph, *found.proof);
      EXPECT_THAT(check.violations, IsEmpty()) << seed << ' ' << below;
      EXPECT_GE(check.bound_bytes, below) << seed;
      EXPECT_LE(check.bound_bytes, best) << seed;
      more += check.bound_bytes > cut ? 1 : 0;
      optimal += below == best ? 1 : 0;
    }
  }
  EXPECT_GT(more, 50);
  EXPECT_GT(optimal, 500);
}

// Precedences that hold below a peak also hold below a smaller one, and need not be found again.
TEST(ForcedOrder, KnownStepsAreKept) {
  const OrderInstance graph =
      *generate_order({.kind = OrderGenerator::Kind::layered_local, .operators = 120, .seed = 3});
  const Bytes peak = peak_of(OrderTable(graph), OrderTable(graph).program_order());
  ForcedOrder all = forced(graph, peak);
  std::vector<ForcedStep> known;
  Bytes below = peak;
  while (!all.proof) {
    known = all.steps;
    below -= peak / 50;
    all = force_order(graph, below, known, kEnough, Budget());
  }
  EXPECT_THAT(known, ::testing::Not(IsEmpty()));
  ASSERT_GE(all.proof->forced.size(), known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    EXPECT_EQ(all.proof->forced[i], known[i].precedence);
  }
  EXPECT_THAT(check_certificate(graph, *all.proof).violations, IsEmpty());
  EXPECT_GE(all.proof->bound_bytes, below);
}

TEST(ForcedOrder, EndsWithItsCuts) {
  const OrderInstance graph =
      *generate_order({.kind = OrderGenerator::Kind::layered_local, .operators = 120, .seed = 3});
  const Bytes peak = peak_of(OrderTable(graph), OrderTable(graph).program_order());
  const ForcedOrder few = force_order(graph, peak, {}, 10, Budget());
  EXPECT_EQ(few.cuts, 10);
  EXPECT_FALSE(few.complete);
  const ForcedOrder none = force_order(graph, peak, {}, kEnough, Budget({.time_limit_s = 0}));
  EXPECT_EQ(none.cuts, 0);
  EXPECT_FALSE(none.complete);
}

// On a graph with many precedences the first answer must not wait for all their consequences.
TEST(ForcedOrder, GraphsUpToTheLimitBeginAtOnce) {
  OrderInstance graph = *generate_order({.kind = OrderGenerator::Kind::layered, .operators = 4000});
  ASSERT_LE(graph.operators.size(), 4096U);
  EXPECT_GT(most_forced_of(graph), 0);
  Draw draw(1);
  for (std::int64_t op = 600; op < std::ssize(graph.operators); ++op) {
    auto& after = graph.operators[static_cast<std::size_t>(op)].after;
    for (int k = 0; k < 12; ++k) after.push_back(op - draw.whole(1, 600));
  }
  const Budget budget({.time_limit_s = 1, .clock = BudgetClock::cpu});
  EXPECT_EQ(force_order(graph, 1, {}, 0, budget).cuts, 0);
  EXPECT_FALSE(budget.exhausted());
  graph.operators.resize(4097);
  EXPECT_EQ(most_forced_of(graph), 0);
}

TEST(ForcedOrder, PrecedencesBecomePartOfTheGraph) {
  const OrderInstance graph{.tensors = {{.size = 3, .input = true}, {.size = 5, .input = true}},
                            .operators = {{.reads = {0}}, {.reads = {1}}}};
  const OrderInstance joined =
      with_precedences(graph, {{.precedence = {.first = 1, .second = 0, .op = 0}, .need = 8}});
  EXPECT_EQ(joined.operators[0].after, std::vector<std::int64_t>{1});
  EXPECT_EQ(OrderTable(joined).program_order(), (std::vector<int>{1, 0}));
}

}  // namespace
}  // namespace stowage::order_forced_test
