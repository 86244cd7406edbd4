#include "instances/pipeline/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "instances/pipeline/schedule.h"
#include "tests/instances/draw.h"

namespace stowage::pipeline_passes_test {
namespace {

using Kind = PassDone::Kind;

PassPipeline equal_stages(int stages, std::size_t rows, PassTimes times, PassSchedule schedule,
                          int chunks = 1) {
  const auto parts = static_cast<std::size_t>(stages) * static_cast<std::size_t>(chunks);
  return {.stages = stages,
          .chunks = chunks,
          .schedule = schedule,
          .rows = std::vector(rows, std::vector(parts, times))};
}

Ms end_of(int stages, std::size_t rows, PassTimes times, PassSchedule schedule, int chunks = 1) {
  return simulate_passes(equal_stages(stages, rows, times, schedule, chunks)).end;
}

PassPipeline random_pipeline(Draw& draw, std::int64_t most_stages, std::int64_t most_rows) {
  PassPipeline pipeline{.stages = static_cast<int>(draw.whole(1, most_stages)),
                        .send = static_cast<double>(draw.whole(0, 3))};
  pipeline.schedule = static_cast<PassSchedule>(draw.whole(0, 3));
  std::int64_t rows = draw.whole(1, most_rows);
  if (pipeline.schedule == PassSchedule::interleaved) {
    pipeline.chunks = static_cast<int>(draw.whole(2, 3));
    rows = pipeline.stages * draw.whole(1, 3);
  }
  const auto parts = static_cast<std::size_t>(pipeline.stages * pipeline.chunks);
  for (std::int64_t b = 0; b < rows; ++b) {
    auto& row = pipeline.rows.emplace_back();
    for (std::size_t k = 0; k < parts; ++k) {
      row.push_back({.forward = static_cast<double>(draw.whole(1, 9)),
                     .backward = static_cast<double>(draw.whole(1, 9)),
                     .weights = static_cast<double>(draw.whole(0, 9))});
    }
  }
  return pipeline;
}

// arXiv 2104.04473, section 2.2, and 2401.10241, section 2.3.
TEST(Passes, EqualStagesTakeTheClosedFormulas) {
  const PassTimes times{.forward = 4, .backward = 5, .weights = 3};
  const Ms all = 12;
  for (const int p : {1, 2, 4, 8}) {
    for (const int turns : {3, 5}) {
      const auto m = static_cast<std::size_t>(p * turns);
      const auto rows = static_cast<double>(m);
      EXPECT_EQ(end_of(p, m, times, PassSchedule::one_f_one_b), (rows + p - 1) * all);
      EXPECT_EQ(end_of(p, m, times, PassSchedule::zb_h1), rows * all + (p - 1) * (4 + 5 - 3));
      const PassRun h2 = simulate_passes(equal_stages(p, m, times, PassSchedule::zb_h2));
      EXPECT_EQ(h2.end,
                // the last stage begins as late as possible and never waits
                rows * all + (p - 1) * 4);
      EXPECT_EQ(h2.idle.front(), (p - 1) * (4 + 5 - 2 * 3));
      for (const int v : {2, 3}) {
        EXPECT_EQ(end_of(p, m, times, PassSchedule::interleaved, v), (rows * v + p - 1) * all)
            << p << ' ' << m << ' ' << v;
      }
    }
  }
}

// 1, 1/3 and 0 of the bubble of 1F1B where the three passes take as long as each other.
TEST(Passes, EqualPassesLeaveAThirdOfTheBubbleAndNone) {
  const PassTimes times{.forward = 7, .backward = 7, .weights = 7};
  for (const int p : {2, 4, 8}) {
    const auto m = static_cast<std::size_t>(3 * p);
    const auto idle = [&](PassSchedule schedule) {
      return simulate_passes(equal_stages(p, m, times, schedule)).idle.front();
    };
    EXPECT_EQ(idle(PassSchedule::one_f_one_b), 21 * (p - 1));
    EXPECT_EQ(idle(PassSchedule::zb_h1), 7 * (p - 1));
    EXPECT_EQ(idle(PassSchedule::zb_h2), 0);
  }
}

// M2 of docs/reference/strategy.md, in chunks; the published limits of ZB-H1 and ZB-H2.
TEST(Passes, StagesHoldWhatTheSchedulesSay) {
  const PassTimes times{.forward = 4, .backward = 5, .weights = 3};
  for (const int p : {1, 2, 4, 6}) {
    for (const int m : {p, 2 * p, 4 * p}) {
      const auto rows = static_cast<std::size_t>(m);
      const auto held = [&](PassSchedule schedule, int v) {
        return simulate_passes(equal_stages(p, rows, times, schedule, v)).held;
      };
      const auto plain = held(PassSchedule::one_f_one_b, 1);
      const auto chunks = held(PassSchedule::interleaved, 2);
      const auto h1 = held(PassSchedule::zb_h1, 1);
      const auto h2 = held(PassSchedule::zb_h2, 1);
      for (int s = 0; s < p; ++s) {
        const auto i = static_cast<std::size_t>(s);
        EXPECT_EQ(plain[i], std::min(m, p - s));
        EXPECT_EQ(chunks[i], std::min(2 * m, 2 * (p - s - 1) + p + 1));
        EXPECT_EQ(h1[i], std::min(m, p));
        EXPECT_EQ(h2[i], std::min(m, 2 * p - 1));
      }
    }
  }
}

TEST(Passes, AgreeWithThePipelineOfEqualStages) {
  Draw draw(5);
  for (int round = 0; round < 300; ++round) {
    const auto stages = static_cast<int>(draw.whole(1, 6));
    PassPipeline pipeline{.stages = stages};
    std::vector<PipelineItem> items;
    const std::int64_t rows = draw.whole(1, 9);
    for (std::int64_t b = 0; b < rows; ++b) {
      const auto time = static_cast<double>(draw.whole(1, 50));
      items.push_back({.forward = time, .backward = 2 * time});
      pipeline.rows.emplace_back(static_cast<std::size_t>(stages),
                                 PassTimes{.forward = time, .backward = time, .weights = time});
    }
    ASSERT_EQ(simulate_passes(pipeline).end, run_pipeline(items, stages).end) << round;
  }
}

// Every pass runs once and after its input, and each stage runs one pass at a time; busy times and
// the end match the result.
TEST(Passes, NoPassStartsBeforeItsInput) {
  Draw draw(11);
  for (int round = 0; round < 300; ++round) {
    const PassPipeline pipeline = random_pipeline(draw, 5, 9);
    const auto p = static_cast<std::size_t>(pipeline.stages);
    const std::size_t parts = p * static_cast<std::size_t>(pipeline.chunks);
    const bool split =
        pipeline.schedule == PassSchedule::zb_h1 || pipeline.schedule == PassSchedule::zb_h2;
    std::vector<PassDone> done;
    const PassRun run = simulate_passes(pipeline, [&](const PassDone& d) { done.push_back(d); });
    ASSERT_EQ(done.size(), pipeline.rows.size() * parts * (split ? 3 : 2)) << round;
    const auto at = [&](Kind kind, std::size_t row, std::size_t part) {
      return *std::ranges::find_if(done, [&](const PassDone& d) {
        return d.kind == kind && d.row == row && d.chunk * p + d.stage == part;
      });
    };
    std::vector<Ms> free(p, 0);
    std::vector<Ms> busy(p, 0);
    for (const PassDone& d : done) {
      ASSERT_GE(d.start, free[d.stage]) << round;
      free[d.stage] = d.end;
      busy[d.stage] += d.end - d.start;
      const std::size_t part = d.chunk * p + d.stage;
      const PassTimes& times = pipeline.rows[d.row][part];
      const auto arrives = [&](const PassDone& from) {
        return from.end + (from.stage == d.stage ? 0 : pipeline.send);
      };
      switch (d.kind) {
        case Kind::forward:
          ASSERT_EQ(d.end - d.start, times.forward);
          if (part > 0) {
            ASSERT_GE(d.start, arrives(at(Kind::forward, d.row, part - 1))) << round;
          }
          break;
        case Kind::backward:
          ASSERT_EQ(d.end - d.start, times.backward + (split ? 0 : times.weights));
          ASSERT_GE(d.start, at(Kind::forward, d.row, part).end) << round;
          if (part + 1 < parts) {
            ASSERT_GE(d.start, arrives(at(Kind::backward, d.row, part + 1))) << round;
          }
          break;
        case Kind::weights:
          ASSERT_EQ(d.end - d.start, times.weights);
          ASSERT_GE(d.start, at(Kind::backward, d.row, part).end) << round;
          break;
      }
    }
    ASSERT_EQ(run.busy, busy);
    ASSERT_EQ(run.end, *std::ranges::max_element(free));
    ASSERT_GE(run.end, least_end(pipeline)) << round;
  }
}

// Two stages, three micro-batches: every order of forward and whole backward passes on each stage.
class Orders {
 public:
  explicit Orders(const PassPipeline& pipeline) : pipeline_(pipeline) {
    std::vector<int> order(6);
    std::iota(order.begin(), order.end(), 0);  // forward of 0, 1, 2, then backward
    do {
      const auto place = [&](int pass) { return std::ranges::find(order, pass) - order.begin(); };
      if (place(0) < place(3) && place(1) < place(4) && place(2) < place(5))
        orders_.push_back(order);
    } while (std::ranges::next_permutation(order).found);
  }

