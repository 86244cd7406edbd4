// What planners look up all the time: sequences from longest to shortest and what each costs on
// each degree.
//
// A position is an index into the padded lengths sorted in descending order, ties by id. Planners
// work with positions; plans name ids. Sequences of equal padded length share one row of costs: a
// 512-sequence step padded to 128 tokens has only 40 to 110 of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "instances/numbers.h"
#include "instances/scatter/instance.h"

namespace stowage {

// An allowed degree, its overhead (ms, once per group) and its token capacity.
struct Level {
  int degree = 0;
  Ms overhead = 0;
  Tokens capacity = 0;
};

// Sequences of one padded length: positions [first, first + count).
struct Kind {
  Tokens length = 0;
  int first = 0;
  int count = 0;
  double area = 0;  // least degree * cost over the levels that can hold it, device-ms; inf if none
};

class ScatterTable {
 public:
  // Requires at most 2^31 - 1 sequences.
  explicit ScatterTable(const ScatterInstance& instance);

  // These positions, which must ascend, on `devices` devices with the levels they hold. Ids are
  // positions of this table. Requires levels()[0].degree <= devices <= devices().
  ScatterTable part(std::span<const int> positions, int devices) const;

  int devices() const { return devices_; }
  Tokens device_tokens() const { return device_tokens_; }       // C
  const std::vector<Level>& levels() const { return levels_; }  // ascending degree
  const std::vector<Kind>& kinds() const { return kinds_; }     // descending length
  int size() const { return static_cast<int>(ids_.size()); }    // sequences
  std::int64_t id(int position) const { return ids_[at(position)]; }
  int kind(int position) const { return kind_of_[at(position)]; }
  Tokens length(int position) const { return kinds_[at(kind(position))].length; }
  double area(int position) const { return kinds_[at(kind(position))].area; }

  // c(s, d) in ms, whether or not the level can hold the sequence.
  Ms kind_cost(int kind, int level) const { return cost_[at(kind) * levels_.size() + at(level)]; }
  Ms cost(int position, int level) const { return kind_cost(kind(position), level); }
  bool holds(int level, int position) const {
    return length(position) <= levels_[at(level)].capacity;
  }

  // Least overhead of any level: every micro-batch lasts at least this long.
  Ms least_overhead() const { return least_overhead_; }

  // N C: how many tokens a micro-batch holds, at most kMaxExact.
  Tokens batch_capacity() const {
    return std::min(checked_mul(devices_, device_tokens_).value_or(kMaxExact), kMaxExact);
  }
  // Padded tokens of the step.
  Tokens total_tokens() const;
  // Device-ms of the step if every sequence had its least area.
  double total_area() const;
  // The least time of a group that holds a sequence of this kind and nothing else, ms; infinite if
  // no level holds it.
  Ms alone(int kind) const;

 private:
  ScatterTable() = default;
  // Appends a sequence no longer than those before it. `costs` holds c(s, d) by level.
  void append(std::int64_t id, Tokens length, std::span<const Ms> costs);

  int devices_ = 0;
  Tokens device_tokens_ = 0;
  Ms least_overhead_ = 0;
  std::vector<Level> levels_;
  std::vector<Kind> kinds_;
  std::vector<std::int64_t> ids_;
  std::vector<int> kind_of_;
  std::vector<Ms> cost_;
};

}  // namespace stowage
