// The lookup table of assign planners: sequences from longest to shortest, and the cost of each on
// each scheme.
//
// A position is an index into the padded lengths in descending order, ties by id. Planners work
// with positions; plans contain ids. Sequences of equal padded length share one row of costs.
// Replicas of one scheme are interchangeable: a strategy is a list of groups, each a scheme and its
// number of replicas.
//
//   const AssignTable table(instance);
//   for (const SchemeGroup& group : table.groups(0)) ... table.work(position, group.scheme)
#pragma once

#include <cstdint>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/numeric/numbers.h"

namespace stowage {

// Sequences of one padded length: positions [first, first + count).
struct AssignKind {
  Tokens length = 0;
  int first = 0;
  int count = 0;
};

// The replicas of one scheme in a strategy.
struct SchemeGroup {
  int scheme = 0;
  int count = 0;  // >= 1
};

class AssignTable {
 public:
  // Requires at most 2^31 - 1 sequences and padded lengths that sum to at most kMaxExact.
  explicit AssignTable(const AssignInstance& instance);

  int size() const { return static_cast<int>(ids_.size()); }          // sequences
  const std::vector<AssignKind>& kinds() const { return kinds_; }     // descending length
  const std::vector<Scheme>& schemes() const { return schemes_; }     // as in the instance
  const RowConstraints& constraints() const { return constraints_; }  // as in the instance
  std::int64_t id(int position) const { return ids_[at(position)]; }
  int kind(int position) const { return kind_of_[at(position)]; }
  Tokens length(int position) const { return kinds_[at(kind(position))].length; }
  Tokens total_tokens() const { return total_tokens_; }  // padded

  // Returns f_g(s) = a s^2 + b s in ms: the time that a sequence adds to a row of the scheme,
  // whether or not the scheme can hold it.
  Ms kind_work(int kind, int scheme) const {
    return work_[at(kind) * schemes_.size() + at(scheme)];
  }
  Ms work(int position, int scheme) const { return kind_work(kind(position), scheme); }
  bool holds(int scheme, int position) const {
    return length(position) <= schemes_[at(scheme)].max_tokens;
  }

  int strategies() const { return static_cast<int>(groups_.size()); }
  // Returns the groups in the order of the schemes, without schemes that the strategy does not use.
  const std::vector<SchemeGroup>& groups(int strategy) const { return groups_[at(strategy)]; }
  int replicas(int strategy) const;
  // Returns whether each sequence fits a row of some replica. This is necessary for a plan. Without
  // row constraints it is sufficient, because every sequence can have a row of its own.
  bool usable(int strategy) const;

 private:
  std::vector<Scheme> schemes_;
  RowConstraints constraints_;
  std::vector<std::vector<SchemeGroup>> groups_;
  std::vector<AssignKind> kinds_;
  std::vector<std::int64_t> ids_;
  std::vector<int> kind_of_;
  std::vector<Ms> work_;
  Tokens total_tokens_ = 0;
};

}  // namespace stowage
