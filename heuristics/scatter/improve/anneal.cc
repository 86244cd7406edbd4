// Longer than 300 lines: one list of moves over one state.
#include "heuristics/scatter/improve/anneal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/improve/search_state.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"

namespace stowage {
namespace {

constexpr std::int64_t kStage = 1024;      // moves at one temperature
constexpr std::size_t kLargestPool = 128;  // sequences that one regrouping deals at most
// One in this many proposals changes the recomputation mode.
constexpr std::size_t kOtherWayMoves = 40;
// Sequences of a group whose recomputation mode may change, at most.
constexpr std::size_t kLargestMoved = 256;
// Percent of the picks. A sequence comes from a group of a random micro-batch (kFair), from the
// slowest group of one (kSlowest), or from anywhere. A group comes from a random micro-batch
// (kFairGroup) or from anywhere.
constexpr std::uint32_t kFair = 15;
constexpr std::uint32_t kSlowest = 25;
constexpr std::uint32_t kFairGroup = 30;
// Percent of the proposals. Regrouping has the rest.
struct Shares {
  std::uint32_t moves = 0;
  std::uint32_t swaps = 0;
  std::uint32_t groups = 0;  // exchanges of whole groups
};
constexpr Shares kShares{40, 45, 7};
// If the memory of the groups is nearly full, moves rarely find room, so most proposals are swaps.
constexpr Shares kFilledShares{10, 65, 10};
// Memory counts as full if fewer than one move in this many finds room.
constexpr std::int64_t kFilled = 10;
// The weight of evenness falls from 1 to this value during the annealing.
constexpr double kLastWeight = 0.05;
// Pipelines only: makespans within this share of the longest one carry a part of its price. The
// share falls from the first value to the last.
constexpr double kFirstMargin = 0.03;
constexpr double kLastMargin = 0.001;

// Returns samples of the exponential distribution. A change is accepted if it is below a sample
// times the temperature.
const std::array<double, 4096>& thresholds() {
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
           std::uint64_t seed)
      : state_(table, step, 1),
        effort_(effort),
        random_(seed),
        no_idle_(table.no_idle_ranks()),
        equal_(table.equal_sequences()),
        kinds_(table.several_kinds()),
        modes_(table.recomputations()),
        levels_of_(at(table.recomputations()) * at(places_of(table))) {
    for (int config = 0; config < static_cast<int>(table.configs().size()); ++config) {
      std::vector<int>& own = levels_of_[at(sort(table.mode(config), config))];
      place_.push_back(static_cast<int>(own.size()));
      own.push_back(config);
    }
  }

  // Returns the last state and the best state seen at the end of a stage. The annealing aims at the
  // last state. If a limit cuts the annealing, the best state may be better.
  std::array<WorkingStep, 2> run(const Budget& budget) {
    WorkingStep best;
    Ms least = kInfinity;
    const double mean = state_.total() / static_cast<double>(state_.batches().size());
    const std::int64_t stages = std::max<std::int64_t>(1, effort_.steps / kStage);
    const double cooling = std::pow(effort_.cold / effort_.hot,
                                    1 / static_cast<double>(std::max<std::int64_t>(1, stages - 1)));
    temperature_ = effort_.hot * mean;
    if (effort_.price_from == 0) state_.price_longest(kFirstMargin);
    for (std::int64_t stage = 0; stage < stages && !budget.exhausted(); ++stage) {
      // The last stages accept improvements only.
      if (stage >= stages - stages / 16) temperature_ = 0;
      moves_ = 0;
      room_found_ = 0;
      for (std::int64_t i = 0; i < kStage; ++i) propose();
      shares_ = room_found_ * kFilled < moves_ ? kFilledShares : kShares;
      temperature_ *= cooling;
      const double done = static_cast<double>(stage + 1) / static_cast<double>(stages);
      state_.set_weight(std::pow(kLastWeight, done));
      if (done >= effort_.price_from) {
        state_.price_longest(kFirstMargin * std::pow(kLastMargin / kFirstMargin, done));
      }
      if (const Ms now = step_now(); now < least) {
        least = now;
        best = state_.draft();
      }
    }
    return {state_.draft(), std::move(best)};
  }

