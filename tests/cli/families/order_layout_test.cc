// Orders with the offsets of their tensors: solve --layout, run --layout, and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::families_order_layout_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class OrderLayout : public testing::Test {
 protected:
  OrderLayout() {
    fill_with_examples(dir_);
    EXPECT_EQ(run({"generate", "order", "--kind", "layered-local", "--operators", "60", "--seed",
                   "5", "-o", "graph.json"})
                  .exit_code,
              0);
  }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }
  json answer(const std::vector<std::string>& arguments, int exit_code = 0) const {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    return json::parse(finished.out);
  }
  Finished solve(const std::string& graph, const std::string& nodes) const {
    return run(
        {"solve", graph, "-o", "order.json", "--layout", "offsets.json", "--node-limit", nodes});
  }

  TempDir dir_;
};

TEST_F(OrderLayout, IsSolvedVerifiedAndRun) {
  const Finished solved = solve("graph.json", "2000000");
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  const json outcome = json::parse(solved.out);
  EXPECT_EQ(outcome["layout"]["needed_bytes"], outcome["objective_bytes"]);
  EXPECT_EQ(outcome["layout"]["plan"], json::parse(dir_.read("offsets.json")));
  EXPECT_THAT(solved.err, HasSubstr("as much as the order needs"));
  EXPECT_EQ(outcome["plan"], json::parse(dir_.read("order.json")));
  dir_.write("outcome.json", solved.out);
  EXPECT_EQ(answer({"verify", "graph.json", "outcome.json"})["valid"], true);

  ASSERT_EQ(run({"convert", "graph.json", "buffers.json", "--plan", "order.json"}).exit_code, 0);
  const json verdict = answer({"verify", "buffers.json", "offsets.json"});
  EXPECT_EQ(verdict["objective_bytes"], outcome["objective_bytes"]);

  const json executed = answer({"run", "graph.json", "order.json", "--layout", "offsets.json"});
  EXPECT_EQ(executed["passed"], true);
  EXPECT_EQ(executed["layout_bytes"], outcome["layout"]["needed_bytes"]);
}

