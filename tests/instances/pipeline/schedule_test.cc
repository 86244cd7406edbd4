#include "instances/pipeline/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "tests/instances/draw.h"

namespace stowage::pipeline_schedule_test {
namespace {

// Computes the ends of all passes as longest paths over their dependencies.
Ms longest_path(const std::vector<Ms>& rows, int stages) {
  struct Pass {
    bool forward;
    std::size_t row;
  };
  const std::size_t m = rows.size();
  const auto p = static_cast<std::size_t>(stages);
  std::vector<std::vector<Pass>> orders(p);
  for (std::size_t s = 0; s < p; ++s) {
    const std::size_t warm = std::min(m, p - 1 - s);
    for (std::size_t j = 0; j < warm; ++j) orders[s].push_back({true, j});
    for (std::size_t j = warm; j < m; ++j) {
      orders[s].push_back({true, j});
      orders[s].push_back({false, j - warm});
    }
    for (std::size_t j = m - warm; j < m; ++j) orders[s].push_back({false, j});
  }
  // Relaxation until nothing changes: slow and obviously correct.
  std::vector<std::vector<Ms>> ends(p, std::vector<Ms>(2 * m, 0));
  const auto end_of = [&](std::size_t s, Pass pass) -> Ms& {
    return ends[s][pass.forward ? pass.row : m + pass.row];
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t s = 0; s < p; ++s) {
      Ms before = 0;
      for (const Pass& pass : orders[s]) {
        Ms start = before;
        if (pass.forward && s > 0) start = std::max(start, end_of(s - 1, pass));
        if (!pass.forward && s + 1 < p) start = std::max(start, end_of(s + 1, pass));
        if (!pass.forward) start = std::max(start, end_of(s, {true, pass.row}));
        const Ms end = start + rows[pass.row] * (pass.forward ? 1 : 2);
        changed = changed || end > end_of(s, pass);
        before = end_of(s, pass) = std::max(end_of(s, pass), end);
      }
    }
  }
  Ms last = 0;
  for (const auto& stage : ends) {
    for (const Ms end : stage) last = std::max(last, end);
  }
  return last / 3;
}

std::vector<Ms> random_rows(Draw& draw, std::int64_t most) {
  std::vector<Ms> rows(static_cast<std::size_t>(draw.whole(0, most)));
  for (Ms& row : rows) row = static_cast<Ms>(3 * draw.whole(1, 50));
  return rows;
}

// ChunkFlow (arXiv 2503.02356), the example of its motivation: micro-batches of 4, 2, 1 and 1 units
// on four stages, a backward pass twice as long as a forward pass.
TEST(Pipeline, UnequalRowsOfThePublishedExample) {
  EXPECT_EQ(simulate_1f1b({12, 6, 3, 3}, 4), 56);
  const PipelineRun run = run_pipeline({{.forward = 4, .backward = 8},
                                        {.forward = 2, .backward = 4},
                                        {.forward = 1, .backward = 2},
                                        {.forward = 1, .backward = 2}},
                                       4);
  EXPECT_EQ(run.end, 56);
  EXPECT_EQ(run.busy, 24);
  EXPECT_NEAR(run.bubble(), 0.5714, 5e-5);
}

TEST(Pipeline, EqualRowsEndAfterRowsPlusStagesLessOne) {
  for (int stages = 1; stages <= 9; ++stages) {
    for (std::size_t rows = 1; rows <= 20; ++rows) {
      const Ms end = simulate_1f1b(std::vector<Ms>(rows, 6), stages);
      const auto places = static_cast<Ms>(rows) + stages - 1;
      EXPECT_EQ(end, 6 * places);
      // The bubble is (p - 1) / m of the time without it.
      EXPECT_EQ((end - 6 * static_cast<Ms>(rows)) * static_cast<Ms>(rows),
                (stages - 1) * 6 * static_cast<Ms>(rows));
    }
  }
}

TEST(Pipeline, NothingTakesNoTime) {
  EXPECT_EQ(simulate_1f1b({}, 4), 0);
  const PipelineRun run = run_pipeline({}, 3);
  EXPECT_EQ(run.end, 0);
  EXPECT_EQ(run.bubble(), 0);
  EXPECT_EQ(run.memory, (std::vector<Bytes>{0, 0, 0}));
}

TEST(Pipeline, AgreesWithTheLongestPath) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Draw draw(seed);
    const std::vector<Ms> rows = random_rows(draw, 12);
    const int stages = static_cast<int>(draw.whole(1, 6));
    EXPECT_EQ(simulate_1f1b(rows, stages), longest_path(rows, stages)) << seed;
  }
}

