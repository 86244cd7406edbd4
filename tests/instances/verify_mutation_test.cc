// Random valid plans with one change each: the verifier must detect each change and name its rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "instances/scatter/verify/verify.h"
#include "instances/violation.h"
#include "tests/instances/mutation.h"
#include "tests/instances/random_scatter_plan.h"
#include "tests/instances/scatter/content_mutations.h"
#include "tests/instances/scatter/mutation_site.h"

namespace stowage::verify_mutation_test {
namespace {

constexpr int kPlans = 200;

// Mutations of room, times and bounds.
const Mutation kTimeMutations[] = {
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

std::vector<Mutation> all_mutations() {
  std::vector<Mutation> all(std::begin(kContentMutations), std::end(kContentMutations));
  all.insert(all.end(), std::begin(kTimeMutations), std::end(kTimeMutations));
  return all;
}

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

INSTANTIATE_TEST_SUITE_P(Verify, Mutate, testing::ValuesIn(all_mutations()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace stowage::verify_mutation_test
