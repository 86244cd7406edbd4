// Extreme numbers in every numeric field of every instance. The fields come from the schemas, so
// that a new key is tested automatically. Each number is refused, or the instance is solved and
// every reader accepts the result.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/families/outcome/check_outcome.h"
#include "cli/families/outcome/stated_outcome.h"
#include "instances/documents.h"
#include "instances/numeric/random.h"
#include "instances/pictures/drawing/panel.h"
#include "instances/schema/schema.h"
#include "instances/violation.h"
#include "solvers/explain/explain.h"
#include "solvers/solve.h"
#include "tests/cli/families/number_samples.h"
#include "tests/cli/families/schema_walk.h"
#include "tests/long_run.h"

namespace stowage::families_numbers_test {
namespace {

// The numbers are texts, since the JSON library cannot represent some of them.
const std::vector<std::string> kExtremes = {"0",
                                            "5e-324",
                                            "1e-308",
                                            "1e-100",
                                            "1e-20",
                                            "-1",
                                            "0.5",
                                            "1e308",
                                            "9007199254740992",
                                            "9007199254740993",
                                            "9223372036854775807",
                                            "9223372036854775808",
                                            "18446744073709551617",
                                            "1e400"};

// Returns whether the number is outside of the schema's range, so that it must be refused.
bool outside(const json& schema, const std::string& text) {
  const double number = std::strtod(text.c_str(), nullptr);
  return (schema.contains("minimum") && number < schema["minimum"].get<double>()) ||
         (schema.contains("maximum") && number > schema["maximum"].get<double>()) ||
         (schema.contains("exclusiveMinimum") &&
          number <= schema["exclusiveMinimum"].get<double>());
}

// Reads the plan and the claims of an outcome's text as `verify` and `render` do.
InstanceAndPlan read_back(const Instance& instance, const std::string& text) {
  const Result<Plan> plan = read_plan(text, instance);
  const auto claims = read_outcome_claims(text, instance);
  InstanceAndPlan both{.instance = instance, .plan_document = text};
  if (!plan || !claims) {
    ADD_FAILURE() << to_string((plan ? claims.errors() : plan.errors()).front());
    return both;
  }
  both.plan = *plan;
  both.claims = *claims;
  Families::with_name(family_name(instance), [&](auto family) {
    auto certificate = family.read_certificate(text);
    if (!certificate) {
      ADD_FAILURE() << to_string(certificate.errors().front());
    } else if (*certificate) {
      both.certificate = std::optional<Certificate>(*std::move(certificate));
    }
  });
  return both;
}

void expect_no_violation(const std::vector<Violation>& violations) {
  for (const Violation& violation : violations) ADD_FAILURE() << to_string(violation);
}

std::string outcome_text(const Instance& instance, const Outcome& outcome) {
  return outcome_json(outcome, {.instance = &instance, .exit_code = exit_code(outcome)});
}

void rename(Instance& instance, const std::string& name) {
  std::visit([&](auto& any) { any.name = name; }, instance);
}

// Expects that every reader accepts the documents of `solve`.
void expect_read_back(const Instance& instance, const Outcome& outcome) {
  const std::string text = outcome_text(instance, outcome);
  if (!outcome.plan) {
    const auto claims = read_outcome_claims(text, instance);
    ASSERT_TRUE(claims) << to_string(claims.errors().front());
    if (outcome.status != Status::infeasible) return;
    expect_no_violation(judge(InfeasibleAnswer{instance, std::nullopt, **claims}).violations);
    return;
  }
  ASSERT_TRUE(std::isfinite(*outcome.objective));
  ASSERT_TRUE(std::isfinite(outcome.bound));
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  const InstanceAndPlan both = read_back(instance, text);
  if (testing::Test::HasFailure()) return;
  const CheckedOutcome judgement = judge(both);
  expect_no_violation(judgement.violations);
  const std::string drawing =
      svg_document({plan_picture(instance, both.plan, judgement.shown)}, "");
  EXPECT_EQ(drawing.find("nan"), std::string::npos) << drawing;
  EXPECT_EQ(drawing.find("inf\""), std::string::npos) << drawing;
  // The plan starts another solve, of the same instance with another name.
  Instance renamed = instance;
  rename(renamed, "renamed");
  Budget budget({.node_limit = 0});
  const Outcome again = solve(renamed, {.method = "auto", .start = both.plan}, budget);
  ASSERT_TRUE(again.plan) << again.detail;
  EXPECT_LE(*again.objective, *outcome.objective);
  expect_no_violation(judge(read_back(renamed, outcome_text(renamed, again))).violations);
}

constexpr std::size_t kExplained = 30;  // one of this number of instances is explained

void expect_explained(const Instance& instance, const Outcome& outcome) {
  Budget budget({.time_limit_s = 0.001, .clock = BudgetClock::looks});
  const Explanation why = explain(instance, outcome.plan, {.nodes = 5}, budget);
  for (const WhatIf& change : why.what_if) EXPECT_TRUE(std::isfinite(change.bound)) << change.text;
  for (const Remedy& remedy : why.remedies) EXPECT_TRUE(std::isfinite(remedy.objective));
}

class Numbers : public testing::TestWithParam<std::size_t> {};

// A number that was accepted in a sample.
struct Accepted {
  Pointer at;
  std::string number;
};

class Sweep {
 public:
  explicit Sweep(const std::string& text) : sample_(json::parse(text)) {
    sample_["format"] = "stowage/instance";
    sample_["version"] = 1;
  }

