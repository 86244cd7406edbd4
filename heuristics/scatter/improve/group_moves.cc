// The moves of whole groups: exchanges between micro-batches, regroupings, and other recomputation
// modes.
#include <algorithm>
#include <utility>
#include <vector>

#include "heuristics/scatter/improve/annealer.h"
#include "heuristics/scatter/improve/search_state.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"

namespace stowage {
namespace {

constexpr std::size_t kLargestPool = 128;  // sequences that one regrouping deals at most
// Sequences of a group whose recomputation mode may change, at most.
constexpr std::size_t kLargestMoved = 256;

}  // namespace

// Exchanges a group with groups of another micro-batch that have as many devices together, or
// with free devices there.
void Annealer::try_swap_groups() {
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
void Annealer::try_regroup() {
  const int first = below(3) == 0 ? state_.slowest(state_.group(pick_group()).batch) : pick_group();
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
bool Annealer::made_as_before() const {
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

// Changes the recomputation mode of a micro-batch. Each group gets the fastest configuration of
// its degree in the new mode.
void Annealer::try_other_mode() {
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

}  // namespace stowage
