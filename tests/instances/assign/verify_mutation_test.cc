// Random plans are valid, and each mutation of one breaks its rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>

#include "instances/assign/verify/verify.h"
#include "tests/instances/assign/good_plan.h"
#include "tests/instances/mutation.h"
#include "tests/instances/random_assign.h"

namespace stowage::assign_verify_test {
namespace {

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

}  // namespace
}  // namespace stowage::assign_verify_test
