#include "heuristics/scatter/construct/multistart.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/starts/chunk_starts.h"
#include "heuristics/scatter/construct/starts/packed_starts.h"
#include "heuristics/scatter/construct/starts/start_field.h"
#include "heuristics/scatter/construct/step_coarsening.h"
#include "heuristics/scatter/improve/anneal.h"
#include "heuristics/scatter/improve/batch_lns.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/published/bytescale.h"
#include "heuristics/scatter/published/homogeneous.h"
#include "heuristics/scatter/published/skrull.h"
#include "heuristics/scatter/uniform_recomputation.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Sequences; larger steps keep their aggregated plan as the only start.
constexpr int kMaxRaced = 20000;
constexpr double kEvenMoves = 0.7;  // share of the moves if groups hold equal sequence counts
constexpr double kAmple = 8;        // sequences per device above which no extra moves are given
constexpr double kMaxScarce = 3.2;
constexpr double kCoarseMoves = 2;  // moves of the small step per move of the large step
constexpr double kVeryScarce = 3;   // scarcity() above which windows have too few sequences to gain
constexpr double kScarceHeat = 0.7;  // factor of the first temperature then
// AnnealEffort::price_from of every other start in the first round.
constexpr double kFirstPriceFrom = 0.3;

// Returns the factor of moves per sequence: 1 up to 512 sequences, then falling.
double thrift(const ScatterTable& table) {
  return std::min(1.0, std::sqrt(512.0 / std::max(1, table.size())));
}

// Returns the annealing moves per sequence of this step if `moves` are asked for.
double moves_each(const ScatterTable& table, double moves) {
  return moves * std::min(table.size() / 128.0, thrift(table));
}

// Returns a factor (>= 1) of the moves per sequence. It is larger if there are few sequences per
// device, since hundreds of groups then compete for each sequence. It is at most the number of
// micro-batches, because a step of one micro-batch is decided by its few longest sequences.
double scarcity(const ScatterTable& table) {
  if (table.size() < 128) return 1;
  const double places =
      std::pow(std::clamp(kAmple * table.devices() / table.size(), 1.0, kMaxScarce), 1.5);
  return std::min(places, std::max(1.0, static_cast<double>(fewest_micro_batches(table))));
}

}  // namespace

std::int64_t anneal_steps(const ScatterTable& table, double moves) {
  const double size = table.size();
  double steps = size * moves_each(table, moves);
  steps *= scarcity(table);
  // With equal sequence counts all moves are swaps, which take longer.
  if (table.equal_sequences()) steps *= kEvenMoves;
  return static_cast<std::int64_t>(steps);
}

static std::optional<WorkingStep> joint_passing(const ScatterTable& table,
                                                const JointEffort& effort, std::uint64_t seed,
                                                const Budget& budget,
                                                std::vector<WorkingStep>& passed);

// Returns whether few_degrees() are at most two thirds of the configurations. Then a race over them
// costs less than it saves.
static bool races_few_degrees(const ScatterTable& table) {
  return 3 * table.few_degrees().size() <= 2 * table.configs().size();
}

// Returns the winner of a race over few_degrees(), in the configurations of `table`; nullopt if
// that race has no plan. A race over all degrees that this step joins never ends behind it.
static std::optional<WorkingStep> winner_of_few_degrees(const ScatterTable& table,
                                                        JointEffort effort, std::uint64_t seed,
                                                        const Budget& budget) {
  const ScatterTable few = table.with_configs(table.few_degrees());
  effort.others = nullptr;  // steps of the smaller table
  std::vector<WorkingStep> passed;
  std::optional<WorkingStep> best = joint_passing(few, effort, seed, budget, passed);
  if (!best) return std::nullopt;
  for (WorkingMicroBatch& batch : *best) {
    for (WorkingGroup& group : batch.groups) group.config = config_in(table, few, group.config);
  }
  return repaired_in_best_forms(table, *std::move(best));
}

