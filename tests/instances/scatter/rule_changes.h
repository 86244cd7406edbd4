// Changes of a plan that break the rules on its sequences, ranks and counts, or nearly do.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "tests/instances/scatter/changed_plan.h"

namespace stowage::scatter_verify_test {

inline const Case kRuleChanges[] = {
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
};

}  // namespace stowage::scatter_verify_test
