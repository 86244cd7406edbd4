#include "cli/commands/run/measured_comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "cli/commands/measure/machine.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/status_line.h"
#include "cli/terminal/unit.h"
#include "instances/numeric/numbers.h"
#include "kernels/run/scaled_instance.h"
#include "kernels/scatter/packed_plan.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

constexpr double kMsPerSecond = 1000;

// Returns the rank of each value in ascending order; equal values share the mean of their ranks.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    for (std::size_t k = first; k <= last; ++k) {
      ranks[order[k]] = static_cast<double>(first + last) / 2;
    }
    first = last + 1;
  }
  return ranks;
}

// Returns Pearson's correlation of the ranks, or nullopt if the ranks of either list are all equal.
std::optional<double> spearman(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() < 2) return std::nullopt;
  const std::vector<double> a = ranks_of(x);
  const std::vector<double> b = ranks_of(y);
  const double mean = static_cast<double>(x.size() - 1) / 2;
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  if (!(aa > 0 && bb > 0)) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

// Returns the groups of quick plans of the step: by `fast`, and with groups of one degree each. The
// packs of the calibration are like them, so that the fit holds for the plans that follow.
std::vector<kernels::PackShape> usual_groups(const ScatterInstance& step, const Budget& budget) {
  std::vector<kernels::PackShape> groups;
  for (const Method& method : methods(step)) {
    if (method.name != "fast" && !method.name.starts_with("homogeneous-")) continue;
    Budget own(budget.limits());
    const Outcome outcome = solve(step, {.method = method.name}, own);
    if (!outcome.plan) continue;
    const auto& plan = std::get<ScatterPlan>(*outcome.plan);
    for (const ScatterMicroBatch& micro_batch : plan.micro_batches) {
      for (const ScatterGroup& group : micro_batch.groups) {
        kernels::PackShape shape{.degree = group.degree, .lengths = {}};
        for (const std::int64_t id : group.sequences) {
          shape.lengths.push_back(step.lengths[at(id)]);
        }
        groups.push_back(std::move(shape));
      }
    }
  }
  return groups;
}

// Returns the length of the longest pack: at least the longest sequence after scaling, so that the
// fit need not extrapolate.
std::int64_t longest_pack(const ScatterInstance& instance, std::int64_t scale) {
  constexpr std::int64_t kUsual = 512;
  Tokens longest = kUsual;
  for (const Tokens length : padded_lengths(instance)) {
    longest = std::max(longest, length / scale + 1);
  }
  return longest;
}

}  // namespace

Result<MeasuredStep> measured_step(Console& console, const ScatterInstance& instance,
                                   const MeasureOptions& options, Budget& budget) {
  const Result<kernels::BlockShape> block = block_for(instance.cluster.degrees);
  if (!block) return block.errors();
  MeasuredStep here;
  here.scale = options.scale ? *options.scale : scale_for(instance, *block, options.work_flop);
  here.block = *block;
  here.options = options;
  const std::vector<int>& degrees = instance.cluster.degrees;
  const ScatterInstance expected =
      kernels::scaled_instance(instance, here.scale, kernels::expected_cost(degrees));
  Result<kernels::Calibration> calibration =
      calibrate_here(console,
                     {.block = *block,
                      .degrees = degrees,
                      .packs = 12,
                      .least_tokens = 16,
                      .most_tokens = longest_pack(instance, here.scale),
                      .like = usual_groups(expected, budget),
                      .repeats = options.rounds,
                      .least_repeats = options.rounds,
                      .seed = options.seed},
                     budget);
  if (!calibration) return calibration.errors();
  here.calibration = *std::move(calibration);
  if (!here.calibration.complete) {
    return InputError{kUsage, "--measure", "was stopped before every pack was measured"};
  }
  here.step = kernels::scaled_instance(instance, here.scale, here.calibration.cost);
  console.info("machine   lengths divided by " + grouped(here.scale) +
               ", costs measured here: held-out packs " +
               percent_text(here.calibration.held_out.mean) + " off on average");
  return here;
}

