// Longer than 300 lines: one packing serves a micro-batch with a target and a step with a profile.
#include "heuristics/scatter/construct/multifit/multifit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

// The bisection starts this share below the requested makespans.
constexpr double kProfileReach = 0.2;
// Common factors tried above the requested makespans.
constexpr std::array<double, 4> kReaches = {1.05, 1.2, 1.5, 2.5};
// Shares by which a makespan shrinks in a proposal. Another makespan may grow by a part of the
// decrease.
constexpr std::array<double, 6> kSteps = {0.2, 0.1, 0.05, 0.02, 0.01, 0.005};
constexpr std::size_t kOtherWay = 4;  // one in this many proposals changes a recomputation mode
// One in this many proposals shortens all of the longest makespans.
constexpr std::size_t kLevelOff = 4;
constexpr std::size_t kMaxUniting = 8;  // micro-batches; with more, uniting groups takes too long
// Micro-batches of a step whose makespans may all be drawn anew.
constexpr std::size_t kMaxDrawn = 4;
constexpr std::size_t kDrawn = 3;  // one in this many proposals draws all makespans anew
// Shares by which drawn makespans sum up to less.
constexpr std::array<double, 3> kPromises = {2e-3, 6e-3, 1.5e-2};
constexpr std::size_t kDraws = 1000;  // random weights per drawn makespan
constexpr double kLess = 1 - 1e-9;    // bounds by areas are lowered by this factor against rounding
// Sequences. Larger steps rarely need more than first fit.
constexpr int kFew = 256;
bool few_sequences(const ScatterTable& table) { return table.size() <= kFew; }

// One packing rule: see Fitter::fit(). `longest_first` tries the longest micro-batches first.
struct Rule {
  double waste = 1;
  bool longest_first = false;
};
constexpr std::array<Rule, 6> kRules = {
    {{1, false}, {1.3, true}, {1.3, false}, {1.05, true}, {1.1, false}, {2, true}}};
constexpr std::array<double, 4> kPaidBack = {0, 0.5, 0.8, 0.95};

// The groups of one configuration in the order of their opening, with their remaining time and
// memory. A segment tree finds the first group with enough of both.
class OpenGroups {
 public:
  int first(Ms time, Tokens tokens) const { return count_ == 0 ? -1 : first(1, time, tokens); }

  // Opens a group and returns its slot. `name` is the caller's index of the group.
  int open(Ms time, Tokens tokens, std::int64_t sequences, std::size_t name) {
    if (count_ == leaves_) grow();
    set(count_, time, tokens);
    left_.push_back(sequences);
    names_.push_back(name);
    return count_++;
  }
  std::size_t name(int slot) const { return names_[static_cast<std::size_t>(slot)]; }

  struct Room {
    Ms time = -1;
    Tokens tokens = -1;
  };
  const Room& room(int slot) const { return rooms_[leaf(slot)]; }
  // Returns the largest remaining time and the largest remaining tokens, possibly of different
  // groups.
  Room most() const { return count_ == 0 ? Room{} : rooms_[1]; }
  // Returns how many more sequences the group may hold.
  std::int64_t left(int slot) const { return left_[static_cast<std::size_t>(slot)]; }

  void take(int slot, Ms time, Tokens tokens, std::size_t copies) {
    const std::int64_t left = left_[static_cast<std::size_t>(slot)] -=
        static_cast<std::int64_t>(copies);
    if (left == 0) {
      set(slot, -1, -1);
    } else {
      set(slot, room(slot).time - time, room(slot).tokens - tokens);
    }
  }

  // Stops the group from taking more sequences.
  void close(int slot) { set(slot, -1, -1); }

  // Returns the slots of the two open groups with the most free tokens. A missing slot is -1.
  std::pair<int, int> roomiest() const {
    std::pair<int, int> two{-1, -1};
    const auto tokens = [&](int slot) { return slot < 0 ? -1 : room(slot).tokens; };
    for (int slot = 0; slot < count_; ++slot) {
      if (tokens(slot) > tokens(two.first)) {
        two = {slot, two.first};
      } else if (tokens(slot) > tokens(two.second)) {
        two.second = slot;
      }
    }
    return two;
  }

