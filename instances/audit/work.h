// The work of a training step as a trainer distributes it, for an audit: which rank runs which
// sequences.
//
//   Result<TrainerWork> work = read_trainer_work(R"({"lengths": [5, 9], "partition": [[0], [1]]})");
//   for (const InputError& error : check(*work)) std::cerr << to_string(error) << '\n';
//
// Not installed.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/units.h"

namespace stowage {

namespace code {
inline constexpr char kAuditedWork[] = "E357";
}

enum class WorkKind {
  rows,              // packed rows of each rank
  partition,         // the samples of each rank, as verl's functions return them
  batch_rebalance,   // micro-batches of each rank, padded to their longest sample
  sample_id_groups,  // the samples of each rank in each micro-batch, as Megatron's schedulers
                     // return
};

// The keys of a document, in the order of WorkKind.
inline constexpr std::array<std::string_view, 4> kWorkKeys = {
    "rows", "partition", "batch_rebalance", "sample_id_groups"};

struct TrainerWork {
  WorkKind kind = WorkKind::rows;
  std::vector<Tokens> lengths;  // 1 to kMaxExact
  // Ids of sequences. Entry [r][i] is row i of rank r; of `partition` each rank has one row; of
  // `sample_id_groups` entry [m][r] is rank r in micro-batch m.
  std::vector<std::vector<std::vector<std::int64_t>>> ids;
};

// A group of a micro-batch: ranks first_rank to first_rank + degree - 1 share its sequences.
struct WorkGroup {
  std::int64_t first_rank = 0;
  std::int64_t degree = 0;
  std::vector<std::int64_t> sequences;
};

// Reads {"lengths": [...], KEY: [...]} with one of kWorkKeys.
Result<TrainerWork> read_trainer_work(std::string_view text);

// Returns every error, with pointers like "/rows/0/1": E205 a length or an id out of range, E357 a
// sequence that does not stand in exactly one row or group, no rank, or ranks that differ in number
// between micro-batches. O(n).
std::vector<InputError> check(const TrainerWork& work);

// Returns the groups of each micro-batch of `sample_id_groups`: neighbouring ranks with equal
// lists. Ranks without sequences have no group.
std::vector<std::vector<WorkGroup>> groups_of(const TrainerWork& work);

}  // namespace stowage