  std::size_t count() const { return orders_.size(); }

  Ms least() const {
    Ms best = 1e9;
    for (const auto& first : orders_) {
      for (const auto& second : orders_) best = std::min(best, end_of(first, second));
    }
    return best;
  }

 private:
  Ms end_of(const std::vector<int>& first, const std::vector<int>& second) const {
    const std::vector<int>* orders[2] = {&first, &second};
    Ms ends[2][6];
    std::size_t next[2] = {0, 0};
    Ms free[2] = {0, 0};
    bool known[2][6] = {};
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t s = 0; s < 2; ++s) {
        while (next[s] < 6) {
          const auto pass = static_cast<std::size_t>((*orders[s])[next[s]]);
          const bool forward = pass < 3;
          const std::size_t other = 1 - s;
          const bool waits = forward ? s == 1 : s == 0;
          if (waits && !known[other][pass]) break;
          const PassTimes& times = pipeline_.rows[pass % 3][s];
          const Ms ready = waits ? ends[other][pass] + pipeline_.send : 0;
          free[s] =
              std::max(free[s], ready) + (forward ? times.forward : times.backward + times.weights);
          ends[s][pass] = free[s];
          known[s][pass] = true;
          ++next[s];
          moved = true;
        }
      }
    }
    return next[0] == 6 && next[1] == 6 ? std::max(free[0], free[1]) : 1e9;
  }

