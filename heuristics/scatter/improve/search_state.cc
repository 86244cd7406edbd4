#include "heuristics/scatter/improve/search_state.h"

#include <algorithm>

namespace stowage {

StepState::StepState(const ScatterTable& table, const WorkingStep& step, double weight)
    : table_(table), share_(weight / table.devices()) {
  for (const GroupConfig& config : table.configs()) {
    degrees_.push_back(config.degree);
    capacities_.push_back(config.capacity);
    sequence_tokens_.push_back(config.sequence_tokens);
    plain_ = plain_ && config.sequence_tokens == 0 && config.most_tokens == kMaxExact;
    longest_.push_back(config.longest);
    most_sequences_ = static_cast<std::size_t>(config.sequences);
  }
  if (table.several_kinds()) {
    for (int config = 0; config < static_cast<int>(degrees_.size()); ++config) {
      devices_of_kinds_.push_back(table.devices_of_kinds(config));
    }
  }
  for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
    for (int config = 0; config < static_cast<int>(degrees_.size()); ++config) {
      lengths_.push_back(table.configs()[at(config)].padded(table.kinds()[at(kind)].length));
      loads_.push_back(table.kind_load(kind, config));
    }
  }
  kinds_.resize(at(table.size()));
  for (int position = 0; position < table.size(); ++position) {
    kinds_[at(position)] = table.kind(position);
  }
  home_.resize(kinds_.size());
  index_.resize(kinds_.size());
  batches_.resize(step.size());
  for (std::size_t b = 0; b < step.size(); ++b) {
    batches_[b].free = table.devices();
    batches_[b].left = table.devices_of_kinds();
    for (const WorkingGroup& group : step[b].groups) {
      if (!group.positions.empty()) add_group(static_cast<int>(b), group);
    }
  }
}

int StepState::free_for(int index, int config) const {
  const Batch& batch = batches_[at(index)];
  if (devices_of_kinds_.empty()) return batch.free;
  int kinds = 0;
  int left = 0;
  bool fits = true;
  for (std::size_t kind = 0; kind < batch.left.size(); ++kind) {
    const int own = devices_of_kinds_[at(config)][kind];
    if (own == 0) continue;
    ++kinds;
    left = batch.left[kind];
    fits = fits && left >= own;
  }
  if (kinds == 1) return left;
  return fits ? degrees_[at(config)] : 0;
}

void StepState::count_devices(Batch& batch, int config, int groups) {
  batch.free -= groups * degrees_[at(config)];
  for (std::size_t kind = 0; kind < batch.left.size(); ++kind) {
    batch.left[kind] -= groups * devices_of_kinds_[at(config)][kind];
  }
}

Ms StepState::total() const {
  Ms sum = 0;
  for (const Batch& batch : batches_) sum += batch.makespan;
  return sum;
}

void StepState::set_weight(double weight) {
  share_ = weight / table_.devices();
  for (Batch& batch : batches_) update_energy(batch);
}

void StepState::price_longest(double margin) {
  if (table_.longest_weight() == 0) return;
  Ms longest = table_.longest_elsewhere();
  for (const Batch& batch : batches_) longest = std::max(longest, batch.makespan);
  dearest_from_ = longest;
  dear_from_ = std::max(longest * (1 - margin), table_.longest_elsewhere());
  const auto dear = std::ranges::count_if(
      batches_, [&](const Batch& batch) { return batch.makespan > dear_from_; });
  dear_ = table_.longest_weight() / static_cast<double>(std::max<std::ptrdiff_t>(1, dear));
  for (Batch& batch : batches_) update_energy(batch);
}

