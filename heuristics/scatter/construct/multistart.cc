// Longer than 300 lines: one list of starts, each with its numbers of micro-batches, and their
// race.
#include "heuristics/scatter/construct/multistart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "heuristics/scatter/construct/equal_counts/equal_count_grouping.h"
#include "heuristics/scatter/construct/multifit/multifit.h"
#include "heuristics/scatter/construct/step_coarsening.h"
#include "heuristics/scatter/improve/anneal.h"
#include "heuristics/scatter/improve/batch_lns.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/published/bytescale.h"
#include "heuristics/scatter/published/homogeneous.h"
#include "heuristics/scatter/published/megatron_hybrid.h"
#include "heuristics/scatter/published/skrull.h"
#include "heuristics/scatter/uniform_recomputation.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr double kPathWorthwhile = 5e-3;
constexpr int kPathSpread = 1;
// Sequences; larger steps keep their aggregated plan as the only start.
constexpr int kMaxRaced = 20000;
constexpr double kEvenMoves = 0.7;  // share of the moves if groups hold equal sequence counts
constexpr double kAmple = 8;        // sequences per device above which no extra moves are given
constexpr double kMaxScarce = 3.2;
constexpr double kCoarseMoves = 2;  // moves of the small step per move of the large step
// Packing for given makespans.
constexpr int kDrops = 2;  // profiles per start: all makespans, and all but the shortest
// Proposals per packed start and per annealing move of a sequence, at most.
constexpr double kProposals = 0.6;
constexpr double kPackingWork = 1000;  // packing_work() of all proposals per such move
constexpr double kMaxPacking = 20000;  // packing_work() above which a step is not packed
constexpr double kVeryScarce = 3;  // scarcity() above which windows have too few sequences to gain
constexpr double kScarceHeat = 0.7;  // factor of the first temperature then
constexpr int kTokenCounts = 2;      // micro-batch counts of token-balanced chunks
constexpr int kSpreadCounts = 3;     // micro-batch counts of spread chunks
// Pipelines only.
// AnnealEffort::price_from of every other start in the first round.
constexpr double kFirstPriceFrom = 0.3;
// Starts of another micro-batch count survive up to this ratio to the best.
constexpr double kNear = 1.015;
// Device-time of a plan per device-time of its sequences, assumed.
constexpr double kEvenLoss = 1.03;
constexpr int kMaxHopeful = 64;  // micro-batch counts considered, per fewest micro-batches
// Counts tried, per best count.
constexpr std::array<double, 5> kHopefulShares = {1, 0.8, 1.25, 0.6, 1.6};

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

// Groups the positions, halving them if necessary. Returns false if a single sequence cannot be
// grouped.
bool group_or_halve(const ScatterTable& table, std::span<const int> positions,
                    const GroupingEffort& effort, WorkingStep& step) {
  if (positions.empty()) return true;
  if (std::optional<WorkingMicroBatch> batch = group_micro_batch(table, positions, effort)) {
    step.push_back(std::move(*batch));
    return true;
  }
  if (positions.size() == 1) return false;
  // Splitting by even and odd positions keeps long and short sequences in both halves.
  std::vector<int> halves[2];
  for (std::size_t i = 0; i < positions.size(); ++i) halves[i % 2].push_back(positions[i]);
  return group_or_halve(table, halves[0], effort, step) &&
         group_or_halve(table, halves[1], effort, step);
}

// Returns the best start of each number of micro-batches, fewest micro-batches first.
std::map<std::size_t, const WorkingStep*> best_by_count(const ScatterTable& table,
                                                        const std::vector<WorkingStep>& field) {
  std::map<std::size_t, const WorkingStep*> best;
  for (const WorkingStep& step : field) {
    const WorkingStep*& known = best[step.size()];
    if (known == nullptr || step_ms(table, step) < step_ms(table, *known)) known = &step;
  }
  return best;
}

// Returns a projection of a step to its time in ms, for standard algorithms.
auto by_time(const ScatterTable& table) {
  return [&table](const WorkingStep& step) { return step_ms(table, step); };
}

// Keeps `count` starts. First the best start of each micro-batch count up to the count of the best
// start, since annealing rarely changes the count. Then the best of the others. Pipelines also keep
// larger counts if their start is within kNear of the best.
void keep_best(const ScatterTable& table, std::vector<WorkingStep>& field, std::size_t count) {
  if (field.empty()) return;
  std::ranges::stable_sort(field, {}, by_time(table));
  const std::size_t leading = field.front().size();
  const Ms near = kNear * step_ms(table, field.front());
  std::set<std::size_t> seen;
  std::stable_partition(field.begin(), field.end(), [&](const WorkingStep& step) {
    const bool may_win =
        table.longest_weight() == 0 ? step.size() <= leading : step_ms(table, step) <= near;
    return may_win && seen.insert(step.size()).second;
  });
  field.resize(std::min(field.size(), count));
}

