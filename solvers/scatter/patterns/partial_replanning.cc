#include "solvers/scatter/patterns/partial_replanning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "heuristics/scatter/improve/improvement_rounds.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "solvers/scatter/patterns/pattern_dive.h"

namespace stowage {
namespace {

// Share of the remaining time for all micro-batches together.
constexpr double kTogetherShare = 0.1;
// For a step of one micro-batch, whose plan may then be proven optimal.
constexpr double kProofPrecision = 1e-7;
constexpr std::array<double, 4> kRepackSpreads = {0, 1e-3, 1e-2, 5e-2};

std::vector<std::size_t> all_of(const WorkingStep& step) {
  std::vector<std::size_t> all(step.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

// Padding by degree leaves nearly as many lengths as sequences, and as many rows of each master.
ScatterPartialReplanning::ScatterPartialReplanning(ScatterSolveContext& run) : run_(run) {
  if (run.table.pads_by_form() && !run.table.measured())
    merged_ = run.table.merged(ScatterTable::kFewLengths);
}

void ScatterPartialReplanning::alone(bool quickly) {
  const DiveParams& params = run_.params.pattern_dive;
  WorkingStep step = this->step();
  if (step.size() > at(params.batches)) return;
  bool better = false;
  Budget part = run_.share(params.share);
  const double precision = quickly            ? params.quick_precision
                           : step.size() == 1 ? kProofPrecision
                                              : PatternDiveEffort().precision;
  for (std::size_t b = 0; b < step.size() && !part.exhausted(); ++b) {
    // Replanned micro-batches move to the end, where further repeats may improve them.
    std::rotate(step.begin(), step.begin() + 1, step.end());
    for (int again = 0; again < (quickly ? 1 : params.repeats); ++again) {
      const bool gained =
          repack_some(table(), {step.size() - 1}, {.precision = precision}, run_.backend(),
                      run_.options.seed + static_cast<std::uint64_t>(again), step, part);
      if (!gained) break;
      better = true;
    }
  }
  if (step.size() > 1 && step.size() <= kMaxTogether) {
    Budget together = run_.share(kTogetherShare);
    const PatternDiveEffort effort{.precision = quickly ? params.quick_precision
                                                        : PatternDiveEffort().precision};
    better = repack_some(table(), all_of(step), effort, run_.backend(), run_.options.seed, step,
                         together) ||
             better;
  }
  if (better) offer(step, "repack");
}

void ScatterPartialReplanning::reshape() {
  const ProfileSearchParams& params = run_.params.profile_search;
  WorkingStep step = this->step();
  if (step.size() < 2 || step.size() > at(params.batches)) return;
  if (!reshape_) reshape_.emplace(table(), run_.backend());
  Budget part = run_.share(params.share / std::exp2(vain_));
  bool better = false;
  for (int i = 0; i < params.shapes && !part.exhausted(); ++i) {
    better = reshape_->improve(step, run_.options.seed * 1000003 + ++shapes_, part) || better;
  }
  vain_ = better ? 0 : vain_ + 1;
  if (better) offer(step, "reshape");
}

void ScatterPartialReplanning::towards(const std::vector<Ms>& makespans) {
  if (makespans.empty()) return;
  WorkingStep step = this->step();
  Budget part = run_.share(kTogetherShare);
  if (repack_some(table(), all_of(step), {.shape = makespans}, run_.backend(), run_.options.seed,
                  step, part)) {
    offer(step, "repack");
  }
}

void ScatterPartialReplanning::some(std::uint64_t round) {
  const DiveParams& params = run_.params.pattern_dive;
  WorkingStep step = this->step();
  std::mt19937_64 random(run_.options.seed * 1000003 + round);
  bool better = false;
  Budget part = run_.share(params.partial_share);
  for (int i = 0; i < params.partial && !part.exhausted(); ++i) {
    std::ranges::stable_sort(step, {}, &WorkingMicroBatch::makespan);
    const std::size_t count = std::min<std::size_t>(step.size(), 1 + draw(random, 4));
    const std::size_t first = draw(random, step.size() - count + 1);
    std::vector<std::size_t> chosen;
    for (std::size_t b = 0; b < count; ++b) chosen.push_back(first + b);
    if (count > 1 && count <= kMaxTogether &&
        step.size() > at(run_.params.profile_search.batches) && draw(random, 2) == 0) {
      better = reshape_some(table(), chosen, run_.backend(), random(), step, part) || better;
      continue;
    }
    const double spread = kRepackSpreads[draw(random, kRepackSpreads.size())];
    better =
        repack_some(table(), chosen, {.spread = spread}, run_.backend(), random(), step, part) ||
        better;
  }
  if (better) offer(step, "repack");
}

void ScatterPartialReplanning::offer(const WorkingStep& step, const char* by) {
  if (!satisfies_rules(table(), step)) return;
  // A group that is full may have no room with merged lengths. Its form is then any of its degree.
  const auto fits = [&](const WorkingGroup& group) {
    return has_room(run_.table, group_of(run_.table, group.config, group.positions));
  };
  for (const WorkingMicroBatch& batch : step) {
    if (merged_ && !std::ranges::all_of(batch.groups, fits)) return;
  }
  run_.incumbent.offer(to_plan(run_.instance, table(), step), 'L', by);
}

}  // namespace stowage