double StepState::energy_with(int index, std::span<const Change> changes) const {
  const Batch& batch = batches_[at(index)];
  Ms most = 0;
  double squares = batch.squares;
  bool rescan = false;
  for (const Change& change : changes) {
    const Group& group = groups_[at(change.group)];
    const Ms before = shown(group);
    squares += degree(group) * (change.time * change.time - before * before);
    most = std::max(most, change.time);
    rescan = rescan || before >= batch.makespan;
  }
  if (!rescan) return energy_of(std::max(most, batch.makespan), squares);
  if (most >= batch.makespan) return energy_of(most, squares);
  for (std::size_t block = 0; block < batch.block_most.size(); ++block) {
    if (batch.block_most[block] <= most) continue;
    bool touched = false;
    for (const Change& change : changes) {
      touched = touched || at(groups_[at(change.group)].slot) / kBlock == block;
    }
    if (!touched) {
      most = batch.block_most[block];
      continue;
    }
    const std::size_t last = std::min(batch.times.size(), (block + 1) * kBlock);
    for (std::size_t slot = block * kBlock; slot < last; ++slot) {
      if (batch.times[slot] <= most) continue;
      bool changed = false;
      for (const Change& change : changes) {
        changed = changed || at(groups_[at(change.group)].slot) == slot;
      }
      if (!changed) most = batch.times[slot];
    }
  }
  return energy_of(most, squares);
}

StepState::Sum StepState::sum(std::span<const int> ids) const {
  Sum sum;
  for (const int id : ids) {
    const Group& group = groups_[at(id)];
    const Ms time = shown(group);
    sum.slowest = std::max(sum.slowest, time);
    sum.squares += degree(group) * time * time;
  }
  return sum;
}

double StepState::energy_without(int index, std::span<const int> gone, const Sum& come) {
  Batch& batch = batches_[at(index)];
  const Sum leave = sum(gone);
  for (const int id : gone) batch.times[at(groups_[at(id)].slot)] = 0;
  Ms most = come.slowest;
  for (std::size_t block = 0; block < batch.block_most.size(); ++block) {
    if (batch.block_most[block] <= most) continue;
    const std::size_t last = std::min(batch.times.size(), (block + 1) * kBlock);
    for (std::size_t slot = block * kBlock; slot < last; ++slot) {
      most = std::max(most, batch.times[slot]);
    }
  }
  for (const int id : gone) batch.times[at(groups_[at(id)].slot)] = shown(groups_[at(id)]);
  return energy_of(most, batch.squares - leave.squares + come.squares);
}

void StepState::move(int position, int to) {
  Group& from = groups_[at(home_[at(position)])];
  Group& target = groups_[at(to)];
  erase(from, position);
  insert(target, to, position);
  show(from);
  show(target);
}

void StepState::swap(int position, int other) {
  const int a = home_[at(position)];
  const int b = home_[at(other)];
  Group& left = groups_[at(a)];
  Group& right = groups_[at(b)];
  erase(left, position);
  erase(right, other);
  insert(left, a, other);
  insert(right, b, position);
  show(left);
  show(right);
}

void StepState::relocate(std::span<const int> ids, int batch) {
  for (const int id : ids) {
    detach(id);
    attach(id, batch);
  }
}

void StepState::replace(int batch, std::span<const int> gone, std::span<const WorkingGroup> made) {
  for (const int id : gone) drop_group(id);
  for (const WorkingGroup& group : made) {
    if (!group.positions.empty()) add_group(batch, group);
  }
}

int StepState::slowest(int index) const {
  const Batch& batch = batches_[at(index)];
  if (batch.slowest != kUnknown) return batch.slowest;
  batch.slowest = batch.groups.front();
  for (std::size_t block = 0; block < batch.block_most.size(); ++block) {
    if (batch.block_most[block] < batch.makespan) continue;
    std::size_t slot = block * kBlock;
    while (batch.times[slot] < batch.makespan) ++slot;
    batch.slowest = batch.groups[slot];
    break;
  }
  return batch.slowest;
}

WorkingStep StepState::draft() const {
  WorkingStep step;
  for (const Batch& batch : batches_) {
    WorkingMicroBatch made;
    for (const int id : batch.groups) {
      const Group& group = groups_[at(id)];
      if (group.positions.empty()) continue;
      made.groups.push_back(empty_group(table_, group.config));
      std::vector<int> positions = group.positions;
      std::sort(positions.begin(), positions.end());
      for (const int position : positions) add_sequence(table_, made.groups.back(), position);
    }
    if (made.groups.empty()) continue;
    made.makespan = stowage::slowest(made);
    step.push_back(std::move(made));
  }
  return step;
}

void StepState::insert(Group& group, int id, int position) {
  home_[at(position)] = id;
  index_[at(position)] = static_cast<int>(group.positions.size());
  group.positions.push_back(position);
  group.held += length(position, group.config) + sequence_tokens_[at(group.config)];
  group.load += load(position, group.config);
  group.time = time(group.config, group.load);
}

