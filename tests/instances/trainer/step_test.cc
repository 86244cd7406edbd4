// Trainer files: they agree with the plan, are read back unchanged, and damage is named. Longer
// than 300 lines: every statement of a trainer file is damaged once.
#include "instances/trainer/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <tuple>

#include "instances/assign/trainer.h"
#include "instances/json/limits.h"
#include "instances/scatter/trainer.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/mutate.h"
#include "tests/instances/random_assign.h"
#include "tests/instances/random_scatter_plan.h"

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

// Expects both forms, and the form that read_trainer_file() detects, to be read back unchanged.
void expect_comes_back(const TrainerStep& step) {
  EXPECT_TRUE(trainer_faults(step).empty()) << to_string(trainer_faults(step)[0]);
  for (const std::string& file : {write_trainer_json(step), write_trainer_binary(step)}) {
    const Result<TrainerStep> again = read_trainer_file(file);
    ASSERT_TRUE(again) << to_string(again.errors()[0]);
    EXPECT_EQ(*again, step);
  }
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
        {"\"version\": 2", "\"version\": 4", "E208 /version: must be 1 to 3"},
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

// Two micro-batches on four ranks: a group of two beside one of one, then one of four.
TrainerStep small_step() {
  return {.problem = "scatter",
          .name = "small",
          .instance_hash = "fnv1a64:0",
          .ranks = 4,
          .micro_batches = 2,
          .batches = {{.degree = 2,
                       .sequences = {2, 0},
                       .cu_seqlens = {0, 3, 5},
                       .cu_seqlens_padded = {0, 4, 8}},
                      {.group = 1,
                       .first_rank = 2,
                       .sequences = {3},
                       .cu_seqlens = {0, 4},
                       .cu_seqlens_padded = {0, 4}},
                      {.micro_batch = 1,
                       .degree = 4,
                       .sequences = {1},
                       .cu_seqlens = {0, 7},
                       .cu_seqlens_padded = {0, 8}}}};
}

TEST(TrainerStep, DerivesWhatATrainerReads) {
  const TrainerStep step = small_step();
  EXPECT_EQ(step.loss_denominator(), 16);
  EXPECT_EQ(step.batches[0].loss_denominator(), 5);
  EXPECT_EQ(step.batches[0].max_seqlen(), 4);
  EXPECT_THAT(step.batches[0].position_resets(), ElementsAre(0, 4));
  EXPECT_THAT(trainer_schedule(step), ElementsAre(0, 2, 0, 2, 1, 2, -1, 2));
  expect_comes_back(step);
}

TEST(TrainerStep, FlatArraysHoldTheBatchesOneBehindTheOther) {
  TrainerStep step = small_step();
  const TrainerArrays flat = trainer_arrays(step);
  EXPECT_THAT(flat.micro_batch, ElementsAre(0, 0, 1));
  EXPECT_THAT(flat.group, ElementsAre(0, 1, 0));
  EXPECT_THAT(flat.first_rank, ElementsAre(0, 2, 0));
  EXPECT_THAT(flat.degree, ElementsAre(2, 1, 4));
  EXPECT_THAT(flat.stages, ElementsAre(1, 1, 1));
  EXPECT_THAT(flat.max_seqlen, ElementsAre(4, 4, 8));
  EXPECT_THAT(flat.tokens, ElementsAre(8, 4, 8));
  EXPECT_THAT(flat.loss_denominators, ElementsAre(5, 4, 7));
  EXPECT_EQ(flat.sequences, (TrainerLists{.values = {2, 0, 3, 1}, .offsets = {0, 2, 3, 4}}));
  EXPECT_EQ(flat.loss_tokens, (TrainerLists{.values = {3, 2, 4, 7}, .offsets = {0, 2, 3, 4}}));
  EXPECT_EQ(flat.cu_seqlens,
            (TrainerLists{.values = {0, 3, 5, 0, 4, 0, 7}, .offsets = {0, 3, 5, 7}}));
  EXPECT_EQ(flat.cu_seqlens_padded,
            (TrainerLists{.values = {0, 4, 8, 0, 4, 0, 8}, .offsets = {0, 3, 5, 7}}));
  EXPECT_EQ(flat.schedule, trainer_schedule(step));
  step.batches[0].loss_tokens = {1, 2};
  step.batches[1].loss_tokens = {0};
  step.batches[2].loss_tokens = {7};
  EXPECT_THAT(trainer_arrays(step).loss_tokens.values, ElementsAre(1, 2, 0, 7));
  EXPECT_THAT(trainer_arrays(step).loss_denominators, ElementsAre(3, 0, 7));
}

TEST(TrainerStep, FaultsAreNamed) {
  struct Damage {
    const char* pointer;
    std::function<void(TrainerStep&)> make;
  };
  const std::vector<Damage> damages = {
      {"/problem", [](auto& s) { s.problem = "layout"; }},
      {"/ranks", [](auto& s) { s.ranks = 0; }},
      {"/ranks", [](auto& s) { s.ranks = kMaxDevices + 1; }},
      {"/micro_batches", [](auto& s) { s.micro_batches = -1; }},
      {"/micro_batches", [](auto& s) { s.micro_batches = 3; }},
      {"/micro_batches", [](auto& s) { s.micro_batches = 20'000'000; }},
      {"/batches/2/micro_batch", [](auto& s) { s.micro_batches = 1; }},
      {"/batches/0/micro_batch", [](auto& s) { s.batches[0].micro_batch = -1; }},
      {"/batches/1/group", [](auto& s) { s.batches[1].group = 0; }},
      {"/batches/0/group", [](auto& s) { s.batches[0].group = -1; }},
      {"/batches/1/group", [](auto& s) { s.batches[1].group = s.ranks; }},
      {"/batches/0/degree", [](auto& s) { s.batches[0].degree = 0; }},
      {"/batches/0/degree", [](auto& s) { s.batches[0].degree = 5; }},
      {"/batches/0/stages", [](auto& s) { s.batches[0].stages = 0; }},
      {"/batches/0/stages", [](auto& s) { s.batches[0].stages = 2'000'000'000; }},
      {"/batches/0/first_rank", [](auto& s) { s.batches[0].stages = 3; }},
      {"/batches/0/first_rank", [](auto& s) { s.batches[0].first_rank = -1; }},
      {"/batches/1/first_rank", [](auto& s) { s.batches[1].first_rank = 4; }},
      {"/batches/1/first_rank", [](auto& s) { s.batches[1].first_rank = 1; }},
      {"/batches/1/first_rank",
       [](auto& s) { s.batches[1].first_rank = std::numeric_limits<int>::max(); }},
      {"/batches/1/sequences", [](auto& s) { s.batches[1].sequences = {}; }},
      {"/batches/1/sequences", [](auto& s) { s.batches[1].sequences = {0}; }},
      {"/batches/1/sequences", [](auto& s) { s.batches[1].sequences = {4}; }},
      {"/batches/1/sequences", [](auto& s) { s.batches[1].sequences = {-1}; }},
      {"/batches/0/cu_seqlens",
       [](auto& s) {
         s.batches[0].cu_seqlens = {0, 3};
       }},
      {"/batches/0/cu_seqlens",
       [](auto& s) {
         s.batches[0].cu_seqlens = {0, 3, 3};
       }},
      {"/batches/0/cu_seqlens",
       [](auto& s) {
         s.batches[0].cu_seqlens = {0, 3, 2};
       }},
      {"/batches/0/cu_seqlens",
       [](auto& s) {
         s.batches[0].cu_seqlens = {1, 3, 4};
       }},
      {"/batches/0/cu_seqlens_padded",
       [](auto& s) {
         s.batches[0].cu_seqlens_padded = {0, 2, 8};
       }},
      {"/batches/0/cu_seqlens_padded", [](auto& s) { s.batches[0].cu_seqlens_padded = {}; }},
  };
  for (const Damage& damage : damages) {
    TrainerStep step = small_step();
    damage.make(step);
    const std::vector<InputError> faults = trainer_faults(step);
    ASSERT_FALSE(faults.empty()) << damage.pointer;
    EXPECT_EQ(faults[0].pointer, damage.pointer) << to_string(faults[0]);
    EXPECT_THAT(faults[0].code, testing::AnyOf("E603", "E604"));
    EXPECT_THAT(faults[0].message, testing::StartsWith("must "));
  }
}

TEST(TrainerStep, TheJsonMustNotContradictItself) {
  const std::string text = write_trainer_json(small_step());
  const auto first_error = [&](std::string_view from, std::string_view to) {
    const Result<TrainerStep> read = read_trainer_json(with(text, from, to));
    return read ? std::string("none") : to_string(read.errors()[0]);
  };
  EXPECT_EQ(first_error("\"loss_denominator\": 16", "\"loss_denominator\": 17"),
            "E603 /loss_denominator: must be the targets of all batches, 16, is 17");
  EXPECT_EQ(first_error("\"loss_denominator\": 5", "\"loss_denominator\": 6"),
            "E603 /batches/*/loss_denominator/0: must be 5 as the batches say, is 6");
  EXPECT_THAT(first_error("\"max_seqlen\": 8", "\"max_seqlen\": 9"),
              HasSubstr("E603 /batches/*/max_seqlen/2: must be 8"));
  EXPECT_THAT(first_error("\"position_resets\": [0, 4]", "\"position_resets\": [0, 3]"),
              HasSubstr("E603 /batches/*/position_resets/1: "));
  EXPECT_THAT(first_error("\"position_resets\": [0, 4]", "\"position_resets\": [0]"),
              HasSubstr("E603 /batches/0/position_resets: "));
  EXPECT_THAT(first_error("\"ranks\": [0, 1]", "\"ranks\": [0, 2]"),
              HasSubstr("E603 /batches/0/ranks: "));
  EXPECT_THAT(first_error("\"ranks\": [0, 1]", "\"ranks\": []"),
              HasSubstr("E603 /batches/0/ranks: "));
  EXPECT_THAT(first_error("[-1, 2]", "[1, 2]"), HasSubstr("E603 /schedule/6: "));
  EXPECT_THAT(first_error("[-1, 2]", "[-1]"), HasSubstr("E603 /schedule/3: "));
  EXPECT_THAT(first_error("stowage/trainer", "stowage/plan"), HasSubstr("E207 /format: "));
  EXPECT_THAT(first_error("\"problem\": \"scatter\"", "\"problem\": \"layout\""),
              HasSubstr("E209 /problem: "));
  EXPECT_THAT(first_error("\"group\": 0", "\"gruop\": 0"), HasSubstr("did you mean \"group\""));
  EXPECT_THAT(first_error("\"cu_seqlens\": [0, 3, 5]", "\"cu_seqlens\": [0, 3, 2147483648]"),
              HasSubstr("E205 /batches/0/cu_seqlens/2: "));
}

TEST(TrainerStep, DamagedFilesAreRefusedOrSound) {
  std::mt19937_64 random(7);
  const std::string binary = write_trainer_binary(small_step());
  const std::string json = write_trainer_json(small_step());
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = i % 2 == 0 ? mutate(json, random) : binary;
    if (i % 2 == 1) {  // sizes do not change, so that the damage is behind the header
      for (std::uint64_t n = 1 + draw(random, 3); n > 0; --n) {
        bytes[draw(random, bytes.size())] = static_cast<char>(draw(random, 256));
      }
    }
    const Result<TrainerStep> read = read_trainer_file(bytes);
    if (!read) {
      ASSERT_FALSE(read.errors().empty());
      continue;
    }
    ++accepted;
    ASSERT_TRUE(trainer_faults(*read).empty());
    const Result<TrainerStep> again = read_trainer_binary(write_trainer_binary(*read));
    ASSERT_TRUE(again);
    ASSERT_EQ(*again, *read);
  }
  EXPECT_GT(accepted, 20);
  EXPECT_LT(accepted, 10000);
}

TEST(TrainerStep, TextsOfABinaryFileAreUtf8) {
  TrainerStep step = small_step();
  step.name = "caf\xC3\xA9\x01";  // JSON escapes a control character
  step.instance_hash = "hash";
  std::string bytes = write_trainer_binary(step);
  ASSERT_TRUE(read_trainer_binary(bytes));
  EXPECT_EQ(*read_trainer_json(write_trainer_json(step)), step);
  const auto error = [&](std::size_t from_end, char byte) {
    std::string damaged = bytes;
    damaged[bytes.size() - from_end] = byte;
    return to_string(read_trainer_binary(damaged).errors().at(0));
  };
  const auto place = [&](std::size_t from_end) { return std::to_string(bytes.size() - from_end); };
  EXPECT_EQ(error(5, '\x9B'), "E102 byte " + place(5) + ": must be UTF-8 text, is byte 155");
  EXPECT_EQ(error(6, 'x'), "E102 byte " + place(7) + ": must be UTF-8 text, is byte 195");
  EXPECT_EQ(error(1, '\xFF'), "E102 byte " + place(1) + ": must be UTF-8 text, is byte 255");
}

// No file could store them: a binary file would be written and could not be read.
TEST(TrainerStep, TextsInMemoryAreUtf8) {
  const auto told = [](auto change) {
    TrainerStep step = small_step();
    change(step);
    const std::vector<InputError> faults = trainer_faults(step);
    return faults.size() == 1 ? faults[0].code + ' ' + faults[0].pointer : "";
  };
  EXPECT_EQ(told([](TrainerStep& step) { step.name = "n\xff"; }), "E102 /name");
  EXPECT_EQ(told([](TrainerStep& step) { step.instance_hash = "\xc0\xaf"; }),
            "E102 /instance_hash");
  EXPECT_EQ(told([](TrainerStep& step) {
              for (TrainerBatch& batch : step.batches) batch.recomputation = "full";
              step.batches[2].recomputation = "\xed\xa0\x80";
            }),
            "E102 /batches/2/recomputation");
}

TEST(TrainerStep, TheLongestOfWrongSumsDoesNotOverflow) {
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  TrainerBatch batch;
  batch.cu_seqlens_padded = {8, kLeast, std::numeric_limits<std::int32_t>::max()};
  EXPECT_EQ(batch.max_seqlen(), std::numeric_limits<std::int32_t>::max());
  batch.cu_seqlens_padded = {8, kLeast};
  EXPECT_EQ(batch.max_seqlen(), 0);
}

// No memory is allocated and nothing overflows: trainer_faults() reports the error.
TEST(TrainerStep, AScheduleOfTooManySlotsIsEmpty) {
  TrainerStep step = small_step();
  step.micro_batches = std::numeric_limits<int>::max();
  EXPECT_THAT(trainer_schedule(step), testing::IsEmpty());
  EXPECT_FALSE(trainer_faults(step).empty());
  step = small_step();
  step.batches[0].degree = std::numeric_limits<int>::max();
  step.batches[0].stages = std::numeric_limits<int>::max();
  EXPECT_EQ(trainer_schedule(step).size(), 8U);
  EXPECT_FALSE(trainer_faults(step).empty());
}

TEST(TrainerStep, EveryCutOfABinaryFileIsRefused) {
  const std::string binary = write_trainer_binary(small_step());
  for (std::size_t size = 0; size < binary.size(); ++size) {
    EXPECT_FALSE(read_trainer_file(binary.substr(0, size))) << size;
  }
  EXPECT_FALSE(read_trainer_file(binary + '\0'));
}

}  // namespace
}  // namespace stowage::trainer_step_test