 private:
  using Change = StepState::Change;

  std::uint32_t below(std::size_t n) { return random_.below(static_cast<std::uint32_t>(n)); }

  bool accept(double delta) {
    if (delta <= 0) return true;
    return delta < temperature_ * thresholds_[below(thresholds_.size())];
  }

  void propose() {
    if (modes_ > 1 && below(kOtherWayMoves) == 0) return try_other_mode();
    const std::uint32_t dice = below(100);
    if (dice < shares_.moves) {
      // If groups keep their sequence counts, only swaps are allowed.
      if (equal_) return try_swap();
      try_move();
    } else if (dice < shares_.moves + shares_.swaps) {
      try_swap();
    } else if (dice < shares_.moves + shares_.swaps + shares_.groups) {
      try_swap_groups();
    } else {
      try_regroup();
    }
  }

  int pick_any() { return state_.groups()[below(state_.groups().size())]; }
  // Returns a group of a random micro-batch. Micro-batches of long sequences have few groups and
  // the most to gain, so a pick among all groups would rarely reach them.
  int pick_fairly() {
    const StepState::Batch& batch = state_.batches()[below(state_.batches().size())];
    return batch.groups.empty() ? pick_any() : batch.groups[below(batch.groups.size())];
  }

  // Returns a sequence to move: from a group picked by pick_fairly(), from a slowest group, or any
  // sequence.
  int pick_position() {
    const std::uint32_t dice = below(100);
    if (dice < kFair) {
      const auto& positions = state_.group(pick_fairly()).positions;
      if (!positions.empty()) return positions[below(positions.size())];
    } else if (dice < kFair + kSlowest) {
      const int batch = static_cast<int>(below(state_.batches().size()));
      if (state_.batch(batch).makespan > 0) {
        const auto& positions = state_.group(state_.slowest(batch)).positions;
        return positions[below(positions.size())];
      }
    }
    return static_cast<int>(below(static_cast<std::size_t>(state_.table().size())));
  }
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

  void try_move() {
    const int position = pick_position();
    const int from = state_.group_of(position);
    const int to = pick_group();
    if (from == to) return;
    const StepState::Group& source = state_.group(from);
    const StepState::Group& target = state_.group(to);
    if (no_idle_ && source.positions.size() == 1) return;
    const Tokens length = state_.length(position, target.config);
    ++moves_;
    if (length > state_.room(target) || !state_.holds(target.config, length)) return;
    if (state_.full(target)) return;
    ++room_found_;
    const Change out{from, time_without(source, position)};
    const Change in{to,
                    state_.time(target.config, target.load + state_.load(position, target.config))};
    if (accept(energy_change(out, in))) state_.move(position, to);
  }

  void try_swap() {
    const int position = pick_position();
    const int a = state_.group_of(position);
    const int b = pick_group();
    if (a == b) return;
    const StepState::Group& left = state_.group(a);
    const StepState::Group& right = state_.group(b);
    if (right.positions.empty()) return;
    const int other = right.positions[below(right.positions.size())];
    if (state_.kind(position) == state_.kind(other)) return;
    const Tokens coming = state_.length(other, left.config);
    const Tokens leaving = state_.length(position, right.config);
    if (coming - state_.length(position, left.config) > state_.room_to_grow(left)) return;
    if (leaving - state_.length(other, right.config) > state_.room_to_grow(right)) return;
    if (!state_.holds(left.config, coming) || !state_.holds(right.config, leaving)) return;
    const Change out{a, exchanged(left, position, other)};
    const Change in{b, exchanged(right, other, position)};
    if (accept(energy_change(out, in))) state_.swap(position, other);
  }

