#include "heuristics/scatter/construct/multifit/multifit_packing.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

constexpr double kLess = 1 - 1e-9;  // bounds by areas are lowered by this factor against rounding

}  // namespace

MultifitPacking::MultifitPacking(const ScatterTable& table, std::span<const int> positions)
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

bool MultifitPacking::fit(std::span<const BatchTarget> targets, double waste) {
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

void MultifitPacking::keep() {
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

WorkingStep MultifitPacking::draft() const {
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

void MultifitPacking::add_run(int kind, std::size_t first) {
  Run run{.kind = kind, .first = first, .configs = configs_.size()};
  for (int config = 0; config < static_cast<int>(table_.configs().size()); ++config) {
    if (table_.holds_kind(config, kind)) configs_.push_back(config);
  }
  std::stable_sort(configs_.begin() + static_cast<std::ptrdiff_t>(run.configs), configs_.end(),
                   [&](int a, int b) { return area(kind, a) < area(kind, b); });
  run.levels_end = configs_.size();
  runs_.push_back(run);
}

// Puts sequences of the run, from index `next` on, into groups of the configuration. Returns the
// index of the first sequence without room.
std::size_t MultifitPacking::fill_config(const Run& run, int config,
                                         std::span<const BatchTarget> targets, std::size_t next,
                                         bool may_open) {
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
bool MultifitPacking::unite(const Run& run, std::span<const BatchTarget> targets) {
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

bool MultifitPacking::unite(const Run& run, std::size_t batch, Ms target, int half, int config) {
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

void MultifitPacking::note_most(int config, std::size_t batch) {
  const OpenGroups::Room most = open_[batch * table_.configs().size() + at(config)].most();
  most_[at(config) * devices_left_.size() + batch] = most;
  roomiest_[at(config)] = most_of(roomiest_[at(config)], most);
}

std::size_t MultifitPacking::fill(const Run& run, int config, std::size_t batch, Ms target,
                                  std::size_t next, bool may_open) {
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

}  // namespace stowage
