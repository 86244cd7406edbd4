// A scatter step of mixed micro-batches under construction: in each, a row that all devices share,
// and a row of each device (instances/scatter/cost/mixed.h has the time).
//
//   MixedStep step(table, 2);
//   step.place(position, step.shared_row(0));
//   step.place(other, step.own_row(1, device));
//   use(step.time(), step.to_working_step());
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "heuristics/scatter/working_plan.h"
#include "instances/scatter/table/planning_table.h"
#include "instances/units.h"

namespace stowage {

class MixedStep {
 public:
  // A step without sequences. Requires table.mixes(), and that `table` outlives this.
  MixedStep(const ScatterTable& table, int batches);
  // A step of the same groups. A micro-batch of several shared rows becomes several micro-batches.
  MixedStep(const ScatterTable& table, const WorkingStep& step);

  const ScatterTable& table() const { return *table_; }
  int devices() const { return table_->devices(); }
  int batches() const { return static_cast<int>(batches_.size()); }
  // Rows are numbered by micro-batch; in each, the rows of the devices come first.
  int rows() const { return static_cast<int>(rows_.size()); }
  int own_row(int batch, int device) const { return batch * (devices() + 1) + device; }
  int shared_row(int batch) const { return own_row(batch, devices()); }
  int batch_of(int row) const { return row / (devices() + 1); }
  bool is_shared(int row) const { return row % (devices() + 1) == devices(); }
  // Returns -1 for a sequence that is nowhere.
  int row_of(int position) const { return row_of_[static_cast<std::size_t>(position)]; }
  const std::vector<int>& positions(int row) const { return at(row).positions; }
  // Returns the time of a device's row beside the overhead of its micro-batch, ms.
  Ms own_ms(int row) const { return at(row).time; }
  Tokens tokens(int row) const { return at(row).tokens; }

  // Returns whether the row may hold the sequence beside its present ones.
  bool has_room(int position, int row) const;
  // Returns whether the devices hold their rows and the shared row of the micro-batch.
  bool is_within_room(int batch) const;
  // Returns the most tokens of one more sequence of a device's row.
  Tokens own_room(int row) const;
  // Requires that the sequence is nowhere. Rows may exceed their room.
  void place(int position, int row);
  // Requires that the sequence is in a row.
  void remove(int position);

  // Moves a sequence to another row, or exchanges two sequences of different rows. Return false,
  // and change nothing, if a row has no room.
  bool move(int position, int row);
  bool exchange(int position, int other);

  // Returns the time of the step and of a micro-batch, ms; 0 of an empty one.
  Ms time() const { return time_; }
  Ms batch_ms(int batch) const { return batches_[static_cast<std::size_t>(batch)].time; }
  // Returns the device's row of the micro-batch that takes longest.
  int longest_row(int batch) const { return batches_[static_cast<std::size_t>(batch)].longest; }
  // Returns the sum of own_ms() squared, which is least if all rows are alike.
  double squares() const { return squares_; }

  WorkingStep to_working_step() const;

 private:
  struct Row {
    Tokens tokens = 0;
    Ms work = 0;  // of its sequences
    Ms time = 0;  // with the padding of the row
    std::vector<int> positions;
  };
  struct Batch {
    int longest = 0;     // row
    Tokens fullest = 0;  // most tokens of a device's row
    Ms time = 0;
  };

  Row& at(int row) { return rows_[static_cast<std::size_t>(row)]; }
  const Row& at(int row) const { return rows_[static_cast<std::size_t>(row)]; }
  int config(int row) const {
    return is_shared(row) ? static_cast<int>(table_->configs().size()) - 1 : 0;
  }
  Tokens padded_row(int row, Tokens tokens) const;
  void change(int position, int row, int sign);
  void update(int row);

  const ScatterTable* table_;
  std::vector<Row> rows_;
  std::vector<Batch> batches_;
  std::vector<int> row_of_;
  std::vector<std::size_t> index_of_;  // in Row::positions
  Ms time_ = 0;
  double squares_ = 0;
};

}  // namespace stowage
