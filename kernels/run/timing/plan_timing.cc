#include "kernels/run/timing/plan_timing.h"

#include <map>
#include <utility>

#include "instances/numeric/numbers.h"
#include "kernels/run/ranks/rank_pool.h"
#include "kernels/run/scaled_plan.h"
#include "kernels/run/timing/timed_works.h"

namespace stowage::kernels {

std::vector<PlanTiming> time_plans(std::span<const PackedPlan> plans, const TimingOptions& options,
                                   const TimingProgress& progress, Budget* budget) {
  std::vector<PlanTiming> timings(plans.size());
  std::vector<TimedWork> works;
  std::vector<std::vector<std::size_t>> work_of(plans.size());  // of each batch of each plan
  std::map<std::pair<int, std::vector<std::int32_t>>, std::size_t> known;  // by ranks and starts
  std::vector<std::size_t> owner;  // first plan of each work
  std::vector<std::string> names;  // of its batch
  for (std::size_t p = 0; p < plans.size(); ++p) {
    ScaledPlan scaled = scale_plan(plans[p], options.block, 1, 0);
    timings[p].problems = scaled.problems;
    timings[p].work_flop = scaled.work_flop;
    if (!timings[p].problems.list().empty()) continue;
    timings[p].batch_seconds.assign(scaled.batches.size(), kInfinity);
    for (ScaledBatch& batch : scaled.batches) {
      const auto [same, is_new] = known.try_emplace({batch.degree, batch.cu_seqlens}, works.size());
      work_of[p].push_back(same->second);
      if (!is_new) continue;
      works.push_back({.cu_seqlens = std::move(batch.cu_seqlens), .ranks = batch.degree});
      owner.push_back(p);
      names.push_back(std::move(batch.name));
    }
  }
  const auto all = static_cast<std::int64_t>(works.size()) * options.rounds;
  std::int64_t done = 0;
  ThreadPool pool;
  const WorkTimes times = time_works(
      pool, {.block = options.block, .seed = options.seed}, works,
      [&](int round, const TimingRounds&) { return round < options.rounds; },
      [&] {
        if (progress) progress(++done, all);
      },
      budget);
  if (times.failed >= 0) {
    const auto w = static_cast<std::size_t>(times.failed);
    timings[owner[w]].problems.add(names[w] + ": " + times.problem);
  }
  const std::vector<RoundTime> seen = times.rounds.times();
  for (std::size_t p = 0; p < plans.size(); ++p) {
    PlanTiming& timing = timings[p];
    if (!timing.problems.list().empty()) continue;
    std::vector<TimedBatch> measured;
    std::vector<TimedBatch> predicted;
    timing.complete = true;
    for (std::size_t i = 0; i < timing.batch_seconds.size(); ++i) {
      const PackedBatch& batch = plans[p].batches[i];
      timing.batch_seconds[i] = seen[work_of[p][i]].seconds;
      timing.complete = timing.complete && timing.batch_seconds[i] < kInfinity;
      measured.push_back({batch.part, timing.batch_seconds[i]});
      predicted.push_back({batch.part, batch.predicted_ms});
    }
    if (!timing.complete) continue;
    timing.seconds = step_time(plans[p], measured);
    timing.predicted_ms = step_time(plans[p], predicted);
  }
  return timings;
}

}  // namespace stowage::kernels
