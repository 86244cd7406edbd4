// verify and render of an outcome that disagrees with its plan.
#include "cli/families/outcome/stated_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::families_claims_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ScatterPlan plan_of(double objective, double bound) {
  return {.objective_ms = objective, .bound_ms = bound, .bound_by = "area"};
}

std::vector<std::string> broken(const StatedOutcome& claims, const ScatterPlan& plan) {
  std::vector<Violation> violations;
  check_claims(claims, Plan(plan), kMs, violations);
  std::vector<std::string> rules;
  for (const Violation& violation : violations) rules.push_back(violation.rule);
  return rules;
}

TEST(StatedOutcome, EachRuleHoldsAndBreaks) {
  const ScatterPlan closed = plan_of(10, 10);
  const ScatterPlan open = plan_of(10, 8);
  EXPECT_THAT(broken({"optimal", 10, 10, 0}, closed), IsEmpty());
  EXPECT_THAT(broken({"feasible", 10, 10, 0}, closed), IsEmpty());
  EXPECT_THAT(broken({"feasible", 10, 8, 0.2}, open), IsEmpty());
  EXPECT_THAT(broken({.status = "feasible"}, open), IsEmpty());
  EXPECT_THAT(broken({"optimal", 10, 8, 0.2}, open), ElementsAre("outcome_status"));
  EXPECT_THAT(broken({"infeasible", 10, 10, 0}, closed), ElementsAre("outcome_status"));
  EXPECT_THAT(broken({"feasible", 9, 8, 0.2}, open), ElementsAre("outcome_objective"));
  EXPECT_THAT(broken({"feasible", 10, 9, 0.2}, open), ElementsAre("outcome_bound"));
  EXPECT_THAT(broken({"feasible", 10, 8, 0.1}, open), ElementsAre("outcome_gap"));
  // Small amounts differ by as small a part.
  const ScatterPlan small = plan_of(1e-3, 8e-4);
  EXPECT_THAT(broken({"feasible", 1e-3, 8e-4, 0.2}, small), IsEmpty());
  EXPECT_THAT(broken({"feasible", 1e-3 + 1e-11, 8e-4, 0.2}, small),
              ElementsAre("outcome_objective"));
  EXPECT_THAT(broken({"feasible", 1e-3, 8e-4 + 1e-11, 0.2}, small), ElementsAre("outcome_bound"));
  // The gap of amounts that are equal but for rounding is 0.
  EXPECT_THAT(broken({"optimal", 10, 10, 0}, plan_of(10, 10 * (1 - 1e-14))), IsEmpty());
  EXPECT_THAT(broken({"unknown", 1, 1, 1}, open),
              ElementsAre("outcome_status", "outcome_objective", "outcome_bound", "outcome_gap"));
}

TEST(StatedOutcome, TheSimulatedEndIsThatOfThePlan) {
  ScatterPlan plan = plan_of(10, 8);
  plan.simulated_1f1b_ms = 12;
  const auto simulated = [&](double end, double bound, double gap) {
    return broken({.status = "feasible",
                   .simulated = end,
                   .simulated_bound = bound,
                   .simulated_gap = gap,
                   .known_simulated_bound = 9},
                  plan);
  };
  EXPECT_THAT(simulated(12, 9, 0.25), IsEmpty());
  EXPECT_THAT(simulated(12, 6, 0.5), IsEmpty());
  EXPECT_THAT(simulated(11, 9, 2.0 / 11), ElementsAre("outcome_simulated"));
  EXPECT_THAT(simulated(12, 9.1, 2.9 / 12), ElementsAre("outcome_simulated"));
  EXPECT_THAT(simulated(12, 9, 0.2), ElementsAre("outcome_simulated"));
}

// The plan that ends first may have a higher objective than the last one found.
TEST(StatedOutcome, AChoiceMayRaiseTheObjectiveAtTheEnd) {
  const auto improvements = [](std::vector<StatedImprovement> stated) {
    return broken({.status = "feasible", .improvements = std::move(stated)}, plan_of(10, 8));
  };
  const StatedImprovement first{.bound = 8, .objective = 11, .source = "H", .by = "fast"};
  const StatedImprovement best{.bound = 8, .objective = 9.5, .source = "L", .by = "improve"};
  StatedImprovement choice{.bound = 8, .objective = 10, .source = "C", .by = "fast"};
  EXPECT_THAT(improvements({first, best, choice}), IsEmpty());
  EXPECT_THAT(improvements({first, choice, best}),
              ElementsAre("outcome_improvements", "outcome_improvements"));
  choice.source = "L";
  EXPECT_THAT(improvements({first, best, choice}),
              ElementsAre("outcome_improvements", "outcome_improvements"));
}

