// Runs a plan and compares what it computes with every sequence computed alone.
//
//   ExecutionReport report = execute(instance, plan, {}, {}, nullptr);
//   if (!report.passed()) complain(report.problems.list());
//
// Every batch (a group of a scatter plan, a row of an assign plan: packed_plan.h) really packs its
// sequences' tokens as the plan says, scatters them over as many ranks as its degree, and runs one
// transformer block forward and backward in FP32 (group_share.h). The truth is the double-precision
// block (block/block_reference.h) applied to each sequence alone. The loss is the sum over all
// tokens of dot(output, upstream), where upstream is a fixed pseudo-random vector of that sequence
// and position; gradients are therefore sums over tokens, and a step's weight gradient is the sum
// over its sequences whatever the batches. A plan that states how its rows' losses are averaged
// over tokens has its denominators applied: a row that would count too much or too little gives
// wrong gradients (PackedBatch::loss_scale).
//
// The executor does not know who made the plan and trusts nothing in it: a plan that is wrong in
// any way yields a report that says so. It judges what is computed, not whether the plan respects
// memory and devices: that is verify()'s part (instances/verify.h).
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
#include "kernels/run/packed_plan.h"
#include "kernels/run/rank_pool.h"
#include "kernels/run/scaled_plan.h"
#include "kernels/run/time_fit.h"

namespace stowage::kernels {

struct ExecuteOptions {
  // Lengths are divided by `scale`, rounded up; 0 picks the smallest scale that keeps the work, in
  // FLOP of forward and backward, within max_work_flop. The same work is done twice: once by the
  // plan and once by the (slower) reference.
  std::int64_t scale = 0;
  double max_work_flop = 1e10;
  BlockShape block;
  std::uint64_t seed = 0;  // of tokens, upstream gradients and weights
  // Batches of a higher degree run on this many ranks, which is noted.
  int max_ranks = 64;
  Exchange exchange;  // between the ranks of a batch; `chunked` for a sequence that the plan cut
  RankPool* pool =
      nullptr;      // null: threads of this process. A pool of fewer ranks limits max_ranks
  int repeats = 1;  // timed runs of every batch; the fastest counts
  double output_tolerance = 2e-6;
  double gradient_tolerance = 5e-6;
  // What the data loader hands over when asked for a sequence's inputs or upstream gradients: the
  // id of the sequence it really delivers. Empty means itself. For tests of the executor: a loader
  // that confuses two sequences must be found out.
  std::function<std::int64_t(Stream, std::int64_t)> loader;
};

// One batch as it ran.
struct BatchMeasurement {
  int part = 0;  // as in PackedBatch
  int index = 0;
  int degree = 0;
  int ranks = 0;               // degree, or max_ranks or the pool's ranks if that is less
  std::int64_t sequences = 0;  // how many it holds
  std::int64_t tokens = 0;     // after scaling
  double seconds = 0;          // thread CPU seconds of its busiest rank (GroupOutput::seconds)
  double predicted_ms = 0;     // time_ms of the plan: unscaled lengths on the modelled cluster
  double longest_share = 1;    // as in PackedBatch
};

// The worst relative L2 error |have - want| / |want| of one kind of tensor.
struct TensorCheck {
  double error = 0;  // NaN or infinity if that is what came out
  double tolerance = 0;
  std::int64_t sequence = -1;  // where it occurred; -1: nowhere, or a weight
  std::string weight;          // which weight tensor, for weight gradients
  std::int64_t compared = 0;   // how many tensors were compared; 0: neither passed nor failed

  bool passed() const { return compared > 0 && error <= tolerance; }
  bool failed() const { return compared > 0 && !(error <= tolerance); }
};

struct ExecutionReport {
  std::string part_word;  // as in PackedPlan
  std::string batch_word;
  std::int64_t scale = 1;
  double work_flop = 0;  // of the plan's batches or of the sequences alone, whichever is more
  std::vector<BatchMeasurement> batches;

  TensorCheck output;           // per sequence: the block's output
  TensorCheck input_gradient;   // per sequence
  TensorCheck weight_gradient;  // per weight: summed over all batches against the sum over
                                // sequences alone; compared == 0 if the run was stopped
  // The sum over all tokens of dot(output, upstream), in double: of the batches' outputs, and of
  // the sequences alone. Where a run is not complete, of what was computed.
  double loss = 0, reference_loss = 0;
  Problems problems;               // "sequence 12 was never computed"
  std::vector<std::string> notes;  // what was executed otherwise than planned, e.g. fewer ranks

  bool complete = false;  // false: the budget ran out (stopped_by) and some batches did not run
  StopReason stopped_by = StopReason::none;

  // The CPU seconds the step would take if every rank had a core of its own: the slowest measured
  // batch of each micro-batch, summed; or, of the slowest replica, all batches and once more for
  // every further stage the longest. Communication counts as the copying it is on one machine.
  // Nothing unless the run is complete and every batch of the plan ran.
  std::optional<double> critical_path_s;
  // The same of the plan's time_ms: of all its batches, whether they ran or not.
  double predicted_critical_path_ms = 0;
  // The plan's times belong to another machine and to full lengths; at scale > 1 even their shape
  // differs (attention shrinks with the square). Read `proportional` as a curiosity there, and
  // `shape` as the answer to whether sum s^2, sum s and a constant explain these batches.
  ProportionalFit proportional;
  ShapeFit shape;

  // Everything ran, nothing was wrong with the plan and every error is within its tolerance.
  bool passed() const { return complete && problems.list().empty() && !deviates(); }
  // Something that was compared is beyond its tolerance.
  bool deviates() const {
    return output.failed() || input_gradient.failed() || weight_gradient.failed();
  }
};

struct ExecutionProgress {
  std::int64_t batches_done = 0;
  std::int64_t batches = 0;
  BatchMeasurement latest;
};

// `progress` may be empty; it is called after every batch, on the caller's thread. `budget` may be
// null; it is asked before every batch and every reference. Options out of range are reported as
// problems. Deterministic except for the measured times. Memory: the largest batch's activations.
ExecutionReport execute(const PackedPlan& plan, const ExecuteOptions& options,
                        const std::function<void(const ExecutionProgress&)>& progress,
                        Budget* budget);

// The same of the plan of any family whose packed_plan.h is included.
template <class InstanceT, class PlanT>
ExecutionReport execute(const InstanceT& instance, const PlanT& plan, const ExecuteOptions& options,
                        const std::function<void(const ExecutionProgress&)>& progress,
                        Budget* budget) {
  return execute(packed_plan(instance, plan), options, progress, budget);
}

}  // namespace stowage::kernels