void StepState::erase(Group& group, int position) {
  const int index = index_[at(position)];
  const int last = group.positions.back();
  group.positions[at(index)] = last;
  index_[at(last)] = index;
  group.positions.pop_back();
  group.held -= length(position, group.config) + sequence_tokens_[at(group.config)];
  // An empty group resets its sums, so that rounding errors do not accumulate.
  if (group.positions.empty()) {
    group.load = empty_load(group.config);
  } else {
    group.load -= load(position, group.config);
  }
  group.time = time(group.config, group.load);
}

void StepState::show(const Group& group) {
  Batch& batch = batches_[at(group.batch)];
  batch.slowest = kUnknown;
  Ms& time = batch.times[at(group.slot)];
  const Ms now = shown(group);
  batch.squares += degree(group) * (now * now - time * time);
  const Ms before = time;
  time = now;
  const std::size_t block = at(group.slot) / kBlock;
  if (now >= batch.block_most[block]) {
    batch.block_most[block] = now;
    batch.makespan = std::max(batch.makespan, now);
    update_energy(batch);
  } else if (before >= batch.block_most[block]) {
    refresh(batch, block);
  } else {
    update_energy(batch);
  }
}

void StepState::refresh(Batch& batch, std::size_t block) {
  const auto first = batch.times.begin() + static_cast<std::ptrdiff_t>(block * kBlock);
  const auto last = batch.times.begin() +
                    static_cast<std::ptrdiff_t>(std::min(batch.times.size(), (block + 1) * kBlock));
  batch.block_most[block] = first == last ? 0 : *std::max_element(first, last);
  batch.makespan = *std::max_element(batch.block_most.begin(), batch.block_most.end());
  update_energy(batch);
}

int StepState::add_group(int index, const WorkingGroup& made) {
  int id = 0;
  if (spare_.empty()) {
    id = static_cast<int>(groups_.size());
    groups_.emplace_back();
    alive_index_.push_back(0);
  } else {
    id = spare_.back();
    spare_.pop_back();
  }
  Group& group = groups_[at(id)];
  group.config = made.config;
  group.held = 0;
  group.load = empty_load(made.config);
  group.time = time(made.config, group.load);
  group.positions.clear();
  alive_index_[at(id)] = static_cast<int>(alive_.size());
  alive_.push_back(id);
  attach(id, index);
  for (const int position : made.positions) insert(group, id, position);
  show(group);
  return id;
}

void StepState::drop_group(int id) {
  detach(id);
  const int other = alive_.back();
  alive_[at(alive_index_[at(id)])] = other;
  alive_index_[at(other)] = alive_index_[at(id)];
  alive_.pop_back();
  spare_.push_back(id);
}

void StepState::attach(int id, int index) {
  Batch& batch = batches_[at(index)];
  Group& group = groups_[at(id)];
  group.batch = index;
  group.slot = static_cast<int>(batch.groups.size());
  batch.groups.push_back(id);
  batch.times.push_back(0);
  if (batch.times.size() > batch.block_most.size() * kBlock) batch.block_most.push_back(0);
  count_devices(batch, group.config, 1);
  show(group);
}

void StepState::detach(int id) {
  Group& group = groups_[at(id)];
  Batch& batch = batches_[at(group.batch)];
  batch.slowest = kUnknown;
  const Ms time = batch.times[at(group.slot)];
  batch.squares -= degree(group) * time * time;
  count_devices(batch, group.config, -1);
  const int moved = batch.groups.back();
  const std::size_t block = at(group.slot) / kBlock;
  const std::size_t last_block = (batch.times.size() - 1) / kBlock;
  batch.groups[at(group.slot)] = moved;
  batch.times[at(group.slot)] = batch.times.back();
  groups_[at(moved)].slot = group.slot;
  batch.groups.pop_back();
  batch.times.pop_back();
  refresh(batch, block);
  refresh(batch, last_block);
  if (batch.block_most.size() > 1 && batch.times.size() <= (batch.block_most.size() - 1) * kBlock) {
    batch.block_most.pop_back();
  }
}

}  // namespace stowage
