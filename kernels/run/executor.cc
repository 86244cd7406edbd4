#include "kernels/run/executor.h"

#include <algorithm>
#include <exception>
#include <map>
#include <span>

#include "kernels/block/relative_error.h"
#include "kernels/run/lone_sequences.h"
#include "kernels/run/notes.h"

namespace stowage::kernels {
namespace {

// Keeps the largest error; NaN counts as larger than any number.
void record(TensorCheck& check, double error, std::int64_t sequence, const std::string& weight) {
  ++check.compared;
  if (check.compared > 1 && (error <= check.error || check.error != check.error)) return;
  check.error = error;
  check.sequence = sequence;
  check.weight = weight;
}

class Execution {
 public:
  Execution(const PackedPlan& packed, const ExecuteOptions& options, ScaledPlan plan,
            Budget* budget)
      : packed_(packed),
        options_(options),
        plan_(std::move(plan)),
        budget_(budget),
        weights_(synthetic_weights(options.block, options.seed)),
        times_computed_(plan_.lengths.size()),
        alone_({.block = options.block, .seed = options.seed, .threads = options.reference_threads},
               weights_, plan_.lengths),
        pool_(options.pool != nullptr ? *options.pool : threads_) {
    for (const LayerKind& kind : plan_.layers) {
      layers_.push_back({.kind = kind,
                         .gradient = zero_weights<float>(options.block),
                         .want_gradient = zero_weights<double>(options.block),
                         .losses = std::vector<Loss>(plan_.lengths.size())});
    }
    pool_.prepare({options.block, weights_});
    report_.part_word = packed.part_word;
    report_.batch_word = packed.batch_word;
    report_.scale = plan_.scale;
    report_.work_flop = plan_.work_flop;
    report_.problems = plan_.problems;
    report_.notes = packed.notes;
    add_notes(plan_, options.offload.blocks, report_.notes);
    report_.output.tolerance = options.output_tolerance;
    report_.input_gradient.tolerance = options.gradient_tolerance;
    report_.weight_gradient.tolerance = options.gradient_tolerance;
  }

  ExecutionReport run(const std::function<void(const ExecutionProgress&)>& progress) {
    ExecutionProgress state{.batches = static_cast<std::int64_t>(plan_.batches.size())};
    for (std::size_t next = 0; next < plan_.batches.size() && !stopped();) {
      const std::size_t count = side_by_side(next);
      const std::vector<Prepared> wave = run_wave(next, count);
      next += count;
      for (const Prepared& batch : wave) {
        if (stopped() || !judge(batch)) break;
        ++state.batches_done;
        if (!report_.batches.empty()) state.latest = report_.batches.back();
        if (progress) progress(state);
      }
    }
    if (!stopped()) check_coverage();
    if (!stopped()) check_weights();
    if (!stopped()) time_batches(progress, state);
    report_.complete = report_.stopped_by == StopReason::none;
    if (!report_.complete) {
      report_.problems.add("stopped after " + std::to_string(state.batches_done) + " of " +
                           std::to_string(state.batches) + ' ' + std::string(packed_.batch_word) +
                           "s: the budget is exhausted");
    }
    summarise();
    return std::move(report_);
  }

 private:
  // Once true, the result stays true, so that the reason in the report does not change.
  bool stopped() {
    if (budget_ != nullptr && report_.stopped_by == StopReason::none) {
      report_.stopped_by = budget_->stop_reason();
    }
    return report_.stopped_by != StopReason::none;
  }

  // Returns the data of a batch as the loader packs them: every sequence's tokens, concatenated.
  std::vector<float> packed(const ScaledBatch& batch, Stream stream) const {
    std::vector<float> rows;
    rows.reserve(batch.rows.back() * static_cast<std::size_t>(options_.block.hidden));
    for (const std::int64_t id : batch.sequences) {
      const std::int64_t content = options_.loader ? options_.loader(stream, id) : id;
      const std::vector<float> sequence = sequence_tokens({options_.seed, stream}, content,
                                                          plan_.lengths[id], options_.block.hidden);
      rows.insert(rows.end(), sequence.begin(), sequence.end());
    }
    if (stream == Stream::upstream && batch.loss_scale != 1) {
      for (float& value : rows) value = static_cast<float>(value * batch.loss_scale);
    }
    return rows;
  }

  // The results of one kind of layer.
  struct Loss {
    double computed = 0, alone = 0;
  };
  struct Layer {
    LayerKind kind;
    BlockWeights<float> gradient;        // weight gradient of the plan
    BlockWeights<double> want_gradient;  // weight gradient of the reference
    std::vector<Loss> losses;            // losses by sequence id
  };

  // Computes the references of sequences and calls visit(i, result) for the i-th of them. A weight
  // gradient is added once, however often a plan computes the sequence. Returns false if the budget
  // is exhausted.
  template <class Visit>
  bool alone(std::span<const std::int64_t> ids, Layer& layer, Visit visit) {
    return alone_.compute(
        ids, layer.kind.window, [this] { return stopped(); },
        [&](std::size_t i, const LoneResult& found) {
          if (times_computed_[ids[i]] <= 1) add(layer.want_gradient, found.result.gradient);
          layer.losses[ids[i]].alone = found.loss;
          visit(i, found.result);
        });
  }

