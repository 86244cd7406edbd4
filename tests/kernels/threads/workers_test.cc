#include "kernels/threads/workers.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <stdexcept>

#include "kernels/attention/attention_stage.h"
#include "kernels/block/block.h"
#include "kernels/block/operation/gemm.h"
#include "kernels/block/operation/rms_norm.h"
#include "kernels/block/operation/rotary.h"
#include "kernels/block/operation/swiglu.h"
#include "kernels/block/operation/vocabulary_head.h"
#include "kernels/block/synthetic.h"
#include "tests/kernels/numbers.h"

namespace stowage::kernels::workers_test {
namespace {

TEST(Workers, RunEveryUnitOnce) {
  for (const int threads : {1, 2, 5}) {
    Workers workers(threads);
    const WorkersScope scope(workers);
    for (const std::int64_t units : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(units));
      std::atomic<bool> in_range = true;
      share_work(units, [&](std::int64_t unit, int thread) {
        ++runs[static_cast<std::size_t>(unit)];
        if (thread < 0 || thread >= threads) in_range = false;
      });
      EXPECT_TRUE(in_range);
      for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1);
    }
    EXPECT_GE(workers.ahead_seconds(), 0);
  }
}

TEST(Workers, RangesCoverTheRowsAndBeginAtSteps) {
  for (const int threads : {1, 2, 3, 8}) {
    Workers workers(threads);
    const WorkersScope scope(workers);
    for (const std::int64_t rows : {1, 15, 16, 17, 1000}) {
      std::mutex mutex;
      std::vector<int> seen(static_cast<std::size_t>(rows));
      share_rows(rows, kSharedElements, 16, [&](std::int64_t begin, std::int64_t end) {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(begin % 16, 0);
        EXPECT_LT(begin, end);
        for (std::int64_t row = begin; row < end; ++row) ++seen[static_cast<std::size_t>(row)];
      });
      EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
    }
  }
}

TEST(Workers, FewRowsStayOnTheCallingThread) {
  Workers workers(4);
  const WorkersScope scope(workers);
  int calls = 0;
  share_rows(kSharedElements - 1, 1, 1, [&](std::int64_t, std::int64_t) { ++calls; });
  share_rows(0, 1, 1, [&](std::int64_t, std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(Workers, AreThoseOfTheirScopeAndNotOfAUnit) {
  EXPECT_EQ(Workers::of_this_thread(), nullptr);
  Workers outer(2), inner(3);
  {
    const WorkersScope scope(outer);
    {
      const WorkersScope again(inner);
      EXPECT_EQ(Workers::of_this_thread(), &inner);
    }
    EXPECT_EQ(Workers::of_this_thread(), &outer);
    std::atomic<int> with_workers = 0;
    share_work(8, [&](std::int64_t, int) { with_workers += Workers::of_this_thread() != nullptr; });
    EXPECT_EQ(with_workers, 0);
    EXPECT_EQ(Workers::of_this_thread(), &outer);
  }
  EXPECT_EQ(Workers::of_this_thread(), nullptr);
}

TEST(Workers, AFailedUnitEndsTheCallAndNotTheWorkers) {
  Workers workers(3);
  const WorkersScope scope(workers);
  for (int again = 0; again < 20; ++again) {
    std::atomic<int> begun = 0;
    EXPECT_THROW(share_work(1000000,
                            [&](std::int64_t unit, int) {
                              ++begun;
                              if (unit == 5) throw std::runtime_error("unit 5");
                            }),
                 std::runtime_error);
    EXPECT_LT(begun, 1000000);
    std::atomic<int> runs = 0;
    share_work(10, [&](std::int64_t, int) { ++runs; });
    EXPECT_EQ(runs, 10);
  }
  EXPECT_THROW(Workers(0), std::invalid_argument);
}

// A thread alone computes whole sequences, and does not pack their keys again for each unit.
TEST(Workers, OfOneThreadAreNone) {
  Workers workers(1);
  const WorkersScope scope(workers);
  EXPECT_EQ(Workers::of_this_thread(), nullptr);
}

rlim_t bytes_of_address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

// The system refuses threads beyond the limit of the address space; the stack of each takes some.
TEST(Workers, AreFewerWhereTheSystemRefusesMore) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need address space";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit few{.rlim_cur = bytes_of_address_space() + (rlim_t{512} << 20),
                   .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &few), 0);
  int started = 0;
  std::atomic<int> runs = 0;
  {
    Workers workers(1000);
    started = workers.threads();
    const WorkersScope scope(workers);
    share_work(100, [&](std::int64_t, int) { ++runs; });
  }
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_GE(started, 1);
  EXPECT_LT(started, 1000);
  EXPECT_EQ(runs, 100);
}

