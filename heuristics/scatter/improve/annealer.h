// Simulated annealing over the state of a step: the moves, and how one is picked and accepted.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "heuristics/scatter/improve/search_state.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"

namespace stowage {

struct AnnealEffort;

// Returns samples of the exponential distribution. A change is accepted if it is below a sample
// times the temperature.
inline const std::array<double, 4096>& acceptance_thresholds() {
  static const std::array<double, 4096> all = [] {
    std::array<double, 4096> made{};
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = -std::log((static_cast<double>(i) + 0.5) / static_cast<double>(made.size()));
    }
    return made;
  }();
  return all;
}

class Annealer {
 public:
  Annealer(const ScatterTable& table, const WorkingStep& step, const AnnealEffort& effort,
           std::uint64_t seed);
  // Returns the last state and the best state seen at the end of a stage. The annealing aims at the
  // last state. If a limit cuts the annealing, the best state may be better.
  std::array<WorkingStep, 2> run(const Budget& budget);

 private:
  using Change = StepState::Change;

  // Percent of the picks. A sequence comes from a group of a random micro-batch (kFair), from the
  // slowest group of one (kSlowest), or from anywhere. A group comes from a random micro-batch
  // (kFairGroup) or from anywhere.
  static constexpr std::uint32_t kFair = 15;
  static constexpr std::uint32_t kSlowest = 25;
  static constexpr std::uint32_t kFairGroup = 30;
  // Percent of the proposals. Regrouping has the rest.
  struct Shares {
    std::uint32_t moves = 0;
    std::uint32_t swaps = 0;
    std::uint32_t groups = 0;  // exchanges of whole groups
  };
  static constexpr Shares kShares{40, 45, 7};
  // If the memory of the groups is nearly full, moves rarely find room, so most proposals are
  // swaps.
  static constexpr Shares kFilledShares{10, 65, 10};

  std::uint32_t below(std::size_t n) { return random_.below(static_cast<std::uint32_t>(n)); }
  bool accept(double delta) {
    if (delta <= 0) return true;
    return delta < temperature_ * thresholds_[below(thresholds_.size())];
  }

  void propose();
  int pick_any() { return state_.groups()[below(state_.groups().size())]; }

  // Returns a group of a random micro-batch. Micro-batches of long sequences have few groups and
  // the most to gain, so a pick among all groups would rarely reach them.
  int pick_fairly() {
    const StepState::Batch& batch = state_.batches()[below(state_.batches().size())];
    return batch.groups.empty() ? pick_any() : batch.groups[below(batch.groups.size())];
  }

  int pick_position();
  int pick_group() { return below(100) < kFairGroup ? pick_fairly() : pick_any(); }
  Ms time_without(const StepState::Group& group, int position) const {
    if (group.positions.size() == 1) return 0;
    return state_.time(group.config, group.load - state_.load(position, group.config));
  }

  Ms exchanged(const StepState::Group& group, int goes, int comes) const {
    return state_.time(group.config, group.load - state_.load(goes, group.config) +
                                         state_.load(comes, group.config));
  }

  Ms step_now() const {
    Ms longest = 0;
    for (const StepState::Batch& batch : state_.batches()) {
      longest = std::max(longest, batch.makespan);
    }
    return state_.table().step_ms(state_.total(), longest);
  }

  double energy_change(const Change& a, const Change& b) const {
    const int left = state_.group(a.group).batch;
    const int right = state_.group(b.group).batch;
    if (left == right) {
      const std::array<Change, 2> both{a, b};
      return state_.energy_with(left, both) - state_.batch(left).energy;
    }
    return state_.energy_with(left, {&a, 1}) - state_.batch(left).energy +
           state_.energy_with(right, {&b, 1}) - state_.batch(right).energy;
  }

  void try_move();
  void try_swap();
  void try_swap_groups();
  void try_regroup();
  bool made_as_before() const;
  std::size_t each(int group) const { return state_.group(group).positions.size(); }
  int place(int group) const { return place_of(state_.group(group).config); }
  int place_of(int config) const { return state_.table().configs()[at(config)].place; }
  bool is_across(int group) const {
    return place(group) >= static_cast<int>(state_.table().devices_of_kinds().size());
  }

  static int places_of(const ScatterTable& table) {
    int most = 0;
    for (const GroupConfig& config : table.configs()) most = std::max(most, config.place);
    return most + 1;
  }

  // Returns the index of the list of configurations with recomputation mode `way` in the device
  // pool of `configuration`.
  int sort(int mode, int config) const { return place_of(config) * modes_ + mode; }
  int mode(int group) const { return state_.table().mode(state_.group(group).config); }
  void try_other_mode();

  StepState state_;
  const AnnealEffort& effort_;
  QuickRandom random_;
  const bool no_idle_;  // micro-batches without idle ranks stay so
  const bool equal_;    // all groups of a micro-batch keep equal sequence counts
  const bool kinds_;    // nodes differ: groups change only within their device pool
  const int modes_;     // number of recomputation modes
  double temperature_ = 0;
  Shares shares_ = kShares;
  std::int64_t moves_ = 0;       // moves tried in this stage
  std::int64_t room_found_ = 0;  // moves of this stage whose target had room
  const std::array<double, 4096>& thresholds_ = acceptance_thresholds();
  std::vector<int> gone_;
  std::vector<int> pool_;
  std::vector<WorkingGroup> made_;
  std::size_t made_size_ = 0;
  std::vector<std::vector<int>> levels_of_;  // by sort()
  std::vector<int> place_;                   // index of a configuration in its list of levels_of_
};

}  // namespace stowage
