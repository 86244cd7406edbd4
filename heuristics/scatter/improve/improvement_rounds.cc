#include "heuristics/scatter/improve/improvement_rounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "heuristics/scatter/construct/heterogeneous_cluster_multistart.h"
#include "heuristics/scatter/construct/multistart.h"
#include "heuristics/scatter/improve/anneal.h"
#include "heuristics/scatter/improve/sub_step.h"
#include "instances/numeric/random.h"

namespace stowage {
namespace {

constexpr std::array<double, 3> kHeats = {3e-3, 1e-3, 3e-4};

// Calls joint() or, if nodes differ, heterogeneous_multistart().
std::optional<WorkingStep> plan_anew(const ScatterTable& table, const JointEffort& effort,
                                     std::uint64_t seed, const Budget& budget) {
  if (table.several_kinds()) return heterogeneous_multistart(table, effort.moves, seed, budget);
  return joint(table, effort, seed, budget);
}

// Replans the sequences of a few micro-batches. Two times in three the micro-batches are neighbours
// by makespan, so that their sequences have similar lengths and can be swapped.
void replan_some(const ScatterTable& table, WorkingStep& step, const JointEffort& effort,
                 bool large, std::mt19937_64& random, const Budget& budget) {
  std::ranges::stable_sort(step, {}, &WorkingMicroBatch::makespan);
  const std::uint64_t most = std::min<std::uint64_t>(5, step.size() - 1);
  const std::size_t count = 2 + draw(random, std::max<std::uint64_t>(1, most - 1));
  const std::size_t places = step.size() - count + 1;
  std::size_t first = draw(random, places);
  // Large steps prefer their longest micro-batches: they hold few sequences and lose most.
  if (large) first = std::max<std::size_t>(first, draw(random, places));
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(first + i);
  if (draw(random, 3) == 0) {
    chosen.front() = draw(random, first + 1);
    chosen.back() += draw(random, step.size() - chosen.back());
  }
  const SubStep some(table, std::move(chosen), step);
  const ScatterTable part = some.part();
  std::optional<WorkingStep> planned = plan_anew(part, effort, random(), budget);
  if (!planned || !some.may_replace(*planned)) return;
  if (step_ms(part, *planned) < some.before()) some.replace(*std::move(planned), step);
}

}  // namespace

void improve(const ScatterTable& table, WorkingStep& step, std::uint64_t round, std::uint64_t seed,
             const Budget& budget, const LnsParams& params, const MultistartParams& race) {
  if (step.empty()) return;
  std::mt19937_64 random(seed * 1000003 + round);
  // A large step gains more from rounds on a few micro-batches than from one plan of the whole step
  // in the same time.
  const bool large = table.size() > params.large;
  const auto effort = [&](double moves, int path_rounds) {
    return JointEffort{.moves = moves, .path_rounds = path_rounds, .race = race};
  };
  if (const auto parts = static_cast<std::uint64_t>(params.part_rounds); large && step.size() > 2) {
    if (round < parts) {
      return replan_some(table, step, effort(params.part_moves, race.path_rounds), large, random,
                         budget);
    }
    round -= parts;
  }
  const auto cycle = static_cast<std::uint64_t>(params.cycle);
  const auto doublings = static_cast<std::uint64_t>(params.doublings);
  const double moves =
      std::ldexp(params.moves, static_cast<int>(std::min(round / cycle, doublings)));
  const std::uint64_t turn = round % cycle;
  if (turn == 0) {
    std::optional<WorkingStep> planned =
        plan_anew(table, effort(4 * moves, 6 * race.path_rounds), random(), budget);
    if (planned && step_ms(table, *planned) < step_ms(table, step)) step = *std::move(planned);
  } else if (turn % 2 == 0 || step.size() < 3) {
    const auto steps = static_cast<std::int64_t>(moves * table.size());
    const double hot = kHeats[draw(random, kHeats.size())];
    anneal(table, step, {.steps = steps, .hot = hot}, random(), budget);
  } else {
    replan_some(table, step, effort(moves, race.path_rounds), large, random, budget);
  }
}

}  // namespace stowage
