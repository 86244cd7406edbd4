#include "kernels/run/timing/plan_timing.h"

#include <utility>

#include "instances/numeric/numbers.h"
#include "kernels/block/synthetic.h"
#include "kernels/run/ranks/rank_pool.h"
#include "kernels/run/scaled_plan.h"
#include "kernels/run/timing/timing_rounds.h"

namespace stowage::kernels {
namespace {

// Returns the tokens of a batch, sequence after sequence.
std::vector<float> packed(const ScaledPlan& plan, const ScaledBatch& batch, const Source& source,
                          std::int64_t width) {
  std::vector<float> rows(static_cast<std::size_t>(batch.rows.back()) *
                          static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < batch.sequences.size(); ++i) {
    const std::int64_t id = batch.sequences[i];
    fill_tokens(source, id, 0, width,
                std::span(rows).subspan(
                    static_cast<std::size_t>(batch.rows[i] * width),
                    static_cast<std::size_t>(plan.lengths[static_cast<std::size_t>(id)] * width)));
  }
  return rows;
}

}  // namespace

std::vector<PlanTiming> time_plans(std::span<const PackedPlan> plans, const TimingOptions& options,
                                   const TimingProgress& progress, Budget* budget) {
  std::vector<PlanTiming> timings(plans.size());
  std::vector<ScaledPlan> scaled;
  // index of each plan's first batch among all batches
  std::vector<std::size_t> first(plans.size() + 1, 0);
  std::int64_t all = 0;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    scaled.push_back(scale_plan(plans[p], options.block, 1, 0));
    timings[p].problems = scaled[p].problems;
    timings[p].work_flop = scaled[p].work_flop;
    if (!timings[p].problems.list().empty()) scaled[p].batches.clear();
    timings[p].batch_seconds.assign(scaled[p].batches.size(), kInfinity);
    all += static_cast<std::int64_t>(scaled[p].batches.size()) * options.rounds;
    first[p + 1] = first[p] + scaled[p].batches.size();
  }
  TimingRounds rounds(first.back());
  const BlockWeights<float> weights = synthetic_weights(options.block, options.seed);
  ThreadPool pool;
  pool.prepare({options.block, weights});
  std::int64_t done = 0;
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t p = 0; p < plans.size(); ++p) {
      for (std::size_t i = 0; i < scaled[p].batches.size(); ++i) {
        if (budget != nullptr && budget->exhausted()) return timings;
        const ScaledBatch& batch = scaled[p].batches[i];
        const std::vector<float> x =
            packed(scaled[p], batch, {options.seed, Stream::input}, options.block.hidden);
        const std::vector<float> upstream =
            packed(scaled[p], batch, {options.seed, Stream::upstream}, options.block.hidden);
        const GroupWork work{.task = {.cu_seqlens = batch.cu_seqlens,
                                      .tokens = batch.rows.back(),
                                      .ranks = batch.degree},
                             .x = x,
                             .upstream = upstream};
        const GroupOutput out = std::move(pool.run({&work, 1}).front());
        if (out.error) {
          timings[p].problems.add(batch.name + ": rank " + std::to_string(out.error->rank) + ": " +
                                  out.error->message);
          return timings;
        }
        rounds.add(first[p] + i, out.seconds);
        if (progress) progress(++done, all);
      }
    }
    // The first round is complete, so every batch has a time from here on.
    const std::vector<RoundTime> times = rounds.times();
    for (std::size_t p = 0; p < plans.size(); ++p) {
      PlanTiming& timing = timings[p];
      if (!timing.problems.list().empty()) continue;
      timing.complete = true;
      for (std::size_t i = 0; i < timing.batch_seconds.size(); ++i) {
        timing.batch_seconds[i] = times[first[p] + i].seconds;
      }
      std::vector<TimedBatch> measured;
      std::vector<TimedBatch> predicted;
      for (std::size_t i = 0; i < plans[p].batches.size(); ++i) {
        const PackedBatch& batch = plans[p].batches[i];
        measured.push_back({batch.part, timing.batch_seconds[i]});
        predicted.push_back({batch.part, batch.predicted_ms});
      }
      timing.seconds = step_time(plans[p], measured);
      timing.predicted_ms = step_time(plans[p], predicted);
    }
  }
  return timings;
}

}  // namespace stowage::kernels