  void clear() {
    if (count_ == 0) return;
    std::ranges::fill(rooms_, Room{});
    names_.clear();
    left_.clear();
    count_ = 0;
  }

 private:
  std::size_t leaf(int slot) const {
    return static_cast<std::size_t>(leaves_) + static_cast<std::size_t>(slot);
  }

  // Returns the first slot in the subtree of `node` with enough time and tokens, or -1. The maxima
  // of a node may belong to different groups.
  int first(int node, Ms time, Tokens tokens) const {
    const Room& room = rooms_[static_cast<std::size_t>(node)];
    if (room.time < time || room.tokens < tokens) return -1;
    if (node >= leaves_) return node - leaves_;
    const int left = first(2 * node, time, tokens);
    return left >= 0 ? left : first(2 * node + 1, time, tokens);
  }

  void set(int slot, Ms time, Tokens tokens) {
    std::size_t node = leaf(slot);
    rooms_[node] = {time, tokens};
    while (node /= 2) {
      const Room& left = rooms_[2 * node];
      const Room& right = rooms_[2 * node + 1];
      rooms_[node] = {std::max(left.time, right.time), std::max(left.tokens, right.tokens)};
    }
  }

  void grow() {
    const std::vector<Room> old(rooms_.end() - leaves_, rooms_.end());
    leaves_ = std::max(4, 2 * leaves_);
    rooms_.assign(2 * static_cast<std::size_t>(leaves_), {});
    for (int slot = 0; slot < count_; ++slot) {
      const Room& room = old[static_cast<std::size_t>(slot)];
      set(slot, room.time, room.tokens);
    }
  }

  int leaves_ = 0;
  int count_ = 0;
  std::vector<Room> rooms_;
  std::vector<std::size_t> names_;
  std::vector<std::int64_t> left_;  // sequences
};