PlansMeasured time_here(Console& console, const MeasuredStep& here,
                        const std::vector<const ScatterPlan*>& plans, Budget& budget) {
  std::vector<kernels::PackedPlan> packed;
  std::vector<std::size_t> place;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i] == nullptr) continue;
    packed.push_back(packed_plan(here.step, *plans[i]));
    place.push_back(i);
  }
  StatusLine status(console);
  std::vector<kernels::PlanTiming> timings = kernels::time_plans(
      packed, {.block = here.block, .rounds = here.options.rounds, .seed = here.options.seed},
      [&status](std::int64_t done, std::int64_t all) {
        status.tell("batch     " + grouped(done) + " of " + grouped(all));
      },
      &budget);
  PlansMeasured measured;
  measured.timings.resize(plans.size());
  std::vector<double> predicted;
  std::vector<double> seen;
  double errors = 0;
  for (std::size_t k = 0; k < timings.size(); ++k) {
    kernels::PlanTiming& timing = timings[k];
    if (!timing.complete) continue;
    predicted.push_back(timing.predicted_ms);
    seen.push_back(timing.seconds * kMsPerSecond);
    errors += std::abs(predicted.back() / seen.back() - 1);
    measured.timings[place[k]] = std::move(timing);
  }
  if (!seen.empty()) measured.mean_error = errors / static_cast<double>(seen.size());
  if (seen.size() > 1) {
    const auto [fastest, slowest] = std::ranges::minmax(seen);
    measured.spread = slowest / fastest - 1;
  }
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const auto [less, more] = std::minmax(predicted[i], predicted[k]);
      ++measured.pairs;
      if (more < less * (1 + *measured.mean_error)) {
        ++measured.undecided_pairs;
      } else if ((predicted[i] < predicted[k]) == (seen[i] < seen[k])) {
        ++measured.agreed_pairs;
      }
    }
  }
  measured.rank_correlation = spearman(predicted, seen);
  return measured;
}

void tell_measured(Console& console, const PlansMeasured& measured) {
  if (!measured.mean_error) {
    console.info("measured  no plan was timed");
    return;
  }
  std::string text = "measured  predictions are " + percent_text(*measured.mean_error) +
                     " off on average, rank correlation " +
                     (measured.rank_correlation ? significant(*measured.rank_correlation) : "-");
  if (const std::int64_t decided = measured.pairs - measured.undecided_pairs; decided > 0) {
    text += ", " + grouped(measured.agreed_pairs) + " of " + counted(decided, "pair") +
            " that differ by more in the predicted order";
  }
  console.info(text);
  if (measured.spread && *measured.mean_error >= *measured.spread) {
    console.warn("the plans differ by " + percent_text(*measured.spread) +
                 " at most, less than the predictions are off: which plan is faster is not "
                 "decided here; raise --rounds");
  } else if (measured.rank_correlation && *measured.rank_correlation <= 0) {
    console.warn("the order of the predictions is not the order that was measured");
  } else if (2 * measured.undecided_pairs > measured.pairs) {
    console.warn(
        "pairs of plans that are predicted to differ by less than the predictions are off: " +
        grouped(measured.undecided_pairs) + " of " + grouped(measured.pairs) +
        "; which of the two is faster is not decided here; raise --rounds");
  }
}

void write_measured(JsonWriter& json, const MeasuredStep& here, const PlansMeasured& measured) {
  json.key("measured");
  json.begin_object(JsonWriter::Layout::line);
  json.integer("scale", here.scale);
  json.integer("heads", here.block.heads);
  json.number("held_out_mean_error", here.calibration.held_out.mean);
  json.number("held_out_p95_error", here.calibration.held_out.p95);
  write_number(json, "mean_error", measured.mean_error);
  write_number(json, "spread", measured.spread);
  json.integer("pairs", measured.pairs);
  json.integer("undecided_pairs", measured.undecided_pairs);
  json.integer("agreed_pairs", measured.agreed_pairs);
  write_number(json, "rank_correlation", measured.rank_correlation);
  json.end_object();
}

}  // namespace stowage