std::optional<WorkingStep> best_of(const ScatterTable& table, std::vector<WorkingStep>& field) {
  if (field.empty()) return std::nullopt;
  return std::move(*std::ranges::min_element(field, {}, by_time(table)));
}

// Adds a start in its best forms, as its plan would have them. Drops a step that cannot be repaired
// to keep the rules.
void add_start(const ScatterTable& table, std::optional<WorkingStep> step,
               std::vector<WorkingStep>& field) {
  if (step) step = repaired_in_best_forms(table, *std::move(step));
  if (step) field.push_back(*std::move(step));
}

// Adds a step that was replaced on the way to a start, but only if it is the best start so far.
void add_if_best(const ScatterTable& table, WorkingStep step, std::vector<WorkingStep>& field) {
  std::optional<WorkingStep> made = repaired_in_best_forms(table, std::move(step));
  if (!made) return;
  const Ms time = step_ms(table, *made);
  const auto is_beaten = [&](const WorkingStep& known) { return time < step_ms(table, known); };
  if (std::ranges::all_of(field, is_beaten)) field.push_back(*std::move(made));
}

// Returns the work of one packing, in distinct lengths times micro-batches.
double packing_work(const ScatterTable& table, std::size_t micro_batches) {
  return static_cast<double>(table.kinds().size() * micro_batches);
}

// Returns micro-batch counts near the best one for a pipeline, estimated with equal makespans. More
// micro-batches shorten the longest makespan and add overheads.
std::vector<int> hopeful_counts(const ScatterTable& table) {
  if (table.size() == 0) return {};
  const Ms even = kEvenLoss * table.total_area() / table.devices();
  Ms alone = table.longest_elsewhere();
  for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
    alone = std::max(alone, table.alone(kind));
  }
  const Ms overhead = table.least_overhead();
  const auto step_of = [&](int count) {
    return table.step_ms(count * overhead + even, std::max(alone, overhead + even / count));
  };
  const int fewest = std::max(1, fewest_micro_batches(table));
  const int most = std::max(fewest, std::min(table.size(), kMaxHopeful * fewest));
  int best = fewest;
  for (int count = fewest; count <= most; ++count) {
    if (step_of(count) < step_of(best)) best = count;
  }
  std::vector<int> counts;
  for (const double share : kHopefulShares) {
    const int count = std::clamp(static_cast<int>(std::lround(share * best)), fewest, most);
    if (std::ranges::count(counts, count) == 0) counts.push_back(count);
  }
  return counts;
}

// Returns starts packed for equal makespans.
std::vector<WorkingStep> over_even_profiles(const ScatterTable& table, std::uint64_t seed,
                                            const Budget& budget) {
  std::vector<WorkingStep> packed;
  const Ms even = table.total_area() / table.devices();
  for (const int count : hopeful_counts(table)) {
    if (budget.exhausted() || packing_work(table, at(count)) > kMaxPacking) break;
    const Ms makespan = std::max(table.alone(0), table.least_overhead() + even / count);
    for (int mode = 0; mode < table.recomputations(); ++mode) {
      const std::vector<BatchTarget> targets(at(count), BatchTarget{makespan, mode});
      add_start(
          table,
          fit_profile(table, targets, {.proposals = 0, .thorough = true}, as_planned, seed, budget),
          packed);
    }
  }
  return packed;
}

// Returns starts packed for the makespans of other starts: of the best start of each micro-batch
// count, and of the same start without its shortest micro-batch. The best packed starts get more
// proposals.
std::vector<WorkingStep> over_profiles(const ScatterTable& table,
                                       const std::vector<WorkingStep>& field,
                                       const JointEffort& effort, std::uint64_t seed,
                                       const Budget& budget) {
  const double moves = effort.moves;
  std::vector<WorkingStep> packed;
  const auto fewest = static_cast<std::size_t>(fewest_micro_batches(table));
  for (const auto& [count, step] : best_by_count(table, field)) {
    if (packing_work(table, count) > kMaxPacking) break;
    std::vector<BatchTarget> targets = targets_of(table, *step);
    for (int dropped = 0; dropped < kDrops; ++dropped) {
      if (targets.size() < std::max<std::size_t>(2, fewest) || budget.exhausted()) break;
      add_start(
          table,
          fit_profile(table, targets, {.proposals = 0, .thorough = true}, as_planned, seed, budget),
          packed);
      targets.resize(targets.size() - std::min(targets.size(), at(table.multiple())));
    }
  }
  if (table.longest_weight() > 0) {
    for (WorkingStep& step : over_even_profiles(table, seed, budget))
      packed.push_back(std::move(step));
  }
  keep_best(table, packed, at(effort.race.packed));
  for (WorkingStep& step : packed) {
    const double work = packing_work(table, step.size() * packed.size());
    const double proposals = std::min(kProposals * moves, kPackingWork * moves / work);
    auto made = fit_profile(table, targets_of(table, step),
                            {.proposals = static_cast<int>(proposals), .thorough = true},
                            as_planned, seed, budget);
    if (made && step_ms(table, *made) < step_ms(table, step)) step = std::move(*made);
  }
  return packed;
}

