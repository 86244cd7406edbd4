// Each rule of the assign verifier with a plan that breaks it and a similar valid plan, and random
// valid plans with one change each. Longer than 300 lines because of the two tables.

#include "instances/assign/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <ostream>
#include <set>
#include <sstream>

#include "instances/violation.h"
#include "tests/instances/mutation.h"
#include "tests/instances/random_assign.h"

namespace stowage::assign_verify_test {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Rows take 10 ms and a tenth of a millisecond per token on "two", whose pipeline has two stages,
// and 5 ms, a tenth per token and a hundredth per token^2 on "one".
AssignInstance three_replicas() {
  return {
      .name = "three",
      .devices = 6,
      .schemes =
          {{.name = "two", .tp = 2, .pp = 2, .linear_ms = 0.1, .fixed_ms = 10, .max_tokens = 100},
           {.name = "one",
            .tp = 1,
            .pp = 1,
            .quadratic_ms = 0.01,
            .linear_ms = 0.1,
            .fixed_ms = 5,
            .max_tokens = 60}},
      .strategies = {{.name = "mix", .replicas = {1, 2}}, {.name = "small", .replicas = {0, 6}}},
      .pad_multiple = 10,
      .lengths = {95, 60, 30, 30, 10}};
}

// On "two": rows of 20 and 16 ms, hence 36 + 20; the schedule ends after 4/3 20 + 5/3 16 = 53 1/3.
AssignPlan good_plan() {
  return {.name = "three",
          .instance_hash = "abc",
          .strategy = "mix",
          .loss_tokens = 225,
          .objective_ms = 56,
          .simulated_1f1b_ms = 160 / 3.0,
          .bound_ms = 55,
          .bound_by = "work",
          .replicas = {{.scheme = "two",
                        .time_ms = 56,
                        .rows = {{.sequences = {0},
                                  .tokens = 100,
                                  .loss_tokens = 95,
                                  .time_ms = 20,
                                  .cu_seqlens = {0, 100}},
                                 {.sequences = {1},
                                  .tokens = 60,
                                  .loss_tokens = 60,
                                  .time_ms = 16,
                                  .cu_seqlens = {0, 60}}}},
                       {.scheme = "one",
                        .time_ms = 30,
                        .rows = {{.sequences = {3, 2},
                                  .tokens = 60,
                                  .loss_tokens = 60,
                                  .time_ms = 29,
                                  .cu_seqlens = {0, 30, 60}},
                                 {.sequences = {4},
                                  .tokens = 10,
                                  .loss_tokens = 10,
                                  .time_ms = 7,
                                  .cu_seqlens = {0, 10}}}},
                       {.scheme = "one"}}};
}

std::set<std::string> broken_rules(const std::vector<Violation>& violations) {
  std::set<std::string> rules;
  for (const Violation& violation : violations) rules.insert(violation.rule);
  return rules;
}

std::string all_of(const std::vector<Violation>& violations) {
  std::string lines;
  for (const Violation& violation : violations) lines += to_string(violation) + '\n';
  return lines;
}

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

TEST(AssignVerify, SaysWhatIsWhere) {
  AssignPlan plan = good_plan();
  plan.strategy = "small";
  plan.replicas[1].rows[0].sequences = {3, 1};
  EXPECT_EQ(all_of(verify(three_replicas(), plan)),
            "replicas at /replicas: has 1 of scheme \"two\", needs 0, as strategy \"small\" has\n"
            "replicas at /replicas: has 2 of scheme \"one\", needs 6, as strategy \"small\" has\n"
            "coverage at /replicas/1/rows/0/sequences/1: has sequence 1, computed already in "
            "/replicas/0/rows/1, needs each sequence exactly once\n"
            "coverage at /replicas: has sequence 2 nowhere, needs each sequence exactly once\n"
            "tokens at /replicas/1/rows/0/tokens: has 60 tokens, needs 90 tokens\n"
            "loss_tokens at /replicas/1/rows/0/loss_tokens: has 60 tokens, needs 90 tokens\n"
            "cu_seqlens at /replicas/1/rows/0/cu_seqlens/2: has 60, needs 90\n"
            "capacity at /replicas/1/rows/0: has 90 tokens, needs at most 60 tokens on \"one\"\n"
            "row_time at /replicas/1/rows/0/time_ms: has 29 ms, needs 59 ms\n"
            "replica_time at /replicas/1/time_ms: has 30 ms, needs 66 ms\n"
            "objective at /objective_ms: has 56 ms, needs 66 ms\n"
            "simulated at /simulated_1f1b_ms: has 53.333333333333336 ms, needs 66 ms\n");
}

TEST(AssignVerify, AStepWithoutSequencesTakesNoTime) {
  AssignInstance instance = three_replicas();
  instance.lengths.clear();
  const AssignPlan plan{.strategy = "mix",
                        .replicas = {{.scheme = "two"}, {.scheme = "one"}, {.scheme = "one"}}};
  EXPECT_EQ(all_of(verify(instance, plan)), "");
  instance.constraints.allow_empty = false;
  EXPECT_EQ(broken_rules(verify(instance, plan)), std::set<std::string>{"allow_empty"});
}

TEST(AssignVerify, ThePlanIsMadeForThisVeryInstance) {
  EXPECT_EQ(all_of(verify_instance_hash(good_plan(), "abc")), "");
  EXPECT_EQ(all_of(verify_instance_hash(good_plan(), "abd")),
            "instance_hash at /instance_hash: has abc, needs abd\n");
  EXPECT_EQ(all_of(verify_instance_hash(AssignPlan{}, "abd")),
            "instance_hash at /instance_hash: has no hash, needs abd\n");
}

// A quadratic algorithm would not end.
TEST(AssignVerify, AMillionRowsOfOneSequence) {
  const AssignInstance instance = three_replicas();
  AssignPlan plan = good_plan();
  plan.replicas[1].rows.assign(1'000'000, plan.replicas[1].rows[1]);
  const auto violations = verify(instance, plan);
  EXPECT_THAT(broken_rules(violations), testing::Contains("coverage"));
  EXPECT_LE(violations.size(), 100U);
}

constexpr int kPlans = 300;

TEST(RandomAssigns, AreValid) {
  for (int seed = 0; seed < 10 * kPlans; ++seed) {
    Draw draw(static_cast<std::uint64_t>(seed));
    const AssignInstance instance = random_assign_instance(draw);
    ASSERT_EQ(all_of(verify(instance, random_assign_plan(instance, draw))), "") << "seed " << seed;
  }
}

// A plan, and the random place of the next mutation.
struct Site {
  AssignInstance& instance;
  AssignPlan& plan;
  Draw& draw;
  AssignReplica& replica;
  AssignRow& row;
};

struct Mutation {
  std::string name;
  std::string rule;                         // the rule that must be reported
  std::function<bool(const Site&)> change;  // returns false if it does not apply here
};

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

const Mutation kMutations[] = {
    {"drop_a_sequence", "coverage", always([](const Site& s) { s.row.sequences.pop_back(); })},
    {"drop_a_row_honestly", "coverage", always([](const Site& s) {
       s.replica.rows.pop_back();
       restate(s.instance, s.plan);
       s.plan.bound_ms = 0;
     })},
    {"repeat_a_row_honestly", "coverage", always([](const Site& s) {
       s.replica.rows.emplace_back(AssignRow(s.row));
       restate(s.instance, s.plan);
     })},
    {"id_after_the_last", "unknown_sequence", always([](const Site& s) {
       s.row.sequences[0] = static_cast<std::int64_t>(s.instance.lengths.size());
     })},
    {"an_empty_row", "empty_row", always([](const Site& s) { s.replica.rows.emplace_back(); })},
    {"another_strategy", "replicas",
     [](const Site& s) {
       for (const Strategy& strategy : s.instance.strategies) {
         const auto chosen =
             std::find_if(s.instance.strategies.begin(), s.instance.strategies.end(),
                          [&](const Strategy& c) { return c.name == s.plan.strategy; });
         if (strategy.replicas == chosen->replicas) continue;
         s.plan.strategy = strategy.name;
         return true;
       }
       return false;
     }},
    {"a_replica_more", "replicas",
     always([](const Site& s) { s.plan.replicas.push_back({.scheme = s.replica.scheme}); })},
    {"another_scheme", "replicas",
     [](const Site& s) {
       for (const Scheme& scheme : s.instance.schemes) {
         if (scheme.name == s.replica.scheme) continue;
         s.replica.scheme = scheme.name;
         return true;
       }
       return false;
     }},
    {"no_scheme", "scheme", always([](const Site& s) { s.replica.scheme.clear(); })},
    {"one_token_more", "tokens", always([](const Site& s) { ++s.row.tokens; })},
    {"cu_seqlens_off", "cu_seqlens", always([](const Site& s) { ++s.row.cu_seqlens.back(); })},
    {"too_small_a_cap", "capacity",
     [](const Site& s) {
       for (Scheme& scheme : s.instance.schemes) {
         if (scheme.name == s.replica.scheme) scheme.max_tokens = s.row.tokens - 1;
       }
       return true;
     }},
    {"two_rows_in_one", "capacity",
     [](const Site& s) {
       if (s.replica.rows.size() < 2) return false;
       AssignRow& first = s.replica.rows[0];
       AssignRow& second = s.replica.rows[1];
       first.sequences.insert(first.sequences.end(), second.sequences.begin(),
                              second.sequences.end());
       s.replica.rows.erase(s.replica.rows.begin() + 1);
       restate(s.instance, s.plan);
       s.plan.bound_ms = 0;
       for (const Scheme& scheme : s.instance.schemes) {
         if (scheme.name == s.replica.scheme) return s.replica.rows[0].tokens > scheme.max_tokens;
       }
       return false;
     }},
    {"row_time_off", "row_time", always([](const Site& s) { s.row.time_ms *= 1 + 1e-8; })},
    {"replica_time_off", "replica_time",
     always([](const Site& s) { s.replica.time_ms *= 1 - 1e-8; })},
    {"objective_off", "objective", always([](const Site& s) { s.plan.objective_ms *= 1 + 1e-8; })},
    {"simulated_off", "simulated",
     always([](const Site& s) { s.plan.simulated_1f1b_ms *= 1 - 1e-8; })},
    {"bound_above", "bound",
     always([](const Site& s) { s.plan.bound_ms = s.plan.objective_ms * (1 + 1e-5); })},
    {"more_rows_than_a_multiple", "rows_multiple_of", always([](const Site& s) {
       s.instance.constraints.rows_multiple_of = static_cast<int>(s.replica.rows.size()) + 1;
     })},
    {"rows_not_equal", "equal_rows",
     [](const Site& s) {
       s.instance.constraints.equal_rows = true;
       for (const AssignReplica& other : s.plan.replicas) {
         if (!other.rows.empty() && other.rows.size() != s.replica.rows.size()) return true;
       }
       return false;
     }},
    {"no_empty_replica", "allow_empty",
     [](const Site& s) {
       s.instance.constraints.allow_empty = false;
       for (const AssignReplica& other : s.plan.replicas) {
         if (other.rows.empty()) return true;
       }
       return false;
     }},
};

class MutatedAssign : public testing::TestWithParam<Mutation> {};

TEST_P(MutatedAssign, IsNotValid) {
  int applied = 0;
  for (int seed = 0; seed < kPlans; ++seed) {
    Draw draw(static_cast<std::uint64_t>(seed));
    AssignInstance instance = random_assign_instance(draw);
    AssignPlan plan = random_assign_plan(instance, draw);
    std::size_t r = draw.below(plan.replicas.size());
    while (plan.replicas[r].rows.empty()) r = (r + 1) % plan.replicas.size();
    AssignReplica& replica = plan.replicas[r];
    AssignRow& row = replica.rows[draw.below(replica.rows.size())];
    if (!GetParam().change({instance, plan, draw, replica, row})) continue;
    ++applied;
    const auto violations = verify(instance, plan);
    ASSERT_THAT(broken_rules(violations), testing::Contains(GetParam().rule))
        << "seed " << seed << '\n'
        << all_of(violations);
  }
  EXPECT_GE(applied, kPlans / 20);
}

INSTANTIATE_TEST_SUITE_P(Mutations, MutatedAssign, testing::ValuesIn(kMutations),
                         [](const auto& each) { return each.param.name; });

// A verifier that used the planner's arithmetic would share its errors.
TEST(AssignVerify, SharesNoCodeWithThePlanners) {
  for (const std::string file :
       {"instances/assign/verify/verify.cc", "instances/assign/verify/verify.h",
        "instances/assign/verify/rules/plan_checker.h",
        "instances/assign/verify/rules/row_rules.cc", "instances/assign/verify/reference_model.h",
        "instances/assign/verify/chunk_reference.h"}) {
    std::ifstream in(STOWAGE_SOURCE_DIR "/" + file);
    ASSERT_TRUE(in);
    std::stringstream text;
    text << in.rdbuf();
    for (const std::string word :
         {"padded_length", "round_up", "simulate_1f1b", "instances/pipeline/schedule.h",
          "instances/assign/planning_table.h", "instances/assign/chunks/chunk_flow.h",
          "longest_sequence"}) {
      EXPECT_EQ(text.str().find(word), std::string::npos) << word;
    }
  }
}

}  // namespace
}  // namespace stowage::assign_verify_test
