// The commands on graphs: from a generated graph to a proven order, its picture, its explanation,
// its model and its layout; and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::families_order_test {
namespace {

using ::testing::HasSubstr;

class Order : public testing::Test {
 protected:
  Order() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }
  nlohmann::json answer(const std::vector<std::string>& arguments, int exit_code = 0) const {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    return nlohmann::json::parse(finished.out);
  }
  void generate(const std::string& kind, const std::string& operators = "60") {
    ASSERT_EQ(
        run({"generate", "order", "--kind", kind, "--operators", operators, "-o", "graph.json"})
            .exit_code,
        0);
  }

  TempDir dir_;
};

TEST_F(Order, FromAGraphToAProvenOrderAndItsLayout) {
  generate("recompute", "120");
  const Finished solved = run({"solve", "graph.json", "-o", "order.json"});
  dir_.write("outcome.json", solved.out);
  const auto outcome = nlohmann::json::parse(solved.out);
  EXPECT_EQ(outcome["status"], "optimal");
  EXPECT_EQ(outcome["bound_by"], "cut");
  EXPECT_TRUE(outcome["certificate"].contains("precedences"));

  const auto verdict = answer({"verify", "graph.json", "outcome.json"});
  EXPECT_EQ(verdict["valid"], true);
  EXPECT_EQ(verdict["proven"], true);
  // Without the certificate the cut bound is only a claim.
  EXPECT_EQ(answer({"verify", "graph.json", "order.json"})["proven"], false);

  ASSERT_EQ(run({"convert", "graph.json", "layout.json", "--plan", "order.json"}).exit_code, 0);
  const auto layout = answer({"solve", "layout.json", "-t", "5"});
  EXPECT_EQ(layout["bound_bytes"], outcome["objective_bytes"]);
}

TEST_F(Order, ABrokenCertificateIsRefused) {
  generate("transformer");
  dir_.write("outcome.json", run({"solve", "graph.json"}).out);
  auto outcome = nlohmann::json::parse(dir_.read("outcome.json"));
  outcome["certificate"]["tensors"][0][2] = 1;
  dir_.write("lie.json", outcome.dump());
  const auto verdict = answer({"verify", "graph.json", "lie.json"}, 1);
  EXPECT_EQ(verdict["violations"][0]["rule"], "certificate_bound");
}

// A bound by search has no certificate: verify enumerates small graphs again.
TEST_F(Order, ABoundBySearchIsTriedAgainWhereOperatorsAreFew) {
  generate("layered", "16");
  auto outcome = answer({"solve", "graph.json", "--method", "program"});
  const auto best = answer({"solve", "graph.json"});
  outcome["plan"]["bound_bytes"] = best["objective_bytes"];
  outcome["plan"]["bound_by"] = "search";
  dir_.write("plan.json", outcome["plan"].dump());
  EXPECT_EQ(answer({"verify", "graph.json", "plan.json"})["valid"], true);
  outcome["plan"]["peak_bytes"] = outcome["plan"]["peak_bytes"].get<std::int64_t>();
  outcome["plan"]["bound_bytes"] = outcome["plan"]["peak_bytes"];
  dir_.write("plan.json", outcome["plan"].dump());
  if (outcome["objective_bytes"] == best["objective_bytes"]) return;
  EXPECT_EQ(answer({"verify", "graph.json", "plan.json"}, 1)["violations"][0]["rule"],
            "claimed_bound");
}

