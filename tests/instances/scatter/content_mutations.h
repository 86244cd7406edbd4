// Mutations of what a plan holds: sequences, groups, ranks, tokens and their boundaries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "tests/instances/mutation.h"
#include "tests/instances/random_scatter_plan.h"
#include "tests/instances/scatter/mutation_site.h"

namespace stowage::verify_mutation_test {

inline const Mutation kContentMutations[] = {
    {"drop_a_sequence", "coverage", always([](const Site& s) { s.group.sequences.pop_back(); })},
    {"drop_a_group", "coverage", always([](const Site& s) { s.micro_batch.groups.pop_back(); })},
    {"drop_a_micro_batch", "coverage",
     always([](const Site& s) { s.plan.micro_batches.pop_back(); })},
    {"drop_a_micro_batch_honestly", "coverage",
     [](const Site& s) {
       s.plan.micro_batches.pop_back();
       restate(s.instance, s.plan);
       s.plan.bound_ms = 0;
       return true;
     }},
    {"repeat_a_sequence", "coverage",
     always([](const Site& s) { s.group.sequences.push_back(s.sequence()); })},
    {"repeat_a_sequence_honestly", "coverage",
     [](const Site& s) {
       s.group.sequences.push_back(s.sequence());
       restate(s.instance, s.plan);
       return true;
     }},
    {"copy_a_sequence_elsewhere", "coverage",
     [](const Site& s) {
       ScatterGroup* other = s.other_group(false);
       if (other == nullptr) return false;
       other->sequences.push_back(s.sequence());
       return true;
     }},
    {"repeat_a_micro_batch", "coverage",
     [](const Site& s) {
       s.plan.micro_batches.emplace_back(ScatterMicroBatch(s.micro_batch));
       return true;
     }},
    {"replace_a_sequence", "coverage",
     [](const Site& s) {
       ScatterGroup* other = s.other_group(false);
       if (other == nullptr) return false;
       s.sequence() = other->sequences[0];
       return true;
     }},

    {"id_after_the_last", "unknown_sequence",
     [](const Site& s) {
       s.sequence() = static_cast<std::int64_t>(s.instance.lengths.size());
       return true;
     }},
    {"id_minus_one", "unknown_sequence", always([](const Site& s) { s.sequence() = -1; })},
    {"id_huge", "unknown_sequence", always([](const Site& s) { s.sequence() = kMaxInt64; })},
    {"id_of_nobody_added", "unknown_sequence",
     always([](const Site& s) { s.group.sequences.push_back(kMaxExact); })},

    {"an_empty_micro_batch", "empty_micro_batch",
     always([](const Site& s) { s.plan.micro_batches.emplace_back(); })},
    {"an_emptied_micro_batch", "empty_micro_batch",
     always([](const Site& s) { s.micro_batch.groups.clear(); })},
    {"an_empty_group", "empty_group",
     always([](const Site& s) { s.micro_batch.groups.emplace_back(); })},
    {"an_emptied_group", "empty_group", always([](const Site& s) { s.group.sequences.clear(); })},

    {"degree_zero", "degree", always([](const Site& s) { s.group.degree = 0; })},
    {"degree_negated", "degree", always([](const Site& s) { s.group.degree *= -1; })},
    {"degree_beyond_the_cluster", "degree",
     always([](const Site& s) { s.group.degree = s.instance.cluster.devices + 1; })},
    {"degree_highest", "degree", always([](const Site& s) { s.group.degree = kMaxInt; })},
    {"degree_lowest", "degree", always([](const Site& s) { s.group.degree = kMinInt; })},
    {"degree_between", "degree",
     [](const Site& s) {
       const auto& degrees = s.instance.cluster.degrees;
       for (int degree = 1; degree < s.instance.cluster.devices; ++degree) {
         if (std::find(degrees.begin(), degrees.end(), degree) != degrees.end()) continue;
         s.group.degree = degree;
         return true;
       }
       return false;
     }},
    {"another_allowed_degree", "time",
     [](const Site& s) {
       const auto& degrees = s.instance.cluster.degrees;
       if (degrees.size() < 2) return false;
       s.group.degree = s.group.degree == degrees[0] ? degrees[1] : degrees[0];
       return true;
     }},

    {"rank_before_the_first", "rank_range",
     always([](const Site& s) { s.group.first_rank = -s.group.degree; })},
    {"rank_after_the_last", "rank_range",
     always([](const Site& s) { s.group.first_rank = s.instance.cluster.devices; })},
    {"rank_highest", "rank_range", always([](const Site& s) { s.group.first_rank = kMaxInt; })},
    {"rank_lowest", "rank_range", always([](const Site& s) { s.group.first_rank = kMinInt; })},
    {"rank_off_by_one", "rank_alignment",
     [](const Site& s) {
       if (!s.instance.cluster.aligned || s.group.degree == 1) return false;
       ++s.group.first_rank;
       return true;
     }},
    {"rank_of_a_neighbour", "rank_overlap",
     [](const Site& s) {
       const ScatterGroup* other = s.other_group(true);
       if (other == nullptr) return false;
       s.group.first_rank = other->first_rank;
       return true;
     }},
    {"a_group_twice", "rank_overlap",
     [](const Site& s) {
       s.micro_batch.groups.emplace_back(ScatterGroup(s.group));
       return true;
     }},
    {"micro_batches_at_once", "rank_overlap",
     [](const Site& s) {
       if (s.plan.micro_batches.size() < 2) return false;
       auto& groups = s.plan.micro_batches[0].groups;
       const auto& more = s.plan.micro_batches[1].groups;
       groups.insert(groups.end(), more.begin(), more.end());
       s.plan.micro_batches.erase(s.plan.micro_batches.begin() + 1);
       restate(s.instance, s.plan);
       s.plan.bound_ms = 0;
       return true;
     }},
    {"more_devices_than_there_are", "devices",
     [](const Site& s) {
       ScatterGroup more = s.group;
       more.degree = s.instance.cluster.devices;
       s.micro_batch.groups.push_back(more);
       return true;
     }},

    {"a_sequence_too_many", "max_sequences_per_group",
     [](const Site& s) {
       while (std::ssize(s.group.sequences) <= s.instance.rules.max_sequences_per_group) {
         s.group.sequences.push_back(s.sequence());
       }
       return true;
     }},
    {"a_sequence_more_than_beside", "equal_sequences",
     [](const Site& s) {
       const ScatterGroup* other = s.other_group(true);
       if (other == nullptr) return false;
       s.instance.rules.equal_sequences = true;
       do {
         s.group.sequences.push_back(s.sequence());
       } while (s.group.sequences.size() == other->sequences.size());
       return true;
     }},
    {"a_micro_batch_less", "micro_batches_multiple_of",
     [](const Site& s) {
       s.plan.micro_batches.pop_back();
       return !s.plan.micro_batches.empty();
     }},
    {"larger_groups_last", "sorted_groups",
     [](const Site& s) {
       if (!s.instance.rules.sorted_groups) return false;
       bool different = false;
       for (ScatterMicroBatch& each : s.plan.micro_batches) {
         for (ScatterGroup& group : each.groups) {
           group.first_rank = s.instance.cluster.devices - group.first_rank - group.degree;
           different = different || group.degree != each.groups.front().degree;
         }
       }
       return different;
     }},

    {"one_token_more", "tokens", always([](const Site& s) { ++s.group.tokens; })},
    {"one_token_less", "tokens", always([](const Site& s) { --s.group.tokens; })},
    {"tokens_highest", "tokens", always([](const Site& s) { s.group.tokens = kMaxInt64; })},
    {"tokens_before_padding", "tokens",
     [](const Site& s) {
       const Tokens padded = s.group.tokens;
       s.group.tokens = 0;
       for (const auto id : s.group.sequences) {
         s.group.tokens += s.instance.lengths[static_cast<std::size_t>(id)];
       }
       return s.group.tokens != padded;
     }},
    {"padded_for_twice_the_degree", "tokens",
     [](const Site& s) {
       pad_rows(s);
       const Tokens padded = s.group.tokens;
       s.group.tokens = 0;
       for (const auto id : s.group.sequences) {
         s.group.tokens += round_up(s.length(id), 2 * sequence_multiple(s.instance, s.form()));
       }
       return s.group.tokens != padded;
     }},
    {"padding_of_the_row_forgotten", "tokens",
     [](const Site& s) {
       pad_rows(s);
       const Tokens padded = s.group.tokens;
       s.group.tokens = 0;
       for (const auto id : s.group.sequences) s.group.tokens += s.length(id);
       return s.group.tokens != padded;
     }},
    {"padding_of_the_row_apart", "cu_seqlens",
     [](const Site& s) {
       pad_rows(s);
       Tokens sum = 0;
       for (const auto id : s.group.sequences) sum += s.length(id);
       if (s.group.cu_seqlens.back() == sum) return false;
       s.group.cu_seqlens.back() = sum;
       return true;
     }},
    {"exchange_two_lengths", "tokens",
     [](const Site& s) {
       ScatterGroup* other = s.other_group(false);
       if (other == nullptr) return false;
       std::int64_t& mine = s.sequence();
       std::int64_t& theirs = other->sequences[0];
       if (s.length(mine) == s.length(theirs)) return false;
       if (row_multiple(s.instance, s.form()) > 1) return false;  // the row may stay as long
       std::swap(mine, theirs);
       return true;
     }},

    {"cu_seqlens_longer", "cu_seqlens",
     always([](const Site& s) { s.group.cu_seqlens.push_back(s.group.tokens); })},
    {"cu_seqlens_shorter", "cu_seqlens",
     always([](const Site& s) { s.group.cu_seqlens.pop_back(); })},
    {"cu_seqlens_gone", "cu_seqlens", always([](const Site& s) { s.group.cu_seqlens.clear(); })},
    {"cu_seqlens_shifted", "cu_seqlens",
     [](const Site& s) {
       for (std::int64_t& end : s.group.cu_seqlens) ++end;
       return true;
     }},
    {"cu_seqlens_off_by_one", "cu_seqlens",
     [](const Site& s) {
       ++s.group.cu_seqlens[s.draw.below(s.group.cu_seqlens.size())];
       return true;
     }},
    {"cu_seqlens_extreme", "cu_seqlens",
     [](const Site& s) {
       s.group.cu_seqlens[s.draw.below(s.group.cu_seqlens.size())] =
           s.draw.coin() ? kMaxInt64 : std::numeric_limits<std::int64_t>::min();
       return true;
     }},
    {"sequences_in_another_order", "cu_seqlens",
     [](const Site& s) {
       auto& ids = s.group.sequences;
       for (std::size_t i = 1; i < ids.size(); ++i) {
         if (s.length(ids[i - 1]) == s.length(ids[i])) continue;
         std::swap(ids[i - 1], ids[i]);
         return true;
       }
       return false;
     }},

};

}  // namespace stowage::verify_mutation_test
