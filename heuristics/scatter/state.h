// A whole step under local search: every group's time and memory, every micro-batch's makespan and
// energy, kept up to date in constant time however often sequences move.
//
// The energy of a micro-batch is its makespan T times 1 + weight * f, where f is the mean over the
// devices of (t / T)^2 and t the time of the device's group (0 for one that idles). Makespans
// alone are flat: most moves touch no slowest group. The second factor prefers, among equal
// makespans, less device-time and evener groups, which is what lets the makespan fall next.
//
// In a pipeline the longest makespan counts p - 1 times besides. Its price is spread over the
// micro-batches that last nearly as long, since all of them must get shorter for it to fall:
// price_longest() says from where on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "heuristics/scatter/draft.h"
#include "instances/numbers.h"

namespace stowage {

class StepState {
 public:
  static constexpr int kUnknown = -1;
  struct Group {
    int level = 0;
    int batch = 0;
    int slot = 0;     // index into Batch::groups
    Tokens held = 0;  // of the level's capacity
    Load load;        // overhead included, also while empty
    Ms time = 0;      // that of the load
    std::vector<int> positions;
  };
  struct Batch {
    std::vector<int> groups;     // ids
    std::vector<Ms> times;       // by slot; 0 while empty
    std::vector<Ms> block_most;  // slowest of each block of kBlock slots
    Ms makespan = 0;
    mutable int slowest = kUnknown;  // group, once asked for
    double squares = 0;              // sum of degree * time^2
    double energy = 0;
    int free = 0;           // devices of no group
    std::vector<int> left;  // likewise, by kind where nodes differ
  };
  // What some group of a micro-batch would become.
  struct Change {
    int group = 0;
    Ms time = 0;  // 0 if it would be empty
  };

  StepState(const ScatterTable& table, const StepDraft& step, double weight);

  const ScatterTable& table() const { return table_; }
  const std::vector<Batch>& batches() const { return batches_; }
  const std::vector<int>& groups() const { return alive_; }  // ids of all groups
  const Group& group(int id) const { return groups_[at(id)]; }
  const Batch& batch(int index) const { return batches_[at(index)]; }
  int group_of(int position) const { return home_[at(position)]; }
  int degree(const Group& group) const { return degrees_[at(group.level)]; }
  // What may come into the group in tokens: as a sequence more, or in place of a part of another.
  Tokens room(const Group& group) const {
    if (plain_) return capacities_[at(group.level)] - group.held;
    return level_of(group).room(group.held, std::ssize(group.positions));
  }
  Tokens room_to_grow(const Group& group) const {
    if (plain_) return capacities_[at(group.level)] - group.held;
    return level_of(group).room_to_grow(group.held, std::ssize(group.positions));
  }
  // Whether a sequence of that length may be in a group of the level at all.
  bool holds(int level, Tokens length) const { return length <= longest_[at(level)]; }
  // Whether the group may have one sequence more.
  bool full(const Group& group) const { return group.positions.size() >= most_sequences_; }
  const Load& load(int position, int level) const {
    return loads_[at(kinds_[at(position)]) * degrees_.size() + at(level)];
  }
  Tokens length(int position) const { return lengths_[at(kinds_[at(position)])]; }
  int kind(int position) const { return kinds_[at(position)]; }
  Load empty_load(int level) const { return table_.empty_load(level); }
  // Of a group with this load.
  Ms time(int level, const Load& load) const { return table_.time(level, load); }
  // How many devices of no group groups like those of the level may take; of a level that reaches
  // across kinds, those of one group or none.
  int free_for(int batch, int level) const;
  Ms total() const;  // sum of makespans

  void set_weight(double weight);

  // From now on the energies of micro-batches that last longer than 1 - `margin` times the longest
  // have a part of its price, and what lasts longer than that now pays all of it.
  void price_longest(double margin);

  // What the energy of the micro-batch would be if these of its groups changed. Two at most.
  double energy_with(int batch, std::span<const Change> changes) const;
  // What groups add to a micro-batch.
  struct Sum {
    Ms slowest = 0;
    double squares = 0;
  };
  Sum sum(std::span<const int> ids) const;
  // The energy if groups of such a sum took the place of those in `gone`.
  double energy_without(int batch, std::span<const int> gone, const Sum& sum);

  void move(int position, int to);
  void swap(int position, int other);  // of different groups
  // Groups with all they hold go to another micro-batch. May leave more groups than devices there,
  // until others go the other way.
  void relocate(std::span<const int> ids, int batch);
  // Replaces groups of a micro-batch by others. Requires that the same sequences stay, within
  // memory, and that the degrees find room.
  void replace(int batch, std::span<const int> gone, std::span<const GroupDraft> made);

  // Slot of the slowest group of the micro-batch, by id.
  int slowest(int batch) const;

  StepDraft draft() const;

 private:
  static constexpr std::size_t kBlock = 16;
  const Level& level_of(const Group& group) const { return table_.levels()[at(group.level)]; }
  Ms shown(const Group& group) const { return group.positions.empty() ? 0 : group.time; }
  double energy_of(Ms makespan, double squares) const {
    if (!(makespan > 0)) return 0;
    const double energy = makespan + share_ * squares / makespan;
    return makespan > dear_from_ ? energy + longest_price(makespan) : energy;
  }
  double longest_price(Ms makespan) const {
    return dear_ * (std::min(makespan, dearest_from_) - dear_from_) +
           table_.again() * std::max(0.0, makespan - dearest_from_);
  }
  void update_energy(Batch& batch) const {
    batch.energy = energy_of(batch.makespan, batch.squares);
  }
  void insert(Group& group, int id, int position);
  void erase(Group& group, int position);
  void show(const Group& group);  // after its time changed
  void refresh(Batch& batch, std::size_t block);
  int add_group(int batch, const GroupDraft& made);
  void drop_group(int id);
  // Of the devices of the micro-batch that no group has, takes those of so many groups.
  void count_devices(Batch& batch, int level, int groups);
  void attach(int id, int batch);
  void detach(int id);

  const ScatterTable& table_;
  double share_ = 0;  // weight / devices
  // Of makespans beyond `dear_from_` each ms costs `dear_` more, and beyond `dearest_from_` as
  // often as the longest counts.
  Ms dear_from_ = kInfinity;
  Ms dearest_from_ = kInfinity;
  double dear_ = 0;
  std::vector<std::vector<int>> devices_of_kinds_;  // by level, where nodes differ
  std::vector<int> degrees_;
  std::vector<Tokens> capacities_;
  std::vector<Tokens> sequence_tokens_;
  bool plain_ = true;  // sequences count for their tokens alone
  std::vector<Tokens> longest_;
  std::size_t most_sequences_ = 0;  // of a group
  std::vector<Load> loads_;         // by kind and level
  std::vector<Tokens> lengths_;     // by kind
  std::vector<int> kinds_;          // by position
  std::vector<int> home_;           // group of a position
  std::vector<int> index_;          // of a position in its group
  std::vector<Group> groups_;
  std::vector<int> alive_;
  std::vector<int> alive_index_;  // of a group in alive_
  std::vector<int> spare_;        // ids to use again
  std::vector<Batch> batches_;
};

}  // namespace stowage
