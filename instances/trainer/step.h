// The part of a plan that a training loop needs: for every rank and micro-batch, the sequences of
// its packed row, the ranks that share the row, and the weight of its loss.
//
//   const Result<TrainerStep> step = trainer_step(instance, plan);   // of a verified plan
//   if (step) write_somewhere(write_trainer_binary(*step));           // or write_trainer_json
//   const Result<TrainerStep> again = read_trainer_file(bytes);       // either of the two
//
// docs/reference/trainer.md describes the files, their keys and bytes, and the names that
// Megatron-LM and DeepSpeed use for them.
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

// Limit of the table of ranks and micro-batches, and of the ranks of all batches together.
inline constexpr std::int64_t kMaxTrainerSlots = 20'000'000;

// One packed row on the ranks [first_rank, first_rank + degree * stages).
struct TrainerBatch {
  int micro_batch = 0;  // index of the micro-batch, or of the row in its replica
  int group = 0;        // index of the group in its micro-batch, or of the replica
  int first_rank = 0;
  int degree = 1;                        // ranks that share the row: the group's degree, or tp
  int stages = 1;                        // pipeline stages, each on `degree` ranks
  std::vector<std::int32_t> sequences;   // ids, in packing order
  std::vector<std::int32_t> cu_seqlens;  // prefix sums of the lengths without padding
  std::vector<std::int32_t> cu_seqlens_padded;  // of the lengths as they lie in the row
  std::vector<std::int32_t> loss_tokens;        // targets of each sequence; empty: all tokens
  // The instance's name of the micro-batch's recomputation choice; empty if it lists no choices.
  std::string recomputation = {};
  // Share of the activations that can leave for the host which do: model.offload of the instance.
  double offload = 0;

  int ranks() const { return degree * stages; }

  // Returns the targets: the number by which a sum of token losses over this row is divided to give
  // their mean.
  std::int64_t loss_denominator() const;

  // Returns the longest sequence as it lies in the row, in tokens.
  std::int32_t max_seqlen() const;

  // Returns the places in the row at which positions start at 0 again: every entry of
  // cu_seqlens_padded but the last.
  std::vector<std::int32_t> position_resets() const;

  bool operator==(const TrainerBatch&) const = default;
};

struct TrainerStep {
  std::string problem;                // "scatter" or "assign"
  std::string name;                   // of the instance
  std::string instance_hash;          // of the instance (json/document.h)
  int ranks = 0;                      // of the cluster, idle ranks included
  int micro_batches = 0;              // of the rank that has the most
  std::vector<TrainerBatch> batches;  // by micro-batch, then group

  // Returns the targets of all sequences: the number by which a step's sum of token losses is
  // divided.
  std::int64_t loss_denominator() const;

  // Returns the version of the files: 4 if a batch offloads, else 3 if one states a recomputation
  // choice, else 2 if one has loss_tokens, otherwise 1.
  int version() const;

  bool operator==(const TrainerStep&) const = default;
};

// Returns whether plans of the instance's family have rows: those of scatter and assign do.
bool has_trainer_steps(const InstanceView& instance);

// Returns the step that a plan without violations describes. The batch of a group of a scatter plan
// runs on the group's ranks at once, each with a slice of the row. A replica of an assign plan gets
// tp * pp consecutive ranks, stage after stage. Replicas of the largest tp come first, so that with
// powers of two no tensor-parallel group crosses a node. The rows of a replica are its
// micro-batches. Errors: E604 if a row, an id or the whole step does not fit a trainer file, E345
// for rows of chunks, E209 for a plan of another family than the instance or of one without rows.
Result<TrainerStep> trainer_step(const InstanceView& instance, const PlanView& plan);

// Returns a table: for rank r and micro-batch m, at r * micro_batches + m, it has the index of the
// batch that the rank computes then, or -1 if it idles. Ranks and micro-batches beyond those of the
// step are skipped: trainer_faults() reports them. Empty for more slots than kMaxTrainerSlots.
std::vector<std::int32_t> trainer_schedule(const TrainerStep& step);

// Lists of all batches, one behind another: the list of batch b is [offsets[b], offsets[b + 1]) of
// the values.
struct TrainerLists {
  std::vector<std::int32_t> values;
  std::vector<std::int64_t> offsets = {0};

  bool operator==(const TrainerLists&) const = default;
};

// A step as flat arrays, for programs that pass it to another language or a device. Unless stated
// otherwise, a member has one entry per batch, in their order.
struct TrainerArrays {
  std::vector<std::int32_t> micro_batch, group, first_rank, degree, stages;
  std::vector<std::int32_t> max_seqlen;         // of the row, with padding
  std::vector<std::int32_t> tokens;             // of the row, with padding
  std::vector<std::int64_t> loss_denominators;  // targets of the row
  TrainerLists sequences;                       // ids
  TrainerLists loss_tokens;  // targets of each sequence: all its tokens unless the step has others
  TrainerLists cu_seqlens, cu_seqlens_padded;
  std::vector<double> offload;         // share of the activations that leave for the host
  std::vector<std::int32_t> schedule;  // as trainer_schedule()
};

// Returns the arrays. Requires a step without trainer_faults().
TrainerArrays trainer_arrays(const TrainerStep& step);

// Returns every fault of a step: E102 for a text that is not UTF-8, E604 for a step too large for a
// file, E603 for batches out of order or on ranks that do not exist or are taken, and for wrong ids
// or sums.
std::vector<InputError> trainer_faults(const TrainerStep& step);

std::string write_trainer_json(const TrainerStep& step);
void write_trainer(JsonWriter& json, const TrainerStep& step);  // inside another document
std::string write_trainer_binary(const TrainerStep& step);

// Each function checks every value that the file states twice, and trainer_faults(). Errors: E1xx
// and E2xx of a JSON document; E601, E602, E102 and E208 of a binary file; E603, E604.
Result<TrainerStep> read_trainer_json(std::string_view text);
Result<TrainerStep> read_trainer_binary(std::string_view bytes);

// Returns whether the bytes begin like a binary trainer file, which no text does.
bool is_trainer_binary(std::string_view bytes);

// Decides by the first byte: no JSON document begins like a binary file.
Result<TrainerStep> read_trainer_file(std::string_view bytes);

}  // namespace stowage