TEST(Workers, ScratchIsOfAThreadAndGrows) {
  Workers workers(2);
  workers.scratch(1, 10)[0] = 3;
  EXPECT_EQ(workers.scratch(1, 5)[0], 3);
  EXPECT_NE(workers.scratch(0, 5).data(), workers.scratch(1, 5).data());
  EXPECT_GE(std::ssize(workers.scratch(1, 1000)), 1000);
}

// Every operation of a block and of a head, large enough to be shared.
std::vector<float> operations() {
  constexpr std::int64_t kTokens = 530;
  constexpr int kWidth = 200;
  std::vector<float> all;
  const auto keep = [&](const std::vector<float>& some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  const std::vector<float> x = normal_values(kTokens * kWidth, 1);
  const std::vector<float> dy = normal_values(kTokens * kWidth, 2);
  const std::vector<float> w = normal_values(kWidth * kWidth, 3), gain = normal_values(kWidth, 4);
  std::vector<float> y(x.size()), rms(kTokens), dx = x, dgain = gain, dw(w.size());
  rms_norm_forward(kTokens, kWidth, 1e-5, x, gain, y, rms);
  rms_norm_backward(kTokens, kWidth, x, gain, rms, dy, dx, dgain);
  for (const auto& some : {y, rms, dx, dgain}) keep(some);
  gemm(kTokens, kWidth, kWidth, rows(x.data(), kWidth), rows(w.data(), kWidth), y.data(), kWidth,
       Update::add);
  gemm(kWidth, kWidth, kTokens, transposed(rows(x.data(), kWidth)), rows(dy.data(), kWidth),
       dw.data(), kWidth, Update::assign);
  keep(y);
  keep(dw);
  std::vector<float> turned = x;
  rotate(RotaryTable(sequence_positions(std::vector{0, 500, 530}, kTokens), 20, 10000), 10, turned,
         Turn::forward);
  keep(turned);
  swiglu_forward(x, dy, y);
  keep(y);
  std::vector<float> dgate(x.size()), dup(x.size());
  swiglu_backward(x, dy, turned, dgate, dup);
  keep(dgate);
  keep(dup);
  std::vector<float> logits(kTokens * kWidth), d(x.size());
  const double loss =
      head_chunk({.hidden = kWidth, .first = 0, .columns = kWidth, .peers = nullptr}, w,
                 {.y = x, .targets = synthetic_targets(1, 0, 0, kTokens, kWidth)}, logits, d, dw);
  keep(logits);
  keep(d);
  keep(dw);
  all.push_back(static_cast<float>(loss));
  return all;
}

TEST(Workers, DoNotShowInOperations) {
  const std::vector<float> alone = operations();
  for (const int threads : {2, 3, 7}) {
    Workers workers(threads);
    const WorkersScope scope(workers);
    EXPECT_EQ(operations(), alone) << threads;
  }
}

TEST(Workers, DoNotShowInABlock) {
  const BlockShape shape{.hidden = 96, .heads = 6, .kv_heads = 2, .head_dim = 16, .ffn = 200};
  const std::vector<std::int32_t> cu = {0, 700, 703, 900};
  const BlockWeights<float> weights = synthetic_weights(shape, 1);
  const std::vector<float> x = normal_values(900 * shape.hidden, 1);
  const auto run = [&] {
    LocalAttention attention(attention_shape(shape, 900, cu));
    BlockPass pass(shape, sequence_positions(cu, 900), attention);
    std::vector<float> y(x.size()), dx(x.size());
    BlockWeights<float> gradient = zero_weights<float>(shape);
    pass.forward(weights, x, y);
    pass.backward(weights, x, dx, gradient);
    y.insert(y.end(), dx.begin(), dx.end());
    for (const auto* tensor : std::as_const(gradient).tensors()) {
      y.insert(y.end(), tensor->begin(), tensor->end());
    }
    return y;
  };
  const std::vector<float> alone = run();
  for (const int threads : {2, 5}) {
    Workers workers(threads);
    const WorkersScope scope(workers);
    EXPECT_EQ(run(), alone) << threads;
  }
}

}  // namespace
}  // namespace stowage::kernels::workers_test