// An improvement without a bound claims none, also of an objective below 1.
TEST(StatedOutcome, ImprovementsMayHaveNoBound) {
  const StatedImprovement first{.objective = 2e-3, .source = "H", .by = "fast"};
  const StatedImprovement last{.bound = 8e-4, .objective = 1e-3, .source = "L", .by = "improve"};
  EXPECT_THAT(broken({.status = "feasible", .improvements = {{first, last}}}, plan_of(1e-3, 8e-4)),
              IsEmpty());
}

TEST(StatedOutcome, WithoutAPlanItIsInfeasible) {
  const auto rules_of = [](const std::string& status) {
    std::vector<Violation> violations;
    check_infeasible_claims(StatedOutcome{.status = status}, kMs, violations);
    std::vector<std::string> rules;
    for (const Violation& violation : violations) rules.push_back(violation.rule);
    return rules;
  };
  EXPECT_THAT(rules_of("infeasible"), IsEmpty());
  for (const char* status : {"optimal", "feasible", "unknown", "error"}) {
    EXPECT_THAT(rules_of(status), ElementsAre("outcome_status")) << status;
  }
}

TEST(StatedOutcome, WithoutAPlanNoImprovementHasAnObjective) {
  const auto rules_of = [](std::optional<double> objective) {
    const StatedOutcome claims{
        .status = "infeasible",
        .bound = 5,
        .improvements = {{{.bound = 5, .objective = objective}, {.bound = 5}}}};
    std::vector<Violation> violations;
    check_infeasible_claims(claims, kMs, violations);
    std::vector<std::string> rules;
    for (const Violation& violation : violations) rules.push_back(violation.rule);
    return rules;
  };
  EXPECT_THAT(rules_of(std::nullopt), IsEmpty());
  EXPECT_THAT(rules_of(7), ElementsAre("outcome_improvements"));
}

TEST(StatedOutcome, SourcesOfRatesAreThoseOfTheInstance) {
  const auto rates = [](const char* source, const char* stack) {
    return broken({.status = "feasible",
                   .rates = StatedRates{.source = source,
                                        .stack = stack,
                                        .known_source = "stack",
                                        .known_stack = "megatron-2025"}},
                  plan_of(10, 8));
  };
  EXPECT_THAT(rates("stack", "megatron-2025"), IsEmpty());
  EXPECT_THAT(rates("measured", "megatron-2025"), ElementsAre("outcome_rates"));
  EXPECT_THAT(rates("stack", "fsdp-2023"), ElementsAre("outcome_rates"));
}

TEST(StatedOutcome, BoundsWithoutAValueClaimNothing) {
  const auto bounds = [](std::vector<StatedBound> stated) {
    return broken({.status = "feasible", .bounds = std::move(stated)}, plan_of(10, 8));
  };
  EXPECT_THAT(bounds({{"area", 8.0}, {"longest", std::nullopt}}), IsEmpty());
  EXPECT_THAT(bounds({{"longest", std::nullopt}, {"area", 8.0}}), IsEmpty());
  EXPECT_THAT(bounds({{"area", std::nullopt}}), ElementsAre("outcome_bounds"));
  EXPECT_THAT(bounds({{"area", 8.0}, {"longest", 9.0}}), ElementsAre("outcome_bounds"));
  EXPECT_THAT(bounds({{"area", 8.0}, {"area", 7.0}}), ElementsAre("outcome_bounds"));
}

TEST(StatedOutcome, AreReadFromOutcomesOnly) {
  const auto claims = read_outcome_claims(
      R"({"format": "stowage/outcome", "status": "feasible", "objective_bytes": 7,
          "bound_bytes": null, "plan": {}})",
      LayoutInstance());
  ASSERT_TRUE(claims && *claims);
  EXPECT_EQ((*claims)->status, "feasible");
  EXPECT_EQ((*claims)->objective, 7);
  EXPECT_EQ((*claims)->bound, std::nullopt);
  const auto plan = read_outcome_claims(R"({"format": "stowage/plan"})", ScatterInstance());
  EXPECT_TRUE(plan && !*plan);
  const auto wrong =
      read_outcome_claims(R"({"format": "stowage/outcome", "gap": "small"})", ScatterInstance());
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.errors()[0].pointer, "/gap");
}

TEST(StatedOutcome, OfAFamilyWithoutCertificatesHaveNone) {
  const char* text =
      R"({"format": "stowage/outcome", "status": "feasible", "certificate": {}, "plan": {}})";
  const auto layout = read_outcome_claims(text, LayoutInstance());
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.errors()[0].code, "E202");
  EXPECT_EQ(layout.errors()[0].pointer, "/certificate");
  EXPECT_TRUE(read_outcome_claims(text, OrderInstance()));
}

