// Layouts of the busiest buffers first: valid, better than the peak that was given, and on traces
// of training steps.
#include "solvers/layout/busiest_first.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "instances/layout/json/json.h"
#include "instances/layout/plan_builder.h"
#include "instances/layout/verify/verify.h"
#include "instances/numeric/random.h"
#include "solvers/solve.h"

namespace stowage::layout_busiest_first_test {
namespace {

using ::testing::IsEmpty;

// Many short buffers, and a few long ones that make a few steps busy.
LayoutInstance busy_middle(std::uint64_t seed, int buffers) {
  std::mt19937_64 random(seed);
  LayoutInstance instance;
  for (int b = 0; b < buffers; ++b) {
    const auto lower = static_cast<std::int64_t>(draw(random, 1000));
    const bool middle = b % 50 == 0;
    const std::int64_t begin = middle ? 480 + lower % 20 : lower;
    const auto steps = static_cast<std::int64_t>(1 + draw(random, middle ? 30 : 12));
    const auto size = static_cast<Bytes>(1 + draw(random, middle ? 4000 : 60));
    instance.buffers.push_back({.lower = begin, .upper = begin + steps, .size = size});
  }
  return instance;
}

// Lays buffers out on one stack, pins aside: a poor layout, which shows what the method adds.
std::optional<std::vector<Bytes>> stacked(const LayoutInstance& instance,
                                          const LayoutTable& table) {
  std::vector<Bytes> offsets;
  Bytes top = 0;
  for (int b = 0; b < table.buffers(); ++b) {
    if (table.pinned(b)) top = std::max(top, table.pin(b) + table.size(b));
  }
  for (int b = 0; b < table.buffers(); ++b) {
    offsets.push_back(table.pinned(b) ? table.pin(b) : top);
    if (!table.pinned(b)) top += table.size(b);
  }
  EXPECT_EQ(instance.buffers.size(), offsets.size());
  return offsets;
}

TEST(BusiestFirst, ToldLayoutsAreValidAndBelowThePeak) {
  int told = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const LayoutInstance instance = busy_middle(seed, 400);
    const LayoutTable table(instance);
    Bytes peak = table.stack() + 1;
    const Budget budget;
    const auto take = [&](const std::vector<Bytes>& offsets) {
      EXPECT_LT(table.peak(offsets), peak);
      peak = table.peak(offsets);
      EXPECT_THAT(verify(instance, compose_layout(instance, offsets)), IsEmpty()) << seed;
      ++told;
    };
    lay_busiest_first(instance, table, stacked, peak, budget, take);
    lay_busiest_first(instance, table, stacked, 0, budget, [](const auto&) { FAIL(); });
  }
  EXPECT_GT(told, 10);
}

TEST(BusiestFirst, NothingIsFixedWhereNoLayoutIsFound) {
  const LayoutInstance instance = busy_middle(1, 400);
  const LayoutTable table(instance);
  const Budget budget;
  int calls = 0;
  const auto none = [&](const LayoutInstance&, const LayoutTable&) {
    ++calls;
    return std::optional<std::vector<Bytes>>();
  };
  lay_busiest_first(instance, table, none, table.stack(), budget, [](const auto&) { FAIL(); });
  EXPECT_GT(calls, 0);
}

// A published trace of 18,692 buffers: its first plans end 0.76 % above the load.
TEST(BusiestFirst, ATraceOfATrainingStepIsProvenAtItsLoad) {
  std::ifstream file(std::string(STOWAGE_SOURCE_DIR) +
                     "/instances/data/layout/real/idealloc-pangu-2.6b.json");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto instance = read_layout_instance(text);
  ASSERT_TRUE(instance);
  Budget budget({.node_limit = 1'000});
  const Outcome outcome = solve(*instance, {}, budget);
  ASSERT_TRUE(outcome.plan);
  EXPECT_EQ(outcome.status, Status::optimal);
  EXPECT_EQ(std::get<LayoutPlan>(*outcome.plan).peak_bytes, 5'530'099'775);
  EXPECT_EQ(outcome.found_by, "busiest");
}

}  // namespace
}  // namespace stowage::layout_busiest_first_test
