// What planners look up all the time: sequences from longest to shortest and what each costs on
// each degree.
//
// A position is an index into the padded lengths sorted in descending order, ties by id. Planners
// work with positions; plans name ids. Sequences of equal padded length share one row of costs: a
// 512-sequence step padded to 128 tokens has only 40 to 110 of them.
//
// A level is a form that a group may have: a degree, and where the instance has several of them, a
// kind of exchange and a way to recompute, which groups of one micro-batch have in common. A level
// that another one of its degree and way is never worse than, for any length of the step, is left
// out, and so is a way if each of its levels has such another one of the same other way. Where
// compute hides transfers, a group's time is the larger of two sums of loads (cost_model.h). cost()
// is then the most that a sequence adds to it, and least_cost() a weighted mean of the two sums, so
// that no group is faster than its overhead and the sum of these.
//
// Where the cost is a table of measured times, loads are sums of tokens and of squared lengths, and
// time() looks them up. cost() is then what a sequence adds by a plane that is near the measured
// times, and least_cost() by one that lies below them: no group is faster than its least overhead
// and the sum of these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "instances/numbers.h"
#include "instances/scatter/cost_model.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/time_grid.h"

namespace stowage {

// A form of groups, its overhead (ms, once per group) and what a group of it holds.
struct Level {
  int degree = 0;
  Ms overhead = 0;
  Tokens capacity = 0;  // of all its sequences; where they run one by one, at most the step's
  Tokens longest = 0;   // of one of them
  std::int64_t sequences = 0;  // at most
  ExchangeKind exchange = ExchangeKind::none;
  double weight = 1;  // of compute in least_cost(), in [0, 1]; transfer has the rest
  // Each sequence takes so much of `capacity` beside its tokens. All of them have at most
  // `most_tokens` of their own; kMaxExact where the capacity says so already.
  Tokens sequence_tokens = 0;
  Tokens most_tokens = kMaxExact;
  int recomputation = 0;
  int place = 0;  // see devices.h
  // Its devices, each counted at the weight of its kind: the degree where all are alike. Weights of
  // all devices sum up to N.
  double weighted_devices = 0;
  Tokens each = 0;        // what a device holds of its tokens at most; for table.h alone
  Ms least_overhead = 0;  // what belongs to least costs: `overhead` but in tables
  std::optional<AffineTime> below = {};  // in tables: the plane of least costs
  AffineTime near = {};                  // and that of costs

  GroupForm form() const { return {degree, exchange, recomputation, place}; }
  // How many tokens may come into a group of which `count` sequences take `held` of the capacity:
  // as one sequence more, and in place of a part of another.
  Tokens room(Tokens held, std::int64_t count) const {
    return std::min(capacity - held - sequence_tokens, left_of_most(held, count));
  }
  Tokens room_to_grow(Tokens held, std::int64_t count) const {
    return std::min(capacity - held, left_of_most(held, count));
  }
  Tokens left_of_most(Tokens held, std::int64_t count) const {
    return most_tokens == kMaxExact ? kMaxExact : most_tokens - (held - count * sequence_tokens);
  }
  // For packers that know one capacity: what they pack keeps both limits.
  Tokens packed_capacity() const { return std::min(capacity, most_tokens); }
  Tokens packed_size(Tokens length) const {
    return std::min(length + sequence_tokens, std::max(length, packed_capacity()));
  }
};

// Sequences of one padded length: positions [first, first + count).
struct Kind {
  Tokens length = 0;
  int first = 0;
  int count = 0;
  double area = 0;  // least weighted devices * least cost over the levels that hold it, device-ms;
                    // inf if none
};

class ScatterTable {
 public:
  // Requires at most 2^31 - 1 sequences.
  explicit ScatterTable(const ScatterInstance& instance);

  // These positions, which must ascend, on `devices` devices with the levels they hold. Ids are
  // positions of this table. Any number of micro-batches will do. Requires levels()[0].degree <=
  // devices <= devices().
  // Beside them are micro-batches of which the longest lasts `longest_elsewhere`.
  ScatterTable part(std::span<const int> positions, int devices, Ms longest_elsewhere = 0) const;

