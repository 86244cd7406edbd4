// Changes of a plan that break the rules on its sums, room, times and bounds, or nearly do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tests/instances/scatter/changed_plan.h"

namespace stowage::scatter_verify_test {

inline const Case kSumChanges[] = {
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

}  // namespace stowage::scatter_verify_test
