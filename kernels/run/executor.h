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
#include "kernels/run/offload/offloaded_stack.h"
#include "kernels/run/packed_plan.h"
#include "kernels/run/ranks/rank_pool.h"
#include "kernels/run/scaled_plan.h"
#include "kernels/run/timing/time_model_error.h"

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
  int repeats = 1;  // timed runs of every batch; the fastest counts
  double output_tolerance = 2e-6;
  double gradient_tolerance = 5e-6;
  // The options of the stacks that run the groups of a plan with offload. Their `repeats` are those
  // above.
  OffloadOptions offload;
  // Maps a stream and a sequence's id to the id of the sequence whose inputs or upstream gradients
  // the data loader delivers. Empty means the identity. Tests of the executor use it: a loader that
  // confuses two sequences must be detected.
  std::function<std::int64_t(Stream, std::int64_t)> loader;
};

// The measurement of one batch.
struct BatchMeasurement {
  int part = 0;  // as in PackedBatch
  int index = 0;
  int degree = 0;
  int ranks = 0;               // the degree, or max_ranks or the pool's ranks if that is less
  std::int64_t sequences = 0;  // number of sequences
  std::int64_t tokens = 0;     // after scaling
  double seconds = 0;          // thread CPU seconds of the busiest rank (GroupOutput::seconds)
  double predicted_ms = 0;     // time_ms of the plan: for unscaled lengths on the modelled cluster
  double longest_share = 1;    // as in PackedBatch
  std::optional<OffloadMeasurement> offload = {};  // of a batch whose activations leave in part
};

// The worst relative L2 error |have - want| / |want| of one kind of tensor.
struct TensorCheck {
  double error = 0;  // NaN or infinity if a result contained one
  double tolerance = 0;
  std::int64_t sequence = -1;  // where the error occurred; -1: nowhere, or a weight
  std::string weight;          // name of the weight tensor, for weight gradients
  std::int64_t compared = 0;   // number of compared tensors; 0: neither passed nor failed

  bool passed() const { return compared > 0 && error <= tolerance; }
  bool failed() const { return compared > 0 && !(error <= tolerance); }
};

struct ExecutionReport {
  std::string part_word;  // as in PackedPlan
  std::string batch_word;
  std::int64_t scale = 1;
  double work_flop = 0;  // work of the plan's batches or of all sequences alone, the larger
  std::vector<BatchMeasurement> batches;

  TensorCheck output;          // per sequence: the block's output
  TensorCheck input_gradient;  // per sequence
  // per weight: the sum over all batches against the sum over sequences alone; compared == 0 if the
  // run was stopped
  TensorCheck weight_gradient;
  // The sum over all tokens of dot(output, upstream), in double: from the batches' outputs, and
  // from the sequences alone. In an incomplete run, the sum over the computed part.
  double loss = 0, reference_loss = 0;
  Problems problems;               // "sequence 12 was never computed"
  std::vector<std::string> notes;  // deviations from the plan in the execution, e.g. fewer ranks

  // false if the budget was exhausted (stopped_by) and some batches did not run
  bool complete = false;
  StopReason stopped_by = StopReason::none;

  // The critical path by step_time(), in CPU seconds: the time of the step if every rank had a core
  // of its own. Communication costs the time of the copies on one machine. nullopt unless the run
  // is complete and every batch of the plan ran.
  std::optional<double> critical_path_s;
  // The same critical path from the plan's time_ms, in ms. It contains all batches of the plan,
  // including those that did not run.
  double predicted_critical_path_ms = 0;
  // With pipeline stages: the end of the simulated 1F1B schedule, of the plan's times in ms and of
  // the measured times in CPU seconds. The latter is nullopt as well if critical_path_s is, or if a
  // batch has several rows.
  std::optional<double> predicted_simulated_ms;
  std::optional<double> simulated_s;
  // Fits of the measured times. The plan's times belong to another machine and to full lengths, so
  // `proportional` is meaningful at scale 1 only: at a larger scale, attention shrinks
  // quadratically. `shape` measures whether sum s^2, sum s and a constant explain the times of
  // these batches.
  ProportionalFit proportional;
  ShapeFit shape;

  // Returns true if every batch ran, the plan had no problems and every error is within its
  // tolerance.
  bool passed() const { return complete && problems.list().empty() && !deviates(); }
  // Returns true if an error exceeds its tolerance.
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
// null; it is checked before every batch and every reference. Options out of range are reported as
// problems. The result is deterministic except for the measured times. The memory is that of the
// largest batch's activations.
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
