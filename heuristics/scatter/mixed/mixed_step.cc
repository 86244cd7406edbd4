#include "heuristics/scatter/mixed/mixed_step.h"

#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {

MixedStep::MixedStep(const ScatterTable& table, int batches)
    : table_(&table),
      rows_(static_cast<std::size_t>(batches) * static_cast<std::size_t>(table.devices() + 1)),
      batches_(static_cast<std::size_t>(batches)),
      row_of_(static_cast<std::size_t>(table.size()), -1),
      index_of_(static_cast<std::size_t>(table.size()), 0) {
  for (int batch = 0; batch < batches; ++batch) {
    batches_[static_cast<std::size_t>(batch)].longest = own_row(batch, 0);
  }
}

static int batches_needed(const ScatterTable& table, const WorkingStep& step) {
  int batches = 0;
  for (const WorkingMicroBatch& batch : step) {
    int shared = 0;
    for (const WorkingGroup& group : batch.groups) {
      const GroupConfig& config = table.configs()[static_cast<std::size_t>(group.config)];
      shared += config.degree == table.devices() ? 1 : 0;
    }
    batches += std::max(1, shared);
  }
  return batches;
}

MixedStep::MixedStep(const ScatterTable& table, const WorkingStep& step)
    : MixedStep(table, batches_needed(table, step)) {
  int next = 0;
  for (const WorkingMicroBatch& batch : step) {
    int device = 0;
    int shared = 0;
    for (const WorkingGroup& group : batch.groups) {
      const GroupConfig& config = table.configs()[static_cast<std::size_t>(group.config)];
      const bool whole = config.degree == table.devices();
      const int row = whole ? shared_row(next + shared) : own_row(next, device);
      ++(whole ? shared : device);
      for (const int position : group.positions) place(position, row);
    }
    next += std::max(1, shared);
  }
}

Tokens MixedStep::padded_row(int row, Tokens tokens) const {
  return round_up(tokens, table_->configs()[static_cast<std::size_t>(config(row))].row_multiple);
}

bool MixedStep::has_room(int position, int row) const {
  const int own = config(row);
  if (!table_->holds(own, position)) return false;
  const Batch& batch = batches_[static_cast<std::size_t>(batch_of(row))];
  const int shared = shared_row(batch_of(row));
  const Tokens more = padded_row(row, at(row).tokens + table_->held(own, position));
  const Tokens all = table_->batch_capacity();
  if (row == shared) return more <= all - batch.fullest * devices();
  return more <= (all - padded_row(shared, at(shared).tokens)) / devices();
}

bool MixedStep::is_within_room(int batch) const {
  const int shared = shared_row(batch);
  const Tokens own = batches_[static_cast<std::size_t>(batch)].fullest;
  return padded_row(shared, at(shared).tokens) <= table_->batch_capacity() - own * devices();
}

Tokens MixedStep::own_room(int row) const {
  const int shared = shared_row(batch_of(row));
  const Tokens free =
      (table_->batch_capacity() - padded_row(shared, at(shared).tokens)) / devices();
  const Tokens multiple = table_->configs().front().row_multiple;
  return free - free % multiple - at(row).tokens;
}

void MixedStep::place(int position, int row) {
  std::vector<int>& positions = at(row).positions;
  row_of_[static_cast<std::size_t>(position)] = row;
  index_of_[static_cast<std::size_t>(position)] = positions.size();
  positions.push_back(position);
  change(position, row, 1);
}

void MixedStep::remove(int position) {
  const int row = row_of(position);
  std::vector<int>& positions = at(row).positions;
  const std::size_t index = index_of_[static_cast<std::size_t>(position)];
  positions[index] = positions.back();
  index_of_[static_cast<std::size_t>(positions[index])] = index;
  positions.pop_back();
  row_of_[static_cast<std::size_t>(position)] = -1;
  change(position, row, -1);
}

bool MixedStep::move(int position, int row) {
  const int from = row_of(position);
  remove(position);
  const bool fits = has_room(position, row);
  place(position, fits ? row : from);
  return fits;
}

bool MixedStep::exchange(int position, int other) {
  const int from = row_of(position);
  const int to = row_of(other);
  remove(position);
  remove(other);
  bool fits = has_room(position, to);
  if (fits) {
    place(position, to);
    fits = has_room(other, from);
    if (!fits) remove(position);
  }
  if (!fits) place(position, from);
  place(other, fits ? from : to);
  return fits;
}

void MixedStep::change(int position, int row, int sign) {
  Row& own = at(row);
  const int form = config(row);
  own.tokens += sign * table_->held(form, position);
  own.work = own.positions.empty() ? 0 : own.work + sign * table_->cost(position, form);
  const Ms before = own.time;
  own.time = own.work + table_->row_load(form, own.tokens).compute;
  if (row != shared_row(batch_of(row))) squares_ += own.time * own.time - before * before;
  update(row);
}

// Computes the time of the row's micro-batch, and its longest and fullest rows.
void MixedStep::update(int row) {
  const int number = batch_of(row);
  Batch& batch = batches_[static_cast<std::size_t>(number)];
  const int shared_number = shared_row(number);
  const Row& shared = at(shared_number);
  if (row != shared_number) {
    batch.longest = own_row(number, 0);
    Tokens most = 0;
    for (int own = own_row(number, 0); own < shared_number; ++own) {
      most = std::max(most, at(own).tokens);
      if (at(own).time > at(batch.longest).time) batch.longest = own;
    }
    batch.fullest = padded_row(own_row(number, 0), most);
  }
  const std::vector<GroupConfig>& configs = table_->configs();
  const Ms before = batch.time;
  const Ms longest = at(batch.longest).time;
  if (shared.positions.empty()) {
    batch.time = batch.fullest == 0 ? 0 : configs.front().overhead + longest;
  } else {
    const Tokens tokens = padded_row(shared_number, shared.tokens);
    const Ms hidden = static_cast<double>(tokens) * table_->hidden_token_ms();
    batch.time = configs.back().overhead + shared.time + std::max(0.0, longest - hidden);
  }
  time_ += batch.time - before;
}

WorkingStep MixedStep::to_working_step() const {
  WorkingStep step;
  for (int number = 0; number < batches(); ++number) {
    WorkingMicroBatch batch{.makespan = batch_ms(number)};
    for (int row = shared_row(number); row >= own_row(number, 0); --row) {
      if (positions(row).empty()) continue;
      std::vector<int> sorted = positions(row);
      std::ranges::sort(sorted);
      batch.groups.push_back(group_of(*table_, config(row), std::move(sorted)));
    }
    if (!batch.groups.empty()) step.push_back(std::move(batch));
  }
  return step;
}

}  // namespace stowage
