#include "heuristics/scatter/improve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "heuristics/scatter/anneal.h"
#include "heuristics/scatter/joint.h"
#include "heuristics/scatter/joint_on_kinds.h"
#include "heuristics/scatter/some_batches.h"
#include "instances/random.h"

namespace stowage {
namespace {

constexpr std::uint64_t kCycle = 8;          // rounds of which the first plans anew
constexpr std::uint64_t kMostDoublings = 5;  // of the moves, one per cycle
constexpr double kMoves = 2000;              // per sequence, see JointEffort
// A large step gains more from rounds for a few of its micro-batches than in the time that it takes
// to plan all of it anew.
constexpr int kLarge = 1500;               // sequences
constexpr std::uint64_t kPartRounds = 32;  // the first ones
constexpr double kPartMoves = 480;         // per sequence, as joint() has at first
constexpr std::array<double, 3> kHeats = {3e-3, 1e-3, 3e-4};

// As joint(), whatever devices there are.
std::optional<StepDraft> plan_anew(const ScatterTable& table, const JointEffort& effort,
                                   std::uint64_t seed, const Budget& budget) {
  if (table.several_kinds()) return joint_on_kinds(table, effort.moves, seed, budget);
  return joint(table, effort, seed, budget);
}

// Plans the sequences of a few micro-batches anew. Mostly neighbours by makespan: their sequences
// are of like lengths and can change places.
void replan_some(const ScatterTable& table, StepDraft& step, double moves, std::mt19937_64& random,
                 const Budget& budget) {
  std::ranges::stable_sort(step, {}, &MicroBatchDraft::makespan);
  const std::uint64_t most = std::min<std::uint64_t>(5, step.size() - 1);
  const std::size_t count = 2 + draw(random, std::max<std::uint64_t>(1, most - 1));
  const std::size_t places = step.size() - count + 1;
  std::size_t first = draw(random, places);
  // The longest hold few of many sequences, and most of what is lost.
  if (table.size() > kLarge) first = std::max<std::size_t>(first, draw(random, places));
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(first + i);
  if (draw(random, 3) == 0) {
    chosen.front() = draw(random, first + 1);
    chosen.back() += draw(random, step.size() - chosen.back());
  }
  const SomeBatches some(table, std::move(chosen), step);
  const ScatterTable part = some.part();
  std::optional<StepDraft> planned = plan_anew(part, {.moves = moves}, random(), budget);
  if (!planned || !some.may_replace(*planned)) return;
  if (step_ms(part, *planned) < some.before()) some.replace(*std::move(planned), step);
}

}  // namespace

void improve(const ScatterTable& table, StepDraft& step, std::uint64_t round, std::uint64_t seed,
             const Budget& budget) {
  if (step.empty()) return;
  std::mt19937_64 random(seed * 1000003 + round);
  if (table.size() > kLarge && step.size() > 2) {
    if (round < kPartRounds) return replan_some(table, step, kPartMoves, random, budget);
    round -= kPartRounds;
  }
  const double moves =
      std::ldexp(kMoves, static_cast<int>(std::min(round / kCycle, kMostDoublings)));
  const std::uint64_t turn = round % kCycle;
  if (turn == 0) {
    std::optional<StepDraft> planned =
        plan_anew(table, {.moves = 4 * moves, .path_rounds = 60}, random(), budget);
    if (planned && step_ms(table, *planned) < step_ms(table, step)) step = *std::move(planned);
  } else if (turn % 2 == 0 || step.size() < 3) {
    const auto steps = static_cast<std::int64_t>(moves * table.size());
    const double hot = kHeats[draw(random, kHeats.size())];
    anneal(table, step, {.steps = steps, .hot = hot}, random(), budget);
  } else {
    replan_some(table, step, moves, random, budget);
  }
}

}  // namespace stowage
