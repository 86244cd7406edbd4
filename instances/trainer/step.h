// What a training loop needs of a plan: for every rank and micro-batch, the sequences of its packed
// row, the ranks that share the row, and the weight of its loss.
//
//   const Result<TrainerStep> step = trainer_step(instance, plan);   // of a verified plan
//   if (step) write_somewhere(write_trainer_binary(*step));           // or write_trainer_json
//   const Result<TrainerStep> again = read_trainer_file(bytes);       // either of the two
//
// The files, their keys and bytes, and what Megatron-LM and DeepSpeed call the same things stand in
// instances/trainer/README.md.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "instances/instance.h"
#include "instances/result.h"

namespace stowage {

class JsonWriter;

// Elements of the table of ranks and micro-batches; also of the ranks of all batches together.
inline constexpr std::int64_t kMaxTrainerSlots = 20'000'000;

// One packed row on the ranks [first_rank, first_rank + degree * stages).
struct TrainerBatch {
  int micro_batch = 0;  // when: index of the micro-batch, or of the row in its replica
  int group = 0;        // who: index of the group in its micro-batch, or of the replica
  int first_rank = 0;
  int degree = 1;                        // ranks that share the row: the group's degree, or tp
  int stages = 1;                        // pipeline stages, each on `degree` ranks
  std::vector<std::int32_t> sequences;   // ids, in packing order
  std::vector<std::int32_t> cu_seqlens;  // prefix sums of the lengths without padding
  std::vector<std::int32_t> cu_seqlens_padded;  // of the lengths as they lie in the row
  std::vector<std::int32_t> loss_tokens;        // targets of each sequence; empty: all its tokens
  // What the micro-batch recomputes, as the instance calls it; empty where it lists no choice.
  std::string recomputation = {};

  int ranks() const { return degree * stages; }

  // Targets: what a sum of token losses over this row is divided by to give their mean.
  std::int64_t loss_denominator() const;

  // The longest sequence as it lies in the row.
  std::int32_t max_seqlen() const;

  // Where in the row the positions start at 0 again: every entry of cu_seqlens_padded but the last.
  std::vector<std::int32_t> position_resets() const;

  bool operator==(const TrainerBatch&) const = default;
};

struct TrainerStep {
  std::string problem;                // "scatter" or "assign"
  std::string name;                   // of the instance
  std::string instance_hash;          // of the instance (json/document.h)
  int ranks = 0;                      // of the cluster, idle ones included
  int micro_batches = 0;              // of the rank that has most
  std::vector<TrainerBatch> batches;  // by micro-batch, then group

  // Targets of all sequences: what a step's sum of token losses is divided by.
  std::int64_t loss_denominator() const;

  // Of the files: 3 if a batch says what it recomputes, else 2 if one has loss_tokens, otherwise 1.
  int version() const;

  bool operator==(const TrainerStep&) const = default;
};

// Whether plans of the instance's family have rows: those of scatter and assign.
bool has_trainer_steps(const InstanceView& instance);

// The step that a plan without violations describes. The batch of a group of a scatter plan runs on
// the group's ranks at once, each with a slice of the row. A replica of an assign plan gets tp * pp
// consecutive ranks, stage after stage, replicas of the largest tp first (so that with powers of
// two no tensor-parallel group straddles a node), and its rows are its micro-batches. Errors: E604
// when a row, an id or the whole step does not fit a trainer file, E345 for rows of chunks, E209
// for a plan of another family than the instance or of one without rows.
Result<TrainerStep> trainer_step(const InstanceView& instance, const PlanView& plan);

// For rank r and micro-batch m, at r * micro_batches + m: the index of the batch that the rank
// computes then, or -1 when it idles. Ranks and micro-batches that the step has not are passed
// over: trainer_faults() names them. Empty for more slots than kMaxTrainerSlots.
std::vector<std::int32_t> trainer_schedule(const TrainerStep& step);

// Lists of all batches, one behind the other: that of batch b is [offsets[b], offsets[b + 1]) of
// the values.
struct TrainerLists {
  std::vector<std::int32_t> values;
  std::vector<std::int64_t> offsets = {0};

  bool operator==(const TrainerLists&) const = default;
};

// A step as flat arrays, for those who hand it to another language or a device: B entries of B
// batches, in their order, where nothing else is said.
struct TrainerArrays {
  std::vector<std::int32_t> micro_batch, group, first_rank, degree, stages;
  std::vector<std::int32_t> max_seqlen;         // of the row, with padding
  std::vector<std::int32_t> tokens;             // of the row, with padding
  std::vector<std::int64_t> loss_denominators;  // targets of the row
  TrainerLists sequences;                       // ids
  TrainerLists
      loss_tokens;  // targets of each sequence: all its tokens where the step says no others
  TrainerLists cu_seqlens, cu_seqlens_padded;
  std::vector<std::int32_t> schedule;  // as trainer_schedule()
};

// Requires a step without trainer_faults().
TrainerArrays trainer_arrays(const TrainerStep& step);

// Everything that is wrong with a step: E102 a text that is not UTF-8, E604 a step too large for a
// file, E603 batches out of order or on ranks that do not exist or are taken, wrong ids or sums.
std::vector<InputError> trainer_faults(const TrainerStep& step);

std::string write_trainer_json(const TrainerStep& step);
void write_trainer(JsonWriter& json, const TrainerStep& step);  // the same inside of a document
std::string write_trainer_binary(const TrainerStep& step);

// Each checks everything that the file states twice, and trainer_faults(). Errors: E1xx and E2xx of
// a JSON document; E601, E602, E102 and E208 of a binary one; E603, E604.
Result<TrainerStep> read_trainer_json(std::string_view text);
Result<TrainerStep> read_trainer_binary(std::string_view bytes);

// Whether the bytes begin as a binary trainer file does, and no text.
bool is_trainer_binary(std::string_view bytes);

// By the first byte: no JSON document begins like a binary one.
Result<TrainerStep> read_trainer_file(std::string_view bytes);

}  // namespace stowage