  int devices() const { return devices_; }
  // Where nodes differ: how many devices there are of each kind, and how many of each a group of
  // the level has. Empty otherwise.
  bool several_kinds() const { return !cluster_.kinds.empty(); }
  std::vector<int> devices_of_kinds() const;
  std::vector<int> devices_of_kinds(int level) const;
  // What a device of each kind counts in Level::weighted_devices. Empty where all are alike.
  const std::vector<double>& kind_weights() const { return kind_weights_; }
  // What all sequences may have on each device of any level at most: C, or max_tokens_per_rank if
  // that is less.
  Tokens device_tokens() const { return device_tokens_; }
  // Ascending degree, then way to recompute, then kind.
  const std::vector<Level>& levels() const { return levels_; }
  const std::vector<Kind>& kinds() const { return kinds_; }  // descending length
  // The level of this form; if it was left out, the one of its degree, and of its way to recompute
  // if that was not left out, with the most capacity.
  int level_of(GroupForm form) const;
  int size() const { return static_cast<int>(ids_.size()); }  // sequences
  std::int64_t id(int position) const { return ids_[at(position)]; }
  int kind(int position) const { return kind_of_[at(position)]; }
  Tokens length(int position) const { return kinds_[at(kind(position))].length; }
  double area(int position) const { return kinds_[at(kind(position))].area; }

  // c(s, d) in ms, whether or not the level can hold the sequence: the most that it adds, or about
  // what it adds where costs are measured.
  Ms kind_cost(int kind, int level) const { return cost_[row(kind) + at(level)]; }
  Ms cost(int position, int level) const { return kind_cost(kind(position), level); }
  Load kind_load(int kind, int level) const {
    if (loads_.empty()) return {kind_cost(kind, level), kind_cost(kind, level)};
    return loads_[row(kind) + at(level)];
  }
  Load load(int position, int level) const { return kind_load(kind(position), level); }
  Ms kind_least_cost(int kind, int level) const {
    if (loads_.empty()) return kind_cost(kind, level);
    if (const auto& below = levels_[at(level)].below) {
      const Load& sums = loads_[row(kind) + at(level)];
      return below->token_ms * sums.compute + below->square_ms * sums.transfer;
    }
    const double weight = levels_[at(level)].weight;
    const Load& load = loads_[row(kind) + at(level)];
    return weight * load.compute + (1 - weight) * load.transfer;
  }
  // The load of an empty group, and the time of one with this load.
  Load empty_load(int level) const {
    if (!grids_.empty()) return {};
    const Ms overhead = levels_[at(level)].overhead;
    return {overhead, overhead};
  }
  Ms time(int level, const Load& load) const {
    if (grids_.empty()) return load.time();
    return grids_[at(level)]->at(load.compute, load.transfer);
  }
  // Whether times are measured ones, in a table by tokens and squares.
  bool measured() const { return !grids_.empty(); }
  // Whether every load has two equal sums: then the three costs are one.
  bool additive() const { return loads_.empty(); }
  // The table of a step in which every sequence has its least cost, which is additive. What bounds
  // its plans bounds those of this step.
  ScatterTable relaxed() const;

  bool holds_kind(int level, int kind) const {
    return kinds_[at(kind)].length <= levels_[at(level)].longest;
  }
  bool holds(int level, int position) const { return holds_kind(level, this->kind(position)); }
  // What the sequence takes of the capacity of a group of the level.
  Tokens held(int level, int position) const {
    return length(position) + levels_[at(level)].sequence_tokens;
  }

  bool packed() const { return packed_; }
  // The rules on whole micro-batches and on their number.
  bool no_idle_ranks() const { return no_idle_ranks_; }
  std::int64_t multiple() const { return multiple_; }
  bool equal_sequences() const { return equal_sequences_; }