  // Exchanges a group with groups of another micro-batch that have as many devices together, or
  // with free devices there.
  void try_swap_groups() {
    const int a = pick_group();
    const int left = state_.group(a).batch;
    const int right = static_cast<int>(below(state_.batches().size()));
    const StepState::Batch& other = state_.batch(right);
    if (left == right || other.groups.empty()) return;
    if (mode(a) != mode(other.groups.front())) return;
    if (equal_ && each(a) != each(other.groups.front())) return;
    int missing = state_.degree(state_.group(a)) - state_.free_for(right, state_.group(a).config);
    gone_.clear();
    for (int tries = 0; missing > 0; ++tries) {
      if (tries == 8) return;
      const int next = other.groups[below(other.groups.size())];
      const int degree = state_.degree(state_.group(next));
      if (kinds_ && place(next) != place(a)) continue;
      if (degree > missing || std::find(gone_.begin(), gone_.end(), next) != gone_.end()) continue;
      gone_.push_back(next);
      missing -= degree;
    }
    const double before = state_.batch(left).energy + other.energy;
    const double after = state_.energy_without(left, {&a, 1}, state_.sum(gone_)) +
                         state_.energy_without(right, gone_, state_.sum({&a, 1}));
    if (!accept(after - before)) return;
    state_.relocate({&a, 1}, right);
    state_.relocate(gone_, left);
  }

  // Destroys one to three groups of a micro-batch. Partitions their devices and the free ones anew
  // at random, and deals the sequences by longest processing time.
  void try_regroup() {
    const int first =
        below(3) == 0 ? state_.slowest(state_.group(pick_group()).batch) : pick_group();
    const int index = state_.group(first).batch;
    const StepState::Batch& batch = state_.batch(index);
    gone_.assign(1, first);
    const std::size_t others = below(3);
    for (std::size_t i = 0; i < others; ++i) {
      const int next = batch.groups[below(batch.groups.size())];
      if (kinds_ && place(next) != place(first)) continue;
      if (std::find(gone_.begin(), gone_.end(), next) == gone_.end()) gone_.push_back(next);
    }
    int devices = state_.free_for(index, state_.group(first).config);
    if (kinds_ && is_across(first)) devices = 0;
    pool_.clear();
    for (const int id : gone_) {
      const StepState::Group& group = state_.group(id);
      devices += state_.degree(group);
      pool_.insert(pool_.end(), group.positions.begin(), group.positions.end());
    }
    if (pool_.empty() || pool_.size() > kLargestPool) return;
    std::sort(pool_.begin(), pool_.end());
    const auto& configs = state_.table().configs();
    // Use the recomputation mode of the micro-batch. If all its groups are replaced, use any mode.
    int own_mode = mode(first);
    if (modes_ > 1 && gone_.size() == batch.groups.size()) {
      own_mode = static_cast<int>(below(at(modes_)));
    }
    const std::vector<int>& own = levels_of_[at(sort(own_mode, state_.group(first).config))];
    if (own.empty()) return;
    int largest = static_cast<int>(own.size()) - 1;
    made_size_ = 0;
    const std::size_t most = equal_ ? gone_.size() : pool_.size();
    const int least = configs[at(own.front())].degree;
    while (devices >= least && made_size_ < most) {
      while (configs[at(own[at(largest)])].degree > devices) --largest;
      // Three times in four, take the configuration of a destroyed group or a neighbouring
      // configuration.
      int place = 0;
      if (below(4) == 0) {
        place = static_cast<int>(below(static_cast<std::size_t>(largest) + 1));
      } else {
        place = place_[at(state_.group(gone_[below(gone_.size())]).config)] +
                static_cast<int>(below(3)) - 1;
      }
      const int config = own[at(std::clamp(place, 0, largest))];
      if (made_.size() == made_size_) made_.emplace_back();
      WorkingGroup& group = made_[made_size_++];
      group.config = config;
      group.held = 0;
      group.load = state_.empty_load(config);
      group.time = state_.time(config, group.load);
      group.positions.clear();
      devices -= configs[static_cast<std::size_t>(config)].degree;
    }
    for (const int position : pool_) {
      WorkingGroup* best = nullptr;
      Ms finish = kInfinity;
      for (std::size_t g = 0; g < made_size_; ++g) {
        WorkingGroup& group = made_[g];
        if (equal_ && group.positions.size() == each(first)) continue;
        const Ms then = state_.time(group.config, group.load + state_.load(position, group.config));
        if (then < finish && has_room(state_.table(), group, position)) {
          finish = then;
          best = &group;
        }
      }
      if (best == nullptr) return;
      best->positions.push_back(position);
      best->held += state_.table().held(best->config, position);
      best->load += state_.load(position, best->config);
      best->time = finish;
    }
    StepState::Sum sum;
    if (no_idle_ && devices > 0) return;
    for (std::size_t g = 0; g < made_size_; ++g) {
      const WorkingGroup& group = made_[g];
      if (group.positions.empty() && no_idle_) return;
      if (group.positions.empty()) continue;
      const GroupConfig& config = configs[static_cast<std::size_t>(group.config)];
      sum.slowest = std::max(sum.slowest, group.time);
      sum.squares += config.degree * group.time * group.time;
    }
    if (made_as_before()) return;
    const double then = state_.energy_without(index, gone_, sum);
    if (accept(then - batch.energy)) state_.replace(index, gone_, {made_.data(), made_size_});
  }

