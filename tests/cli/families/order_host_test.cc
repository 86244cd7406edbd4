// The commands on graphs with a host: from a generated step to its transfers, which are executed
// and drawn; and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::families_order_host_test {
namespace {

using ::testing::HasSubstr;

class OrderHost : public testing::Test {
 protected:
  OrderHost() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }
  nlohmann::json answer(const std::vector<std::string>& arguments, int exit_code = 0) const {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    return nlohmann::json::parse(finished.out);
  }
  void expect_refused(const std::vector<std::string>& arguments, const char* why) const {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(why));
  }

  TempDir dir_;
};

TEST_F(OrderHost, ARecordedStepIsExecutedWithItsTransfers) {
  ASSERT_EQ(run({"generate", "order", "--from-kernels", "--lengths", "128,64", "--layers", "2",
                 "--capacity-share", "0.75", "--host-rate", "1e6", "-o", "step.json"})
                .exit_code,
            0);
  const auto outcome =
      answer({"solve", "step.json", "--method", "offload", "-o", "step-plan.json"});
  EXPECT_GT(outcome["plan"]["transfers"].size(), 0U);
  const auto verdict = answer({"verify", "step.json", "step-plan.json"});
  EXPECT_EQ(verdict["valid"], true);
  EXPECT_EQ(verdict["proven"], true);
  EXPECT_EQ(verdict["bound_by"], outcome["bound_by"]);
  const auto executed = answer({"run", "step.json", "step-plan.json"});
  EXPECT_EQ(executed["passed"], true);
  EXPECT_EQ(executed["transfers"], outcome["plan"]["transfers"].size());
  EXPECT_THAT(run({"run", "step.json", "step-plan.json"}).err, HasSubstr(" transfer"));
  ASSERT_EQ(run({"render", "step.json", "step-plan.json", "-o", "page.html"}).exit_code, 0);
  EXPECT_THAT(dir_.read("page.html"), HasSubstr(" on the host, "));
  ASSERT_EQ(run({"convert", "step.json", "layout.json", "--plan", "step-plan.json"}).exit_code, 0);
  EXPECT_THAT(dir_.read("layout.json"), HasSubstr(".back\""));
}

TEST_F(OrderHost, WhatRunsWaitForIsExplained) {
  dir_.write("away.json", R"({"format": "stowage/instance", "version": 1, "problem": "order",
    "objective": "time", "capacity_bytes": 40,
    "host": {"out_bytes_per_ms": 10, "in_bytes_per_ms": 5},
    "tensors": [{"id": "a", "size_bytes": 20}, {"id": "c", "size_bytes": 30},
      {"id": "y", "size_bytes": 1, "output": true}, {"id": "x", "size_bytes": 1, "input": true}],
    "operators": [{"id": "f", "reads": ["x"], "writes": ["a"], "ms": 2},
      {"id": "m", "reads": ["x"], "writes": ["c"], "ms": 1, "after": ["f"]},
      {"id": "n", "reads": ["c", "x"], "ms": 1},
      {"id": "h", "reads": ["a"], "writes": ["y"], "ms": 1, "after": ["n"]}]})");
  const auto outcome = answer({"solve", "away.json", "-t", "1", "-o", "plan.json"});
  // The transfer out takes 2 ms after f, m and n, and the transfer back takes 4 ms.
  EXPECT_EQ(outcome["objective_ms"], 2 + 2 + 1 + 1 + 4 + 1);
  const Finished explained = run({"explain", "away.json", "plan.json", "-t", "1"});
  EXPECT_THAT(explained.err, HasSubstr("waits 4 ms for transfers: tensor a in"));
  EXPECT_THAT(explained.err, HasSubstr("waits 2 ms for transfers: tensor a out"));
}

TEST_F(OrderHost, WhatMakesNoSenseIsRefused) {
  expect_refused({"generate", "order", "--host-rate", "10"}, "--host-rate: has no effect with");
  expect_refused({"generate", "order", "--kind", "vgg", "--host-capacity", "10"},
                 "--host-capacity: has no effect without --host-rate");
  ASSERT_EQ(run({"generate", "order", "--kind", "vgg", "--host-rate", "1e7", "-o", "graph.json"})
                .exit_code,
            0);
  expect_refused({"export", "graph.json", "-o", "model.lp"}, "must have no host");
}

}  // namespace
}  // namespace stowage::families_order_host_test
