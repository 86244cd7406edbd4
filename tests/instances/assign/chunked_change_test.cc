// Changes of a plan with chunks, and the rules that each breaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <set>

#include "instances/assign/plan_builder.h"
#include "instances/assign/verify/verify.h"
#include "instances/violation.h"
#include "tests/instances/assign/cut_plans.h"
#include "tests/instances/json_fixture.h"

namespace stowage::assign_chunked_plan_test {
namespace {

std::set<std::string> broken_rules(const std::vector<Violation>& violations) {
  std::set<std::string> rules;
  for (const Violation& violation : violations) rules.insert(violation.rule);
  return rules;
}

AssignPlan three_cuts_planned(const AssignInstance& instance) {
  return parts_last(instance, compose_assign(instance, 0, {{0, {{0}, {1, 2}, {3}}}, {0, {{4}}}}));
}

struct Case {
  std::string name;
  std::set<std::string> rules;
  std::function<void(AssignInstance&, std::vector<AssignRow>&, std::vector<AssignRow>&)> change;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class ChunkedChange : public testing::TestWithParam<Case> {};

using Rows = std::vector<AssignRow>;

// The rows of replica 0: two packed rows, then the parts of sequence 0. Times are not recomputed,
// so a change to the rows of a replica may also break rules of times; `rules` lists the rules that
// must be broken.
TEST_P(ChunkedChange, BreaksTheseRules) {
  AssignInstance instance = three_cuts();
  AssignPlan plan = three_cuts_planned(instance);
  ASSERT_EQ(plan.replicas[0].rows.size(), 5U);
  ASSERT_TRUE(plan.replicas[0].rows[2].part);
  ASSERT_TRUE(verify(instance, plan).empty()) << all_of(verify(instance, plan));
  GetParam().change(instance, plan.replicas[0].rows, plan.replicas[1].rows);
  std::set<std::string> rules = broken_rules(verify(instance, plan));
  for (const std::string time : {"replica_time", "objective", "simulated"}) {
    if (!GetParam().rules.contains(time)) rules.erase(time);
  }
  EXPECT_EQ(rules, GetParam().rules) << all_of(verify(instance, plan));
}

const Case kCases[] = {
    {"unchanged", {}, [](AssignInstance&, Rows&, Rows&) {}},
    {"parts_between_packed_rows",
     {},
     [](AssignInstance&, Rows& rows, Rows&) {
       std::rotate(rows.begin(), rows.begin() + 1, rows.end());
     }},
    {"parts_out_of_order",
     {"chunk_order"},
     [](AssignInstance&, Rows& rows, Rows&) { std::swap(rows[2], rows[3]); }},
    {"parts_apart",
     {"chunk_order"},
     [](AssignInstance&, Rows& rows, Rows&) { std::swap(rows[1], rows[2]); }},
    {"part_on_another_replica",
     {"chunk_order"},
     [](AssignInstance&, Rows& rows, Rows& others) {
       others.push_back(rows.back());
       rows.pop_back();
     }},
    {"last_part_missing",
     {"chunk_order"},
     [](AssignInstance&, Rows& rows, Rows&) { rows.pop_back(); }},
    {"first_part_missing",
     {"chunk_order", "coverage"},
     [](AssignInstance&, Rows& rows, Rows&) { rows.erase(rows.begin() + 2); }},
    {"part_twice",
     {"chunk_order"},
     [](AssignInstance&, Rows& rows, Rows&) { rows.push_back(rows.back()); }},
    {"sequence_twice",
     {"coverage"},
     [](AssignInstance&, Rows& rows, Rows& others) {
       others.insert(others.end(), rows.begin() + 2, rows.end());
     }},
    {"parts_overlap",
     {"chunk", "chunk_order"},
     [](AssignInstance&, Rows& rows, Rows&) { rows[2].part->end = 11; }},
    {"part_not_at_a_multiple",
     {"chunk", "chunk_order"},
     [](AssignInstance&, Rows& rows, Rows&) {
       rows[3].part = TokenRange{9, 20};
     }},
    {"part_beyond_the_end",
     {"chunk", "chunk_order"},
     [](AssignInstance&, Rows& rows, Rows&) {
       rows[4].part = TokenRange{20, 30};
     }},
    {"negative_part",
     {"chunk", "chunk_order"},
     [](AssignInstance&, Rows& rows, Rows&) {
       rows[2].part = TokenRange{-10, 0};
     }},
    {"part_of_two_sequences",
     {"chunk", "chunk_order"},
     [](AssignInstance&, Rows& rows, Rows&) { rows[3].sequences.push_back(1); }},
    {"range_of_a_whole_sequence",
     {"chunk"},
     [](AssignInstance&, Rows& rows, Rows&) {
       AssignRow& row = rows[0].sequences.size() == 1 ? rows[0] : rows[1];
       row.part = TokenRange{0, 10};
     }},
    {"no_range",
     {"chunk", "tokens", "loss_tokens", "cu_seqlens", "capacity", "row_time"},
     [](AssignInstance&, Rows& rows, Rows&) {
       rows[2].part.reset();
       rows.resize(3);
     }},
    {"instance_without_chunks",
     {"chunk"},
     [](AssignInstance& instance, Rows&, Rows&) { instance.constraints.chunks.reset(); }},
    {"memory_just_enough",
     {},
     [](AssignInstance& instance, Rows&, Rows&) {
       instance.constraints.chunks->key_value_bytes = 9;  // 10 * 10 + 9 * 15 <= 10 * 24
     }},
    {"memory_not_enough",
     {"chunk_memory"},
     [](AssignInstance& instance, Rows&, Rows&) {
       instance.constraints.chunks->key_value_bytes = 10;
     }},
    {"more_retained",
     {"row_time"},
     [](AssignInstance& instance, Rows&, Rows&) { instance.constraints.chunks->retained = 2; }},
    {"part_takes_no_third_more",
     {"row_time"},
     [](AssignInstance&, Rows& rows, Rows&) { rows[2].time_ms *= 0.75; }},
    {"last_part_takes_a_third_more",
     {"row_time"},
     [](AssignInstance&, Rows& rows, Rows&) { rows[4].time_ms *= 4 / 3.0; }},
    {"tokens_of_a_part", {"tokens"}, [](AssignInstance&, Rows& rows, Rows&) { ++rows[4].tokens; }},
    {"loss_tokens_of_a_part",
     {"loss_tokens"},
     [](AssignInstance&, Rows& rows, Rows&) { ++rows[4].loss_tokens; }},
    {"cu_seqlens_of_a_part",
     {"cu_seqlens"},
     [](AssignInstance&, Rows& rows, Rows&) {
       rows[3].cu_seqlens = {0, 20};
     }},
    {"smaller_chunks",
     {"chunk"},
     [](AssignInstance& instance, Rows&, Rows&) { instance.constraints.chunks->size = 9; }},
};

INSTANTIATE_TEST_SUITE_P(Rules, ChunkedChange, testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

// A wrong schedule is detected too.
TEST(ChunkedPlan, TheSimulatedTimeFollowsTheOrder) {
  AssignInstance instance = three_cuts();
  AssignPlan plan = three_cuts_planned(instance);
  std::vector<AssignRow>& rows = plan.replicas[0].rows;
  std::rotate(rows.begin(), rows.begin() + 2, rows.end());
  EXPECT_EQ(broken_rules(verify(instance, plan)), std::set<std::string>{"simulated"});
}

TEST(ChunkedPlan, PartsThatDoNotFollowEachOtherAreNamed) {
  AssignInstance instance = three_cuts();
  instance.constraints.chunks->boundaries = ChunkBoundaries::least_bubble;
  instance.lengths = {25};
  const AssignPlan plan = compose_assign(instance, 0, {{.scheme = 0, .rows = {{0}}}});
  ASSERT_EQ(all_of(verify(instance, plan)), "");
  const auto rules_of = [&](auto change) {
    AssignPlan other = plan;
    change(other.replicas[0].rows);
    return broken_rules(verify(instance, other));
  };
  EXPECT_TRUE(rules_of([](Rows& rows) { ++rows[1].part->begin; }).contains("chunk"));
  EXPECT_TRUE(rules_of([](Rows& rows) { rows[1].sequences = {99}; }).contains("chunk"));
  EXPECT_TRUE(rules_of([](Rows& rows) { --rows[0].part->end; }).contains("chunk"));
  EXPECT_TRUE(rules_of([](Rows& rows) { --rows.back().part->end; }).contains("chunk"));
  EXPECT_TRUE(rules_of([](Rows& rows) { ++rows.back().part->end; }).contains("chunk"));
  EXPECT_TRUE(rules_of([](Rows& rows) { rows.pop_back(); }).contains("chunk"));
  EXPECT_TRUE(rules_of([](Rows& rows) { rows.erase(rows.begin()); }).contains("chunk"));
  EXPECT_TRUE(rules_of([](Rows& rows) { std::swap(rows[0], rows[1]); }).contains("chunk"));
  EXPECT_TRUE(rules_of([](Rows& rows) {
                rows[0].part = {0, 11}, rows[1].part->begin = 11;
              }).contains("chunk"));
  // 25 tokens in parts of up to ten: at most twelve of them.
  EXPECT_TRUE(rules_of([](Rows& rows) {
                rows.assign(25, rows[0]);
                for (Tokens k = 0; k < 25; ++k) {
                  rows[static_cast<std::size_t>(k)].part = {k, k + 1};
                }
              }).contains("chunk"));
}

}  // namespace
}  // namespace stowage::assign_chunked_plan_test