  // Returns true if the new groups equal the destroyed ones. This happens for half of the proposals
  // where each group holds few sequences.
  bool made_as_before() const {
    std::size_t same = 0;
    for (std::size_t g = 0; g < made_size_; ++g) {
      const WorkingGroup& made = made_[g];
      if (made.positions.empty()) continue;
      const int home = state_.group_of(made.positions.front());
      const StepState::Group& group = state_.group(home);
      if (group.config != made.config || group.positions.size() != made.positions.size())
        return false;
      for (const int position : made.positions) {
        if (state_.group_of(position) != home) return false;
      }
      ++same;
    }
    return same == gone_.size();
  }

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

  // Changes the recomputation mode of a micro-batch. Each group gets the fastest configuration of
  // its degree in the new mode.
  void try_other_mode() {
    const int index = state_.group(pick_group()).batch;
    const StepState::Batch& batch = state_.batch(index);
    gone_ = batch.groups;
    auto other = static_cast<int>(below(at(modes_) - 1));
    if (other >= mode(gone_.front())) ++other;
    const auto& configs = state_.table().configs();
    StepState::Sum sum;
    made_size_ = 0;
    for (const int id : gone_) {
      const StepState::Group& group = state_.group(id);
      if (group.positions.size() > kLargestMoved) return;
      if (made_.size() == made_size_) made_.emplace_back();
      WorkingGroup& made = made_[made_size_++];
      made.time = kInfinity;
      for (const int config : levels_of_[at(sort(other, group.config))]) {
        if (configs[at(config)].degree != state_.degree(group)) continue;
        WorkingGroup own = group_of(state_.table(), config, group.positions);
        if (own.time < made.time && has_room(state_.table(), own)) made = std::move(own);
      }
      if (made.time == kInfinity) return;
      if (made.positions.empty()) continue;
      sum.slowest = std::max(sum.slowest, made.time);
      sum.squares += state_.degree(group) * made.time * made.time;
    }
    const double then = state_.energy_without(index, gone_, sum);
    if (accept(then - batch.energy)) state_.replace(index, gone_, {made_.data(), made_size_});
  }

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
  const std::array<double, 4096>& thresholds_ = thresholds();
  std::vector<int> gone_;
  std::vector<int> pool_;
  std::vector<WorkingGroup> made_;
  std::size_t made_size_ = 0;
  std::vector<std::vector<int>> levels_of_;  // by sort()
  std::vector<int> place_;                   // index of a configuration in its list of levels_of_
};

}  // namespace

void anneal(const ScatterTable& table, WorkingStep& step, const AnnealEffort& effort,
            std::uint64_t seed, const Budget& budget) {
  if (step.empty()) return;
  const auto mixed = [&](const WorkingMicroBatch& batch) { return mixes_modes(table, batch); };
  // Moves keep the recomputation mode of a micro-batch.
  if (std::ranges::any_of(step, mixed)) return;
  const bool keeps_rules = satisfies_rules(table, step);
  for (WorkingStep& made : Annealer(table, step, effort, seed).run(budget)) {
    if (made.empty()) continue;
    std::optional<WorkingStep> next = std::move(made);
    choose_forms(table, *next);
    // Moves ignore the rules of whole micro-batches. The result is repaired before it is compared.
    if (keeps_rules) next = repaired(table, *std::move(next));
    if (next && step_ms(table, *next) < step_ms(table, step)) step = *std::move(next);
  }
}

}  // namespace stowage