TEST_F(OrderLayout, ALayoutOfAnotherOrderIsNotRun) {
  ASSERT_EQ(solve("graph.json", "2000000").exit_code, 0);
  ASSERT_EQ(run({"solve", "graph.json", "--method", "program", "-o", "other.json"}).exit_code, 0);
  const Finished refused = run({"run", "graph.json", "other.json", "--layout", "offsets.json"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("the layout is invalid and was not executed"));
  EXPECT_EQ(json::parse(refused.out)["passed"], false);
}

// The order fits and its tensors do not: the order is kept, and the outcome states the missing
// bytes.
TEST_F(OrderLayout, WithoutALayoutWithinTheCapacityTheOrderIsKept) {
  ASSERT_EQ(run({"generate", "order", "--kind", "layered", "--operators", "100", "--seed", "5",
                 "-o", "graph.json"})
                .exit_code,
            0);
  json graph = json::parse(dir_.read("graph.json"));
  graph["capacity_bytes"] =
      answer({"solve", "graph.json", "--node-limit", "50000"})["objective_bytes"];
  dir_.write("tight.json", graph.dump());
  const Finished solved = solve("tight.json", "100000");
  EXPECT_EQ(solved.exit_code, 3);
  const json outcome = json::parse(solved.out);
  EXPECT_EQ(outcome["layout"]["plan"], nullptr);
  EXPECT_GT(outcome["layout"]["needed_bytes"], outcome["objective_bytes"]);
  EXPECT_THAT(solved.err, HasSubstr("above the capacity"));
  dir_.write("outcome.json", solved.out);
  EXPECT_EQ(answer({"verify", "tight.json", "outcome.json"})["valid"], true);
  EXPECT_EQ(run({"verify", "tight.json", "order.json"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "offsets.json"));
}

// Tensors at other steps may leave room for a lower peak: the outcome reports it, and verify
// agrees. A tensor that is written first and read last need not be in memory at the peak.
TEST_F(OrderLayout, APeakThatFallsIsNews) {
  ASSERT_EQ(run({"generate", "order", "--kind", "layered", "--operators", "100", "--seed", "7",
                 "-o", "graph.json"})
                .exit_code,
            0);
  const json best = answer({"solve", "graph.json", "--node-limit", "100000"});
  json graph = json::parse(dir_.read("graph.json"));
  json operators = json::array({{{"id", "early"}, {"writes", {"pad"}}}});
  for (const json& op : best["plan"]["order"]) {
    operators.push_back(graph["operators"][op.get<std::size_t>()]);
  }
  operators.push_back({{"id", "late"}, {"reads", {"pad"}}});
  graph["operators"] = operators;
  graph["tensors"].push_back({{"id", "pad"}, {"size_bytes", 1 << 24}});
  dir_.write("padded.json", graph.dump());
  const Finished solved = run({"solve", "padded.json", "--method", "program", "--layout",
                               "offsets.json", "--node-limit", "400000"});
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  const json outcome = json::parse(solved.out);
  EXPECT_EQ(outcome["found_by"], "level");
  EXPECT_EQ(outcome["objective_bytes"], best["objective_bytes"]);
  dir_.write("outcome.json", solved.out);
  EXPECT_EQ(answer({"verify", "padded.json", "outcome.json"})["valid"], true);
}

// Every claim about the layout is changed to a false one.
TEST_F(OrderLayout, WhatAnOutcomeSaysOfItsLayoutIsVerified) {
  const Finished solved = solve("graph.json", "2000000");
  const json good = json::parse(solved.out);
  const auto rule_of = [&](const json& outcome) -> std::string {
    dir_.write("lie.json", outcome.dump());
    const json verdict = json::parse(run({"verify", "graph.json", "lie.json"}).out);
    return verdict["valid"] == true ? "" : verdict["violations"][0]["rule"].get<std::string>();
  };
  EXPECT_EQ(rule_of(good), "");
  json lie = good;
  lie["layout"]["needed_bytes"] = good["layout"]["needed_bytes"].get<std::int64_t>() - 1;
  EXPECT_EQ(rule_of(lie), "outcome_layout");
  lie = good;
  lie["layout"]["plan"]["offsets"] =
      std::vector<std::int64_t>(good["layout"]["plan"]["offsets"].size(), 0);
  EXPECT_EQ(rule_of(lie), "outcome_layout");
  lie = good;
  lie["layout"]["plan"] = good["plan"];
  EXPECT_EQ(rule_of(lie), "outcome_layout");
  lie = good;
  lie["layout"]["plan"] = nullptr;
  lie["exit_code"] = 3;
  EXPECT_EQ(rule_of(lie), "outcome_layout");
  lie["exit_code"] = 0;
  EXPECT_EQ(rule_of(lie), "outcome_exit_code");
  lie = good;
  lie["layout"]["fits"] = true;
  dir_.write("lie.json", lie.dump());
  EXPECT_EQ(run({"verify", "graph.json", "lie.json"}).exit_code, 2);
}

// A layout that cannot be written is in the outcome.
TEST_F(OrderLayout, ALayoutThatCannotBeWrittenIsNotLost) {
  const Finished solved = run({"solve", "graph.json", "-o", "order.json", "--layout", "/dev/full",
                               "--node-limit", "100000"});
  EXPECT_EQ(solved.exit_code, 2);
  EXPECT_THAT(solved.err, HasSubstr("plan -> order.json"));
  const json outcome = json::parse(solved.out);
  EXPECT_GT(outcome["layout"]["plan"]["offsets"].size(), 10U);
  EXPECT_EQ(json::parse(dir_.read("order.json")), outcome["plan"]);
}

TEST_F(OrderLayout, OtherUsesAreRefused) {
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    return finished.err;
  };
  EXPECT_THAT(refused({"solve", "instance.json", "--layout", "l.json"}),
              HasSubstr("has an effect on orders alone"));
  EXPECT_THAT(refused({"solve", "graph.json", "--layout", "-"}), HasSubstr("must be a file"));
  EXPECT_THAT(refused({"solve", "graph.json", "-o", "a.json", "--layout", "a.json"}),
              HasSubstr("must be another file"));
  EXPECT_THAT(refused({"solve", "graph.json", "-o", "a.json", "--layout", "./a.json"}),
              HasSubstr("must be another file"));
  std::filesystem::create_symlink("a.json", dir_.path() / "link.json");
  EXPECT_THAT(refused({"solve", "graph.json", "-o", "a.json", "--layout", "link.json"}),
              HasSubstr("must be another file"));
  EXPECT_THAT(refused({"solve", "graph.json", "--layout", "graph.json"}),
              HasSubstr("which would be lost"));
  EXPECT_THAT(refused({"run", "instance.json", "plan.json", "--layout", "l.json"}),
              HasSubstr("has an effect on orders alone"));
  ASSERT_EQ(run({"solve", "graph.json", "-o", "order.json"}).exit_code, 0);
  EXPECT_THAT(refused({"run", "graph.json", "order.json", "--layout", "order.json"}),
              HasSubstr("E209"));
}

}  // namespace
}  // namespace stowage::families_order_layout_test
