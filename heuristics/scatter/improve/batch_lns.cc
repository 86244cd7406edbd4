#include "heuristics/scatter/improve/batch_lns.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/multifit/multifit.h"
#include "heuristics/scatter/improve/anneal.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/improve/sub_step.h"

namespace stowage {
namespace {

constexpr std::size_t kWide = 4;             // micro-batches of a window, at most
constexpr std::size_t kMostSequences = 250;  // sequences of a window, at most
constexpr double kWindowLoss = 3e-3;         // least loss of a window, as a share of the step
// Least gain, as a share of the window; with less, the window has failed.
constexpr double kGain = 1e-3;
// Per move of the effort.
constexpr double kWindowProposals = 0.4;  // proposed profiles
// Distinct lengths times micro-batches of all proposals, at most.
constexpr double kWindowPackingWork = 40;
constexpr double kSequenceMoves = 0.2;  // annealing moves per sequence
constexpr double kMaxMoves = 8;         // annealing moves of a window, at most

// Returns the makespan in ms beyond the time that the sequences would need on all devices.
Ms lost(const ScatterTable& table, const WorkingMicroBatch& batch) {
  double area = 0;
  for (const WorkingGroup& group : batch.groups) {
    for (const int position : group.positions) area += table.area(position);
  }
  return batch.makespan - table.least_overhead() - area / table.devices();
}

std::size_t count(const WorkingMicroBatch& batch) {
  std::size_t sequences = 0;
  for (const WorkingGroup& group : batch.groups) sequences += group.positions.size();
  return sequences;
}

class Windows {
 public:
  Windows(const ScatterTable& table, const WindowEffort& effort, std::uint64_t seed,
          const Budget& budget)
      : table_(table), effort_(effort), seed_(seed), budget_(budget) {}

  void run(WorkingStep& step) {
    for (int round = 0; round < effort_.rounds && !budget_.exhausted(); ++round) {
      std::ranges::stable_sort(step, std::greater<>(), &WorkingMicroBatch::makespan);
      const std::optional<Window> window = choose(step);
      if (!window) return;
      const SubStep some(table_, members(*window), step);
      WorkingStep planned = plan(some, step, seed_ + static_cast<std::uint64_t>(round));
      // A window that gained little is unlikely to gain more next time.
      const Ms then = step_ms(some.part(), planned);
      if (!(then < some.before() * (1 - kGain))) failed_.insert(sequences(step, *window));
      if (then < some.before() && some.may_replace(planned)) some.replace(std::move(planned), step);
    }
  }

 private:
  struct Window {
    std::size_t first = 0;
    std::size_t wide = 0;
  };
  static std::vector<std::size_t> members(const Window& window) {
    std::vector<std::size_t> chosen(window.wide);
    std::iota(chosen.begin(), chosen.end(), window.first);
    return chosen;
  }
  static std::vector<int> sequences(const WorkingStep& step, const Window& window) {
    std::vector<int> all;
    for (const std::size_t index : members(window)) {
      const std::vector<int> own = positions_of(step[index]);
      all.insert(all.end(), own.begin(), own.end());
    }
    std::ranges::sort(all);
    return all;
  }

  // Returns the window of the largest loss. Windows begin at each micro-batch and are as wide as
  // allowed.
  std::optional<Window> choose(const WorkingStep& step) const {
    std::optional<Window> best;
    Ms most = kWindowLoss * total(step);
    for (std::size_t first = 0; first + 1 < step.size(); ++first) {
      Window window{.first = first};
      Ms loss = 0;
      std::size_t size = 0;
      for (std::size_t next = first; next < step.size() && window.wide < kWide; ++next) {
        size += count(step[next]);
        if (size > kMostSequences) break;
        loss += lost(table_, step[next]);
        ++window.wide;
      }
      if (window.wide < 2 || loss <= most || failed_.contains(sequences(step, window))) continue;
      most = loss;
      best = window;
    }
    return best;
  }

  WorkingStep plan(const SubStep& some, const WorkingStep& step, std::uint64_t seed) const {
    const ScatterTable part = some.part();
    WorkingStep best = some.own(step);
    const std::vector<BatchTarget> targets = targets_of(part, best);
    const double work = static_cast<double>(part.kinds().size() * targets.size());
    const int proposals =
        static_cast<int>(effort_.moves * std::min(kWindowProposals, kWindowPackingWork / work) /
                         packing_slowdown(part));
    const auto pack = [&](const std::vector<BatchTarget>& asked) {
      auto packed = fit_profile(part, asked, {.proposals = proposals}, as_planned, seed, budget_);
      if (packed && step_ms(part, *packed) < step_ms(part, best)) best = *std::move(packed);
    };
    pack(targets);
    if (table_.multiple() == 1) pack_other_counts(some, targets, pack);
    const double moves = std::min(kSequenceMoves * part.size(), kMaxMoves);
    anneal(part, best,
           {.steps = static_cast<std::int64_t>(effort_.moves * moves), .hot = kHotAnnealing}, seed,
           budget_);
    return best;
  }

  template <class Pack>
  static void pack_other_counts(const SubStep& some, std::vector<BatchTarget> targets, Pack pack) {
    // One more micro-batch, with the same sum of makespans.
    std::vector<BatchTarget> more = targets;
    more.push_back(more.back());
    for (BatchTarget& target : more) {
      target.makespan *= some.before() / (some.before() + targets.back().makespan);
    }
    pack(more);
    if (targets.size() > 2) {
      targets.pop_back();
      pack(targets);
    }
  }

  const ScatterTable& table_;
  const WindowEffort& effort_;
  const std::uint64_t seed_;
  const Budget& budget_;
  std::set<std::vector<int>> failed_;  // sequences of the windows that failed
};

}  // namespace

void replan_windows(const ScatterTable& table, WorkingStep& step, const WindowEffort& effort,
                    std::uint64_t seed, const Budget& budget) {
  Windows(table, effort, seed, budget).run(step);
}

}  // namespace stowage