TEST(Pipeline, StaysBetweenItsBounds) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Draw draw(seed);
    std::vector<Ms> rows = random_rows(draw, 30);
    rows.push_back(3);
    const int stages = static_cast<int>(draw.whole(1, 8));
    const Ms sum = std::accumulate(rows.begin(), rows.end(), 0.0);
    const Ms longest = *std::max_element(rows.begin(), rows.end());
    const Ms end = simulate_1f1b(rows, stages);
    // The first stage does all the work; the longest row passes every stage; equal rows as long as
    // the longest are no faster.
    EXPECT_GE(end, sum);
    EXPECT_GE(end, stages * longest);
    EXPECT_LE(end, (static_cast<Ms>(rows.size()) + stages - 1) * longest);
  }
}

// The passes reported to an observer form a schedule: none overlaps another on its stage, each has
// its input, and together they are the run.
TEST(Pipeline, PassesMakeASchedule) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    std::vector<PipelineItem> items;
    for (const Ms row : random_rows(draw, 12)) {
      items.push_back({.forward = row, .backward = 2 * row, .recompute = draw.whole(0, 1) * row});
    }
    const auto stages = static_cast<std::size_t>(draw.whole(1, 6));
    using Kind = PipelinePass::Kind;
    std::vector<Ms> free(stages, 0);
    std::vector<Ms> busy(stages, 0);
    std::map<std::tuple<std::size_t, std::size_t, Kind>, PipelinePass> passes;
    Ms last = 0;
    const PipelineRun run =
        run_pipeline(items, static_cast<int>(stages), [&](const PipelinePass& pass) {
          EXPECT_GE(pass.start, free[pass.stage]);
          free[pass.stage] = pass.end;
          busy[pass.stage] += pass.end - pass.start;
          last = std::max(last, pass.end);
          EXPECT_TRUE(passes.insert({{pass.stage, pass.item, pass.kind}, pass}).second);
        });
    EXPECT_EQ(last, run.end);
    for (const Ms each : busy) EXPECT_EQ(each, run.busy);
    for (const auto& [key, pass] : passes) {
      const auto [stage, item, kind] = key;
      if (kind == Kind::backward) {
        EXPECT_GE(pass.start, passes.at({stage, item, Kind::forward}).end);
        if (stage + 1 < stages) {
          EXPECT_GE(pass.start, passes.at({stage + 1, item, kind}).end);
        }
      }
      if (kind == Kind::forward && stage > 0) {
        EXPECT_GE(pass.start, passes.at({stage - 1, item, kind}).end);
      }
    }
  }
}

// Stage s has at most p - s rows in flight.
TEST(Pipeline, EarlyStagesHoldMore) {
  const std::vector<PipelineItem> items(10,
                                        {.forward = 1, .backward = 2, .stored = 8, .working = 1});
  EXPECT_EQ(run_pipeline(items, 4).memory, (std::vector<Bytes>{33, 25, 17, 9}));
  EXPECT_EQ(run_pipeline({items.begin(), items.begin() + 2}, 4).memory,
            (std::vector<Bytes>{17, 17, 17, 9}));
}

// The last stage takes both forward passes before a backward pass, and those in reverse order.
TEST(Pipeline, GroupsGoBackwardInReverse) {
  const PipelineRun pair =
      run_pipeline({{.forward = 1, .backward = 2, .group_size = 2, .stored = 5},
                    {.forward = 3, .backward = 6, .group_size = 0, .stored = 7}},
                   1);
  EXPECT_EQ(pair.end, 12);
  EXPECT_EQ(pair.memory, std::vector<Bytes>{12});
  const PipelineRun two_stages = run_pipeline({{.forward = 1, .backward = 2, .group_size = 2},
                                               {.forward = 3, .backward = 6, .group_size = 0}},
                                              2);
  // Stage 1 goes forward until 1 + 1, then 4 + 3 = 7, backward until 13 and 15; stage 0 backward
  // from 13 to 19 and 21.
  EXPECT_EQ(two_stages.end, 21);
}