// Packs the same sequences for one list of targets after another. Sequences of one length are
// packed together: a group takes as many of them as it has room for.
class Fitter {
 public:
  Fitter(const ScatterTable& table, std::span<const int> positions)
      : table_(table), positions_(positions) {
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const int kind = table.kind(positions[i]);
      if (runs_.empty() || runs_.back().kind != kind) add_run(kind, i);
      ++runs_.back().count;
    }
    double rest = 0;
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      rest += static_cast<double>(run->count) * area(run->kind, configs_[run->configs]);
      run->rest = rest * kLess;
    }
  }

  // Returns true if all sequences fit micro-batches of at most `targets`. Earlier targets are
  // filled first. If `waste` > 1, a sequence first tries open groups at up to `waste` times its
  // least device-time.
  bool fit(std::span<const BatchTarget> targets, double waste = 1) {
    const std::size_t configs = table_.configs().size();
    open_.resize(targets.size() * configs);
    for (OpenGroups& groups : open_) groups.clear();
    most_.assign(open_.size(), {});
    roomiest_.assign(configs, {});
    most_left_ = table_.devices();
    made_.clear();
    parts_.clear();
    devices_left_.assign(targets.size(), table_.devices());
    area_left_ = 0;
    for (const BatchTarget& target : targets) {
      area_left_ += table_.devices() * std::max(0.0, target.makespan - table_.least_overhead());
    }
    for (const Run& run : runs_) {
      if (run.rest > area_left_) return false;
      std::size_t next = run.first;
      const std::size_t end = run.first + run.count;
      if (waste > 1) {
        const double most = waste * area(run.kind, configs_[run.configs]);
        for (std::size_t l = run.configs; l < run.levels_end && next < end; ++l) {
          if (area(run.kind, configs_[l]) > most) break;
          next = fill_config(run, configs_[l], targets, next, false);
        }
      }
      for (std::size_t l = run.configs; l < run.levels_end && next < end; ++l) {
        next = fill_config(run, configs_[l], targets, next, true);
      }
      while (next < end && unites_ && unite(run, targets)) {
        for (std::size_t l = run.configs; l < run.levels_end && next < end; ++l) {
          next = fill_config(run, configs_[l], targets, next, false);
        }
      }
      if (next < end) return false;
    }
    return true;
  }

  // Allows or forbids uniting groups, see unite().
  void let_unite(bool may) { unites_ = may; }

  // Keeps the packing of the last successful fit(). Swaps it with the packing kept before, so that
  // a second call restores the earlier one.
  void keep() {
    kept_made_.swap(made_);
    kept_parts_.swap(parts_);
    kept_.assign(devices_left_.size(), {});
    loads_.clear();
    has_way_.assign(kept_.size(), 0);
    for (const Made& made : kept_made_) {
      loads_.push_back(table_.empty_load(made.config));
      if (made.united || has_way_[made.batch] != 0) continue;
      has_way_[made.batch] = 1;
      kept_[made.batch].mode = table_.mode(made.config);
    }
    // Sums the loads one by one, as the groups of a draft do, so that both round alike.
    for (const Part& part : kept_parts_) {
      const int config = kept_made_[part.group].config;
      const Load load = table_.load(positions_[part.first], config);
      for (std::size_t i = part.first; i < part.last; ++i) loads_[part.group] += load;
    }
    for (const Part& part : kept_parts_) {
      const Made& made = kept_made_[part.group];
      Ms& makespan = kept_[made.batch].makespan;
      makespan = std::max(makespan, table_.time(made.config, loads_[part.group]));
    }
  }

  // Returns the makespans and modes of the kept micro-batches, in the order of their targets.
  const std::vector<BatchTarget>& kept() const { return kept_; }

  // Returns the kept packing as a step.
  WorkingStep draft() const {
    WorkingStep step(kept_.size());
    std::vector<std::size_t> index;
    for (const Made& made : kept_made_) {
      std::vector<WorkingGroup>& groups = step[made.batch].groups;
      index.push_back(groups.size());
      if (!made.united) groups.push_back(empty_group(table_, made.config));
    }
    for (const Part& part : kept_parts_) {
      WorkingGroup& group = step[kept_made_[part.group].batch].groups[index[part.group]];
      for (std::size_t i = part.first; i < part.last; ++i) {
        add_sequence(table_, group, positions_[i]);
      }
    }
    for (WorkingMicroBatch& batch : step) batch.makespan = slowest(batch);
    return step;
  }

 private:
  struct Run {
    int kind = 0;
    std::size_t first = 0;  // index into positions_
    std::size_t count = 0;
    std::size_t configs =
        0;  // levels_[configurations, levels_end) can hold the run, least area first
    std::size_t levels_end = 0;
    double rest = 0;  // lower bound on the device-time of this run and the runs after it
  };
  struct Made {  // a group
    std::size_t batch = 0;
    int config = 0;
    bool united = false;  // united with another group into a larger group
  };
  struct Part {  // positions_[first, last) in a group
    std::size_t group = 0;
    std::size_t first = 0;
    std::size_t last = 0;
  };

  void add_run(int kind, std::size_t first) {
    Run run{.kind = kind, .first = first, .configs = configs_.size()};
    for (int config = 0; config < static_cast<int>(table_.configs().size()); ++config) {
      if (table_.holds_kind(config, kind)) configs_.push_back(config);
    }
    std::stable_sort(configs_.begin() + static_cast<std::ptrdiff_t>(run.configs), configs_.end(),
                     [&](int a, int b) { return area(kind, a) < area(kind, b); });
    run.levels_end = configs_.size();
    runs_.push_back(run);
  }

  Tokens length(int kind) const { return table_.kinds()[static_cast<std::size_t>(kind)].length; }
  double area(int kind, int config) const {
    return table_.configs()[static_cast<std::size_t>(config)].degree *
           table_.kind_cost(kind, config);
  }

  // Puts sequences of the run, from index `next` on, into groups of the configuration. Returns the
  // index of the first sequence without room.
  std::size_t fill_config(const Run& run, int config, std::span<const BatchTarget> targets,
                          std::size_t next, bool may_open) {
    const GroupConfig& group = table_.configs()[static_cast<std::size_t>(config)];
    const Ms time = table_.kind_cost(run.kind, config);
    const Tokens tokens = group.packed_size(length(run.kind));
    const int mode = table_.mode(config);
    OpenGroups::Room& roomiest = roomiest_[at(config)];
    const bool might_open = may_open && group.degree <= most_left_;
    if (!might_open && (roomiest.time < time || roomiest.tokens < tokens)) return next;
    const OpenGroups::Room* most = &most_[at(config) * targets.size()];
    OpenGroups::Room seen;
    int most_left = 0;
    for (std::size_t batch = 0; batch < targets.size(); ++batch) {
      if (targets[batch].mode != mode) continue;
      const bool opens = may_open && group.degree <= devices_left_[batch] &&
                         group.overhead + time <= targets[batch].makespan;
      if (opens || (most[batch].time >= time && most[batch].tokens >= tokens)) {
        next = fill(run, config, batch, targets[batch].makespan, next, may_open);
        note_most(config, batch);
        if (next == run.first + run.count) return next;
      }
      seen = most_of(seen, most[batch]);
      most_left = std::max(most_left, devices_left_[batch]);
    }
    roomiest = seen;
    // Micro-batches of other recomputation modes were skipped.
    if (table_.recomputations() == 1) most_left_ = most_left;
    return next;
  }

  // Unites two groups into one of twice the degree that has room for a sequence of the run. Each of
  // a few long sequences may have a group of its own that fits no second one. A group of twice the
  // memory may then hold three of them. Short sequences find room without uniting. Returns false if
  // no two groups can be united.
  bool unite(const Run& run, std::span<const BatchTarget> targets) {
    const auto& configs = table_.configs();
    if (configs[at(configs_[run.configs])].degree == configs.front().degree) return false;
    for (std::size_t l = run.configs; l < run.levels_end; ++l) {
      const GroupConfig& large = configs[at(configs_[l])];
      for (int half = 0; half < static_cast<int>(configs.size()); ++half) {
        if (2 * configs[at(half)].degree != large.degree) continue;
        if (table_.mode(half) != table_.mode(configs_[l])) continue;
        for (std::size_t batch = 0; batch < targets.size(); ++batch) {
          if (targets[batch].mode != table_.mode(half)) continue;
          if (unite(run, batch, targets[batch].makespan, half, configs_[l])) return true;
        }
      }
    }
    return false;
  }

  bool unite(const Run& run, std::size_t batch, Ms target, int half, int config) {
    const std::size_t stride = table_.configs().size();
    OpenGroups& open = open_[batch * stride + at(half)];
    const auto [a, b] = open.roomiest();
    if (b < 0) return false;
    const std::array<std::size_t, 2> names{open.name(a), open.name(b)};
    const auto theirs = [&](const Part& part) { return std::ranges::count(names, part.group) > 0; };
    const GroupConfig& small = table_.configs()[at(half)];
    const GroupConfig& large = table_.configs()[at(config)];
    Ms time = 0;
    Ms before = 0;
    Tokens tokens = 0;
    std::int64_t count = 0;
    for (const Part& part : parts_) {
      if (!theirs(part)) continue;
      const int kind = table_.kind(positions_[part.first]);
      const auto copies = static_cast<std::int64_t>(part.last - part.first);
      if (!table_.holds_kind(config, kind)) return false;
      time += static_cast<double>(copies) * table_.kind_cost(kind, config);
      before += static_cast<double>(copies) * table_.kind_cost(kind, half);
      tokens += copies * large.packed_size(length(kind));
      count += copies;
    }
    const Ms time_left = target * kPlannerFill - large.overhead - time;
    const Tokens tokens_left = table_.capacity_within(config, target * kPlannerFill) - tokens;
    if (time_left < table_.kind_cost(run.kind, config) || count >= large.sequences) return false;
    if (tokens_left < large.packed_size(length(run.kind))) return false;
    open.close(a);
    open.close(b);
    note_most(half, batch);
    for (Part& part : parts_) {
      if (theirs(part)) part.group = made_.size();
    }
    for (const std::size_t name : names) made_[name].united = true;
    open_[batch * stride + at(config)].open(time_left, tokens_left, large.sequences - count,
                                            made_.size());
    note_most(config, batch);
    made_.push_back({batch, config});
    const Ms least = table_.least_overhead();
    area_left_ += small.degree * (2 * (small.overhead - least) + before) -
                  large.degree * (large.overhead - least + time);
    return true;
  }

  void note_most(int config, std::size_t batch) {
    const OpenGroups::Room most = open_[batch * table_.configs().size() + at(config)].most();
    most_[at(config) * devices_left_.size() + batch] = most;
    roomiest_[at(config)] = most_of(roomiest_[at(config)], most);
  }
  static OpenGroups::Room most_of(const OpenGroups::Room& a, const OpenGroups::Room& b) {
    return {std::max(a.time, b.time), std::max(a.tokens, b.tokens)};
  }

  std::size_t fill(const Run& run, int config, std::size_t batch, Ms target, std::size_t next,
                   bool may_open) {
    const auto l = static_cast<std::size_t>(config);
    const GroupConfig& group = table_.configs()[l];
    const Ms time = table_.kind_cost(run.kind, config);
    if (group.overhead + time > target) return next;
    const Ms most = target * kPlannerFill;  // margin for the rounding of sums
    const Tokens tokens = group.packed_size(length(run.kind));
    const Tokens capacity = table_.capacity_within(config, most);
    if (tokens > capacity) return next;
    OpenGroups& open = open_[batch * table_.configs().size() + l];
    while (next < run.first + run.count) {
      int slot = open.first(time, tokens);
      if (slot < 0) {
        if (!may_open || group.degree > devices_left_[batch]) return next;
        devices_left_[batch] -= group.degree;
        slot = open.open(most - group.overhead, capacity, group.sequences, made_.size());
        made_.push_back({batch, config});
        area_left_ -= group.degree * (group.overhead - table_.least_overhead());
        // Just below a target that one sequence fills, rounding leaves no room even in a new group.
        if (open.room(slot).time < time) return next;
      }
      const OpenGroups::Room& room = open.room(slot);
      std::size_t copies = run.first + run.count - next;
      if (copies > 1) {
        const Tokens held = tokens > 0 ? room.tokens / tokens : room.tokens;
        copies = std::min(
            copies, static_cast<std::size_t>(std::max<Tokens>(1, std::min(held, open.left(slot)))));
        if (static_cast<double>(copies) * time > room.time) {
          copies = std::max<std::size_t>(1, static_cast<std::size_t>(room.time / time));
        }
      }
      parts_.push_back({open.name(slot), next, next + copies});
      area_left_ -= group.degree * (static_cast<double>(copies) * time);
      open.take(slot, static_cast<double>(copies) * time, static_cast<Tokens>(copies) * tokens,
                copies);
      next += copies;
    }
    return next;
  }

  const ScatterTable& table_;
  std::span<const int> positions_;
  std::vector<Run> runs_;
  std::vector<int> configs_;
  std::vector<OpenGroups> open_;        // by micro-batch and configuration
  std::vector<OpenGroups::Room> most_;  // maxima of open_, by configuration and micro-batch
  // Maxima over all micro-batches: of the rooms, by configuration, and of the free devices.
  std::vector<OpenGroups::Room> roomiest_;
  int most_left_ = 0;
  std::vector<Made> made_;
  std::vector<Part> parts_;
  std::vector<int> devices_left_;  // by micro-batch
  double area_left_ = 0;           // device-time left before the targets
  std::vector<Made> kept_made_;
  std::vector<Part> kept_parts_;
  std::vector<BatchTarget> kept_;
  std::vector<Load> loads_;    // loads of the kept groups
  std::vector<char> has_way_;  // by micro-batch, scratch space of keep()
  bool unites_ = false;
};

}  // namespace

