// The search state of a whole step: time and memory of every group, makespan and energy of every
// micro-batch. All are updated in constant time per move, however often sequences move.
//
// The energy of a micro-batch with makespan T is T * (1 + weight * f). Here f is the mean over the
// devices of (t / T)^2, and t is the time of the device's group (0 if the device idles). Makespans
// alone give a flat landscape, since most moves change no slowest group. Among equal makespans, f
// prefers less device-time and balanced groups, which lets the makespan fall later.
//
// In a pipeline the longest makespan counts p - 1 more times. All micro-batches that last nearly as
// long must get shorter for it to fall. So its price is spread over them, and price_longest() sets
// the threshold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "heuristics/scatter/working_plan.h"
#include "instances/numeric/numbers.h"

namespace stowage {

class StepState {
 public:
  static constexpr int kUnknown = -1;
  struct Group {
    int config = 0;
    int batch = 0;
    int slot = 0;     // index into Batch::groups
    Tokens held = 0;  // tokens taken from the configuration's capacity
    Load load;        // overhead included, also while empty
    Ms time = 0;      // the time of the load
    std::vector<int> positions;
  };
  struct Batch {
    std::vector<int> groups;     // ids
    std::vector<Ms> times;       // by slot; 0 while empty
    std::vector<Ms> block_most;  // slowest time of each block of kBlock slots
    Ms makespan = 0;
    mutable int slowest = kUnknown;  // id of the slowest group, computed on demand
    double squares = 0;              // sum of degree * time^2
    double energy = 0;
    int free = 0;           // devices without a group
    std::vector<int> left;  // free devices by kind, if nodes differ
  };
  // The new time of a changed group of a micro-batch.
  struct Change {
    int group = 0;
    Ms time = 0;  // 0 if the group becomes empty
  };

  StepState(const ScatterTable& table, const WorkingStep& step, double weight);

  const ScatterTable& table() const { return table_; }
  const std::vector<Batch>& batches() const { return batches_; }
  const std::vector<int>& groups() const { return alive_; }  // ids of all groups
  const Group& group(int id) const { return groups_[at(id)]; }
  const Batch& batch(int index) const { return batches_[at(index)]; }
  int group_of(int position) const { return home_[at(position)]; }
  int degree(const Group& group) const { return degrees_[at(group.config)]; }
  // Return the tokens that the group has left: for one more sequence, and for a longer sequence in
  // place of a present one.
  Tokens room(const Group& group) const {
    if (plain_) return capacities_[at(group.config)] - group.held;
    return config_of(group).room(group.held, std::ssize(group.positions));
  }
  Tokens room_to_grow(const Group& group) const {
    if (plain_) return capacities_[at(group.config)] - group.held;
    return config_of(group).room_to_grow(group.held, std::ssize(group.positions));
  }
  // Returns true if a group of the configuration may hold a sequence of that length.
  bool holds(int config, Tokens length) const { return length <= longest_[at(config)]; }
  // Returns true if the group holds as many sequences as allowed.
  bool full(const Group& group) const { return group.positions.size() >= most_sequences_; }
  const Load& load(int position, int config) const {
    return loads_[at(kinds_[at(position)]) * degrees_.size() + at(config)];
  }
  // Returns the tokens of the sequence on a group of the configuration.
  Tokens length(int position, int config) const {
    return lengths_[at(kinds_[at(position)]) * degrees_.size() + at(config)];
  }
  int kind(int position) const { return kinds_[at(position)]; }
  Load empty_load(int config) const { return table_.empty_load(config); }
  // Returns the time of a group with this load, in ms.
  Ms time(int config, const Load& load) const { return table_.time(config, load); }
  // Returns the number of free devices that groups of the configuration may use. For a
  // configuration across device kinds, returns the devices of one group or 0.
  int free_for(int batch, int config) const;
  Ms total() const;  // sum of makespans

  void set_weight(double weight);

