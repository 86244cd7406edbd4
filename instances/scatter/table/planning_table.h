// The lookup table of scatter planners: sequences from longest to shortest, and the cost of each on
// each degree.
//
// A position is an index into the padded lengths in descending order, ties by id. Planners work
// with positions; plans contain ids. Sequences of equal padded length share one row of costs: a
// 512-sequence step padded to 128 tokens has only 40 to 110 rows. If groups pad by their form, the
// lengths of the table are padded to the multiple that all forms share, and
// GroupConfig::padded() is the length on a group. Both have the same order.
//
// A configuration is a form that a group may have: a degree and, if the instance has several, a
// kind of exchange and a recomputation mode, which all groups of a micro-batch share. A
// configuration is left out if another configuration of its degree and mode is never worse for any
// length of the step. A mode is left out if, for each of its configurations, one other mode has
// such a configuration. If compute hides transfers, a group's time is the larger of two sums of
// loads (instances/scatter/cost/cost_model.h). cost() is then the most that a sequence adds to it.
// least_cost() is a weighted mean of the two sums, so that no group is faster than its overhead
// plus the least costs of its sequences. With offload neither counts the wait for copies, which a
// group of more tokens than memory holds adds.
//
// If the cost is a table of measured times, loads are sums of tokens and of squared lengths, and
// time() looks the time up. cost() is then taken from a plane near the measured times, and
// least_cost() from a plane below them: no group is faster than its least overhead plus the least
// costs of its sequences.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/cost/time_grid.h"
#include "instances/scatter/instance.h"

namespace stowage {

// A form of groups, with its overhead (ms, once per group) and its room.
struct GroupConfig {
  int degree = 0;
  Ms overhead = 0;
  Tokens capacity = 0;         // of all its sequences; if they run one by one, at most the step's
  Tokens longest = 0;          // of one of them
  std::int64_t sequences = 0;  // most sequences
  ExchangeKind exchange = ExchangeKind::none;
  double weight = 1;  // of compute in least_cost(), in [0, 1]; transfer has the rest
  // Each sequence takes `sequence_tokens` of `capacity` beside its tokens. All sequences together
  // have at most `most_tokens` of their own; kMaxExact if the capacity implies that limit.
  Tokens sequence_tokens = 0;
  Tokens most_tokens = kMaxExact;
  int recomputation = 0;
  int place = 0;  // device pool of device_pools.h
  // The sum of the weights of its devices, by their kinds: the degree if all devices are alike. The
  // weights of all devices sum to N.
  double weighted_devices = 0;
  // The padded length of each sequence is a multiple of it, and the tokens of a row of the other;
  // see GroupConfig::padded().
  Tokens multiple = 1;
  Tokens row_multiple = 1;
  Load row_token = {};  // load of a token of a row's padding
  Tokens each = 0;      // most tokens on a device; for planning_table.h only
  // With offload: the tokens that memory holds with all activations, and the MiB on each device of
  // one more token.
  Tokens resident = kMaxExact;
  Mib device_mib = 0;
  Ms least_overhead = 0;                 // overhead of least costs; `overhead` except in tables
  std::optional<AffineTime> below = {};  // in tables: the plane of least costs
  AffineTime near = {};                  // the plane of costs

  GroupForm form() const { return {degree, exchange, recomputation, place}; }
  // Return the tokens that may be added to a group of `count` sequences that take `held` of the
  // capacity: room() as one more sequence, room_to_grow() in place of a part of another sequence.
  Tokens room(Tokens held, std::int64_t count) const {
    return std::min(capacity - held - sequence_tokens, left_of_most(held, count));
  }
  Tokens room_to_grow(Tokens held, std::int64_t count) const {
    return std::min(capacity - held, left_of_most(held, count));
  }
  Tokens left_of_most(Tokens held, std::int64_t count) const {
    return most_tokens == kMaxExact ? kMaxExact : most_tokens - (held - count * sequence_tokens);
  }
  // Returns the tokens of a sequence of this length of the table on a group of this configuration.
  Tokens padded(Tokens length) const {
    if (multiple == 1) return length;
    if ((multiple & (multiple - 1)) == 0) return (length + multiple - 1) & -multiple;
    return round_up(length, multiple);
  }
  // Sizes and a single capacity for packers: both limits follow from them. `length` is one of the
  // table.
  Tokens packed_capacity() const { return std::min(capacity, most_tokens); }
  Tokens packed_size(Tokens length) const {
    length = padded(length);
    return std::min(length + sequence_tokens, std::max(length, packed_capacity()));
  }
};

// Sequences of one length, padded as all groups pad: positions [first, first + count).
struct DistinctLength {
  Tokens length = 0;
  int first = 0;
  int count = 0;
  double area = 0;  // least weighted devices * least cost over the configurations that hold it,
                    // device-ms; inf if none
};

class ScatterTable {
 public:
  // Requires at most 2^31 - 1 sequences.
  explicit ScatterTable(const ScatterInstance& instance);