std::optional<WorkingMicroBatch> multifit(const ScatterTable& table, std::span<const int> positions,
                                          Ms lower, Ms upper, int rounds) {
  Fitter fitter(table, positions);
  // Finds a feasible target by doubling the distance to the lower bound, then bisects.
  bool found = false;
  fitter.let_unite(few_sequences(table));
  for (int halvings = 12; !found && halvings >= 0; --halvings) {
    const BatchTarget target{lower + std::ldexp(upper - lower, -halvings)};
    found = fitter.fit({&target, 1});
  }
  if (!found) return std::nullopt;
  fitter.keep();
  for (int round = 0; round < rounds && fitter.kept().front().makespan > lower; ++round) {
    const BatchTarget target{(lower + fitter.kept().front().makespan) / 2};
    if (fitter.fit({&target, 1})) {
      fitter.keep();
    } else {
      lower = target.makespan;
    }
  }
  return std::move(fitter.draft().front());
}

static Ms longest(const std::vector<BatchTarget>& targets) {
  return std::ranges::max(targets, {}, &BatchTarget::makespan).makespan;
}

// Cuts the longest makespans to 1 - `less` of the longest one. The other makespans grow by
// `paid_back` of the decrease.
static void level_off(std::vector<BatchTarget>& targets, double less, double paid_back) {
  const Ms most = (1 - less) * longest(targets);
  Ms taken = 0;
  Ms room = 0;
  for (auto& [makespan, mode] : targets) {
    taken += std::max(0.0, makespan - most);
    room += std::max(0.0, most - makespan);
    makespan = std::min(makespan, most);
  }
  if (!(room > 0)) return;
  const double share = std::min(1.0, paid_back * taken / room);
  for (auto& [makespan, mode] : targets) makespan += share * (most - makespan);
}

