// Which makespans to ask ScatterRepack for.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "heuristics/scatter_anneal.h"
#include "instances/random.h"
#include "solvers/scatter_repack.h"

namespace stowage {
namespace {

constexpr double kLeastGain = 2;     // precisions; less is not tried for
constexpr double kFirstGain = 4e-3;  // tried first when looking for more
// Where between what the LP thinks possible and what there is to dive.
constexpr std::array<double, 4> kDives = {0.0, 0.1, 0.3, 0.6};
constexpr double kHot = 3e-4;
// What a new shape must promise, of the total; and how much worse than before its plan may be for a
// closer look.
constexpr std::array<double, 3> kPromises = {2e-3, 6e-3, 1.5e-2};
constexpr double kHopeful = 1.05;
constexpr std::int64_t kShapeMoves = 200000;  // of annealing
constexpr int kDraws = 40;                    // until the longest sequence fits

// A fraction from -1 to 1.
double fraction(std::mt19937_64& random) {
  return static_cast<double>(draw(random, 2001)) / 1000 - 1;
}

class SomeBatches {
 public:
  SomeBatches(const ScatterTable& table, std::vector<std::size_t> chosen, const StepDraft& step)
      : chosen_(std::move(chosen)), table_(table) {
    for (const std::size_t index : chosen_) {
      const std::vector<int> own = positions_of(step[index]);
      positions_.insert(positions_.end(), own.begin(), own.end());
      before_ += step[index].makespan;
    }
    std::ranges::sort(positions_);
  }

  ScatterTable part() const { return table_.part(positions_, table_.devices()); }
  Ms before() const { return before_; }

  // The chosen micro-batches with positions of part().
  StepDraft own(const StepDraft& step) const {
    StepDraft own;
    for (const std::size_t index : chosen_) {
      own.push_back(step[index]);
      for (GroupDraft& group : own.back().groups) {
        for (int& position : group.positions) {
          const auto place = std::ranges::lower_bound(positions_, position);
          position = static_cast<int>(place - positions_.begin());
        }
      }
    }
    return own;
  }

  void replace(StepDraft planned, StepDraft& step) const {
    std::vector<std::size_t> order = chosen_;
    std::ranges::sort(order, std::greater<>{});
    for (const std::size_t index : order) {
      step.erase(step.begin() + static_cast<std::ptrdiff_t>(index));
    }
    for (MicroBatchDraft& batch : planned) {
      for (GroupDraft& group : batch.groups) {
        for (int& position : group.positions) {
          position = positions_[static_cast<std::size_t>(position)];
        }
      }
      step.push_back(std::move(batch));
    }
  }

 private:
  std::vector<std::size_t> chosen_;
  const ScatterTable& table_;
  std::vector<int> positions_;
  Ms before_ = 0;
};

// `count` makespans, longest first, that sum up to `sum`: what each lasts beyond the overhead is
// drawn. Nothing if the longest sequence fits none of them.
std::optional<std::vector<Ms>> draw_shape(const ScatterTable& table, std::size_t count, Ms sum,
                                          std::mt19937_64& random) {
  const Ms least = table.least_overhead();
  const Ms rest = sum - static_cast<double>(count) * least;
  for (int i = 0; i < kDraws && rest > 0; ++i) {
    std::vector<Ms> shape;
    double all = 0;
    for (std::size_t b = 0; b < count; ++b) {
      shape.push_back(static_cast<double>(1 + draw(random, 1000)));
      all += shape.back();
    }
    for (Ms& makespan : shape) makespan = least + rest * makespan / all;
    std::ranges::sort(shape, std::greater<>{});
    if (shape.front() >= table.alone(0)) return shape;
  }
  return std::nullopt;
}

}  // namespace

bool reshape_some(const ScatterTable& table, std::vector<std::size_t> chosen, std::size_t count,
                  MilpBackend backend, std::uint64_t seed, StepDraft& step, Budget& budget) {
  std::mt19937_64 random(seed);
  const SomeBatches some(table, std::move(chosen), step);
  const ScatterTable part = some.part();
  const Ms sum = some.before() * (1 - kPromises[draw(random, kPromises.size())]);
  if (part.size() == 0 || part.total_area() / part.devices() +
                                  static_cast<double>(count) * part.least_overhead() >=
                              sum) {
    return false;
  }
  const std::optional<std::vector<Ms>> shape = draw_shape(part, count, sum, random);
  if (!shape) return false;
  ScatterRepack repack(part, backend);
  repack.learn(some.own(step));
  budget.count_nodes(1);
  const ScatterRepack::Relaxation found = repack.relax(*shape, budget);
  if (!found.solved || found.missing > 1e-7) return false;
  budget.count_nodes(1);
  std::optional<StepDraft> planned = repack.plan(*shape, budget);
  if (!planned) return false;
  anneal(part, *planned, {.steps = kShapeMoves, .hot = kHot}, random(), budget);
  if (total(*planned) > some.before() * kHopeful) return false;
  std::vector<std::size_t> all(planned->size());
  std::iota(all.begin(), all.end(), 0);
  repack_some(part, all, {}, backend, random(), *planned, budget);
  if (!(total(*planned) < some.before() * (1 - 1e-9))) return false;
  some.replace(*std::move(planned), step);
  return true;
}

bool repack_some(const ScatterTable& table, std::vector<std::size_t> chosen,
                 const RepackEffort& effort, MilpBackend backend, std::uint64_t seed,
                 StepDraft& step, Budget& budget) {
  std::mt19937_64 random(seed);
  const SomeBatches some(table, std::move(chosen), step);
  const ScatterTable part = some.part();
  const StepDraft own = some.own(step);
  std::vector<Ms> shape;
  Ms sum = 0;
  for (const MicroBatchDraft& batch : own) {
    shape.push_back(batch.makespan * (1 + effort.spread * fraction(random)));
    sum += shape.back();
  }
  ScatterRepack repack(part, backend);
  repack.learn(own);
  const auto limits = [&](double share) {  // of the present total
    std::vector<Ms> all = shape;
    for (Ms& limit : all) limit *= share * some.before() / sum;
    return all;
  };
  const auto possible = [&](double share) {
    budget.count_nodes(1);
    const ScatterRepack::Relaxation found = repack.relax(limits(share), budget);
    return found.solved && !(found.missing > 1e-7);
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
    std::optional<StepDraft> planned = repack.plan(limits(high + where * (1 - high)), budget);
    if (!planned) continue;
    anneal(part, *planned, {.steps = effort.anneal_moves, .hot = kHot}, random(), budget);
    if (!(total(*planned) < some.before() * (1 - 1e-9))) continue;
    some.replace(*std::move(planned), step);
    return true;
  }
  return false;
}

}  // namespace stowage