  // Returns the table of these positions, which must ascend, on `devices` devices with the
  // configurations they hold. Its ids are positions of this table, and it may have any number of
  // micro-batches. Requires configurations()[0].degree <= devices <= devices(). `longest_elsewhere`
  // is the longest makespan of the other micro-batches of the step.
  ScatterTable part(std::span<const int> positions, int devices, Ms longest_elsewhere = 0) const;

  int devices() const { return devices_; }
  // If nodes differ: the number of devices of each kind, and the number of each kind in a group of
  // the configuration. Empty otherwise.
  bool several_kinds() const { return !cluster_.kinds.empty(); }
  std::vector<int> devices_of_kinds() const;
  std::vector<int> devices_of_kinds(int config) const;
  // The weight of a device of each kind in GroupConfig::weighted_devices. Empty if all devices are
  // alike.
  const std::vector<double>& kind_weights() const { return kind_weights_; }
  // The most tokens on a device of any configuration: C, or max_tokens_per_rank if that is less.
  Tokens device_tokens() const { return device_tokens_; }
  // Levels by ascending degree, then recomputation mode, then kind of exchange.
  const std::vector<GroupConfig>& configs() const { return configs_; }
  const std::vector<DistinctLength>& kinds() const { return kinds_; }  // descending length
  // Returns the configuration of this form. If it was left out, returns the configuration of its
  // degree with the most capacity, of its recomputation mode unless that was left out too.
  int config_of(GroupForm form) const;
  int size() const { return static_cast<int>(ids_.size()); }  // sequences
  std::int64_t id(int position) const { return ids_[at(position)]; }
  int kind(int position) const { return kind_of_[at(position)]; }
  Tokens length(int position) const { return kinds_[at(kind(position))].length; }
  double area(int position) const { return kinds_[at(kind(position))].area; }

  // Returns c(s, d) in ms, whether or not the configuration can hold the sequence: the most that it
  // adds, or an estimate if costs are measured.
  Ms kind_cost(int kind, int config) const { return cost_[row(kind) + at(config)]; }
  Ms cost(int position, int config) const { return kind_cost(kind(position), config); }
  Load kind_load(int kind, int config) const {
    if (loads_.empty()) return {kind_cost(kind, config), kind_cost(kind, config)};
    return loads_[row(kind) + at(config)];
  }
  Load load(int position, int config) const { return kind_load(kind(position), config); }
  Ms kind_least_cost(int kind, int config) const {
    if (loads_.empty()) return kind_cost(kind, config);
    if (const auto& below = configs_[at(config)].below) {
      const Load& sums = loads_[row(kind) + at(config)];
      return below->token_ms * sums.compute + below->square_ms * sums.transfer;
    }
    const double weight = configs_[at(config)].weight;
    const Load& load = loads_[row(kind) + at(config)];
    return weight * load.compute + (1 - weight) * load.transfer;
  }
  // Returns the load of the padding of a row whose sequences have `tokens` padded tokens. Bounds
  // and the moves of searches leave it out, which lowers a group's time by that of less than
  // row_multiple tokens; working plans and plans pay it.
  Load row_load(int config, Tokens tokens) const;
  // Returns whether groups pad their sequences by their form.
  bool pads_by_form() const { return pads_by_form_; }
  // Returns the load of an empty group, and the time of a group with this load.
  Load empty_load(int config) const {
    const GroupConfig& own = configs_[at(config)];
    const double held = offload_ ? static_cast<double>(own.resident) : 0;
    if (!grids_.empty()) return {0, 0, -held};
    return {own.overhead, own.overhead, -held};
  }
  Ms time(int config, const Load& load) const {
    const Ms work =
        grids_.empty() ? load.time() : grids_[at(config)]->at(load.compute, load.transfer);
    if (!(load.beyond > 0)) return work;
    return work + offload_stall_ms(*offload_, work, load.beyond * configs_[at(config)].device_mib);
  }
  // Returns the time of a group whose sequences have this load and take `held` of its capacity.
  Ms time(int config, const Load& load, Tokens held, std::int64_t count) const {
    const GroupConfig& own = configs_[at(config)];
    if (own.row_multiple == 1) return time(config, load);
    return time(config, load + row_load(config, held - count * own.sequence_tokens));
  }
  // Returns whether activations can leave for the host: then a group with more tokens than memory
  // holds waits for copies. Costs and least costs of sequences leave that out, and alone() does
  // not.
  bool offloads() const { return offload_.has_value(); }
  // Returns the tokens of the configuration's capacity that sequences may take in a group which
  // lasts at most `limit` ms: if their load lasts no longer, neither does the group with its
  // copies.
  Tokens capacity_within(int config, Ms limit) const;
  // Returns a lower bound in ms on the wait for copies of micro-batches that hold `tokens` tokens
  // together and last `work` ms without copies, as if all devices shared the tokens evenly. 0
  // without offload.
  Ms least_stall(Tokens tokens, double micro_batches, Ms work) const;
  // Returns whether micro-batches may be mixed (instances/scatter/cost/mixed.h): the configurations
  // are then those of degree 1 and N. part(), merged() and their like are of steps without that.
  bool mixes() const { return hidden_token_ms_.has_value(); }
  // Returns the time, in ms, by which work on own rows can shorten the exchange of one token of a
  // shared row. Requires mixes().
  Ms hidden_token_ms() const { return *hidden_token_ms_; }
  // Returns whether times are measured, in a table by tokens and squares.
  bool measured() const { return !grids_.empty(); }
  // Returns whether the two sums of every load are equal: then the three costs are equal.
  bool additive() const { return loads_.empty(); }
  // Returns the table of a step in which every sequence has its least cost, which is additive. A
  // bound on the plans of that step bounds those of this step.
  ScatterTable relaxed() const;

