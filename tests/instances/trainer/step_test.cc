// Trainer files: they agree with the plan, are read back unchanged, and damage is named.
#include "instances/trainer/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "instances/assign/trainer.h"
#include "instances/scatter/trainer.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/random_assign.h"
#include "tests/instances/random_scatter_plan.h"
#include "tests/instances/trainer/written_step.h"

namespace stowage::trainer_step_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
std::vector<std::int32_t> narrow(const std::vector<T>& wide) {
  return {wide.begin(), wide.end()};
}

Tokens sum(const std::vector<Tokens>& lengths) {
  Tokens total = 0;
  for (const Tokens length : lengths) total += length;
  return total;
}

// Steps that a program has not filled, or has filled wrongly: faults, and no crash.
TEST(TrainerStep, OfNothingIsReadNowhere) {
  const TrainerBatch batch;
  EXPECT_EQ(batch.max_seqlen(), 0);
  EXPECT_EQ(batch.loss_denominator(), 0);
  EXPECT_TRUE(batch.position_resets().empty());
  for (const TrainerStep& step :
       {TrainerStep{}, TrainerStep{.batches = {batch}},
        TrainerStep{.ranks = -1, .micro_batches = -1, .batches = {batch}},
        TrainerStep{.ranks = 1, .micro_batches = 1, .batches = {{.micro_batch = 5}}},
        TrainerStep{.ranks = 1, .micro_batches = 1, .batches = {{.micro_batch = -5}}},
        TrainerStep{.ranks = 2, .micro_batches = 1, .batches = {{.first_rank = -1}}},
        TrainerStep{.ranks = 2, .micro_batches = 1, .batches = {{.first_rank = 5}}}}) {
    EXPECT_FALSE(trainer_faults(step).empty());
    EXPECT_FALSE(write_trainer_json(step).empty());
    EXPECT_FALSE(write_trainer_binary(step).empty());
    EXPECT_EQ(trainer_arrays(step).tokens.size(), step.batches.size());
  }
}

TEST(TrainerStep, SaysWhatTheScatterPlanSays) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Draw draw(seed);
    const ScatterInstance instance = random_scatter_instance(draw);
    const ScatterPlan plan = random_scatter_plan(instance, draw);
    const Result<TrainerStep> step = trainer_step(instance, plan);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->loss_denominator(), sum(instance.lengths));
    EXPECT_EQ(step->micro_batches, static_cast<int>(plan.micro_batches.size()));
    std::size_t b = 0;
    for (const ScatterMicroBatch& micro_batch : plan.micro_batches) {
      for (const ScatterGroup& group : micro_batch.groups) {
        const TrainerBatch& batch = step->batches[b++];
        EXPECT_EQ(batch.sequences, narrow(group.sequences));
        EXPECT_EQ(batch.cu_seqlens_padded, narrow(group.cu_seqlens));
        EXPECT_EQ(batch.first_rank, group.first_rank);
        EXPECT_EQ(batch.ranks(), group.degree);
        for (std::size_t i = 0; i < group.sequences.size(); ++i) {
          EXPECT_EQ(batch.cu_seqlens[i + 1] - batch.cu_seqlens[i],
                    instance.lengths[static_cast<std::size_t>(group.sequences[i])]);
        }
      }
    }
    EXPECT_EQ(b, step->batches.size());
    expect_comes_back(*step);
  }
}

TEST(TrainerStep, SaysWhatTheAssignPlanSays) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Draw draw(seed);
    const AssignInstance instance = random_assign_instance(draw);
    const AssignPlan plan = random_assign_plan(instance, draw);
    const Result<TrainerStep> step = trainer_step(instance, plan);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->loss_denominator(), sum(instance.lengths));
    std::size_t rows = 0;
    for (const AssignReplica& replica : plan.replicas) rows += replica.rows.size();
    EXPECT_EQ(step->batches.size(), rows);
    for (const TrainerBatch& batch : step->batches) {
      const AssignReplica& replica = plan.replicas[static_cast<std::size_t>(batch.group)];
      const AssignRow& row = replica.rows[static_cast<std::size_t>(batch.micro_batch)];
      EXPECT_EQ(batch.sequences, narrow(row.sequences));
      EXPECT_EQ(batch.cu_seqlens_padded, narrow(row.cu_seqlens));
    }
    expect_comes_back(*step);
  }
}