  // Tries each number of the schema alone.
  void one_by_one() {
    ASSERT_TRUE(read_instance(sample_.dump())) << sample_;
    const auto name = sample_["problem"].get<std::string>() + "-instance";
    SchemaWalk(json::parse(*schema(name)), sample_,
               [&](const std::string& place, const json& schema, const json& document,
                   const Pointer& at) { try_all(place, schema, document, at); })
        .run();
    EXPECT_GT(solved_, 10U);
  }

  // Tries several accepted numbers together: all computed values must stay finite.
  void together(std::uint64_t draws) {
    std::mt19937_64 random(1);
    std::size_t before = solved_;
    for (std::uint64_t k = 0; k < draws; ++k) {
      json document = sample_;
      std::map<std::string, std::string> numbers;  // by their marks
      for (int n = 0; n < 3; ++n) {
        const Accepted& one = accepted_[draw(random, accepted_.size())];
        const std::string mark = kMark + std::to_string(n);
        document[one.at] = mark;
        numbers[mark] = one.number;
      }
      std::string text = document.dump();
      for (const auto& [mark, number] : numbers) {
        const std::size_t at = text.find('"' + mark + '"');
        if (at != std::string::npos) text.replace(at, mark.size() + 2, number);
      }
      SCOPED_TRACE(text);
      if (const Result<Instance> instance = read_instance(text)) try_instance(*instance);
    }
    EXPECT_GT(solved_, before);
  }

 private:
  void try_all(const std::string& place, const json& schema, const json& document,
               const Pointer& at) {
    std::vector<std::string> texts = kExtremes;
    for (const char* end : {"minimum", "maximum"}) {
      if (schema.contains(end)) texts.push_back(schema[end].dump());
    }
    for (const std::string& number : texts) {
      SCOPED_TRACE(place + " = " + number);
      std::string text = document.dump();
      const std::string marked = '"' + std::string(kMark) + '"';
      text.replace(text.find(marked), marked.size(), number);
      const Result<Instance> instance = read_instance(text);
      if (!instance) continue;
      EXPECT_FALSE(outside(schema, number)) << "the schema refuses it, the reader does not";
      if (sample_.contains(at)) accepted_.push_back({at, number});
      try_instance(*instance);
    }
  }

  // Tries one method after another.
  void try_instance(const Instance& instance) {
    const std::vector<Method> all = methods(instance);
    const Method& method = all[solved_++ % all.size()];
    if (method.name == "reinsert") return;  // takes seconds for every size
    SCOPED_TRACE(method.name);
    Budget budget({.time_limit_s = 0.0003, .node_limit = 20, .clock = BudgetClock::looks});
    const Outcome outcome = solve(instance, {.method = method.name}, budget);
    expect_no_violation(outcome.violations);
    EXPECT_NE(outcome.status, Status::error) << outcome.detail;
    expect_read_back(instance, outcome);
    if (solved_ % kExplained == 0) expect_explained(instance, outcome);
  }

  json sample_;
  std::vector<Accepted> accepted_;
  std::size_t solved_ = 0;
};

TEST_P(Numbers, AreRefusedOrSolvedAndReadAgain) {
  Sweep sweep(kSamples[GetParam()]);
  sweep.one_by_one();
  sweep.together(static_cast<std::uint64_t>(in_long_run(30, 2000)));
}

INSTANTIATE_TEST_SUITE_P(Samples, Numbers, testing::Range(std::size_t{0}, kSamples.size()));

// Every numeric field of a schema must occur in a test with one of the samples.
TEST(NumbersOfSchemas, AllAreTried) {
  std::map<std::string, std::set<std::string>> tried;
  for (const std::string& text : kSamples) {
    const json sample = json::parse(text);
    const std::string name = sample["problem"].get<std::string>() + "-instance";
    SchemaWalk(json::parse(*schema(name)), sample,
               [&](const std::string& place, const json&, const json&, const Pointer&) {
                 tried[name].insert(place);
               })
        .run();
  }
  for (const auto& [name, places] : tried) {
    const json root = json::parse(*schema(name));
    std::set<std::string> all;
    SchemaWalk::places(root, root, "", all);
    EXPECT_EQ(places, all) << name;
  }
  EXPECT_EQ(tried.size(), 5U);
}

}  // namespace
}  // namespace stowage::families_numbers_test
