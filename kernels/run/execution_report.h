// The report of an execution: errors, times and problems (executor.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "kernels/problems.h"
#include "kernels/run/offload/offloaded_stack.h"
#include "kernels/run/packed_plan.h"
#include "kernels/run/timing/batch_times.h"

namespace stowage::kernels {

// The measurement of one batch.
struct BatchMeasurement {
  int part = 0;  // as in PackedBatch
  int index = 0;
  int degree = 0;
  int ranks = 0;               // the degree, or max_ranks or the pool's ranks if that is less
  std::int64_t sequences = 0;  // number of sequences
  std::int64_t tokens = 0;     // after scaling
  double seconds = 0;          // thread CPU seconds of the busiest rank (GroupOutput::seconds)
  // the seconds that packs like the batch predict on this machine (BatchTime::predicted_s)
  std::optional<double> predicted_here_s = {};
  double predicted_ms = 0;   // time_ms of the plan: for unscaled lengths on the modelled cluster
  double longest_share = 1;  // as in PackedBatch
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
  // The critical path of the times that packs predict here, in CPU seconds. nullopt if
  // critical_path_s is, without rounds, or if a batch has no prediction.
  std::optional<double> predicted_here_s;
  int packs = 0;  // timed packs
  // The median and the largest deviation of a batch's prediction; nullopt without predictions.
  std::optional<double> median_deviation, largest_deviation;
  // Returns |predicted - measured| / measured of the critical path here, or nullopt without both.
  std::optional<double> step_deviation() const;

  // Takes the times of the batches and of their predictions. Does nothing if a batch has no time.
  void take(const BatchTimes& times);
  // Sets the times of the step from those of the plan and of the batches.
  void add_up(const PackedPlan& plan);

  // Returns true if every batch ran, the plan had no problems and every error is within its
  // tolerance.
  bool passed() const { return complete && problems.list().empty() && !deviates(); }
  // Returns true if an error exceeds its tolerance.
  bool deviates() const {
    return output.failed() || input_gradient.failed() || weight_gradient.failed();
  }
};

}  // namespace stowage::kernels