  template <class T>
  static void add(BlockWeights<T>& sum, const BlockWeights<T>& part) {
    for (int t = 0; t < kWeightTensors; ++t) {
      std::vector<T>& to = *sum.tensors()[t];
      const std::vector<T>& from = *part.tensors()[t];
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    }
  }

  int ranks_of(const ScaledBatch& batch) const {
    return std::min({batch.degree, options_.max_ranks, pool_.ranks().value_or(batch.degree)});
  }

  Exchange exchange_of(const ScaledBatch& batch) const {
    if (batch.cuts.empty()) return options_.exchange;
    return {.kind = ExchangeKind::chunked, .retained = batch.retained, .cuts = batch.cuts};
  }

  // Returns the number of batches from `first` on that fit the pool at the same time; at least 1.
  std::size_t side_by_side(std::size_t first) const {
    std::size_t last = first + 1;
    const int most = pool_.ranks().value_or(0);
    int taken = ranks_of(plan_.batches[first]);
    while (last < plan_.batches.size()) {
      taken += ranks_of(plan_.batches[last]);
      if (taken > most) break;
      ++last;
    }
    return last - first;
  }

  // A batch, its packed inputs and its outputs, one for each kind of layer.
  struct Prepared {
    const ScaledBatch& batch;
    std::vector<float> x, upstream;
    std::vector<GroupOutput> out;
  };

  std::vector<Prepared> run_wave(std::size_t first, std::size_t count) {
    std::vector<Prepared> wave;
    std::vector<GroupWork> groups;
    wave.reserve(count);
    for (std::size_t i = first; i < first + count; ++i) {
      const ScaledBatch& batch = plan_.batches[i];
      wave.push_back({.batch = batch,
                      .x = packed(batch, Stream::input),
                      .upstream = packed(batch, Stream::upstream),
                      .out = {}});
      groups.push_back({.task = {.exchange = exchange_of(batch),
                                 .cu_seqlens = batch.cu_seqlens,
                                 .tokens = batch.rows.back(),
                                 .ranks = ranks_of(batch),
                                 .threads = options_.threads},
                        .x = wave.back().x,
                        .upstream = wave.back().upstream});
    }
    for (const Layer& layer : layers_) {
      for (GroupWork& group : groups) group.task.window = layer.kind.window;
      std::vector<GroupOutput> outputs = pool_.run(groups);
      for (std::size_t i = 0; i < count; ++i) wave[i].out.push_back(std::move(outputs[i]));
    }
    return wave;
  }

  // Compares the sequences of an executed batch with the reference. Returns false if the budget is
  // exhausted during the comparison.
  bool judge(const Prepared& prepared) {
    const ScaledBatch& batch = prepared.batch;
    BatchMeasurement measured{.part = batch.part,
                              .index = batch.index,
                              .degree = batch.degree,
                              .ranks = ranks_of(batch),
                              .sequences = static_cast<std::int64_t>(batch.sequences.size()),
                              .tokens = batch.rows.back(),
                              .predicted_ms = batch.predicted_ms,
                              .longest_share = batch.longest_share};
    if (measured.ranks < batch.degree) {
      report_.notes.push_back(batch.name + ": degree " + std::to_string(batch.degree) +
                              " was executed on " + std::to_string(measured.ranks) +
                              (measured.ranks == 1 ? " rank" : " ranks"));
    }
    for (const GroupOutput& out : prepared.out) {
      if (!out.error) continue;
      report_.problems.add(batch.name + ": rank " + std::to_string(out.error->rank) + ": " +
                           out.error->message);
      return true;
    }
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      measured.seconds += layers_[l].kind.share * prepared.out[l].seconds;
      add(layers_[l].gradient, prepared.out[l].gradient);
    }
    if (batch.offload) measured.offload = offloaded(prepared);
    report_.batches.push_back(measured);
    for (const std::int64_t id : batch.sequences) ++times_computed_[id];
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      if (!compare(prepared, prepared.out[l], layers_[l])) return false;
    }
    return true;
  }

  // Runs the batch through a stack of blocks, of which a share leaves for the host.
  std::optional<OffloadMeasurement> offloaded(const Prepared& prepared) {
    const ScaledBatch& batch = prepared.batch;
    BlockShape block = options_.block;
    block.window = layers_.front().kind.window;
    try {
      const OffloadMeasurement seen =
          run_offloaded(weights_, {block, batch.cu_seqlens, prepared.x, prepared.upstream},
                        *batch.offload, options_.offload);
      if (!seen.same_bits) {
        report_.problems.add(batch.name + ": offload changes outputs or gradients");
      }
      return seen;
    } catch (const std::exception& error) {
      report_.problems.add(batch.name + ": offload: " + error.what());
      return std::nullopt;
    }
  }

