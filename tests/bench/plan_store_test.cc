#include "bench/plan_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "solvers/solve.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_scatter.h"

namespace stowage::bench::plan_store_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

class PlanStore : public testing::Test {
 protected:
  PlanStore()
      : directory_(std::filesystem::temp_directory_path() /
                   ("plan-store-" + std::to_string(getpid()))) {}
  ~PlanStore() override { std::filesystem::remove_all(directory_); }

  // Plans the instance, stores the plan and returns the record.
  Record stored(const Instance& instance) const {
    Budget budget;
    const Outcome outcome = solve(instance, {.method = "fast"}, budget);
    Record record{.suite = "s", .instance = "a/b \"c\"", .method = "fast"};
    record.objective = outcome.objective;
    record.plan = store_plan(directory_, record, *outcome.plan);
    return record;
  }

  std::filesystem::path directory_;
};

// Returns the first tiny instance with a non-empty plan.
template <class Make>
Instance plannable(Make make) {
  for (std::uint64_t seed = 0;; ++seed) {
    Budget budget;
    const Instance instance = make(seed);
    const Outcome outcome = solve(instance, {.method = "fast"}, budget);
    if (outcome.plan && *outcome.objective > 0) return instance;
  }
}

TEST_F(PlanStore, WhatWasStoredIsConfirmed) {
  for (const Instance& instance :
       {plannable([](std::uint64_t s) { return Instance(tiny_scatter(s)); }),
        plannable([](std::uint64_t s) { return Instance(tiny_assign(s)); }),
        plannable([](std::uint64_t s) { return Instance(tiny_layout(s)); })}) {
    const Record record = stored(instance);
    EXPECT_EQ(record.plan, "s.a-b--c-.fast.json");
    EXPECT_EQ(check_plan(directory_, record, instance), std::nullopt);
  }
}

TEST_F(PlanStore, ResultsThatSayMoreThanTheirPlansAreNot) {
  const Instance instance = plannable([](std::uint64_t s) { return Instance(tiny_scatter(s)); });
  Record record = stored(instance);
  *record.objective *= 0.999;
  EXPECT_THAT(check_plan(directory_, record, instance), Optional(HasSubstr("objective")));
}

TEST_F(PlanStore, NeitherArePlansOfOtherInstances) {
  Instance instance = plannable([](std::uint64_t s) { return Instance(tiny_scatter(s)); });
  const Record record = stored(instance);
  std::get<ScatterInstance>(instance).cluster.memory_mib += 1;  // the plan stays valid
  EXPECT_THAT(check_plan(directory_, record, instance), Optional(HasSubstr("instance_hash")));
}

TEST_F(PlanStore, NorPlansThatAreGoneOrBroken) {
  const Instance instance = plannable([](std::uint64_t s) { return Instance(tiny_scatter(s)); });
  Record record = stored(instance);
  std::ofstream(directory_ / record.plan) << "{";
  EXPECT_TRUE(check_plan(directory_, record, instance));
  std::filesystem::remove(directory_ / record.plan);
  EXPECT_TRUE(check_plan(directory_, record, instance));
  record.plan.clear();
  EXPECT_THAT(check_plan(directory_, record, instance), Optional(HasSubstr("names no plan")));
  record.objective.reset();  // a record without a plan claims nothing
  EXPECT_EQ(check_plan(directory_, record, instance), std::nullopt);
}

}  // namespace
}  // namespace stowage::bench::plan_store_test
