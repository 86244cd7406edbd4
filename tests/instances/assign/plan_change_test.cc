// Changes of a good plan, and the rules that each breaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>
#include <set>

#include "instances/assign/verify/verify.h"
#include "instances/violation.h"
#include "tests/instances/assign/good_plan.h"
#include "tests/instances/mutation.h"

namespace stowage::assign_verify_test {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

constexpr double kInf = std::numeric_limits<double>::infinity();

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using I = AssignInstance;

using P = AssignPlan;

struct Case {
  std::string name;
  std::set<std::string> rules;  // exactly these are broken; empty: still a valid plan
  std::function<void(I&, P&)> change;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class AssignChange : public testing::TestWithParam<Case> {};

TEST_P(AssignChange, BreaksExactlyTheseRules) {
  AssignInstance instance = three_replicas();
  AssignPlan plan = good_plan();
  plan.replicas[1].time_ms = 36;
  GetParam().change(instance, plan);
  const auto violations = verify(instance, plan);
  EXPECT_EQ(broken_rules(violations), GetParam().rules) << all_of(violations);
  for (const Violation& violation : violations) {
    EXPECT_THAT(assign_verify_rules(), testing::Contains(violation.rule));
  }
}

const Case kCases[] = {
    {"unchanged", {}, [](I&, P&) {}},

    {"objective_infinite", {"number"}, [](I&, P& p) { p.objective_ms = kInf; }},
    {"row_time_not_a_number", {"number"}, [](I&, P& p) { p.replicas[0].rows[0].time_ms = kNan; }},
    {"replica_time_infinite", {"number"}, [](I&, P& p) { p.replicas[2].time_ms = -kInf; }},
    {"simulated_not_a_number", {"number"}, [](I&, P& p) { p.simulated_1f1b_ms = kNan; }},
    {"bound_not_a_number", {"number"}, [](I&, P& p) { p.bound_ms = kNan; }},

    {"strategy_unknown", {"strategy"}, [](I&, P& p) { p.strategy = "mixed"; }},
    {"strategy_nameless", {"strategy"}, [](I&, P& p) { p.strategy.clear(); }},
    {"strategy_of_other_replicas", {"replicas"}, [](I&, P& p) { p.strategy = "small"; }},
    {"scheme_unknown", {"scheme", "replicas"}, [](I&, P& p) { p.replicas[2].scheme = "three"; }},
    {"replica_missing", {"replicas"}, [](I&, P& p) { p.replicas.pop_back(); }},
    {"replica_more", {"replicas"}, [](I&, P& p) { p.replicas.push_back({.scheme = "two"}); }},
    {"replicas_in_another_order", {}, [](I&, P& p) { std::swap(p.replicas[0], p.replicas[2]); }},

    {"sequence_twice",
     {"coverage"},
     [](I& i, P& p) {
       p.replicas[2].rows = {p.replicas[1].rows[1]};
       p.replicas[2].time_ms = 7;
       (void)i;
     }},
    {"sequence_nowhere",
     {"coverage"},
     [](I& i, P& p) {
       i.lengths.push_back(5);
       p.loss_tokens += 5;
     }},
    {"id_after_the_last",
     {"coverage", "unknown_sequence"},
     [](I&, P& p) { p.replicas[1].rows[1].sequences[0] = 5; }},
    {"id_huge",
     {"coverage", "unknown_sequence"},
     [](I&, P& p) { p.replicas[1].rows[1].sequences[0] = kMost; }},
    {"id_negative",
     {"coverage", "unknown_sequence"},
     [](I&, P& p) { p.replicas[1].rows[1].sequences[0] = -1; }},
    {"row_of_nothing",
     {"empty_row"},
     [](I&, P& p) {
       p.replicas[2].rows = {{.time_ms = 5, .cu_seqlens = {0}}};
       p.replicas[2].time_ms = 5;
     }},

    {"tokens_before_padding", {"tokens"}, [](I&, P& p) { p.replicas[0].rows[0].tokens = 95; }},
    {"tokens_highest", {"tokens"}, [](I&, P& p) { p.replicas[0].rows[0].tokens = kMost; }},
    {"loss_tokens_after_padding",
     {"loss_tokens"},
     [](I&, P& p) { p.replicas[0].rows[0].loss_tokens = 100; }},
    {"loss_tokens_of_the_plan_after_padding",
     {"loss_tokens"},
     [](I&, P& p) { p.loss_tokens = 230; }},
    {"loss_tokens_that_are_targets",
     {},
     [](I& i, P& p) {
       i.loss_tokens = {90, 60, 30, 30, 10};
       p.replicas[0].rows[0].loss_tokens = 90;
       p.loss_tokens = 220;
     }},
    {"loss_tokens_that_are_no_targets",
     {"loss_tokens"},
     [](I& i, P&) {
       i.loss_tokens = {94, 60, 30, 30, 10};
     }},
    {"loss_tokens_highest", {"loss_tokens"}, [](I&, P& p) { p.loss_tokens = kMost; }},
    {"cu_seqlens_short", {"cu_seqlens"}, [](I&, P& p) { p.replicas[0].rows[0].cu_seqlens = {0}; }},
    {"cu_seqlens_from_one",
     {"cu_seqlens"},
     [](I&, P& p) {
       p.replicas[0].rows[0].cu_seqlens = {1, 101};
     }},
    {"cu_seqlens_wrong",
     {"cu_seqlens"},
     [](I&, P& p) {
       p.replicas[1].rows[0].cu_seqlens = {0, 29, 60};
     }},
    {"cu_seqlens_overflowing",
     {"cu_seqlens"},
     [](I&, P& p) {
       p.replicas[1].rows[0].cu_seqlens = {0, kMost, kMost};
     }},

    {"above_the_cap", {"capacity"}, [](I& i, P&) { i.schemes[0].max_tokens = 99; }},
    {"at_the_cap_before_padding", {"capacity"}, [](I& i, P&) { i.schemes[0].max_tokens = 95; }},
    {"at_the_cap", {}, [](I& i, P&) { i.schemes[1].max_tokens = 60; }},

    {"row_time_wrong", {"row_time"}, [](I&, P& p) { p.replicas[0].rows[0].time_ms = 19; }},
    {"row_time_of_the_other_scheme",
     {"row_time"},
     [](I&, P& p) { p.replicas[1].rows[1].time_ms = 11; }},
    {"replica_time_without_the_pipeline",
     {"replica_time"},
     [](I&, P& p) { p.replicas[0].time_ms = 36; }},
    {"replica_time_of_hydraulis",
     {"replica_time"},
     [](I&, P& p) { p.replicas[0].time_ms = (2 + 2 - 1) * 20.0; }},
    {"time_of_an_empty_replica", {"replica_time"}, [](I&, P& p) { p.replicas[2].time_ms = 5; }},
    {"objective_too_small", {"objective"}, [](I&, P& p) { p.objective_ms = 55.5; }},
    {"objective_summed", {"objective"}, [](I&, P& p) { p.objective_ms = 56 + 36; }},
    {"objective_within_the_tolerance", {}, [](I&, P& p) { p.objective_ms *= 1 + 5e-10; }},
    {"simulated_as_estimated", {"simulated"}, [](I&, P& p) { p.simulated_1f1b_ms = 56; }},
    {"simulated_zero", {"simulated"}, [](I&, P& p) { p.simulated_1f1b_ms = 0; }},
    {"rows_in_another_order",  // 4/3 16 + 5/3 20 = 54 2/3
     {"simulated"},
     [](I&, P& p) { std::swap(p.replicas[0].rows[0], p.replicas[0].rows[1]); }},

    {"rows_multiple_of_two", {}, [](I& i, P&) { i.constraints.rows_multiple_of = 2; }},
    {"rows_multiple_of_three",
     {"rows_multiple_of"},
     [](I& i, P&) { i.constraints.rows_multiple_of = 3; }},
    {"equal_rows", {}, [](I& i, P&) { i.constraints.equal_rows = true; }},
    {"unequal_rows",
     {"equal_rows", "coverage", "replica_time"},
     [](I& i, P& p) {
       i.constraints.equal_rows = true;
       p.replicas[1].rows.pop_back();
     }},
    {"unequal_rows_allowed",
     {"coverage", "replica_time"},
     [](I&, P& p) { p.replicas[1].rows.pop_back(); }},
    {"empty_replica_forbidden",
     {"allow_empty"},
     [](I& i, P&) { i.constraints.allow_empty = false; }},

    {"bound_at_the_objective", {}, [](I&, P& p) { p.bound_ms = 56; }},
    {"bound_above_the_objective", {"bound"}, [](I&, P& p) { p.bound_ms = 56.1; }},
    {"bound_negative", {"bound"}, [](I&, P& p) { p.bound_ms = -1; }},
    {"bound_nameless", {"bound"}, [](I&, P& p) { p.bound_by.clear(); }},
    {"bound_hidden_by_a_false_objective",
     {"bound", "objective"},
     [](I&, P& p) { p.objective_ms = p.bound_ms = 60; }},
    {"no_bound",
     {},
     [](I&, P& p) {
       p.bound_by.clear();
       p.bound_ms = 0;
     }},
};

INSTANTIATE_TEST_SUITE_P(Rules, AssignChange, testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace stowage::assign_verify_test