  // What a step takes whose makespans have such a sum and such a longest one. Of a part of a step
  // too: the longest of the whole is there or elsewhere.
  Ms step_ms(Ms sum, Ms longest) const {
    return again_ == 0 ? sum : sum + again_ * std::max(longest, longest_elsewhere_);
  }
  // How often the longest makespan counts beside the sum: pipeline_stages - 1.
  double again() const { return again_; }
  // Where the micro-batches of this step stand for several each, it counts less beside them.
  void count_longest(double again) {
    again_ = again;
    for (ScatterTable& way : ways_) way.again_ = again;
  }
  Ms longest_elsewhere() const { return longest_elsewhere_; }

  // Whether the instance lists several ways to recompute, and how many are left to choose from.
  bool chooses_recomputation() const { return chooses_recomputation_; }
  int recomputations() const { return way_count_; }
  // The step as if its micro-batches all recomputed in the way, counted from 0, and nothing else.
  // Its levels are among those of this table, see level_of(). May hold fewer sequences.
  const ScatterTable& recomputing(int way) const { return ways_.empty() ? *this : ways_[at(way)]; }
  // The way of this level, as it is counted there.
  int way(int level) const { return way_[at(level)]; }

  // Least overhead of any level: every micro-batch lasts at least this long.
  Ms least_overhead() const { return least_overhead_; }

  // N C: how many tokens a micro-batch holds, at most kMaxExact.
  Tokens batch_capacity() const {
    return std::min(checked_mul(devices_, device_tokens_).value_or(kMaxExact), kMaxExact);
  }
  // Padded tokens of the step.
  Tokens total_tokens() const;
  // What its sequences take of the capacities of groups together, at least; at most kMaxExact.
  Tokens total_held() const { return total_held_; }
  // Whether the most that groups of a degree hold is device_tokens() times the degree, whatever the
  // number of their sequences, and the longest of these likewise. Looks at all forms of groups,
  // also at those that were left out.
  bool even() const { return even_; }
  // Device-ms of the step if every sequence had its least area.
  double total_area() const;
  // The least time of a group that holds a sequence of this kind and nothing else, ms; infinite if
  // no level holds it.
  Ms alone(int kind) const;

 private:
  ScatterTable() = default;
  std::size_t row(int kind) const { return at(kind) * levels_.size(); }
  // Appends a sequence no longer than those before it. `loads` are by level.
  void append(std::int64_t id, Tokens length, std::span<const Load> loads);
  void leave_out_dominated();
  void leave_out_dominated_ways();
  void keep_levels(const std::vector<std::size_t>& kept);
  void list_ways();
  bool dominates(std::size_t level, std::size_t other) const;
  bool holds_as_much(const Level& own, const Level& their) const;
  void choose_weights();
  void weigh_kinds();
  void weigh_levels();
  void find_areas();
  void choose_planes(const ScatterInstance& instance);
  std::vector<std::vector<AffineTime>> planes_below();
  void find_costs();
  void find_held();
  void find_even();

  int devices_ = 0;
  Cluster cluster_;  // where nodes differ
  std::vector<double> kind_weights_;
  Tokens device_tokens_ = 0;
  bool packed_ = true;
  bool chooses_recomputation_ = false;
  bool no_idle_ranks_ = false;
  bool equal_sequences_ = false;
  std::int64_t multiple_ = 1;
  double again_ = 0;
  Ms longest_elsewhere_ = 0;
  Tokens total_held_ = 0;
  bool even_ = true;
  Ms least_overhead_ = 0;
  std::vector<Level> levels_;
  std::vector<Kind> kinds_;
  std::vector<std::int64_t> ids_;
  std::vector<int> kind_of_;
  std::vector<Ms> cost_;                                // by kind and level
  std::vector<Load> loads_;                             // likewise; empty if all are additive
  std::vector<std::shared_ptr<const TimeGrid>> grids_;  // by level; empty if nothing is measured
  std::vector<int> way_;                                // by level
  int way_count_ = 1;
  std::vector<ScatterTable> ways_;  // empty if there is one way
};

}  // namespace stowage