  // Sets the threshold of the price of the longest makespan. Micro-batches longer than 1 - `margin`
  // times the longest one share its price. A makespan above the present longest one pays the full
  // price.
  void price_longest(double margin);

  // Returns the energy of the micro-batch after the changes of at most two of its groups.
  double energy_with(int batch, std::span<const Change> changes) const;
  // The contribution of groups to the energy of a micro-batch.
  struct Sum {
    Ms slowest = 0;
    double squares = 0;
  };
  Sum sum(std::span<const int> ids) const;
  // Returns the energy if groups with such a sum replaced the groups in `gone`.
  double energy_without(int batch, std::span<const int> gone, const Sum& sum);

  void move(int position, int to);
  void swap(int position, int other);  // requires different groups
  // Moves groups with their sequences to another micro-batch. The target micro-batch may
  // temporarily have more groups than devices, until other groups leave it.
  void relocate(std::span<const int> ids, int batch);
  // Replaces groups of a micro-batch by `made`. Requires that the sequences are the same, within
  // memory, and that the degrees fit the devices.
  void replace(int batch, std::span<const int> gone, std::span<const WorkingGroup> made);

  // Returns the id of the slowest group of the micro-batch.
  int slowest(int batch) const;

  WorkingStep draft() const;

 private:
  static constexpr std::size_t kBlock = 16;
  const GroupConfig& config_of(const Group& group) const {
    return table_.configs()[at(group.config)];
  }
  Ms shown(const Group& group) const { return group.positions.empty() ? 0 : group.time; }
  double energy_of(Ms makespan, double squares) const {
    if (!(makespan > 0)) return 0;
    const double energy = makespan + share_ * squares / makespan;
    return makespan > dear_from_ ? energy + longest_price(makespan) : energy;
  }
  double longest_price(Ms makespan) const {
    return dear_ * (std::min(makespan, dearest_from_) - dear_from_) +
           table_.longest_weight() * std::max(0.0, makespan - dearest_from_);
  }
  void update_energy(Batch& batch) const {
    batch.energy = energy_of(batch.makespan, batch.squares);
  }
  void insert(Group& group, int id, int position);
  void erase(Group& group, int position);
  void show(const Group& group);  // updates the micro-batch after a change of the group's time
  void refresh(Batch& batch, std::size_t block);
  int add_group(int batch, const WorkingGroup& made);
  void drop_group(int id);
  // Takes the devices of `groups` groups of the configuration from the free devices of the
  // micro-batch.
  void count_devices(Batch& batch, int config, int groups);
  void attach(int id, int batch);
  void detach(int id);

  const ScatterTable& table_;
  double share_ = 0;  // weight / devices
  // Each ms of a makespan beyond `dear_from_` costs `dear_` more. Each ms beyond `dearest_from_`
  // costs ScatterTable::longest_weight() more.
  Ms dear_from_ = kInfinity;
  Ms dearest_from_ = kInfinity;
  double dear_ = 0;
  std::vector<std::vector<int>> devices_of_kinds_;  // by configuration, if nodes differ
  std::vector<int> degrees_;
  std::vector<Tokens> capacities_;
  std::vector<Tokens> sequence_tokens_;
  bool plain_ = true;  // true if a sequence takes only its own tokens of the capacity
  std::vector<Tokens> longest_;
  std::size_t most_sequences_ = 0;  // limit of a group
  std::vector<Load> loads_;         // by kind and configuration
  std::vector<Tokens> lengths_;     // by kind and configuration
  std::vector<int> kinds_;          // by position
  std::vector<int> home_;           // group of each position
  std::vector<int> index_;          // index of each position in its group
  std::vector<Group> groups_;
  std::vector<int> alive_;
  std::vector<int> alive_index_;  // index of each group in alive_
  std::vector<int> spare_;        // free ids
  std::vector<Batch> batches_;
};

}  // namespace stowage
