// An instance whose rows are chunks, prepared for planners: the cut sequences with their costs, and
// a table of the other sequences. Both are items: first the cut sequences, longest first, then the
// positions of the table.
//
//   const ChunkedStep step(instance);
//   const Ms work = step.is_cut(item) ? step.cost(item, scheme).sum
//                                     : step.table().work(step.position(item), scheme);
#pragma once

#include <cstdint>
#include <vector>

#include "instances/assign/chunks/chunk_flow.h"
#include "instances/assign/instance.h"
#include "instances/assign/planning_table.h"
#include "instances/numeric/numbers.h"

namespace stowage {

class ChunkedStep {
 public:
  // Requires an instance with a ChunkRule that outlives this object.
  explicit ChunkedStep(const AssignInstance& instance);

  const AssignTable& table() const { return table_; }  // its schemes have the row caps
  const Scheme& scheme(int scheme) const { return table_.schemes()[at(scheme)]; }
  std::int64_t cuts() const { return static_cast<std::int64_t>(cut_ids_.size()); }
  std::int64_t items() const { return cuts() + table_.size(); }
  bool is_cut(std::int64_t item) const { return item < cuts(); }
  int position(std::int64_t item) const { return static_cast<int>(item - cuts()); }
  // Returns the strategies that admit every sequence, most promising first, so that a budget that
  // ends early leaves the plan of a good strategy.
  std::vector<int> strategies() const;
  // Returns the cost of a cut sequence; the sum is infinite if the scheme does not admit the
  // sequence.
  const CutCost& cost(std::int64_t cut, int scheme) const {
    return costs_[at(kind_of_[at(cut)]) * table_.schemes().size() + at(scheme)];
  }
  bool admits(int scheme, std::int64_t item) const {
    return is_cut(item) ? cost(item, scheme).sum < kInfinity : table_.holds(scheme, position(item));
  }
  std::int64_t id(std::int64_t item) const {
    return is_cut(item) ? cut_ids_[at(item)] : short_ids_[at(table_.id(position(item)))];
  }

 private:
  const AssignInstance& instance_;
  AssignTable table_;
  std::vector<std::int64_t> cut_ids_;
  std::vector<std::int64_t> short_ids_;  // ids by the table's ids
  std::vector<std::int64_t> kind_of_;    // length class of each cut sequence
  std::vector<CutCost> costs_;  // cost by length class and scheme: [class * schemes + scheme]
};

}  // namespace stowage
