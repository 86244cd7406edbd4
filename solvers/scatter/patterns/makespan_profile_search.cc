#include "solvers/scatter/patterns/makespan_profile_search.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "heuristics/scatter/improve/anneal.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/improve/sub_step.h"
#include "instances/numeric/random.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

// kPromises: relative gains that a new shape aims at. kHopeful: largest ratio of a new plan to the
// present one for further improvement.
constexpr std::array<double, 3> kPromises = {2e-3, 6e-3, 1.5e-2};
constexpr double kHopeful = 1.05;
constexpr std::int64_t kMoves = 200000;  // annealing moves
constexpr double kHot = 3e-4;
constexpr double kPrecision = 1e-3;
constexpr int kPricingRounds = 40;  // larger LPs are assumed infeasible
constexpr int kDraws = 40;          // draws until the longest sequence fits
constexpr std::size_t kEvenDraws = 1000;
constexpr int kMaxShapes = 60;  // shapes until the patterns are dropped

}  // namespace

ScatterProfileSearch::ScatterProfileSearch(const ScatterTable& table, MilpBackend backend)
    : table_(table), backend_(backend) {}

// Returns the present number of micro-batches, one less or one more. Numbers that were feasible
// more often are more likely.
std::size_t ScatterProfileSearch::draw_count(std::size_t present, std::mt19937_64& random) const {
  std::array<std::uint32_t, 3> weights = {};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (present + i < 2) continue;
    const auto found = tallies_.find(present + i - 1);
    const Tally tally = found == tallies_.end() ? Tally{} : found->second;
    weights[i] = static_cast<std::uint32_t>(60 * (1 + tally.possible) / (1 + tally.tried));
  }
  std::size_t dice = draw(random, std::max(1U, weights[0] + weights[1] + weights[2]));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (dice < weights[i]) return present + i - 1;
    dice -= weights[i];
  }
  return present;
}

// Draws `count` makespans, longest first, that sum up to `sum`. The part beyond the overheads is
// split at random. Returns nullopt if the overheads leave too little time, or if the longest
// sequence fits none of the makespans.
std::optional<std::vector<Ms>> ScatterProfileSearch::draw_shape(std::size_t count, Ms sum,
                                                                std::mt19937_64& random) const {
  const Ms least = table_.least_overhead();
  const Ms rest = sum - static_cast<double>(count) * least;
  if (rest <= table_.total_area() / table_.devices()) return std::nullopt;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<Ms> shape;
    double all = 0;
    for (std::size_t b = 0; b < count; ++b) {
      shape.push_back(static_cast<double>(1 + draw(random, 1000)));
      all += shape.back();
    }
    for (Ms& makespan : shape) makespan = least + rest * makespan / all;
    std::ranges::sort(shape, std::greater<>{});
    if (shape.front() >= table_.alone(0)) return shape;
  }
  return std::nullopt;
}

// Draws makespans of a step of `time` ms in a pipeline, where the longest makespan counts several
// times. Draws the longest one and how much the others are shorter. Returns nullopt as
// draw_shape().
std::optional<std::vector<Ms>> ScatterProfileSearch::draw_even_shape(
    std::size_t count, Ms time, std::mt19937_64& random) const {
  const Ms least = table_.least_overhead();
  const auto batches = static_cast<double>(count);
  for (int i = 0; i < kDraws; ++i) {
    std::vector<Ms> shape{static_cast<double>(kEvenDraws)};
    const std::size_t spread = 1 + stowage::draw(random, kEvenDraws);
    double all = shape.front();
    for (std::size_t b = 1; b < count; ++b) {
      shape.push_back(static_cast<double>(kEvenDraws - stowage::draw(random, spread)));
      all += shape.back();
    }
    // The time beyond the overheads, if the longest makespan is in this part, or elsewhere.
    Ms scale = (time - (batches + table_.longest_weight()) * least) /
               (all + table_.longest_weight() * shape.front());
    if (least + scale * shape.front() < table_.longest_elsewhere()) {
      scale = (time - table_.longest_weight() * table_.longest_elsewhere() - batches * least) / all;
    }
    if (scale * all <= table_.total_area() / table_.devices()) continue;
    for (Ms& makespan : shape) makespan = least + scale * makespan;
    std::ranges::sort(shape, std::greater<>{});
    if (shape.front() >= table_.alone(0)) return shape;
  }
  return std::nullopt;
}

bool ScatterProfileSearch::improve(WorkingStep& step, std::uint64_t seed, Budget& budget) {
  if (step.empty()) return false;
  std::mt19937_64 random(seed);
  const Ms before = step_ms(table_, step);
  const Ms sum = before * (1 - kPromises[draw(random, kPromises.size())]);
  const std::size_t count = draw_count(step.size(), random);
  Tally& tally = tallies_[count];
  ++tally.tried;
  const std::optional<std::vector<Ms>> shape = table_.longest_weight() > 0
                                                   ? draw_even_shape(count, sum, random)
                                                   : draw_shape(count, sum, random);
  if (!shape) return false;
  if (!repack_ || ++shapes_ > kMaxShapes) {
    repack_.emplace(table_, backend_);
    shapes_ = 0;
  }
  repack_->learn(step);
  budget.count_nodes(1);
  const ScatterPatternDive::Relaxation found = repack_->relax(*shape, budget, kPricingRounds);
  if (!found.solved || found.shortage > 1e-7) return false;
  ++tally.possible;
  budget.count_nodes(1);
  std::optional<WorkingStep> planned = repack_->plan(*shape, budget);
  if (planned) planned = repaired(table_, *std::move(planned));
  if (!planned) return false;
  anneal(table_, *planned, {.steps = kMoves, .hot = kHot}, random(), budget);
  if (step_ms(table_, *planned) > before * kHopeful) return false;
  std::vector<std::size_t> all(planned->size());
  std::iota(all.begin(), all.end(), 0);
  repack_some(table_, all, {.precision = kPrecision}, backend_, random(), *planned, budget);
  if (!(step_ms(table_, *planned) < before * kPlannerFaster)) return false;
  step = *std::move(planned);
  return true;
}

bool reshape_some(const ScatterTable& table, std::vector<std::size_t> chosen, MilpBackend backend,
                  std::uint64_t seed, WorkingStep& step, Budget& budget) {
  const SubStep some(table, std::move(chosen), step);
  const ScatterTable part = some.part();
  WorkingStep own = some.own(step);
  if (!ScatterProfileSearch(part, backend).improve(own, seed, budget)) return false;
  if (!some.may_replace(own)) return false;
  some.replace(std::move(own), step);
  return true;
}

}  // namespace stowage