TEST_F(Order, IsDrawnExplainedAndCompared) {
  generate("experts");
  dir_.write("outcome.json", run({"solve", "graph.json", "--node-limit", "20000"}).out);
  ASSERT_EQ(run({"render", "graph.json", "outcome.json", "-o", "order.svg"}).exit_code, 0);
  EXPECT_THAT(dir_.read("order.svg"), HasSubstr("order of the list"));
  const auto why = answer({"explain", "graph.json", "outcome.json", "--node-limit", "5000"});
  EXPECT_THAT(why["binds"][0]["text"].get<std::string>(), HasSubstr("its workspace"));
  EXPECT_GT(why["binds"].size(), 2U);
  EXPECT_THAT(why["what_if"][1]["text"].get<std::string>(), HasSubstr("recomputed or offloaded"));
  EXPECT_LE(why["what_if"][1]["objective_bytes"], why["objective_bytes"]);
  const Finished table =
      run({"compare", "graph.json", "--node-limit", "5000", "--format", "table"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  for (const char* method : {"program", "list", "dfs", "online", "commit", "fast", "lns"}) {
    EXPECT_THAT(table.out, HasSubstr(method));
  }
}

TEST_F(Order, WithoutRoomItSaysWhoAndWhatHelps) {
  generate("chunked");
  auto graph = nlohmann::json::parse(dir_.read("graph.json"));
  graph["capacity_bytes"] = 1000;
  dir_.write("small.json", graph.dump());
  const Finished solved = run({"solve", "small.json"});
  EXPECT_EQ(solved.exit_code, 1);
  dir_.write("none.json", solved.out);
  EXPECT_EQ(nlohmann::json::parse(solved.out)["status"], "infeasible");
  EXPECT_EQ(answer({"verify", "small.json", "none.json"})["valid"], true);
  const auto why = answer({"explain", "small.json"}, 1);
  EXPECT_EQ(why["causes"].size(), 2U);
  EXPECT_THAT(why["remedies"][0]["text"].get<std::string>(), HasSubstr("raise capacity_bytes"));
}

TEST_F(Order, TheModelIsExported) {
  generate("layered", "12");
  const Finished exported = run({"export", "graph.json", "-o", "model.lp"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(dir_.read("model.lp"), HasSubstr("O3_1"));
  EXPECT_EQ(dir_.read("model.lp").find("O6_0:"), std::string::npos);
  ASSERT_EQ(run({"export", "graph.json", "-o", "model.lp", "--addresses"}).exit_code, 0);
  EXPECT_THAT(dir_.read("model.lp"), HasSubstr("O6_0:"));
  const Finished refused = run({"export", "instance.json", "-o", "model.lp", "--addresses"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--addresses: has no effect on a scatter step"));
}

// Recomputation within nine tenths of the peak of the list's order, from the graph to its layout.
TEST_F(Order, ANetworkIsComputedAgainWhereItMust) {
  ASSERT_EQ(
      run({"generate", "order", "--kind", "vgg", "--capacity-share", "0.9", "-o", "graph.json"})
          .exit_code,
      0);
  const auto outcome = answer({"solve", "graph.json", "-o", "plan.json", "--node-limit", "200000"});
  dir_.write("outcome.json", outcome.dump());
  EXPECT_EQ(outcome["status"], "optimal");
  const auto graph = nlohmann::json::parse(dir_.read("graph.json"));
  EXPECT_GT(outcome["plan"]["order"].size(), graph["operators"].size());
  EXPECT_EQ(outcome["objective_ms"], outcome["plan"]["time_ms"]);
  EXPECT_LE(outcome["plan"]["peak_bytes"], graph["capacity_bytes"]);
  EXPECT_EQ(answer({"verify", "graph.json", "outcome.json"})["valid"], true);

  ASSERT_EQ(run({"convert", "graph.json", "layout.json", "--plan", "plan.json"}).exit_code, 0);
  const auto layout = answer({"solve", "layout.json", "-t", "5"});
  EXPECT_EQ(layout["objective_bytes"], outcome["plan"]["peak_bytes"]);
  EXPECT_EQ(answer({"run", "graph.json", "plan.json"})["passed"], true);
  ASSERT_EQ(run({"render", "graph.json", "outcome.json", "-o", "order.svg"}).exit_code, 0);
  EXPECT_THAT(dir_.read("order.svg"), HasSubstr("runs again"));
  const auto why = answer({"explain", "graph.json", "outcome.json", "--node-limit", "2000"});
  EXPECT_THAT(why["binds"].dump(), HasSubstr("runs again at step"));
  ASSERT_EQ(run({"export", "graph.json", "-o", "model.lp"}).exit_code, 0);
  EXPECT_THAT(dir_.read("model.lp"), HasSubstr("OK7_"));
  // A plan with one run more than it states, and a plan with an invalid run.
  auto plan = outcome["plan"];
  plan["time_ms"] = plan["time_ms"].get<double>() * 0.99;
  dir_.write("lie.json", plan.dump());
  EXPECT_EQ(answer({"verify", "graph.json", "lie.json"}, 1)["violations"][0]["rule"], "time_ms");
}

TEST_F(Order, OnlyNetworksHaveAShareOfTheirPeak) {
  const Finished refused = run({"generate", "order", "--capacity-share", "0.5"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--capacity-share: has no effect"));
}

// A whole batch, several layers and chunks are recorded, ordered, and run at the planned offsets.
TEST_F(Order, ARecordedStepRunsInThePlannedOrder) {
  const std::vector<std::vector<std::string>> shapes = {
      {"--lengths", "65,1,30"},
      {"--lengths", "17,40", "--layers", "2", "--heads", "4", "--kv-heads", "2"},
      {"--lengths", "64", "--chunk-tokens", "16", "--alignment", "4"}};
  for (const std::vector<std::string>& shape : shapes) {
    SCOPED_TRACE(testing::PrintToString(shape));
    std::vector<std::string> make = {"generate", "order", "--from-kernels", "-o", "step.json"};
    make.insert(make.end(), shape.begin(), shape.end());
    const Finished made = run(make);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
    for (const char* method : {"program", "auto"}) {
      const auto outcome = answer({"solve", "step.json", "-o", "step-plan.json", "--method", method,
                                   "--node-limit", "20000"});
      const auto executed = answer({"run", "step.json", "step-plan.json"});
      EXPECT_EQ(executed["format"], "stowage/execution");
      EXPECT_EQ(executed["problem"], "order");
      EXPECT_EQ(executed["executed"], "step");
      EXPECT_EQ(executed["passed"], true);
      EXPECT_EQ(executed["peak_bytes"], outcome["objective_bytes"]);
      EXPECT_EQ(executed["high_water_bytes"], executed["layout_bytes"]);
      const std::int64_t peak = executed["peak_bytes"];
      EXPECT_LE(executed["layout_bytes"], peak);
      EXPECT_GT(executed["layout_bytes"], peak - 64);  // the last tensor is not rounded up
      EXPECT_LT(peak, before);
      before = peak;
      for (const char* kind :
           {"losses", "output", "input_gradient", "weight_gradient", "weight", "activation"}) {
        EXPECT_EQ(executed[kind]["differing"], 0);
        EXPECT_GT(executed[kind]["compared"], 0);
      }
    }
    EXPECT_EQ(run({"run", "step.json", "step-plan.json", "-t", "0"}).exit_code, 3);
  }
}

TEST_F(Order, ARecordedStepRunsAgainWhatItsPlanSays) {
  ASSERT_EQ(run({"generate", "order", "--from-kernels", "--lengths", "128,64", "--layers", "2",
                 "--capacity-share", "0.75", "-o", "step.json"})
                .exit_code,
            0);
  const auto outcome = answer({"solve", "step.json", "--method", "evict", "-o", "step-plan.json"});
  const auto step = nlohmann::json::parse(dir_.read("step.json"));
  const auto executed = answer({"run", "step.json", "step-plan.json"});
  EXPECT_EQ(executed["passed"], true);
  EXPECT_EQ(executed["again"], outcome["plan"]["order"].size() - step["operators"].size());
  EXPECT_GT(executed["again"], 0);
  EXPECT_LE(executed["high_water_bytes"], step["capacity_bytes"]);
  EXPECT_THAT(run({"run", "step.json", "step-plan.json"}).err, HasSubstr(" runs again, "));
}

TEST_F(Order, OtherGraphsAreExercised) {
  generate("recompute", "120");
  ASSERT_EQ(run({"solve", "graph.json", "-o", "order.json"}).exit_code, 0);
  const auto executed = answer({"run", "graph.json", "order.json"});
  EXPECT_EQ(executed["executed"], "exercise");
  EXPECT_EQ(executed["passed"], true);
  EXPECT_EQ(executed["high_water_bytes"], executed["layout_bytes"]);
  EXPECT_EQ(executed["high_water_bytes"], executed["peak_bytes"]);
  EXPECT_GT(executed["scale"], 1);
}

TEST_F(Order, AStepThatIsNotItsOperatorsAndAnOrderThatIsNoneAreNotRun) {
  ASSERT_EQ(
      run({"generate", "order", "--from-kernels", "--lengths", "9", "-o", "s.json"}).exit_code, 0);
  ASSERT_EQ(run({"solve", "s.json", "--method", "program", "-o", "plan.json"}).exit_code, 0);
  auto plan = nlohmann::json::parse(dir_.read("plan.json"));
  std::swap(plan["order"][0], plan["order"][1]);
  dir_.write("broken.json", plan.dump());
  const Finished broken = run({"run", "s.json", "broken.json"});
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_THAT(broken.err, HasSubstr("was not executed"));
  auto step = nlohmann::json::parse(dir_.read("s.json"));
  step["recorded_from"]["lengths"] = {8};
  dir_.write("s.json", step.dump());
  const Finished refused = run({"run", "s.json", "plan.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("s.json: E337 /recorded_from: must describe the step"));
}

TEST_F(Order, WhatMakesNoSenseIsRefused) {
  const auto expect_refused = [this](const std::vector<std::string>& arguments, const char* why) {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(why));
  };
  expect_refused({"generate", "order", "--seed", "4"}, "--seed: has no effect with --kind");
  expect_refused({"generate", "order", "--kind", "layered", "--tokens", "4"}, "--tokens: has no");
  expect_refused({"generate", "order", "--tokens", "many"}, "--tokens");
  generate("layered");
  expect_refused({"convert", "graph.json", "table.csv"}, "E209 /problem: must be");
  ASSERT_EQ(run({"solve", "graph.json", "--method", "fast", "-o", "order.json"}).exit_code, 0);
  expect_refused({"convert", "graph.json", "x.bin", "--plan", "order.json"},
                 "OUT: must be a layout");
  expect_refused({"run", "graph.json", "order.json", "--work", "1"}, "no effect on an order");
  expect_refused({"generate", "order", "--from-kernels", "--tokens", "4"},
                 "--tokens: has no effect with --from-kernels");
  expect_refused({"generate", "order", "--layers", "2"}, "--layers: has no effect with --kind");
  expect_refused({"generate", "order", "--from-kernels", "--heads", "4", "--kv-heads", "3"},
                 "--kv-heads: must divide");
  expect_refused({"generate", "order", "--from-kernels", "--chunk-tokens", "0.5"},
                 "--chunk-tokens");
  expect_refused({"generate", "order", "--from-kernels", "--chunk-tokens", "1"},
                 "must make at most 1000 chunks");
}

}  // namespace
}  // namespace stowage::families_order_test