  // Returns the table of a step of at most about `most` lengths: sequences of similar length have
  // the loads and the padded length of the longest of them. Its positions and ids are those of this
  // table. A plan of it is a plan of this step, and no slower there. Requires formulas, no
  // measured times.
  ScatterTable merged(std::size_t most) const;
  // Returns the table of a step of at most about `most` lengths: runs of sequences have the least
  // cost and the length of the shortest of them, and lose as little device-time as possible. A
  // bound on the plans of it bounds those of this step. Requires additive costs.
  ScatterTable lowered(std::size_t most) const;
  static constexpr int kMostPowers = 16;  // no cluster has more degrees that are powers of two
  // Returns whether the configurations have more different degrees than that.
  bool has_many_degrees() const;
  // Returns the configurations of the least degree, of the least that is at least twice the last,
  // and of the largest: searches over many degrees begin with them. Returns all if nodes differ, or
  // if no other ones hold some sequence.
  std::vector<std::size_t> few_degrees() const;
  // Returns the table of this step with these configurations alone, which must ascend and hold
  // every sequence. Its positions are those of this table.
  ScatterTable with_configs(const std::vector<std::size_t>& kept) const;
  // Lengths of a step whose linear programmes over groups take no longer than those of a step that
  // is padded for the largest degree.
  static constexpr std::size_t kFewLengths = 60;

  bool holds_kind(int config, int kind) const {
    return kinds_[at(kind)].length <= configs_[at(config)].longest;
  }
  bool holds(int config, int position) const { return holds_kind(config, this->kind(position)); }
  // Returns the part of the capacity of a group of the configuration that the sequence takes.
  Tokens held(int config, int position) const {
    const GroupConfig& own = configs_[at(config)];
    return own.padded(length(position)) + own.sequence_tokens;
  }

  bool packed() const { return packed_; }
  // The rules on whole micro-batches and on their number.
  bool no_idle_ranks() const { return no_idle_ranks_; }
  std::int64_t multiple() const { return multiple_; }
  bool equal_sequences() const { return equal_sequences_; }

  // Returns the time of a step with this sum of makespans and this longest one. For a part of a
  // step, the longest makespan may also be elsewhere.
  Ms step_ms(Ms sum, Ms longest) const {
    return longest_weight_ == 0 ? sum
                                : sum + longest_weight_ * std::max(longest, longest_elsewhere_);
  }
  // Times that the longest makespan counts beside the sum: pipeline_stages - 1.
  double longest_weight() const { return longest_weight_; }
  // Sets that factor. It is smaller if each micro-batch of this step stands for several.
  void count_longest(double again) {
    longest_weight_ = again;
    for (ScatterTable& mode : modes_) mode.longest_weight_ = again;
  }
  Ms longest_elsewhere() const { return longest_elsewhere_; }