  // Compares the outputs of one kind of layer with the reference.
  bool compare(const Prepared& prepared, const GroupOutput& out, Layer& layer) {
    const ScaledBatch& batch = prepared.batch;
    return alone(batch.sequences, layer, [&](std::size_t i, const BlockResult& want) {
      const std::int64_t id = batch.sequences[i];
      const auto rows = [&](const std::vector<float>& all) {
        const std::int64_t width = options_.block.hidden;
        return std::span(all).subspan(batch.rows[i] * width,
                                      (batch.rows[i + 1] - batch.rows[i]) * width);
      };
      layer.losses[id].computed += loss_of(rows(out.y), rows(prepared.upstream));
      record(report_.output, relative_l2(rows(out.y), want.y), id, "");
      record(report_.input_gradient, relative_l2(rows(out.dx), want.dx), id, "");
    });
  }

  // Times the batches in rounds with packs like them, and takes both times into the report. A
  // budget that ends the rounds leaves the times of the only run.
  void time_batches(const std::function<void(const ExecutionProgress&)>& progress,
                    ExecutionProgress state) {
    if (options_.rounds < 1 || !report_.problems.list().empty()) return;
    BatchTimesOptions timing;
    timing.model.block = options_.block;
    timing.model.layers = plan_.layers;
    timing.model.seed = options_.seed;
    timing.model.threads = options_.threads;
    timing.exchange = options_.exchange;
    timing.rounds = options_.rounds;
    std::vector<int> ranks;
    for (const ScaledBatch& batch : plan_.batches) ranks.push_back(ranks_of(batch));
    const BatchTimes times = batch_times(
        pool_, timing, plan_, ranks,
        [&](std::int64_t done, std::int64_t all) {
          state.timed = done;
          state.timings = all;
          if (progress) progress(state);
        },
        budget_);
    if (!times.problem.empty()) report_.problems.add(times.problem);
    report_.take(times);
  }

  void check_coverage() {
    for (std::size_t i = 0; i < times_computed_.size(); ++i) {
      const auto id = static_cast<std::int64_t>(i);
      if (times_computed_[i] > 1) {
        report_.problems.add("sequence " + std::to_string(id) + " was computed " +
                             std::to_string(times_computed_[i]) + " times");
      }
      if (times_computed_[i] > 0) continue;
      report_.problems.add("sequence " + std::to_string(id) + " was never computed");
      if (stopped()) return;
      // the reference gradient includes this sequence too
      for (Layer& layer : layers_) alone({&id, 1}, layer, [](std::size_t, const BlockResult&) {});
    }
  }

  void check_weights() {
    for (const Layer& layer : layers_) {
      for (int t = 0; t < kWeightTensors; ++t) {
        record(report_.weight_gradient,
               relative_l2(*layer.gradient.tensors()[t], *layer.want_gradient.tensors()[t]), -1,
               std::string(kWeightNames[t]));
      }
    }
  }

  void summarise() {
    // Sums in the order of the ids, so that plans with equal results have equal losses.
    for (const Layer& layer : layers_) {
      for (const Loss& loss : layer.losses) {
        report_.loss += layer.kind.share * loss.computed;
        report_.reference_loss += layer.kind.share * loss.alone;
      }
    }
    report_.add_up(packed_);
  }

  const PackedPlan& packed_;
  const ExecuteOptions& options_;
  const ScaledPlan plan_;
  Budget* budget_;
  const BlockWeights<float> weights_;
  std::vector<Layer> layers_;
  std::vector<int> times_computed_;  // number of computations by sequence id
  LoneSequences alone_;
  ThreadPool threads_;
  RankPool& pool_;
  ExecutionReport report_;
};

}  // namespace

ExecutionReport execute(const PackedPlan& plan, const ExecuteOptions& options,
                        const std::function<void(const ExecutionProgress&)>& progress,
                        Budget* budget) {
  ExecutionReport refused;
  refused.add_up(plan);
  for (std::string& problem : check(options.block)) refused.problems.add(std::move(problem));
  if (options.max_ranks < 1 || options.max_ranks > 1024) {
    refused.problems.add("max_ranks must be from 1 to 1024, is " +
                         std::to_string(options.max_ranks));
  }
  for (const auto& [name, threads] : {std::pair{"threads", options.threads},
                                      std::pair{"reference_threads", options.reference_threads}}) {
    if (threads >= 1 && threads <= 1024) continue;
    refused.problems.add(std::string(name) + " must be from 1 to 1024, is " +
                         std::to_string(threads));
  }
  if (options.rounds < 0) {
    refused.problems.add("rounds must be at least 0, is " + std::to_string(options.rounds));
  }
  for (std::string& problem : check(options.exchange)) refused.problems.add(std::move(problem));
  for (std::string& problem : check(options.offload)) refused.problems.add(std::move(problem));
  if (!refused.problems.list().empty()) return refused;
  ScaledPlan scaled = scale_plan(plan, options.block, options.scale, options.max_work_flop);
  if (scaled.lengths.size() != plan.lengths.size()) {  // the instance itself is invalid
    refused.problems = scaled.problems;
    return refused;
  }
  return Execution(plan, options, std::move(scaled), budget).run(progress);
}

}  // namespace stowage::kernels