// As joint(). Appends to `passed` each step that would have been the result if a limit had ended
// the search there.
static std::optional<WorkingStep> joint_passing(const ScatterTable& table,
                                                const JointEffort& effort, std::uint64_t seed,
                                                const Budget& budget,
                                                std::vector<WorkingStep>& passed) {
  const std::int64_t steps = anneal_steps(table, effort.moves);
  std::optional<WorkingStep> safe = batch_ada(table, kPublishedFill, budget);
  if (!safe) return std::nullopt;
  std::vector<WorkingStep> field;
  Ms least = kInfinity;
  const auto ended = [&] {
    const auto best = std::ranges::min_element(field, {}, by_time(table));
    if (best != field.end() && step_ms(table, *best) != least) {
      least = step_ms(table, *best);
      passed.push_back(*best);
    }
    return budget.exhausted();
  };
  add_start(table, std::move(safe), field);
  for (auto* const published : {skrull, bytescale}) {
    if (ended()) return best_of(table, field);
    add_start(table, fastest_recomputation(table, published), field);
  }
  const std::size_t baselines = field.size();
  std::optional<WorkingStep> few;  // planned with few degrees
  if (ended()) return best_of(table, field);
  if (const std::optional<CoarsenedStep> coarse = coarsen(table)) {
    // The small step is cheap, so it gets more moves.
    JointEffort more = effort;
    more.moves *= kCoarseMoves;
    more.others = nullptr;  // steps of the smaller table
    std::vector<WorkingStep> small_passed;
    if (auto small = joint_passing(coarse->table, more, seed, budget, small_passed)) {
      add_start(table, refine(table, *coarse, *small), field);
    }
    for (const WorkingStep& small : small_passed) {
      add_if_best(table, refine(table, *coarse, small), field);
    }
  }
  if (ended()) return best_of(table, field);
  if (field.size() == baselines || table.size() <= kMaxRaced) {
    if (races_few_degrees(table)) {
      few = winner_of_few_degrees(table, effort, seed, budget);
      if (few) field.push_back(*few);
      if (ended()) return best_of(table, field);
      if (few) field.pop_back();  // joins the race again after its starts are chosen
    }
    // With more sequences per chunk, estimates are more accurate and prices take longer, so fewer
    // rounds are used.
    const int rounds = std::max(2, static_cast<int>(effort.path_rounds * thrift(table)));
    for (WorkingStep& step : chunk_starts(table, rounds, budget)) {
      field.push_back(std::move(step));
    }
  } else {
    std::ranges::stable_sort(field, {}, by_time(table));
    field.resize(1);
  }
  if (field.empty()) return std::nullopt;
  const Ms most =
      effort.race.promising * step_ms(table, *std::ranges::min_element(field, {}, by_time(table)));
  std::erase_if(field, [&](const WorkingStep& step) { return step_ms(table, step) > most; });
  for (WorkingStep& step :
       packed_starts(table, field, effort.moves, effort.race.packed, seed, budget)) {
    field.push_back(std::move(step));
  }
  keep_best(table, field, at(effort.race.racing));
  // It has been annealed, which the others have not, and would displace them at once.
  if (few) field.push_back(*std::move(few));
  int rounds = 1;
  for (std::size_t left = field.size(); left > 1; left = (left + 1) / 2) ++rounds;
  const bool scarce = scarcity(table) > kVeryScarce;
  const WindowEffort windows{.rounds = scarce ? 0 : effort.race.windows,
                             .moves = moves_each(table, effort.moves)};
  // If each sequence gets few moves, a hot start would not recover.
  double hot = effort.race.hot * thrift(table) * (scarce ? kScarceHeat : 1);
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t share = steps / (rounds * static_cast<std::int64_t>(field.size()));
    bool late = true;  // starts alternate, since neither value is better for all steps
    for (WorkingStep& step : field) {
      if (ended()) return best_of(table, field);
      const AnnealEffort own{
          .steps = share, .hot = hot, .price_from = round == 0 && late ? kFirstPriceFrom : 0};
      late = !late;
      anneal(table, step, own, seed + static_cast<std::uint64_t>(round), budget);
    }
    // Replanning the windows of both finalists may decide which micro-batch count wins.
    if (field.size() == 2) {
      for (WorkingStep& step : field) replan_windows(table, step, windows, seed, budget);
    }
    std::vector<WorkingStep> raced;
    if (effort.others != nullptr) raced = field;
    keep_best(table, field, (field.size() + 1) / 2);
    for (WorkingStep& step : raced) effort.others->push_back(std::move(step));
    hot *= effort.race.cooling;
  }
  replan_windows(table, field.front(), windows, seed, budget);
  return std::move(field.front());
}

std::optional<WorkingStep> joint(const ScatterTable& table, const JointEffort& effort,
                                 std::uint64_t seed, const Budget& budget) {
  std::vector<WorkingStep> passed;
  std::optional<WorkingStep> best = joint_passing(table, effort, seed, budget, passed);
  if (effort.others != nullptr) std::ranges::move(passed, std::back_inserter(*effort.others));
  return best;
}

}  // namespace stowage