  // Returns whether the instance lists several recomputation modes. recomputations() is the number
  // of modes that are left.
  bool chooses_recomputation() const { return chooses_recomputation_; }
  int recomputations() const { return mode_count_; }
  // The step if all its micro-batches have this recomputation mode, counted from 0. Its
  // configurations are among those of this table, see level_of(). May hold fewer sequences.
  const ScatterTable& recomputing(int mode) const {
    return modes_.empty() ? *this : modes_[at(mode)];
  }
  // The recomputation mode of this configuration, among those that are left.
  int mode(int config) const { return mode_[at(config)]; }

  // Least overhead of any configuration: every micro-batch lasts at least this long.
  Ms least_overhead() const { return least_overhead_; }

  // Returns N C: the most tokens of a micro-batch, at most kMaxExact.
  Tokens batch_capacity() const {
    return std::min(checked_mul(devices_, device_tokens_).value_or(kMaxExact), kMaxExact);
  }
  // Returns the tokens of the step: the sum of length(), which is no more than that of any plan.
  Tokens total_tokens() const;
  // The least sum of the capacities that its sequences take; at most kMaxExact.
  Tokens total_held() const { return total_held_; }
  // Returns whether the capacity of groups is device_tokens() times the degree for any number of
  // sequences, and the longest sequence too. All forms of groups count, also those that were left
  // out.
  bool even() const { return even_; }
  // Returns the device-ms of the step if every sequence had its least area.
  double total_area() const;
  // Returns the least time of a group that holds only a sequence of this kind, ms; infinite if no
  // configuration holds it.
  Ms alone(int kind) const;

 private:
  ScatterTable() = default;
  std::size_t row(int kind) const { return at(kind) * configs_.size(); }
  // Appends a sequence no longer than those before it. `loads` are by configuration.
  void append(std::int64_t id, Tokens length, std::span<const Load> loads);
  std::vector<std::size_t> runs_of_kinds(
      const std::function<bool(std::size_t longest, std::size_t kind)>& joins) const;
  ScatterTable of_runs(const std::vector<std::size_t>& first, bool of_longest) const;
  void leave_out_dominated();
  void leave_out_dominated_modes();
  void keep_configs(const std::vector<std::size_t>& kept);
  void list_modes();
  bool dominates(std::size_t config, std::size_t other) const;
  bool holds_as_much(const GroupConfig& own, const GroupConfig& their) const;
  void choose_weights();
  void weigh_kinds();
  void weigh_configs();
  double area_on(std::size_t kind, std::size_t config) const;
  void find_areas();
  void choose_planes(const ScatterInstance& instance);
  std::vector<std::vector<AffineTime>> planes_below();
  void find_costs();
  void find_held();
  void find_even();

  int devices_ = 0;
  Cluster cluster_;  // kept if nodes differ
  std::vector<double> kind_weights_;
  Tokens device_tokens_ = 0;
  bool packed_ = true;
  bool chooses_recomputation_ = false;
  bool no_idle_ranks_ = false;
  bool equal_sequences_ = false;
  std::int64_t multiple_ = 1;
  double longest_weight_ = 0;
  Ms longest_elsewhere_ = 0;
  Tokens total_held_ = 0;
  bool even_ = true;
  bool pads_by_form_ = false;
  Ms least_overhead_ = 0;
  std::optional<ActivationOffload> offload_;
  std::optional<Ms> hidden_token_ms_;
  std::vector<GroupConfig> configs_;
  std::vector<DistinctLength> kinds_;
  std::vector<std::int64_t> ids_;
  std::vector<int> kind_of_;
  std::vector<Ms> cost_;  // by kind and configuration
  // By kind and configuration; empty if all are additive.
  std::vector<Load> loads_;
  std::vector<std::shared_ptr<const TimeGrid>>
      grids_;              // by configuration; empty if nothing is measured
  std::vector<int> mode_;  // by configuration
  int mode_count_ = 1;
  std::vector<ScatterTable> modes_;  // by recomputation mode; empty if there is one
};

}  // namespace stowage
