#include "kernels/strategy/strategy_report.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/pipeline/passes.h"
#include "kernels/attention/attention_stage.h"
#include "kernels/block/operation/rotary.h"
#include "kernels/block/operation/vocabulary_head.h"
#include "kernels/block/program/block_program.h"
#include "kernels/block/relative_error.h"
#include "kernels/block/synthetic.h"
#include "kernels/strategy/stage_memory.h"

namespace stowage::kernels {
namespace {

void keep_worst(TensorCheck& check, double error, std::int64_t sequence,
                const std::string& weight) {
  ++check.compared;
  if (check.compared > 1 && (error <= check.error || std::isnan(check.error))) return;
  check.error = error;
  check.sequence = sequence;
  check.weight = weight;
}

double error_of(std::span<const float> have, std::span<const float> want) {
  return relative_l2(have, std::vector<double>(want.begin(), want.end()));
}

// Returns the loss of arrays of equal length. If a step's arrays have another length, the
// comparison of outputs reports it.
double loss_of(std::span<const float> y, std::span<const float> upstream) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(y.size(), upstream.size()); ++i)
    sum += double{y[i]} * upstream[i];
  return sum;
}

// Runs all layers of one sequence after another: the reference.
class OneRank {
 public:
  OneRank(const StrategyTask& task, const Budget* budget) : task_(task), budget_(budget) {
    for (int layer = 0; layer < task.all_layers(); ++layer) {
      weights_.push_back(layer_weights(task, layer));
      gradients_.push_back(zero_weights<float>(task.block));
    }
    if (task.vocabulary == 0) return;
    head_ = synthetic_head(task.block.hidden, task.vocabulary, task.seed);
    head_gradient_.resize(head_.size());
  }

  struct Alone {
    std::vector<float> upstream, y, dx;
    double loss = 0;
  };
  // Returns nullopt once the budget is exhausted.
  std::optional<Alone> run(std::int64_t id) {
    const Tokens length = task_.lengths[at(id)];
    const std::int64_t floats = length * task_.block.hidden;
    Alone alone{.upstream = tokens(Stream::upstream, id, floats),
                .y = std::vector<float>(at(floats)),
                .dx = std::vector<float>(at(floats))};
    const std::vector<float> x = tokens(Stream::input, id, floats);
    const std::vector<std::int32_t> cu = {0, static_cast<std::int32_t>(length)};
    LocalAttention attention({.total_q = length,
                              .total_k = length,
                              .heads = task_.block.heads,
                              .kv_heads = task_.block.kv_heads,
                              .head_dim = task_.block.head_dim,
                              .cu_q = cu,
                              .cu_k = cu});
    const RotaryTable rotary(sequence_positions(cu, length), task_.block.head_dim,
                             task_.block.rope_theta);
    const BlockProgram program(task_.block, length, static_cast<int>(weights_.size()),
                               attention.memory());
    SeparateTensors tensors(program.tensors());
    const BlockCall call{.rotary = rotary,
                         .attention = attention,
                         .weights = weights_,
                         .gradients = gradients_,
                         .x = x,
                         .upstream = alone.upstream,
                         .y = alone.y,
                         .dx = alone.dx};
    if (!run_steps(program, program.forward_steps(), tensors, call)) return std::nullopt;
    alone.loss = head_.empty() ? loss_of(alone.y, alone.upstream) : run_head(id, alone);
    if (!run_steps(program, program.backward_steps(), tensors, call)) return std::nullopt;
    return alone;
  }

  const std::vector<float>& head_gradient() const { return head_gradient_; }

  const std::vector<BlockWeights<float>>& gradients() const { return gradients_; }

 private:
  bool run_steps(const BlockProgram& program, const StepRange& steps, TensorMemory& tensors,
                 const BlockCall& call) const {
    for (int step = steps.begin; step < steps.end; ++step) {
      if (budget_ != nullptr && budget_->exhausted()) return false;
      program.run({step, step + 1}, tensors, call);
    }
    return true;
  }

  // Computes all logits of the sequence at once.
  double run_head(std::int64_t id, Alone& alone) {
    const Tokens length = task_.lengths[at(id)];
    std::vector<float> logits(at(length * task_.vocabulary));
    const std::vector<std::int32_t> targets =
        synthetic_targets(task_.seed, id, 0, length, task_.vocabulary);
    return head_chunk({.hidden = task_.block.hidden, .columns = task_.vocabulary}, head_,
                      {.y = alone.y, .targets = targets}, logits, alone.upstream, head_gradient_);
  }