class LyingOutcome : public testing::Test {
 protected:
  LyingOutcome() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }

  TempDir dir_;
};

TEST_F(LyingOutcome, IsRefused) {
  EXPECT_EQ(run({"verify", "instance.json", "outcome.json"}).exit_code, 0);
  auto outcome = nlohmann::json::parse(dir_.read("outcome.json"));
  outcome["status"] = "infeasible";
  outcome["objective_ms"] = 1;
  dir_.write("lie.json", outcome.dump());
  const Finished told = run({"verify", "instance.json", "lie.json"});
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_THAT(told.err, HasSubstr("violation outcome_status at /status: has \"infeasible\""));
  EXPECT_THAT(told.err, HasSubstr("violation outcome_objective at /objective_ms: has 1, needs "));
  EXPECT_EQ(nlohmann::json::parse(told.out)["valid"], false);

  EXPECT_EQ(run({"render", "instance.json", "lie.json", "-o", "page.html"}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "page.html"));
}

TEST_F(LyingOutcome, ARemedyBesideAPlanIsRefused) {
  auto outcome = nlohmann::json::parse(dir_.read("outcome.json"));
  EXPECT_FALSE(outcome.contains("remedy"));
  outcome["remedy"] = "raise cluster.memory_mib";
  dir_.write("lie.json", outcome.dump());
  const Finished told = run({"verify", "instance.json", "lie.json"});
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_THAT(told.err, HasSubstr("violation outcome_status at /remedy: has \"raise"));
}

// verify computes the bound of that name itself and refuses a higher value.
TEST_F(LyingOutcome, AFalseClosedBoundIsRefused) {
  auto plan = nlohmann::json::parse(dir_.read("layout-plan.json"));
  const std::int64_t peak = plan["peak_bytes"];
  for (auto& offset : plan["offsets"]) offset = offset.get<std::int64_t>() + 1;
  plan["peak_bytes"] = peak + 1;
  plan["bound_bytes"] = peak + 1;
  plan["bound_by"] = "chain";
  dir_.write("high.json", plan.dump());
  const Finished told = run({"verify", "layout.json", "high.json"});
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_THAT(told.err, HasSubstr("violation claimed_bound at /bound_bytes"));
  EXPECT_EQ(nlohmann::json::parse(told.out)["bound_bytes"], peak);
}

// A bound reported by a backend cannot be recomputed: verify says that it is not proven, and
// --strict refuses it.
TEST_F(LyingOutcome, ABoundThatIsOnlySaidIsNotProven) {
  auto plan = nlohmann::json::parse(dir_.read("layout-plan.json"));
  const std::int64_t peak = plan["peak_bytes"];
  for (auto& offset : plan["offsets"]) offset = offset.get<std::int64_t>() + 1;
  plan["peak_bytes"] = plan["bound_bytes"] = peak + 1;
  plan["bound_by"] = "search";
  dir_.write("said.json", plan.dump());
  const Finished told = run({"verify", "layout.json", "said.json"});
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_THAT(told.err, HasSubstr("is claimed and not proven here"));
  const auto verdict = nlohmann::json::parse(told.out);
  EXPECT_EQ(verdict["proven"], false);
  EXPECT_EQ(verdict["bound_bytes"], peak);
  EXPECT_EQ(verdict["claimed_bound_bytes"], peak + 1);
  EXPECT_EQ(run({"verify", "layout.json", "said.json", "--strict"}).exit_code, 1);
  EXPECT_EQ(run({"verify", "instance.json", "outcome.json", "--strict"}).exit_code, 0);
  EXPECT_EQ(run({"render", "layout.json", "said.json", "-o", "said.html"}).exit_code, 0);
  EXPECT_THAT(dir_.read("said.html"), HasSubstr("not proven"));
}

TEST_F(LyingOutcome, AnOutcomeWithoutAPlanIsJudgedAsWell) {
  dir_.write("no.json", kInfeasibleInstance);
  dir_.write("why.json", run({"solve", "no.json"}).out);
  const Finished told = run({"verify", "no.json", "why.json", "--strict"});
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.err, HasSubstr("infeasible, proven by sequences"));
  auto outcome = nlohmann::json::parse(dir_.read("why.json"));
  EXPECT_THAT(outcome["remedy"].get<std::string>(), HasSubstr("shorten the sequences"));
  outcome.erase("infeasibility");
  outcome["unplaceable"] = nlohmann::json::array();
  dir_.write("lie.json", outcome.dump());
  const Finished said = run({"verify", "no.json", "lie.json"});
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(said.out)["proven"], false);
  EXPECT_EQ(run({"verify", "no.json", "lie.json", "--strict"}).exit_code, 1);
}

}  // namespace
}  // namespace stowage::families_claims_test