// Draws makespans that are far from the present ones and sum up to a little less. Returns false if
// the longest sequence fits none of them.
template <class Below>
static bool draw_anew(const ScatterTable& table, std::vector<BatchTarget>& targets, Below below) {
  const Ms least = table.least_overhead();
  Ms rest = 0;
  for (const BatchTarget& target : targets) rest += target.makespan;
  rest *= 1 - kPromises[below(kPromises.size())];
  rest -= least * static_cast<double>(targets.size());
  double all = 0;
  for (BatchTarget& target : targets) {
    target.makespan = static_cast<double>(1 + below(kDraws));
    all += target.makespan;
  }
  Ms most = 0;
  for (BatchTarget& target : targets) {
    target.makespan = least + rest * target.makespan / all;
    most = std::max(most, target.makespan);
  }
  return rest > 0 && most >= table.alone(0);
}

std::vector<BatchTarget> targets_of(const ScatterTable& table, const WorkingStep& step) {
  std::vector<BatchTarget> targets;
  for (const WorkingMicroBatch& batch : step) {
    targets.push_back({batch.makespan});
    if (!batch.groups.empty()) targets.back().mode = table.mode(batch.groups.front().config);
  }
  std::ranges::sort(targets, std::greater<>(), &BatchTarget::makespan);
  return targets;
}