  const PassPipeline& pipeline_;
  std::vector<std::vector<int>> orders_;
};

TEST(Passes, NoOrderBeatsTheBound) {
  Draw draw(17);
  int reached = 0;
  const int rounds = 1000;
  for (int round = 0; round < rounds; ++round) {
    PassPipeline pipeline = random_pipeline(draw, 1, 1);
    pipeline.stages = 2;
    pipeline.chunks = 1;
    pipeline.schedule = PassSchedule::one_f_one_b;
    pipeline.rows.assign(3, {});
    for (auto& row : pipeline.rows) {
      for (int s = 0; s < 2; ++s) {
        row.push_back({.forward = static_cast<double>(draw.whole(1, 9)),
                       .backward = static_cast<double>(draw.whole(1, 9)),
                       .weights = static_cast<double>(draw.whole(0, 9))});
      }
    }
    const Orders orders(pipeline);
    ASSERT_EQ(orders.count(), 90U);
    const Ms least = orders.least();
    ASSERT_GE(least, least_end(pipeline)) << round;
    ASSERT_GE(simulate_passes(pipeline).end, least) << round;
    reached += least == least_end(pipeline);
  }
  EXPECT_GT(reached, rounds / 4);
}

}  // namespace
}  // namespace stowage::pipeline_passes_test
