// The configurations of groups that hold equally many sequences.
#pragma once

#include <span>
#include <vector>

#include "heuristics/scatter/working_plan.h"
#include "instances/numeric/numbers.h"

namespace stowage {

// The time in ms of a group at each configuration, infinite if the configuration has no room.
using ConfigTimes = std::span<const Ms>;

// Chooses configurations for groups of the given times, on all devices or, unless the rules forbid
// it, on fewer.
class GroupDegrees {
 public:
  explicit GroupDegrees(const ScatterTable& table) : table_(table) {}
  // Returns the devices that groups of at most `most` ms need, or more than exist if these do not
  // suffice.
  int needed(std::span<const ConfigTimes> groups, Ms most) const;
  // Chooses configurations() and returns their makespan in ms. If `whole`, the configurations cover
  // all devices. Returns infinity if no choice exists.
  Ms choose(std::span<const ConfigTimes> groups, bool whole);
  const std::vector<int>& configs() const { return configs_; }

 private:
  int degree(int config) const { return table_.configs()[at(config)].degree; }
  int least_config(ConfigTimes times, Ms most) const;
  void take(std::span<const ConfigTimes> groups, Ms most);
  bool widen(std::span<const ConfigTimes> groups, int left);
  bool make_up(std::span<const ConfigTimes> groups);

  const ScatterTable& table_;
  std::vector<Ms> candidates_;
  std::vector<int> configs_;
};

}  // namespace stowage