// With targets and without.
TEST(TrainerStep, SaysWhatMicroBatchesRecompute) {
  std::uint64_t told = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Draw draw(seed);
    ScatterInstance instance = random_scatter_instance(draw);
    if (seed % 2 == 0) instance.loss_tokens = instance.lengths;
    const ScatterPlan plan = random_scatter_plan(instance, draw);
    const Result<TrainerStep> step = trainer_step(instance, plan);
    ASSERT_TRUE(step);
    const bool chooses = !instance.model.recomputation.empty();
    EXPECT_EQ(step->version(), chooses ? 3 : seed % 2 == 0 ? 2 : 1);
    for (const TrainerBatch& batch : step->batches) {
      EXPECT_EQ(batch.recomputation,
                plan.micro_batches[static_cast<std::size_t>(batch.micro_batch)].recomputation);
    }
    expect_comes_back(*step);
    if (!chooses) continue;
    ++told;
    TrainerStep other = *step;
    other.batches.back().recomputation.clear();
    EXPECT_EQ(trainer_faults(other).empty(), other.batches.size() == 1) << seed;
    const std::string bytes = write_trainer_binary(*step);
    for (const std::size_t at : {56, 60, 62}) {
      std::string broken = bytes;
      ++broken[at];
      EXPECT_FALSE(read_trainer_binary(broken)) << seed << ' ' << at;
    }
  }
  EXPECT_GT(told, 50U);
}

// Every other step states the number of targets of its sequences.
TEST(TrainerStep, CountsTheTargetsWhereTheInstanceSaysThem) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Draw draw(seed);
    ScatterInstance scatter = random_scatter_instance(draw);
    AssignInstance assign = random_assign_instance(draw);
    assign.constraints.chunks.reset();
    for (const Tokens length : scatter.lengths) scatter.loss_tokens.push_back(length / 2);
    for (const Tokens length : assign.lengths) assign.loss_tokens.push_back(length - 1);
    const auto check = [](const Result<TrainerStep>& step, const std::vector<Tokens>& targets) {
      ASSERT_TRUE(step);
      if (step->problem == "assign" || step->batches.front().recomputation.empty()) {
        EXPECT_EQ(step->version(), step->batches.empty() ? 1 : 2);
      }
      EXPECT_EQ(step->loss_denominator(), sum(targets));
      for (const TrainerBatch& batch : step->batches) {
        std::int64_t all = 0;
        for (std::size_t i = 0; i < batch.sequences.size(); ++i) {
          const auto id = static_cast<std::size_t>(batch.sequences[i]);
          EXPECT_EQ(batch.loss_tokens[i], targets[id]);
          all += targets[id];
        }
        EXPECT_EQ(batch.loss_denominator(), all);
      }
      expect_comes_back(*step);
    };
    check(trainer_step(scatter, random_scatter_plan(scatter, draw)), scatter.loss_tokens);
    check(trainer_step(assign, random_assign_plan(assign, draw)), assign.loss_tokens);
  }
}

TEST(TrainerStep, TargetsThatCannotBeAreNamed) {
  const ScatterInstance instance{
      .cluster = {.devices = 2, .degrees = {1}}, .lengths = {5, 7}, .loss_tokens = {4, 0}};
  const auto group = [](int rank, std::int64_t id, Tokens length) {
    return ScatterGroup{.degree = 1,
                        .first_rank = rank,
                        .sequences = {id},
                        .tokens = length,
                        .cu_seqlens = {0, length}};
  };
  const auto step =
      trainer_step(instance, {.micro_batches = {{.groups = {group(0, 0, 5), group(1, 1, 7)}}}});
  ASSERT_TRUE(step);
  expect_comes_back(*step);
  const auto fault = [&](const auto& change) {
    TrainerStep changed = *step;
    change(changed.batches);
    const std::vector<InputError> faults = trainer_faults(changed);
    return faults.size() == 1 ? to_string(faults[0]) : std::to_string(faults.size()) + " faults";
  };
  using Batches = std::vector<TrainerBatch>;
  EXPECT_EQ(fault([](Batches& b) { b[0].loss_tokens[0] = 6; }),
            "E603 /batches/0/loss_tokens: must be from 0 to the length of the sequence, is 6");
  EXPECT_EQ(fault([](Batches& b) { b[0].loss_tokens[0] = -1; }),
            "E603 /batches/0/loss_tokens: must be from 0 to the length of the sequence, is -1");
  EXPECT_EQ(fault([](Batches& b) { b[1].loss_tokens.clear(); }),
            "E603 /batches/1/loss_tokens: must have an entry per sequence, in all batches or in "
            "none, is 0");
  // A file of version 1 has no targets, and one of version 2 has them.
  const std::string text = write_trainer_json(*step);
  for (const auto& [from, to, code] :
       {std::tuple("\"version\": 2", "\"version\": 1", "E202 /batches/0/loss_tokens"),
        {"\"version\": 2", "\"version\": 5", "E208 /version: must be 1 to 4"},
        {"\"version\": 2", "\"version\": 4", "E201 /batches/0/offload"},
        {"\"version\": 2", "\"version\": 3", "E201 /batches/0/recomputation"},
        {"\"loss_tokens\": [4]", "\"x-loss\": 4", "E201 /batches/0/loss_tokens"},
        {"\"loss_denominator\": 4", "\"loss_denominator\": 5", "E603 /loss_denominator"}}) {
    const auto read = read_trainer_json(with(text, from, to));
    ASSERT_FALSE(read) << to;
    EXPECT_THAT(to_string(read.errors()[0]), HasSubstr(code));
  }
}