  std::vector<float> tokens(Stream stream, std::int64_t id, std::int64_t floats) const {
    std::vector<float> rows(at(floats));
    fill_tokens({task_.seed, stream}, id, 0, task_.block.hidden, rows);
    return rows;
  }

  const StrategyTask& task_;
  const Budget* budget_;  // may be null
  std::vector<BlockWeights<float>> weights_, gradients_;
  std::vector<float> head_, head_gradient_;
};

// Returns false once the budget is exhausted.
bool compare_tensors(const StrategyTask& task, const StrategyStep& step, const Budget* budget,
                     StrategyReport& report) {
  OneRank one(task, budget);
  double sizes = 0;
  for (std::size_t id = 0; id < task.lengths.size(); ++id) {
    const auto sequence = static_cast<std::int64_t>(id);
    const std::optional<OneRank::Alone> ran = one.run(sequence);
    if (!ran) return false;
    const OneRank::Alone& alone = *ran;
    keep_worst(report.output, error_of(step.y[id], alone.y), sequence, "");
    keep_worst(report.input_gradient, error_of(step.dx[id], alone.dx), sequence, "");
    report.loss += task.vocabulary > 0 ? 0 : loss_of(step.y[id], alone.upstream);
    report.reference_loss += alone.loss;
    sizes += std::abs(alone.loss);
  }
  if (task.vocabulary > 0) {
    report.loss = step.loss;
    keep_worst(report.weight_gradient, error_of(step.head_gradient, one.head_gradient()), -1,
               "head");
  }
  if (report.loss != report.reference_loss) {
    report.loss_error = std::abs(report.loss - report.reference_loss) / sizes;
  }
  for (std::size_t layer = 0; layer < step.gradients.size(); ++layer) {
    for (int t = 0; t < kWeightTensors; ++t) {
      keep_worst(report.weight_gradient,
                 error_of(*step.gradients[layer].tensors()[at(t)],
                          *one.gradients()[layer].tensors()[at(t)]),
                 -1, "layer " + std::to_string(layer) + ' ' + std::string(kWeightNames[at(t)]));
    }
  }
  return true;
}

void compare_memory(const StrategyTask& task, const StrategyStep& step, StrategyReport& report) {
  for (int rank = 0; rank < task.ranks(); ++rank) {
    const int stage = place_of(task, rank).stage;
    const StrategyMemory memory = strategy_memory(task, rank);
    const Bytes seen = step.high_water[at(rank)];
    StageMeasurement& its = report.stages[at(stage)];
    its.planned = std::max(its.planned, memory.planned);
    its.counted = std::max(its.counted, memory.counted);
    its.high_water = std::max(its.high_water, seen);
    const std::string who = "rank " + std::to_string(rank) + " of stage " + std::to_string(stage);
    if (seen != memory.counted) {
      report.problems.add(who + " held " + grouped(seen) +
                          " bytes of activations where its passes " + "need " +
                          grouped(memory.counted));
    }
    if (seen > memory.planned) {
      report.problems.add(who + " held " + grouped(seen) + " bytes of activations, more than " +
                          grouped(memory.planned) + " of the heaviest micro-batch in flight");
    }
    if (step.left[at(rank)] != 0) {
      report.problems.add(who + " kept " + grouped(step.left[at(rank)]) +
                          " bytes of activations behind the step");
    }
  }
}

// Each replica has its own pipeline; the slowest replica determines the time.
double simulated_seconds(const StrategyTask& task, const StrategyStep& step) {
  double end = 0;
  for (const auto& micro_batches : step.seconds) {
    PassPipeline pipeline{
        .stages = task.pp,
        .chunks = task.v,
        .schedule = task.v > 1 ? PassSchedule::interleaved : PassSchedule::one_f_one_b};
    for (const std::vector<PassSeconds>& parts : micro_batches) {
      std::vector<PassTimes>& row = pipeline.rows.emplace_back();
      for (const PassSeconds& pass : parts) {
        row.push_back({.forward = pass.forward, .backward = pass.backward, .weights = 0});
      }
    }
    end = std::max(end, simulate_passes(pipeline).end);
  }
  return end;
}

// Evaluates T10 with the seconds that sum_seconds() computed.
double seconds_by_formula(const StrategyTask& task, const StrategyReport& report) {
  const double m = task.micro_batches();
  const double chunk = 1.0 / task.v;
  double fill = 0;
  double most = 0;
  for (const StageMeasurement& stage : report.stages) {
    const double mean = (stage.forward_s + stage.backward_s) / m;
    fill += chunk * mean;
    most = std::max(most, mean);
  }
  return fill + (m - chunk) * most;
}

