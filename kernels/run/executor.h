// Runs a plan and compares its results with every sequence computed alone.
//
//   ExecutionReport report = execute(instance, plan, {}, {}, nullptr);
//   if (!report.passed()) complain(report.problems.list());
//
// For every batch (a group of a scatter plan or a row of an assign plan: packed_plan.h) the
// executor packs the tokens of its sequences by the plan and scatters them over as many ranks as
// the batch's degree. The ranks run one transformer block forward and backward in FP32
// (rank_step.h). The reference is the double-precision block (block/block_reference.h), applied
// to each sequence alone. The loss is the sum over all tokens of dot(output, upstream), where
// upstream is a fixed pseudo-random vector of that sequence and position; gradients are therefore
// sums over tokens, and a step's weight gradient is the sum over its sequences for any division
// into batches. If a plan states the denominators of its rows' mean losses, the executor applies
// them. A row with a wrong denominator then gives wrong gradients (PackedBatch::loss_scale).
//
// The executor treats the plan as untrusted input: an invalid plan yields a report with the
// problems. The report covers the computed results only. verify() checks the limits of memory and
// devices (instances/verify.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "kernels/block/block_weights.h"
#include "kernels/block/synthetic.h"
#include "kernels/exchange/exchange.h"
#include "kernels/run/execution_report.h"
#include "kernels/run/offload/offloaded_stack.h"
#include "kernels/run/packed_plan.h"
#include "kernels/run/ranks/rank_pool.h"
#include "kernels/run/scaled_plan.h"

namespace stowage::kernels {

struct ExecuteOptions {
  // Divisor of the lengths; quotients are rounded up. 0 selects the smallest scale whose work, in
  // FLOP of forward and backward, is at most max_work_flop. The run does this work twice: once for
  // the plan and once for the slower reference.
  std::int64_t scale = 0;
  double max_work_flop = 1e10;
  BlockShape block;
  std::uint64_t seed = 0;  // seed of tokens, upstream gradients and weights
  // A batch of a higher degree runs on this many ranks, and the report notes it.
  int max_ranks = 64;
  // exchange between the ranks of a batch; `chunked` for a sequence that the plan cut
  Exchange exchange;
  RankPool* pool =
      nullptr;      // null: threads of this process. A pool with fewer ranks limits max_ranks
  int threads = 1;  // of each rank, whose kernels share their work; the bits are the same
  int reference_threads = 1;  // that compute the references of several sequences at once
  // Rounds in which the batches and packs like them are timed after the results were checked
  // (timing/batch_times.h). 0: none; the only run of a batch is then its measurement.
  int rounds = 0;
  double output_tolerance = 2e-6;
  double gradient_tolerance = 5e-6;
  OffloadOptions offload;  // of the stacks that run the groups of a plan with offload
  // Maps a stream and a sequence's id to the id of the sequence whose inputs or upstream gradients
  // the data loader delivers. Empty means the identity. Tests of the executor use it: a loader that
  // confuses two sequences must be detected.
  std::function<std::int64_t(Stream, std::int64_t)> loader;
};

struct ExecutionProgress {
  std::int64_t batches_done = 0;
  std::int64_t batches = 0;
  std::int64_t timed = 0;    // runs of the rounds
  std::int64_t timings = 0;  // all runs of the rounds; 0 before they begin
  BatchMeasurement latest;
};

// `progress` may be empty; it is called after every batch, on the caller's thread. `budget` may be
// null; it is checked before every batch and every reference. Options out of range are reported as
// problems. The result is deterministic except for the measured times. The memory is that of the
// largest batch's activations, and with rounds that of a pack, at most 1.4 times as long.
ExecutionReport execute(const PackedPlan& plan, const ExecuteOptions& options,
                        const std::function<void(const ExecutionProgress&)>& progress,
                        Budget* budget);

// Executes the plan of any family whose packed_plan.h is included.
template <class InstanceT, class PlanT>
ExecutionReport execute(const InstanceT& instance, const PlanT& plan, const ExecuteOptions& options,
                        const std::function<void(const ExecutionProgress&)>& progress,
                        Budget* budget) {
  return execute(packed_plan(instance, plan), options, progress, budget);
}

}  // namespace stowage::kernels