TEST(TrainerStep, ReplicasOfTheLargestTpGetTheFirstRanks) {
  AssignInstance instance{.devices = 16,
                          .schemes = {{.name = "1x2", .tp = 1, .pp = 2, .max_tokens = 8},
                                      {.name = "4x2", .tp = 4, .pp = 2, .max_tokens = 8}},
                          .strategies = {{.name = "s", .replicas = {2, 1}}},
                          .lengths = {1, 2, 3}};
  const auto row = [](std::int64_t id, std::int64_t length) {
    return AssignRow{.sequences = {id}, .tokens = length, .cu_seqlens = {0, length}};
  };
  const AssignPlan plan{.strategy = "s",
                        .replicas = {{.scheme = "1x2", .rows = {row(0, 1)}},
                                     {.scheme = "4x2", .rows = {row(1, 2)}},
                                     {.scheme = "1x2", .rows = {row(2, 3)}}}};
  const Result<TrainerStep> step = trainer_step(instance, plan);
  ASSERT_TRUE(step);
  ASSERT_EQ(step->batches.size(), 3U);
  EXPECT_EQ(step->batches[0].first_rank, 8);
  EXPECT_EQ(step->batches[1].first_rank, 0);
  EXPECT_EQ(step->batches[1].ranks(), 8);
  EXPECT_EQ(step->batches[2].first_rank, 10);
  EXPECT_THAT(trainer_schedule(*step),
              ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 2, 2, -1, -1, -1, -1));
}

TEST(TrainerStep, WithoutSequencesHasNoBatch) {
  const ScatterInstance none{.cluster = {.devices = 3, .degrees = {1}}};
  const Result<TrainerStep> step = trainer_step(none, {});
  ASSERT_TRUE(step);
  EXPECT_EQ(step->loss_denominator(), 0);
  expect_comes_back(*step);
}

TEST(TrainerStep, RowsBeyondInt32AreRefused) {
  const std::int64_t half = std::int64_t{1} << 30;
  const ScatterInstance instance{.cluster = {.devices = 1, .degrees = {1}},
                                 .lengths = {half, half}};
  const ScatterPlan plan{.micro_batches = {{.groups = {{.degree = 1,
                                                        .sequences = {0, 1},
                                                        .tokens = 2 * half,
                                                        .cu_seqlens = {0, half, 2 * half}}}}}};
  const Result<TrainerStep> step = trainer_step(instance, plan);
  ASSERT_FALSE(step);
  EXPECT_EQ(
      to_string(step.errors()[0]),
      "E604 sequence 0: must have at most 2147483647 tokens in its row for a trainer file, is "
      "2147483648");
}

TEST(TrainerStep, TooManyRanksTimesMicroBatchesAreRefused) {
  ScatterInstance instance{.cluster = {.devices = 1'000'000, .degrees = {1}}};
  ScatterPlan plan;
  for (std::int64_t i = 0; i <= 20; ++i) {
    instance.lengths.push_back(1);
    plan.micro_batches.push_back(
        {.groups = {{.degree = 1, .sequences = {i}, .tokens = 1, .cu_seqlens = {0, 1}}}});
  }
  const Result<TrainerStep> step = trainer_step(instance, plan);
  ASSERT_FALSE(step);
  EXPECT_THAT(to_string(step.errors()[0]), HasSubstr("E604 "));
}

}  // namespace
}  // namespace stowage::trainer_step_test
