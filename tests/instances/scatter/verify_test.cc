// Each rule of the verifier with a plan that breaks it and a similar valid plan. Longer than 300
// lines because it is one table.

#include "instances/scatter/verify/verify.h"

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

namespace stowage::scatter_verify_test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Eight devices of 100 tokens. A group of degree d costs 10 + (linear 1 * tokens) / d ms and, above
// one rank, an exchange of tokens / (d * 2) ms: every time below is checked by hand.
ScatterInstance eight_devices() {
  return {.name = "eight",
          .cluster = {.devices = 8, .memory_mib = 120, .degrees = {1, 2, 4, 8}},
          .model = {.states_mib = 20, .activation_mib_per_token = 1},
          .cost = {.linear_ms = 1,
                   .fixed_ms = 10,
                   .all_to_all = {.mib_per_token = 1,
                                  .mib_per_ms = {{2, 2}, {4, 2}, {8, 2}},
                                  .latency_ms = {{4, 2}}}},
          .pad_multiple = 8,
          .lengths = {50, 100, 200, 390, 41, 8}};
}

// First micro-batch: 390 (padded 392) on ranks 0-3, 200 on ranks 4-5, 50 + 41 (56 + 48) on 6-7.
// Second: 100 (104) on ranks 0-1, 8 on rank 2. Two devices of 100 tokens hold 200 exactly.
ScatterPlan good_plan() {
  const auto group = [](int degree, int first, std::vector<std::int64_t> ids, Tokens tokens,
                        Ms time, std::vector<std::int64_t> cu) {
    return ScatterGroup{.degree = degree,
                        .first_rank = first,
                        .sequences = std::move(ids),
                        .tokens = tokens,
                        .time_ms = time,
                        .cu_seqlens = std::move(cu)};
  };
  return {.name = "eight",
          .instance_hash = "abc",
          .objective_ms = 248,
          .bound_ms = 200,
          .bound_by = "area",
          .micro_batches = {{.makespan_ms = 160,
                             .groups = {group(4, 0, {3}, 392, 12 + 98 + 49, {0, 392}),
                                        group(2, 4, {2}, 200, 10 + 100 + 50, {0, 200}),
                                        group(2, 6, {0, 4}, 104, 10 + 52 + 26, {0, 56, 104})}},
                            {.makespan_ms = 88,
                             .groups = {group(2, 0, {1}, 104, 10 + 52 + 26, {0, 104}),
                                        group(1, 2, {5}, 8, 10 + 8, {0, 8})}}}};
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

struct Case {
  std::string name;
  std::set<std::string> rules;  // exactly these are broken; empty: still a valid plan
  std::function<void(ScatterInstance&, ScatterPlan&)> change;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class OneChange : public testing::TestWithParam<Case> {};

TEST_P(OneChange, BreaksExactlyTheseRules) {
  ScatterInstance instance = eight_devices();
  ScatterPlan plan = good_plan();
  GetParam().change(instance, plan);
  const auto violations = verify(instance, plan);
  EXPECT_EQ(broken_rules(violations), GetParam().rules) << all_of(violations);
  for (const Violation& violation : violations) {
    EXPECT_THAT(scatter_verify_rules(), Contains(violation.rule));
  }
}

ScatterGroup& group_of(ScatterPlan& plan, std::size_t m, std::size_t g) {
  return plan.micro_batches.at(m).groups.at(g);
}

using I = ScatterInstance;
using P = ScatterPlan;

const Case kCases[] = {
    {"unchanged", {}, [](I&, P&) {}},

    {"objective_nan", {"number"}, [](I&, P& p) { p.objective_ms = kNan; }},
    {"bound_infinite", {"number"}, [](I&, P& p) { p.bound_ms = kInf; }},
    {"makespan_infinite", {"number"}, [](I&, P& p) { p.micro_batches[0].makespan_ms = -kInf; }},
    {"group_time_nan", {"number"}, [](I&, P& p) { group_of(p, 0, 1).time_ms = kNan; }},

    {"slow_devices_at_full_speed",
     {"time", "makespan", "objective"},
     [](I& i, P&) {
       i.cluster.devices_per_node = 4;
       i.cluster.kinds = {{"", 1, 1, 120}, {"", 1, 0.5, 120}};
     }},
    {"small_devices_with_more_than_they_hold",
     {"capacity"},
     [](I& i, P&) {
       i.cluster.devices_per_node = 4;
       i.cluster.kinds = {{"", 1, 1, 120}, {"", 1, 1, 119}};
     }},
    {"small_devices_with_less_than_they_hold",
     {},
     [](I& i, P&) {
       i.cluster.devices_per_node = 2;
       i.cluster.kinds = {{"", 3, 1, 120}, {"", 1, 1, 75}};
     }},
    {"as_slow_as_its_slowest_device",
     {},
     [](I& i, P& p) {
       i.cluster.devices_per_node = 2;
       i.cluster.kinds = {{"", 3, 1, 120}, {"", 1, 0.5, 120}};
       group_of(p, 0, 2).time_ms += 52;
     }},
    {"exchange_without_kinds",
     {"exchange"},
     [](I&, P& p) { group_of(p, 0, 0).exchange = ExchangeKind::ring; }},

    {"recomputation_without_a_choice",
     {"recomputation"},
     [](I&, P& p) { p.micro_batches[0].recomputation = "full"; }},
    {"recomputation_not_said",
     {"recomputation", "recomputation"},
     [](I& i, P&) {
       i.model.recomputation = {{"none", 1}, {"full", 0.5}};
     }},
    {"recomputation_unknown",
     {"recomputation"},
     [](I& i, P& p) {
       i.model.recomputation = {{"none", i.model.activation_mib_per_token}};
       for (auto& batch : p.micro_batches) batch.recomputation = "none";
       p.micro_batches[1].recomputation = "None";
     }},
    {"recomputation_that_changes_nothing",
     {},
     [](I& i, P& p) {
       i.model.recomputation = {{"full", 1e9}, {"none", i.model.activation_mib_per_token}};
       for (auto& batch : p.micro_batches) batch.recomputation = "none";
     }},
    {"recomputation_that_takes_time",
     {"time", "time", "time", "time", "makespan", "makespan", "objective"},
     [](I& i, P& p) {
       i.model.recomputation = {{"full", i.model.activation_mib_per_token, 1, 1.25, 1}};
       for (auto& batch : p.micro_batches) batch.recomputation = "full";
     }},
    {"recomputation_without_memory",
     {"capacity"},
     [](I& i, P& p) {
       const Mib each = i.model.activation_mib_per_token;
       i.model.recomputation = {{"none", each}, {"hungry", 1.05 * each}};
       for (auto& batch : p.micro_batches) batch.recomputation = "hungry";
     }},

    {"sequence_missing", {"coverage"}, [](I& i, P&) { i.lengths.push_back(8); }},
    {"sequence_twice",
     {"coverage", "objective"},
     [](I&, P& p) { p.micro_batches.push_back(p.micro_batches[1]); }},
    {"sequences_swapped_across",
     {"tokens", "cu_seqlens", "time", "capacity", "makespan", "objective"},
     [](I&, P& p) { std::swap(group_of(p, 1, 0).sequences, group_of(p, 1, 1).sequences); }},

    {"id_too_large",
     {"unknown_sequence", "coverage"},
     [](I&, P& p) { group_of(p, 1, 1).sequences = {6}; }},
    {"id_negative",
     {"unknown_sequence", "coverage"},
     [](I&, P& p) { group_of(p, 1, 1).sequences = {-1}; }},
    {"id_huge",
     {"unknown_sequence", "coverage"},
     [](I&, P& p) { group_of(p, 1, 1).sequences = {std::numeric_limits<std::int64_t>::max()}; }},

    {"micro_batch_empty", {"empty_micro_batch"}, [](I&, P& p) { p.micro_batches.push_back({}); }},
    {"group_empty",
     {"empty_group"},
     [](I&, P& p) {
       p.micro_batches[1].groups.push_back(
           {.degree = 1, .first_rank = 3, .time_ms = 10, .cu_seqlens = {0}});
     }},

    {"degree_not_listed",
     {"degree"},
     [](I& i, P&) {
       i.cluster.degrees = {1, 2};
     }},
    {"degree_zero", {"degree"}, [](I&, P& p) { group_of(p, 1, 1).degree = 0; }},
    {"degree_negative", {"degree"}, [](I&, P& p) { group_of(p, 1, 1).degree = -1; }},
    {"degree_lowest",
     {"degree"},
     [](I&, P& p) { group_of(p, 1, 1).degree = std::numeric_limits<int>::min(); }},

    {"last_rank", {}, [](I&, P& p) { group_of(p, 1, 1).first_rank = 7; }},
    {"past_last_rank", {"rank_range"}, [](I&, P& p) { group_of(p, 1, 1).first_rank = 8; }},
    {"rank_negative", {"rank_range"}, [](I&, P& p) { group_of(p, 1, 0).first_rank = -2; }},
    {"rank_highest",
     {"rank_range"},
     [](I&, P& p) { group_of(p, 1, 1).first_rank = std::numeric_limits<int>::max(); }},
    {"rank_lowest",
     {"rank_range"},
     [](I&, P& p) { group_of(p, 1, 1).first_rank = std::numeric_limits<int>::min(); }},

    {"rank_not_a_multiple", {"rank_alignment"}, [](I&, P& p) { group_of(p, 1, 0).first_rank = 5; }},
    {"rank_not_a_multiple_but_free",
     {},
     [](I& i, P& p) {
       i.cluster.aligned = false;
       group_of(p, 1, 0).first_rank = 5;
     }},

    {"groups_share_ranks", {"rank_overlap"}, [](I&, P& p) { group_of(p, 1, 1).first_rank = 1; }},
    {"groups_touch", {}, [](I&, P& p) { group_of(p, 1, 0).first_rank = 4; }},
    {"inside_a_wider_group", {"rank_overlap"}, [](I&, P& p) { group_of(p, 0, 2).first_rank = 2; }},

    {"seven_devices", {"devices", "rank_range"}, [](I& i, P&) { i.cluster.devices = 7; }},
    {"nine_devices", {}, [](I& i, P&) { i.cluster.devices = 9; }},

    {"degree_below_the_least", {"min_degree"}, [](I& i, P&) { i.rules.min_degree = 2; }},
    {"degree_of_the_least",
     {},
     [](I& i, P& p) {
       i.rules.min_degree = 2;
       i.lengths.pop_back();
       p.micro_batches[1].groups.pop_back();
     }},
    {"idle_ranks", {"no_idle_ranks"}, [](I& i, P&) { i.rules.no_idle_ranks = true; }},
    {"no_idle_ranks",
     {},
     [](I& i, P& p) {
       i.rules.no_idle_ranks = true;
       i.lengths = {50, 100, 200, 390, 41};
       p.micro_batches.pop_back();
       p.micro_batches[0].groups[2].sequences = {0, 1, 4};
       i.cluster.memory_mib = 1000;
       ScatterGroup& last = p.micro_batches[0].groups[2];
       last.cu_seqlens = {0, 56, 160, 208};
       last.tokens = 208;
       last.time_ms = 10 + 104 + 52;
       p.micro_batches[0].makespan_ms = p.objective_ms = 166;
       p.bound_ms = 100;
     }},
    {"larger_group_behind",
     {"sorted_groups"},
     [](I& i, P& p) {
       i.rules.sorted_groups = true;
       group_of(p, 1, 0).first_rank = 2;
       group_of(p, 1, 1).first_rank = 0;
     }},
    {"larger_groups_first", {}, [](I& i, P&) { i.rules.sorted_groups = true; }},
    {"two_of_three_micro_batches",
     {"micro_batches_multiple_of"},
     [](I& i, P&) { i.rules.micro_batches_multiple_of = 3; }},
    {"two_of_two_micro_batches", {}, [](I& i, P&) { i.rules.micro_batches_multiple_of = 2; }},
    {"rank_with_100_tokens",
     {"max_tokens_per_rank"},
     [](I& i, P&) { i.rules.max_tokens_per_rank = 99; }},
    {"rank_with_its_most_tokens", {}, [](I& i, P&) { i.rules.max_tokens_per_rank = 100; }},
    {"two_sequences_in_a_group",
     {"max_sequences_per_group"},
     [](I& i, P&) { i.rules.max_sequences_per_group = 1; }},
    {"as_many_sequences_as_allowed", {}, [](I& i, P&) { i.rules.max_sequences_per_group = 2; }},
    {"one_sequence_beside_two",
     {"equal_sequences"},
     [](I& i, P&) { i.rules.equal_sequences = true; }},
    {"one_sequence_beside_one",
     {},
     [](I& i, P& p) {
       i.rules.equal_sequences = true;
       i.lengths = {100, 8};
       p.micro_batches.erase(p.micro_batches.begin());
       group_of(p, 0, 0).sequences = {0};
       group_of(p, 0, 1).sequences = {1};
       p.objective_ms = p.micro_batches[0].makespan_ms;
       p.bound_ms = 50;
     }},
    {"packed_time_one_by_one", {"time"}, [](I& i, P&) { i.rules.packed = false; }},
    {"fixed_time_for_each_sequence",
     {},
     [](I& i, P& p) {
       i.rules.packed = false;
       group_of(p, 0, 2).time_ms += 10;
     }},
    {"memory_of_the_longest",
     {"capacity", "max_tokens_per_rank"},
     [](I& i, P& p) {
       i.rules.packed = false;
       i.rules.max_tokens_per_rank = 51;
       i.cluster.memory_mib = 119;
       group_of(p, 0, 2).time_ms += 10;
     }},

    {"tokens_off_by_one", {"tokens"}, [](I&, P& p) { ++group_of(p, 0, 2).tokens; }},
    {"tokens_unpadded", {"tokens"}, [](I&, P& p) { group_of(p, 0, 2).tokens = 91; }},

    {"cu_seqlens_missing", {"cu_seqlens"}, [](I&, P& p) { group_of(p, 0, 0).cu_seqlens.clear(); }},
    {"cu_seqlens_from_one", {"cu_seqlens"}, [](I&, P& p) { group_of(p, 0, 2).cu_seqlens[0] = 1; }},
    {"cu_seqlens_unpadded", {"cu_seqlens"}, [](I&, P& p) { group_of(p, 0, 2).cu_seqlens[1] = 50; }},
    {"cu_seqlens_too_long",
     {"cu_seqlens"},
     [](I&, P& p) { group_of(p, 0, 2).cu_seqlens.push_back(104); }},
    {"cu_seqlens_extreme",
     {"cu_seqlens"},
     [](I&, P& p) { group_of(p, 0, 2).cu_seqlens[1] = std::numeric_limits<std::int64_t>::max(); }},

    {"offload_of_a_model_without", {"offload"}, [](I&, P& p) { group_of(p, 0, 2).offload = 0.5; }},
    {"offload_of_nan",
     {"number"},
     [](I&, P& p) { group_of(p, 0, 2).offload = std::numeric_limits<double>::quiet_NaN(); }},
    {"memory_for_99_tokens", {"capacity"}, [](I& i, P&) { i.cluster.memory_mib = 119.999; }},
    {"memory_for_98_tokens", {"capacity"}, [](I& i, P&) { i.model.states_mib = 22; }},
    {"no_memory_at_all", {"capacity"}, [](I& i, P&) { i.model.states_mib = 300; }},
    {"memory_for_two_sequences",
     {},
     [](I& i, P&) {
       i.cluster.memory_mib += 52;
       i.model.sequence_mib = 50;
     }},
    {"memory_for_one_sequence_of_two",
     {"capacity"},
     [](I& i, P&) {
       i.cluster.memory_mib += 51;
       i.model.sequence_mib = 50;
     }},
    {"memory_for_sequences_one_by_one",
     {},
     [](I& i, P& p) {
       i.rules.packed = false;
       i.cluster.memory_mib += 50;
       i.model.sequence_mib = 50;
       group_of(p, 0, 2).time_ms += 10;
     }},
    {"memory_for_less_one_by_one",
     {"capacity"},
     [](I& i, P& p) {
       i.rules.packed = false;
       i.cluster.memory_mib += 49;
       i.model.sequence_mib = 50;
       group_of(p, 0, 2).time_ms += 10;
     }},
    {"memory_for_logits",
     {},
     [](I& i, P&) {
       i.cluster.memory_mib += 50;
       i.model.logits_mib_per_token = 0.5;
     }},
    {"memory_for_fewer_logits",
     {"capacity"},
     [](I& i, P&) {
       i.cluster.memory_mib += 49;
       i.model.logits_mib_per_token = 0.5;
     }},
    {"memory_for_logits_in_chunks",
     {},
     [](I& i, P&) {
       i.cluster.memory_mib += 5;
       i.model.logits_mib_per_token = 0.5;
       i.model.logits_chunk_tokens = 10;
     }},
    {"memory_for_logits_in_smaller_chunks",
     {"capacity"},
     [](I& i, P&) {
       i.cluster.memory_mib += 4;
       i.model.logits_mib_per_token = 0.5;
       i.model.logits_chunk_tokens = 10;
     }},
    {"keys_and_values_of_nobody", {}, [](I& i, P&) { i.model.keys_values_mib_per_token = 100; }},
    {"memory_without_end", {}, [](I& i, P&) { i.model.activation_mib_per_token = 1e-300; }},

    {"time_a_billionth_off", {"time"}, [](I&, P& p) { group_of(p, 0, 1).time_ms *= 1 + 2e-9; }},
    {"time_within_tolerance", {}, [](I&, P& p) { group_of(p, 0, 1).time_ms *= 1 + 5e-10; }},
    {"time_without_latency", {"time"}, [](I&, P& p) { group_of(p, 0, 0).time_ms -= 2; }},
    {"quadratic_term",
     {"time", "makespan", "objective"},
     [](I& i, P&) { i.cost.quadratic_ms = 1e-3; }},
    {"degree_without_bandwidth",
     {"time", "makespan", "objective"},
     [](I& i, P&) { i.cost.all_to_all.mib_per_ms.erase(4); }},

    {"makespan_of_another_group",
     {"makespan"},
     [](I&, P& p) { p.micro_batches[0].makespan_ms = 159; }},
    {"makespan_within_tolerance",
     {},
     [](I&, P& p) { p.micro_batches[0].makespan_ms *= 1 - 5e-10; }},

    {"objective_of_the_slowest", {"objective"}, [](I&, P& p) { p.objective_ms = 247.999; }},
    {"objective_of_a_pipeline",
     {},
     [](I& i, P& p) {
       i.pipeline_stages = 4;
       Ms longest = 0;
       for (const ScatterMicroBatch& batch : p.micro_batches) {
         longest = std::max(longest, batch.makespan_ms);
       }
       p.objective_ms += 3 * longest;
     }},
    {"objective_without_its_pipeline", {"objective"}, [](I& i, P&) { i.pipeline_stages = 2; }},
    {"objective_within_tolerance", {}, [](I&, P& p) { p.objective_ms *= 1 + 5e-10; }},

    // The second micro-batch's forward pass of 88 / 3 ms ends on the second stage at 242.67 ms.
    {"simulated_in_two_stages",
     {},
     [](I& i, P& p) {
       i.pipeline_stages = 2;
       p.objective_ms = 248 + 160;
       p.simulated_1f1b_ms = 1136 / 3.0;
     }},
    {"simulated_in_another_order",
     {"simulated"},
     [](I& i, P& p) {
       i.pipeline_stages = 2;
       p.objective_ms = 248 + 160;
       p.simulated_1f1b_ms = 384;
     }},
    {"simulated_as_estimated",
     {"simulated"},
     [](I& i, P& p) {
       i.pipeline_stages = 2;
       p.objective_ms = 248 + 160;
       p.simulated_1f1b_ms = p.objective_ms;
     }},
    {"simulated_left_out",
     {},
     [](I& i, P& p) {
       i.pipeline_stages = 2;
       p.objective_ms = 248 + 160;
     }},
    {"simulated_in_one_stage", {"simulated"}, [](I&, P& p) { p.simulated_1f1b_ms = 249; }},
    {"simulated_not_a_number", {"number"}, [](I&, P& p) { p.simulated_1f1b_ms = kNan; }},

    {"bound_above_objective", {"bound"}, [](I&, P& p) { p.bound_ms = 248.001; }},
    {"bound_of_the_objective", {}, [](I&, P& p) { p.bound_ms = 248.0001; }},
    {"bound_negative", {"bound"}, [](I&, P& p) { p.bound_ms = -1e-9; }},
    {"bound_without_a_name", {"bound"}, [](I&, P& p) { p.bound_by.clear(); }},
    {"no_bound",
     {},
     [](I&, P& p) {
       p.bound_ms = 0;
       p.bound_by.clear();
     }},
};

INSTANTIATE_TEST_SUITE_P(Verify, OneChange, testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

// The cluster above with kinds of exchange: 4 and 8 ranks may form a ring or exchange all at once.
TEST(Verify, ExchangesAreOnesThatTheDegreeMayUse) {
  ScatterInstance instance = eight_devices();
  using enum ExchangeKind;
  instance.cost.all_to_all = {};
  instance.cost.exchange = Exchange{.kinds = {{2, {ring}}, {4, {all_to_all, ring}}, {8, {ring}}},
                                    .all_to_all_mib_per_token = 1,
                                    .inside_mib_per_ms = 2};
  instance.lengths = {390, 200};
  const auto plan_with = [](ExchangeKind four, ExchangeKind two, Ms time) {
    return ScatterPlan{.objective_ms = time,
                       .micro_batches = {{.makespan_ms = time,
                                          .groups = {{.degree = 4,
                                                      .sequences = {0},
                                                      .tokens = 392,
                                                      .time_ms = time,
                                                      .cu_seqlens = {0, 392},
                                                      .exchange = four},
                                                     {.degree = 2,
                                                      .first_rank = 4,
                                                      .sequences = {1},
                                                      .tokens = 200,
                                                      .time_ms = 10 + 100,
                                                      .cu_seqlens = {0, 200},
                                                      .exchange = two}}}}};
  };
  const auto rules = [&](const ScatterPlan& plan) { return broken_rules(verify(instance, plan)); };
  // 98 tokens a rank, of which 3/4 go to other ranks at 2 MiB per ms.
  EXPECT_THAT(rules(plan_with(all_to_all, ring, 10 + 98 + 36.75)), IsEmpty());
  EXPECT_THAT(rules(plan_with(ring, ring, 10 + 98)), testing::ElementsAre("makespan", "objective"))
      << "the ring of two is slower";
  EXPECT_THAT(rules(plan_with(ring, ring, 10 + 98 + 36.75)), Contains("time"));
  EXPECT_THAT(rules(plan_with(all_gather, ring, 200)), testing::ElementsAre("exchange"));
  EXPECT_THAT(rules(plan_with(none, ring, 200)), testing::ElementsAre("exchange"));
  EXPECT_THAT(rules(plan_with(all_to_all, all_to_all, 10 + 98 + 36.75)),
              testing::ElementsAre("exchange"));
}

TEST(Verify, EveryRuleHasACaseThatBreaksIt) {
  std::set<std::string> broken = {"instance_hash"};  // VerifyInstanceHash below
  for (const Case& c : kCases) broken.insert(c.rules.begin(), c.rules.end());
  for (const std::string_view rule : scatter_verify_rules()) {
    EXPECT_THAT(broken, Contains(std::string(rule)));
  }
}

TEST(Verify, InstanceHash) {
  EXPECT_THAT(verify_instance_hash(good_plan(), "abc"), IsEmpty());
  EXPECT_EQ(all_of(verify_instance_hash(good_plan(), "def")),
            "instance_hash at /instance_hash: has abc, needs def\n");
  EXPECT_EQ(all_of(verify_instance_hash(ScatterPlan{}, "def")),
            "instance_hash at /instance_hash: has no hash, needs def\n");
}

TEST(Verify, SaysWhatStandsThereAndWhatIsNeeded) {
  ScatterInstance instance = eight_devices();
  instance.model.states_mib = 22;
  instance.lengths.push_back(8);
  EXPECT_EQ(all_of(verify(instance, good_plan())),
            "coverage at /micro_batches: has sequence 6 nowhere, needs each sequence exactly once\n"
            "capacity at /micro_batches/0/groups/1: has 200 tokens, needs at most 196 tokens\n");

  ScatterPlan plan = good_plan();
  group_of(plan, 1, 1).sequences.push_back(2);
  EXPECT_THAT(all_of(verify(eight_devices(), plan)),
              testing::HasSubstr("coverage at /micro_batches/1/groups/1/sequences/1: has sequence "
                                 "2, computed already in /micro_batches/0/groups/1, needs each "
                                 "sequence exactly once\n"));
}

TEST(Verify, AnEmptyStepHasAnEmptyPlan) {
  ScatterInstance instance = eight_devices();
  instance.lengths.clear();
  EXPECT_THAT(verify(instance, ScatterPlan{}), IsEmpty());
  EXPECT_EQ(broken_rules(verify(eight_devices(), ScatterPlan{})),
            (std::set<std::string>{"coverage"}));
}

TEST(Verify, CountsWhatItDoesNotSpellOut) {
  ScatterInstance instance = eight_devices();
  instance.lengths.assign(1'000'000, 8);
  const auto violations = verify(instance, ScatterPlan{});
  ASSERT_EQ(violations.size(), kMaxViolationsPerRule + 1);
  EXPECT_EQ(to_string(violations.back()), "coverage: and 999980 more");
  EXPECT_EQ(violations.back().count, 999980);
}

TEST(Verify, SumsBeyondTheIntegerRangeFitNowhere) {
  ScatterInstance instance = eight_devices();
  instance.model.activation_mib_per_token = 1e-300;
  instance.lengths.assign(3, std::numeric_limits<Tokens>::max() - 7);
  ScatterPlan plan;
  plan.micro_batches = {{.groups = {{.degree = 8, .sequences = {0, 1, 2}}}}};
  EXPECT_THAT(broken_rules(verify(instance, plan)), testing::IsSupersetOf({"tokens", "capacity"}));
}

// The plans below are so large that a quadratic algorithm would not end.
TEST(Verify, AMillionEmptyGroupsOnOneRank) {
  ScatterPlan plan;
  plan.micro_batches.resize(1);
  plan.micro_batches[0].groups.resize(1'000'000, {.degree = std::numeric_limits<int>::max(),
                                                  .first_rank = std::numeric_limits<int>::max()});
  EXPECT_THAT(broken_rules(verify(eight_devices(), plan)),
              testing::IsSupersetOf({"empty_group", "degree", "rank_range", "rank_overlap",
                                     "devices", "cu_seqlens", "coverage"}));
}

TEST(Verify, TheSameSequenceAMillionTimes) {
  ScatterPlan plan = good_plan();
  group_of(plan, 0, 0).sequences.assign(1'000'000, 3);
  for (int i = 0; i < 100'000; ++i) plan.micro_batches.push_back(plan.micro_batches[1]);
  EXPECT_THAT(broken_rules(verify(eight_devices(), plan)),
              testing::IsSupersetOf({"coverage", "tokens", "capacity", "cu_seqlens"}));
}

// A verifier that used the planner's arithmetic would share its errors.
TEST(Verify, SharesNoCodeWithTheCostModel) {
  for (const std::string file :
       {"violation.h", "violation.cc", "proof/violation_list.h", "scatter/verify/reference_model.h",
        "scatter/verify/padding_reference.h", "scatter/verify/form_reference.h",
        "scatter/verify/memory_reference.h", "scatter/verify/work_reference.h",
        "scatter/verify/verify.h", "scatter/verify/rules/plan_checker.h",
        "scatter/verify/rules/group_rules.cc", "scatter/verify/rules/micro_batch_rules.cc",
        "scatter/verify/verify.cc"}) {
    std::ifstream in(STOWAGE_SOURCE_DIR "/instances/" + file);
    ASSERT_TRUE(in) << file;
    std::stringstream text;
    text << in.rdbuf();
    for (const std::string word : {"cost_model", "padded_length", "tokens_per_device",
                                   "sequence_ms", "group_overhead_ms", "group_capacity"}) {
      EXPECT_EQ(text.str().find(word), std::string::npos) << file << " mentions " << word;
    }
  }
}

}  // namespace
}  // namespace stowage::scatter_verify_test
