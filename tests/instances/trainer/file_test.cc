// What the files of a trainer step hold, and what damages them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "instances/json/limits.h"
#include "instances/trainer/step.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/mutate.h"
#include "tests/instances/trainer/written_step.h"

namespace stowage::trainer_step_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

// With recomputation choices, with targets, with both and with neither.
TEST(TrainerStep, VersionFourCarriesTheShareThatLeaves) {
  for (const bool recomputes : {false, true}) {
    for (const bool counted : {false, true}) {
      TrainerStep step = small_step();
      for (TrainerBatch& batch : step.batches) {
        if (recomputes) batch.recomputation = batch.micro_batch == 0 ? "full" : "none";
        if (counted) batch.loss_tokens.assign(batch.sequences.size(), 1);
      }
      const int before = step.version();
      const std::string plain = write_trainer_binary(step);
      step.batches[1].offload = 0.1;  // not exact in binary
      step.batches[2].offload = 1;
      EXPECT_EQ(step.version(), 4);
      EXPECT_THAT(trainer_arrays(step).offload, ElementsAre(0, 0.1, 1));
      expect_comes_back(step);
      const std::string bytes = write_trainer_binary(step);
      for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(read_trainer_file(bytes.substr(0, size))) << size;
      }
      for (const std::size_t at : {56, 60, 62}) {
        std::string broken = bytes;
        ++broken[at];
        EXPECT_FALSE(read_trainer_binary(broken)) << at;
      }
      for (TrainerBatch& batch : step.batches) batch.offload = 0;
      EXPECT_EQ(step.version(), before);
      EXPECT_EQ(write_trainer_binary(step), plain) << "old files keep their bytes";
    }
  }
}

TEST(TrainerStep, SharesThatCannotLeaveAreNamed) {
  const auto fault = [](double share) {
    TrainerStep step = small_step();
    step.batches[1].offload = share;
    return to_string(trainer_faults(step).at(0));
  };
  EXPECT_EQ(fault(1.5), "E603 /batches/1/offload: must be from 0 to 1, is 1.5");
  EXPECT_EQ(fault(-0.5), "E603 /batches/1/offload: must be from 0 to 1, is -0.5");
  EXPECT_EQ(fault(-0.0), "E603 /batches/1/offload: must be from 0 to 1, is -0");
  EXPECT_THAT(fault(std::numeric_limits<double>::quiet_NaN()),
              HasSubstr("E603 /batches/1/offload: must be from 0 to 1, is "));
  EXPECT_THAT(fault(std::numeric_limits<double>::infinity()),
              HasSubstr("E603 /batches/1/offload: must be from 0 to 1, is "));
  TrainerStep step = small_step();
  step.batches[1].offload = 0.25;
  const std::string text = write_trainer_json(step);
  const auto first_error = [&](std::string_view from, std::string_view to) {
    const Result<TrainerStep> read = read_trainer_json(with(text, from, to));
    return read ? std::string("none") : to_string(read.errors()[0]);
  };
  EXPECT_THAT(first_error("\"offload\": 0.25", "\"offload\": 1.25"),
              HasSubstr("E206 /batches/1/offload: must be a number from 0 to 1, is 1.25"));
  EXPECT_THAT(first_error("\"offload\": 0.25", "\"x-offload\": 0.25"),
              HasSubstr("E201 /batches/1/offload: "));
  EXPECT_THAT(first_error("\"version\": 4", "\"version\": 3"),
              HasSubstr("E202 /batches/0/offload: "));
  std::string bytes = write_trainer_binary(step);
  // The header has 64 bytes and each of the three denominators 8. The sign is in the last byte.
  bytes[64 + 3 * 8 + 2 * 8 - 1] = '\xff';
  EXPECT_THAT(to_string(read_trainer_binary(bytes).errors().at(0)),
              HasSubstr("E603 /batches/1/offload: must be from 0 to 1, is "));
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
