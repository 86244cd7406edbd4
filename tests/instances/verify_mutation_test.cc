// Random valid plans with one change each: the verifier must detect each change and name its rule.
// Longer than 300 lines because it is one table.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <ostream>
#include <string>

#include "instances/scatter/verify/verify.h"
#include "instances/violation.h"
#include "tests/instances/mutation.h"
#include "tests/instances/random_scatter_plan.h"

namespace stowage::verify_mutation_test {
namespace {

constexpr int kPlans = 200;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxInt = std::numeric_limits<int>::max();
constexpr int kMinInt = std::numeric_limits<int>::min();
constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();

// A plan, and the random place of the next mutation.
struct Site {
  ScatterInstance& instance;
  ScatterPlan& plan;
  Draw& draw;
  ScatterMicroBatch& micro_batch;
  ScatterGroup& group;

  std::int64_t& sequence() const { return group.sequences[draw.below(group.sequences.size())]; }
  // Returns the tokens that the sequence has on the group.
  Tokens length(std::int64_t id) const {
    return padded_length(instance, instance.lengths[static_cast<std::size_t>(id)], form());
  }
  GroupForm form() const { return {group.degree, group.exchange}; }
  // Returns another group of the plan, or null.
  ScatterGroup* other_group(bool same_micro_batch) const {
    std::vector<ScatterGroup*> others;
    for (ScatterMicroBatch& each : plan.micro_batches) {
      if (same_micro_batch && &each != &micro_batch) continue;
      for (ScatterGroup& candidate : each.groups) {
        if (&candidate != &group) others.push_back(&candidate);
      }
    }
    return others.empty() ? nullptr : others[draw.below(others.size())];
  }
};

// Gives the instance padding by degree, of sequences and of rows, and the plan what follows.
void pad_rows(const Site& s) {
  s.instance.pad_multiple = 1;
  s.instance.padding = Padding{.sequence_multiple = 3, .row_multiple = 11};
  restate(s.instance, s.plan);
}

struct Mutation {
  std::string name;
  std::string rule;                         // the rule that must be reported
  std::function<bool(const Site&)> change;  // returns false if it does not apply here
};

const Mutation kMutations[] = {
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

    {"too_much_for_one_group", "capacity",
     [](const Site& s) {
       const GroupRoom room = room_of_group(s.instance, s.group.degree);
       Tokens load = s.group.tokens + std::ssize(s.group.sequences) * room.sequence_tokens;
       for (ScatterMicroBatch& each : s.plan.micro_batches) {
         for (ScatterGroup& other : each.groups) {
           while (&other != &s.group && other.sequences.size() > 1 && load <= room.capacity) {
             load += s.length(other.sequences.back()) + room.sequence_tokens;
             s.group.sequences.push_back(other.sequences.back());
             other.sequences.pop_back();
           }
         }
       }
       restate(s.instance, s.plan);
       s.plan.bound_ms = 0;
       return s.group.tokens + std::ssize(s.group.sequences) * room.sequence_tokens > room.capacity;
     }},
    {"too_small_a_degree", "capacity",
     [](const Site& s) {
       for (const int degree : s.instance.cluster.degrees) {
         if (s.group.tokens <= group_capacity(s.instance, degree)) return false;
         s.group.degree = degree;
         restate(s.instance, s.plan);
         s.plan.bound_ms = 0;
         return s.group.tokens > group_capacity(s.instance, degree);
       }
       return false;
     }},

    {"time_a_little_more", "time", always([](const Site& s) { s.group.time_ms *= 1.00001; })},
    {"time_zero", "time", always([](const Site& s) { s.group.time_ms = 0; })},
    {"time_without_the_fixed_cost", "time", always([](const Site& s) {
       s.group.time_ms -= group_overhead_ms(s.instance, s.group.degree);
     })},
    {"table_that_takes_longer", "time",
     [](const Site& s) {
       for (auto& [degree, grid] : s.instance.cost.table) {
         for (Ms& ms : grid.ms) ms *= 1.01;
       }
       return !s.instance.cost.table.empty();
     }},
    {"time_nan", "number", always([](const Site& s) { s.group.time_ms = kNan; })},
    {"time_infinite", "number", always([](const Site& s) { s.group.time_ms = kInf; })},

    {"makespan_a_little_less", "makespan",
     always([](const Site& s) { s.micro_batch.makespan_ms *= 0.99999; })},
    {"makespan_of_all_groups_in_turn", "makespan",
     [](const Site& s) {
       s.micro_batch.makespan_ms = 0;
       for (const ScatterGroup& group : s.micro_batch.groups) {
         s.micro_batch.makespan_ms += group.time_ms;
       }
       return s.micro_batch.groups.size() > 1;
     }},
    {"makespan_zero", "makespan", always([](const Site& s) { s.micro_batch.makespan_ms = 0; })},
    {"makespan_nan", "number", always([](const Site& s) { s.micro_batch.makespan_ms = kNan; })},

    {"recomputation_of_another_name", "recomputation",
     always([](const Site& s) { s.micro_batch.recomputation += 's'; })},
    {"recomputation_that_takes_longer", "time",
     [](const Site& s) {
       for (Recomputation& way : s.instance.model.recomputation) way.linear_factor *= 1.01;
       return !s.instance.model.recomputation.empty();
     }},
    {"recomputation_that_holds_nothing", "capacity",
     [](const Site& s) {
       for (Recomputation& way : s.instance.model.recomputation) {
         way.activation_mib_per_token = s.instance.cluster.memory_mib * 2;
       }
       return !s.instance.model.recomputation.empty();
     }},

    {"objective_a_little_less", "objective",
     always([](const Site& s) { s.plan.objective_ms *= 0.99999; })},
    {"objective_of_one_micro_batch", "objective",
     [](const Site& s) {
       s.plan.objective_ms = s.micro_batch.makespan_ms;
       return s.plan.micro_batches.size() > 1;
     }},
    {"objective_without_the_pipeline", "objective",
     [](const Site& s) {
       Ms sum = 0;
       for (const ScatterMicroBatch& micro_batch : s.plan.micro_batches) {
         sum += micro_batch.makespan_ms;
       }
       s.plan.objective_ms = sum;
       return s.instance.pipeline_stages > 1;
     }},
    {"objective_with_a_stage_more", "objective",
     always([](const Site& s) { ++s.instance.pipeline_stages; })},
    {"objective_negated", "objective", always([](const Site& s) { s.plan.objective_ms *= -1; })},
    {"objective_infinite", "number", always([](const Site& s) { s.plan.objective_ms = kInf; })},

    {"bound_above_the_objective", "bound",
     always([](const Site& s) { s.plan.bound_ms = s.plan.objective_ms * 1.00001; })},
    {"bound_hidden_by_a_false_objective", "bound",
     [](const Site& s) {
       s.plan.bound_ms = s.plan.objective_ms * 1.1;
       s.plan.objective_ms *= 1.2;
       return true;
     }},
    {"bound_negative", "bound", always([](const Site& s) { s.plan.bound_ms = -1; })},
    {"bound_nameless", "bound", always([](const Site& s) { s.plan.bound_by.clear(); })},
    {"bound_nan", "number", always([](const Site& s) { s.plan.bound_ms = kNan; })},
};

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

std::string all_of(const std::vector<Violation>& violations) {
  std::string lines;
  for (const Violation& violation : violations) lines += to_string(violation) + '\n';
  return lines;
}

TEST(RandomPlans, AreValid) {
  for (int seed = 0; seed < 10 * kPlans; ++seed) {
    Draw draw(static_cast<std::uint64_t>(seed));
    ScatterInstance instance = random_scatter_instance(draw);
    ScatterPlan plan = random_scatter_plan(instance, draw);
    instance.rules = rules_kept_by(instance, plan);
    ASSERT_EQ(all_of(verify(instance, plan)), "") << "seed " << seed;

    // The order of the micro-batches and of the groups has no meaning.
    draw.shuffle(plan.micro_batches);
    for (ScatterMicroBatch& micro_batch : plan.micro_batches) draw.shuffle(micro_batch.groups);
    ASSERT_EQ(all_of(verify(instance, plan)), "") << "seed " << seed << ", shuffled";
  }
}

class Mutate : public testing::TestWithParam<Mutation> {};

TEST_P(Mutate, IsCaughtUnderItsRule) {
  const Mutation& mutation = GetParam();
  int applied = 0;
  for (int seed = 0; seed < kPlans; ++seed) {
    Draw draw(static_cast<std::uint64_t>(seed));
    ScatterInstance instance = random_scatter_instance(draw);
    ScatterPlan plan = random_scatter_plan(instance, draw);
    instance.rules = rules_kept_by(instance, plan);
    ScatterMicroBatch& micro_batch = plan.micro_batches[draw.below(plan.micro_batches.size())];
    ScatterGroup& group = micro_batch.groups[draw.below(micro_batch.groups.size())];
    if (!mutation.change({instance, plan, draw, micro_batch, group})) continue;
    ++applied;
    const auto violations = verify(instance, plan);
    const bool named =
        std::any_of(violations.begin(), violations.end(),
                    [&](const Violation& violation) { return violation.rule == mutation.rule; });
    ASSERT_TRUE(named) << "seed " << seed << " needs " << mutation.rule << ", reported:\n"
                       << all_of(violations);
  }
  EXPECT_GE(applied, kPlans / 5) << "the mutation hardly ever applies";
}

INSTANTIATE_TEST_SUITE_P(Verify, Mutate, testing::ValuesIn(kMutations),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace stowage::verify_mutation_test