struct PathStarts {
  std::vector<WorkingStep> best;
  std::vector<WorkingStep> outrun;
};

PathStarts over_shortest_paths(const ScatterTable& table, int rounds, const Budget& budget) {
  // Chunks are consecutive, so their first and last positions identify them.
  std::map<std::pair<int, int>, WorkingMicroBatch> grouped;
  const ChunkCost cost = [&](std::span<const int> positions) {
    auto batch = group_micro_batch(table, positions, kQuickGrouping);
    if (!batch) return kInfinity;
    const Ms makespan = batch->makespan;
    grouped[{positions.front(), positions.back()}] = std::move(*batch);
    return makespan;
  };
  const auto drafts = [&](const std::vector<Chunks>& paths) {
    std::vector<WorkingStep> steps;
    for (const Chunks& chunks : paths) {
      WorkingStep& step = steps.emplace_back();
      for (const std::vector<int>& chunk : chunks) {
        step.push_back(grouped.at({chunk.front(), chunk.back()}));
      }
    }
    return steps;
  };
  const PathEffort effort{rounds, kPathWorthwhile, kPathSpread};
  const ChunkPaths paths = shortest_path_chunks(table, cost, effort, budget);
  return {.best = drafts(paths.best), .outrun = drafts(paths.outrun)};
}

// Adds starts of the fewest micro-batches that `memory` allows and of a few more. All counts keep
// the rule on multiples. Other counts would be repaired by splitting or uniting micro-batches.
template <class Add>
void add_chunk_starts(const ScatterTable& table, const ScatterTable& memory, const Budget& budget,
                      Add add) {
  const auto multiple =
      static_cast<int>(std::min<std::int64_t>(table.multiple(), std::max(1, table.size())));
  const int fewest = (fewest_micro_batches(memory) + multiple - 1) / multiple * multiple;
  for (int more = 0; more < kTokenCounts; ++more) {
    add(group_chunks(table, token_chunks(table, fewest + more * multiple), kQuickGrouping, budget));
  }
  if (memory.size() == 0 || memory.alone(0) < kInfinity) {
    add(group_chunks(table, first_fit_chunks(memory), kQuickGrouping, budget));
  }
  std::vector<int> counts;
  for (int more = 0; more < kSpreadCounts; ++more) counts.push_back(fewest + more * multiple);
  if (table.longest_weight() > 0) {
    for (const int count : hopeful_counts(table)) {
      if (std::ranges::count(counts, count) == 0) counts.push_back(count);
    }
  }
  for (const int count : counts) {
    if (const auto chunks = spread_chunks(table, count)) {
      add(group_chunks(table, *chunks, kQuickGrouping, budget));
    }
  }
}

std::vector<WorkingStep> starts(const ScatterTable& table, int path_rounds, const Budget& budget) {
  std::vector<WorkingStep> all;
  // With more sequences per chunk, estimates are more accurate and prices take longer, so fewer
  // rounds are used.
  const int rounds = std::max(2, static_cast<int>(path_rounds * thrift(table)));
  const auto add = [&](std::optional<WorkingStep> step) { add_start(table, std::move(step), all); };
  add(batch_ada(table, 1));
  add(fastest_recomputation(table, megatron_hybrid));
  if (table.equal_sequences()) {
    add(fastest_recomputation(table,
                              [&](const ScatterTable& own) { return even_chunks(own, budget); }));
  }
  PathStarts paths = over_shortest_paths(table, rounds, budget);
  for (WorkingStep& step : paths.best) add(std::move(step));
  for (WorkingStep& step : paths.outrun) add_if_best(table, std::move(step), all);
  add_chunk_starts(table, table, budget, add);
  // A recomputation mode with less memory needs more micro-batches than the fewest over all modes.
  for (int mode = 0; mode < table.recomputations(); ++mode) {
    const ScatterTable& own = table.recomputing(mode);
    if (own.device_tokens() == 0) continue;
    if (fewest_micro_batches(own) > fewest_micro_batches(table)) {
      add_chunk_starts(table, own, budget, add);
    }
  }
  return all;
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

std::optional<WorkingStep> group_chunks(const ScatterTable& table, const Chunks& chunks,
                                        const GroupingEffort& effort, const Budget& budget) {
  WorkingStep step;
  for (const std::vector<int>& chunk : chunks) {
    if (budget.exhausted()) return std::nullopt;
    if (!group_or_halve(table, chunk, effort, step)) return std::nullopt;
  }
  return step;
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
    for (WorkingStep& step : starts(table, effort.path_rounds, budget)) {
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
  for (WorkingStep& step : over_profiles(table, field, effort, seed, budget)) {
    field.push_back(std::move(step));
  }
  keep_best(table, field, at(effort.race.racing));
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