// Returns true if planning changes no packing: the table has no forms to choose and no rules on
// whole micro-batches.
static bool is_planned_as_packed(const ScatterTable& table) {
  return !has_forms(table) && !table.no_idle_ranks() && !table.equal_sequences() &&
         table.multiple() == 1;
}

std::optional<WorkingStep> fit_profile(const ScatterTable& table,
                                       std::span<const BatchTarget> profile,
                                       const ProfileEffort& effort, AsPlanned planned,
                                       std::uint64_t seed, const Budget& budget) {
  std::vector<int> positions(static_cast<std::size_t>(table.size()));
  std::iota(positions.begin(), positions.end(), 0);
  Fitter fitter(table, positions);
  const bool thorough = effort.thorough && few_sequences(table);
  std::vector<BatchTarget> targets;
  const auto fits = [&](const std::vector<BatchTarget>& all, double factor, const Rule& rule) {
    targets = all;
    for (BatchTarget& target : targets) target.makespan *= factor;
    if (rule.longest_first) {
      std::ranges::sort(targets, std::greater<>(), &BatchTarget::makespan);
    } else {
      std::ranges::sort(targets, {}, &BatchTarget::makespan);
    }
    return fitter.fit(targets, rule.waste);
  };
  const std::vector<BatchTarget> asked(profile.begin(), profile.end());
  double low = 1 - kProfileReach;
  double high = 1;
  Rule rule;
  bool found = false;
  for (const double reach : kReaches) {
    high = reach;
    for (const bool unite : {thorough, true}) {
      fitter.let_unite(unite && asked.size() <= kMaxUniting);
      for (std::size_t r = 0; r < kRules.size() && !found; ++r) {
        rule = kRules[r];
        found = fits(asked, high, rule);
      }
      if (found || unite || asked.size() > kMaxUniting) break;
    }
    if (found) break;
    low = high;
  }
  if (!found) return std::nullopt;
  // A packing that replaces another one may still make the longer step, before or after planning.
  // So the best step of all packings is kept.
  std::optional<WorkingStep> best;  // the best step, if it is not the kept packing
  Ms least = kInfinity;
  const bool as_packed = is_planned_as_packed(table);
  const auto keep = [&] {
    fitter.keep();
    if (!as_packed) {
      WorkingStep step = fitter.draft();
      choose_forms(table, step);
      if (step_ms(table, step) >= least) return;
      TimedWorkingStep made = planned(table, std::move(step));
      if (made.time >= least) return;
      least = made.time;
      best = std::move(made.step);
      return;
    }
    Ms sum = 0;
    for (const BatchTarget& target : fitter.kept()) sum += target.makespan;
    const Ms now = table.step_ms(sum, longest(fitter.kept()));
    if (now <= least) {
      least = now;
      best.reset();
    } else if (!best) {
      fitter.keep();
      best = fitter.draft();
      fitter.keep();
    }
  };
  keep();
  for (int round = 0; round < effort.bisections && !budget.exhausted(); ++round) {
    const double middle = (low + high) / 2;
    if (fits(asked, middle, kRules[static_cast<std::size_t>(round) % kRules.size()]) ||
        fits(asked, middle, rule)) {
      keep();
      high = middle;
    } else {
      low = middle;
    }
  }
  QuickRandom random(seed);
  const auto below = [&random](std::size_t n) {
    return random.below(static_cast<std::uint32_t>(n));
  };
  std::vector<BatchTarget> next;
  for (int proposal = 0; proposal < effort.proposals && !budget.exhausted(); ++proposal) {
    next = fitter.kept();
    if (table.longest_weight() > 0 && below(kLevelOff) == 0) {
      level_off(next, kSteps[below(kSteps.size())], kPaidBack[below(kPaidBack.size())]);
      Ms sum = 0;
      for (const BatchTarget& target : next) sum += target.makespan;
      const Ms promised = table.step_ms(sum, longest(next));
      Ms present = 0;
      for (const BatchTarget& target : fitter.kept()) present += target.makespan;
      if (promised >= table.step_ms(present, longest(fitter.kept()))) continue;
      if (fits(next, 1, kRules[below(kRules.size())])) keep();
      continue;
    }
    // Small changes lead from one profile to another only if all profiles between them are
    // feasible. Drawn makespans skip the profiles between.
    if (thorough && table.longest_weight() == 0 && next.size() > 1 && next.size() <= kMaxDrawn &&
        below(kDrawn) == 0) {
      if (draw_anew(table, next, below) && fits(next, 1, kRules[below(kRules.size())])) {
        keep();
      }
      continue;
    }
    const std::size_t shrunk = below(next.size());
    const Ms less = next[shrunk].makespan * kSteps[below(kSteps.size())];
    next[shrunk].makespan -= less;
    const std::size_t grown = below(next.size());
    if (grown != shrunk) next[grown].makespan += less * kPaidBack[below(kPaidBack.size())];
    // In a pipeline no makespan may grow beyond the longest one, which counts several times.
    if (table.longest_weight() > 0)
      next[grown].makespan = std::min(next[grown].makespan, longest(fitter.kept()));
    if (table.recomputations() > 1 && below(kOtherWay) == 0) {
      next[shrunk].mode = static_cast<int>(below(at(table.recomputations())));
    }
    if (fits(next, 1, kRules[below(kRules.size())])) keep();
  }
  if (!best && !as_packed) return std::nullopt;
  WorkingStep step = best ? *std::move(best) : fitter.draft();
  std::erase_if(step, [](const WorkingMicroBatch& batch) { return batch.groups.empty(); });
  return step;
}

}  // namespace stowage