TEST(Pipeline, WhatIsRecomputedDoesNotWaitForTheGradient) {
  const std::vector<PipelineItem> once = {{.forward = 2, .backward = 4, .recompute = 2}};
  EXPECT_EQ(run_pipeline(once, 1).end, 8);
  // Stage 0 recomputes while stage 1 does the rest: forward 2, 4, recompute 6, backward 10, 14.
  EXPECT_EQ(run_pipeline(once, 2).end, 14);
  EXPECT_EQ(run_pipeline(once, 2).busy, 8);
}

Ms end_in_order(const std::vector<Ms>& rows, int stages, const std::vector<std::size_t>& order) {
  std::vector<Ms> times;
  for (const std::size_t row : order) times.push_back(rows[row]);
  return simulate_1f1b(times, stages);
}

TEST(OrderRows, IsAPermutationThatIsNeverWorse) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    const std::vector<Ms> rows = random_rows(draw, 14);
    const int stages = static_cast<int>(draw.whole(1, 5));
    const std::vector<std::size_t> order = order_rows(rows, stages, draw.whole(1, 400)).rows;
    std::vector<std::size_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(sorted[i], i);
    ASSERT_EQ(sorted.size(), rows.size());
    const Ms end = end_in_order(rows, stages, order);
    ASSERT_LE(end, simulate_1f1b(rows, stages));
    better += end < simulate_1f1b(rows, stages) ? 1 : 0;
  }
  EXPECT_GT(better, 80);
}

// The search is compared with all orders of up to six rows.
TEST(OrderRows, ComesCloseToTheBestOrder) {
  int optimal = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const std::vector<Ms> rows = random_rows(draw, 6);
    const int stages = static_cast<int>(draw.whole(2, 5));
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Ms best = end_in_order(rows, stages, order);
    while (std::next_permutation(order.begin(), order.end())) {
      best = std::min(best, end_in_order(rows, stages, order));
    }
    const Ms found = end_in_order(rows, stages, order_rows(rows, stages).rows);
    ASSERT_GE(found, best);
    EXPECT_LE(found, 1.1 * best) << seed;
    optimal += found == best ? 1 : 0;
  }
  EXPECT_GE(optimal, 50);
}

// Both results are equal to the last bit, slot by slot and pass by pass, with fewer and with more
// rows than stages.
TEST(Simulate1f1b, EndsWhenThePassesDo) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Draw draw(seed);
    const std::vector<Ms> rows = random_rows(draw, 20);
    const int stages = static_cast<int>(draw.whole(1, 20));
    std::vector<PipelineItem> items;
    for (const Ms row : rows) items.push_back({.forward = row / 7, .backward = 2 * (row / 7)});
    std::vector<Ms> sevenths;
    for (const Ms row : rows) sevenths.push_back(row / 7);
    ASSERT_EQ(simulate_1f1b(sevenths, stages), run_pipeline(items, stages).end / 3)
        << rows.size() << " rows, " << stages << " stages";
  }
}

TEST(OrderRows, StopsWhenItIsTold) {
  const std::vector<Ms> rows = {12, 6, 3, 3};
  const RowOrder none = order_rows(rows, 4, 2000, [] { return false; });
  EXPECT_EQ(none.rows, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(none.end, simulate_1f1b(rows, 4));
  int asked = 0;
  const RowOrder some = order_rows(rows, 4, 2000, [&] { return ++asked <= 5; });
  EXPECT_EQ(asked, 6);
  EXPECT_EQ(some.end, end_in_order(rows, 4, some.rows));
  EXPECT_LT(some.end, none.end);
}

TEST(OrderRows, KeepsTheOrderWhereNothingIsBetter) {
  EXPECT_EQ(order_rows({5, 5, 5}, 4).rows, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(order_rows({1, 9, 4}, 1).rows, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(order_rows({}, 4).rows, std::vector<std::size_t>{});
}

}  // namespace
}  // namespace stowage::pipeline_schedule_test