// Keeps, pass by pass, the faster time of two runs.
void keep_fastest(StrategyStep& step, const StrategyStep& other) {
  step.exchange_s = std::min(step.exchange_s, other.exchange_s);
  auto& seconds = step.seconds;
  const auto& others = other.seconds;
  for (std::size_t d = 0; d < seconds.size() && d < others.size(); ++d) {
    for (std::size_t b = 0; b < seconds[d].size(); ++b) {
      for (std::size_t part = 0; part < seconds[d][b].size(); ++part) {
        PassSeconds& pass = seconds[d][b][part];
        pass.forward = std::min(pass.forward, others[d][b][part].forward);
        pass.backward = std::min(pass.backward, others[d][b][part].backward);
      }
    }
  }
}

void sum_seconds(const StrategyTask& task, const StrategyStep& step, StrategyReport& report) {
  for (const auto& micro_batches : step.seconds) {
    std::vector<PassSeconds> sums(at(task.pp));
    for (const std::vector<PassSeconds>& parts : micro_batches) {
      for (std::size_t part = 0; part < parts.size(); ++part) {
        sums[part % sums.size()].forward += parts[part].forward;
        sums[part % sums.size()].backward += parts[part].backward;
      }
    }
    for (std::size_t s = 0; s < sums.size(); ++s) {
      report.stages[s].forward_s = std::max(report.stages[s].forward_s, sums[s].forward);
      report.stages[s].backward_s = std::max(report.stages[s].backward_s, sums[s].backward);
    }
  }
}

StopReason reason_of(const Budget* budget) {
  return budget == nullptr ? StopReason::none : budget->stop_reason();
}

// Returns the report before the execution, with the planned values only.
StrategyReport planned_report(const StrategyTask& task, const StrategyExecution& execution) {
  StrategyReport report;
  for (TensorCheck* check : {&report.output, &report.input_gradient, &report.weight_gradient}) {
    check->tolerance = execution.tolerance;
  }
  for (int s = 0; s < task.pp; ++s) {
    report.stages.push_back({.layers = task.layers[at(s)],
                             .recompute = task.recompute[at(s)],
                             .in_flight = static_cast<double>(chunks_in_flight(task, s)) / task.v});
  }
  return report;
}

StrategyReport stopped_report(const StrategyTask& task, const StrategyExecution& execution,
                              StopReason reason) {
  StrategyReport report = planned_report(task, execution);
  for (int rank = 0; rank < task.ranks(); ++rank) {
    const StrategyMemory memory = strategy_memory(task, rank);
    StageMeasurement& its = report.stages[at(place_of(task, rank).stage)];
    its.planned = std::max(its.planned, memory.planned);
    its.counted = std::max(its.counted, memory.counted);
  }
  report.stopped_by = reason;
  return report;
}

}  // namespace

bool StrategyReport::passed() const {
  return complete && problems.list().empty() && output.passed() && input_gradient.passed() &&
         weight_gradient.passed() && loss_error <= output.tolerance;
}

StrategyReport judge_step(const StrategyTask& task, const StrategyStep& step,
                          const StrategyExecution& execution, const Budget* budget) {
  StrategyReport report = planned_report(task, execution);
  if (step.error) {
    report.complete = true;
    report.problems.add("rank " + std::to_string(step.error->rank) + ": " + step.error->message);
    return report;
  }
  if (!compare_tensors(task, step, budget, report)) {
    return stopped_report(task, execution, reason_of(budget));
  }
  compare_memory(task, step, report);
  sum_seconds(task, step, report);
  report.exchange_s = step.exchange_s;
  report.critical_path_s = simulated_seconds(task, step) + step.exchange_s;
  report.formula_s = seconds_by_formula(task, report) + step.exchange_s;
  report.complete = true;
  return report;
}

StrategyReport execute_strategy(const StrategyTask& task, const StrategyRunner& run,
                                const StrategyExecution& execution, const Budget* budget) {
  std::optional<StrategyStep> step;
  for (int r = 0; r < execution.repeats; ++r) {
    StopReason reason = reason_of(budget);
    if (reason == StopReason::none) {
      StrategyStep next = run(task, budget);
      if (step) keep_fastest(next, *step);
      step = std::move(next);
      reason = reason_of(budget);
    }
    if (reason != StopReason::none) return stopped_report(task, execution, reason);
    if (step->error) break;
  }
  return judge_step(task, *step, execution, budget);
}

}  // namespace stowage::kernels
