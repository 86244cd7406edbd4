// Chooses the makespans that ScatterPatternDive plans for.
#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "heuristics/scatter/improve/anneal.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/improve/sub_step.h"
#include "instances/numeric/random.h"
#include "solvers/scatter/patterns/pattern_dive.h"

namespace stowage {
namespace {

constexpr double kLeastGain = 2;     // in precisions; smaller gains are not tried
constexpr double kFirstGain = 4e-3;  // first relative gain tried
// Dives are tried at these fractions between the smallest feasible makespans and the present ones.
constexpr std::array<double, 4> kDives = {0.0, 0.1, 0.3, 0.6};
constexpr double kHotRepacking = 3e-4;

// Returns a random number from -1 to 1.
double fraction(std::mt19937_64& random) {
  return static_cast<double>(draw(random, 2001)) / 1000 - 1;
}

}  // namespace

bool repack_some(const ScatterTable& table, std::vector<std::size_t> chosen,
                 const PatternDiveEffort& effort, MilpBackend backend, std::uint64_t seed,
                 WorkingStep& step, Budget& budget) {
  std::mt19937_64 random(seed);
  const SubStep some(table, std::move(chosen), step);
  const ScatterTable part = some.part();
  const WorkingStep own = some.own(step);
  std::vector<Ms> shape;
  Ms sum = 0;
  for (const WorkingMicroBatch& batch : own) shape.push_back(batch.makespan);
  if (!effort.shape.empty()) shape = effort.shape;
  for (Ms& makespan : shape) {
    makespan *= 1 + effort.spread * fraction(random);
    sum += makespan;
  }
  Ms present = some.before();
  if (part.longest_weight() > 0) {
    // The longest makespan counts additionally if it is in these micro-batches.
    const bool here = longest(own) > part.longest_elsewhere();
    const double again = here ? part.longest_weight() : 0;
    sum += again * *std::ranges::max_element(shape);
    present = total(own) + again * longest(own);
  }
  ScatterPatternDive repack(part, backend);
  repack.learn(own);
  if (effort.shape.empty() && part.recomputations() > 1) {
    std::vector<int> modes;
    for (const WorkingMicroBatch& batch : own) {
      modes.push_back(part.mode(batch.groups.front().config));
    }
    repack.keep_modes(std::move(modes));
  }
  const auto limits = [&](double share) {  // share of the present total
    std::vector<Ms> all = shape;
    for (Ms& limit : all) limit *= share * present / sum;
    return all;
  };
  const auto possible = [&](double share) {
    budget.count_nodes(1);
    const ScatterPatternDive::Relaxation found = repack.relax(limits(share), budget);
    return found.solved && !(found.shortage > 1e-7);
  };
  double high = 1 - kLeastGain * effort.precision;
  if (!possible(high)) return false;
  double low = 0;
  for (double gain = kFirstGain; low == 0 && gain < 1 && !budget.exhausted(); gain *= 2) {
    (possible(1 - gain) ? high : low) = 1 - gain;
  }
  while (high - low > effort.precision && !budget.exhausted()) {
    const double middle = (low + high) / 2;
    (possible(middle) ? high : low) = middle;
  }
  for (const double where : kDives) {
    if (budget.exhausted()) return false;
    budget.count_nodes(1);
    std::optional<WorkingStep> planned = repack.plan(limits(high + where * (1 - high)), budget);
    if (planned) planned = repaired(part, *std::move(planned));
    if (!planned) continue;
    anneal(part, *planned, {.steps = effort.anneal_moves, .hot = kHotRepacking}, random(), budget);
    if (!(step_ms(part, *planned) < some.before() * (1 - 1e-9))) continue;
    if (!some.may_replace(*planned)) continue;
    some.replace(*std::move(planned), step);
    return true;
  }
  return false;
}

}  // namespace stowage
