#include "instances/scatter/verify/window_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace stowage::scatter_window_check_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Deal = std::vector<std::vector<DrawnSequence>>;

ScatterInstance step_of(std::vector<Tokens> lengths) {
  return {.cluster = {.devices = 2, .degrees = {1, 2}}, .lengths = std::move(lengths)};
}

std::vector<std::string> broken(const std::vector<ScatterInstance>& drawn,
                                const std::vector<ScatterInstance>& steps, const Deal& deal,
                                std::int64_t delay,
                                double token_spread = WindowRule{}.token_spread) {
  const WindowRule rule{.delay = delay, .token_spread = token_spread};
  std::set<std::string> rules;
  for (const Violation& violation : check_window(drawn, steps, deal, rule)) {
    rules.insert(violation.rule);
  }
  return {rules.begin(), rules.end()};
}

TEST(WindowCheck, EachRuleHoldsAndBreaks) {
  const std::vector<ScatterInstance> drawn = {step_of({10, 20}), step_of({30}), step_of({40})};
  const Deal identity = {{{0, 0}, {0, 1}}, {{1, 0}}, {{2, 0}}};
  EXPECT_THAT(broken(drawn, drawn, identity, 0), IsEmpty());
  const std::vector<ScatterInstance> swapped = {step_of({10, 40}), step_of({30}), step_of({20})};
  const Deal swap = {{{0, 0}, {2, 0}}, {{1, 0}}, {{0, 1}}};
  EXPECT_THAT(broken(drawn, swapped, swap, 2), IsEmpty());
  EXPECT_THAT(broken(drawn, swapped, swap, 1), ElementsAre("window_delay"));
  EXPECT_THAT(broken(drawn, drawn, swap, 2), ElementsAre("window_sequence"));
  EXPECT_THAT(broken(drawn, {drawn[0], drawn[1]}, identity, 2), ElementsAre("window_steps"));
  // A step that is one sequence short, and the sequence that is then missing.
  EXPECT_THAT(broken(drawn, {step_of({10}), drawn[1], drawn[2]}, {{{0, 0}}, {{1, 0}}, {{2, 0}}}, 2),
              ElementsAre("window_once", "window_steps"));
  const std::vector<ScatterInstance> twice = {step_of({10, 10}), step_of({30}), step_of({40})};
  EXPECT_THAT(broken(drawn, twice, {{{0, 0}, {0, 0}}, {{1, 0}}, {{2, 0}}}, 2),
              ElementsAre("window_once"));
  for (const DrawnSequence nowhere : {DrawnSequence{0, 2}, {0, -1}, {3, 0}, {-1, 0}}) {
    EXPECT_THAT(broken(drawn, drawn, {{{0, 0}, nowhere}, {{1, 0}}, {{2, 0}}}, 2),
                ElementsAre("window_once", "window_sequence"));
  }
}

// Steps of 20, 30 and 40 tokens become steps of 30, 45 and 15.
TEST(WindowCheck, TokensOfAStepKeepTheSpread) {
  const std::vector<ScatterInstance> drawn = {step_of({15, 5}), step_of({15, 15}),
                                              step_of({30, 10})};
  const std::vector<ScatterInstance> steps = {step_of({15, 15}), step_of({15, 30}),
                                              step_of({5, 10})};
  const Deal deal = {{{0, 0}, {1, 0}}, {{1, 1}, {2, 0}}, {{0, 1}, {2, 1}}};
  EXPECT_THAT(broken(drawn, steps, deal, 2), IsEmpty());
  EXPECT_THAT(broken(drawn, steps, deal, 2, 4.0 / 3), IsEmpty());  // from 15 to 53.3 tokens
  EXPECT_THAT(broken(drawn, steps, deal, 2, 1.32), ElementsAre("window_tokens"));
  EXPECT_THAT(broken(drawn, drawn, {{{0, 0}, {0, 1}}, {{1, 0}, {1, 1}}, {{2, 0}, {2, 1}}}, 0, 1),
              IsEmpty());
  // 45 tokens exceed 1.1 times 40, and 15 tokens are 20 / 1.33.
  const auto violations = check_window(drawn, steps, deal, {.delay = 2, .token_spread = 1.1});
  ASSERT_EQ(violations.size(), 2U);
  EXPECT_EQ(violations[0].where, "/steps/1");
  EXPECT_EQ(violations[1].where, "/steps/2");
}

TEST(WindowCheck, TargetsGoWithTheirSequence) {
  ScatterInstance first = step_of({10, 10});
  first.loss_tokens = {4, 9};
  const std::vector<ScatterInstance> drawn = {first};
  ScatterInstance swapped = first;
  swapped.loss_tokens = {9, 4};
  EXPECT_THAT(broken(drawn, {swapped}, {{{0, 1}, {0, 0}}}, 0), IsEmpty());
  EXPECT_THAT(broken(drawn, {first}, {{{0, 1}, {0, 0}}}, 0), ElementsAre("window_sequence"));
  swapped.loss_tokens.clear();
  EXPECT_THAT(broken(drawn, {swapped}, {{{0, 1}, {0, 0}}}, 0), ElementsAre("window_sequence"));
}

}  // namespace
}  // namespace stowage::scatter_window_check_test
