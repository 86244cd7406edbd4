// Finds a new configuration after devices are lost (ElasWave, arXiv 2510.00606) with short steps
// and few moved states.
//
//   std::vector<Replanned> found = replan(instance, plan, {3, 17}, {}, budget);
//   if (!found.empty()) use(found.front().instance, found.front().plan);
//
// The ranks of the old plan ran on the devices of the same numbers, with the devices of a node
// numbered consecutively. A node of the new plan consists of devices of one old node. The node and
// the devices are chosen for the fewest bytes. Formulas are RP1 to RP5 of
// docs/reference/strategy.md.
//
// Thread safety: the functions only read their arguments, but for the budget.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/budget.h"
#include "instances/strategy/cost/held_states.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "instances/units.h"

namespace stowage {

inline constexpr std::int64_t kMaxReplanned = 2048;  // devices of the old plan

struct Relocation {
  std::vector<std::int64_t> device_of_rank;  // by new rank: the old number of its device
  Mib moved_mib = 0;                         // sent between devices, sum over all devices
  Mib most_mib = 0;  // received by one device at most, with reads from a checkpoint
  Mib lost_mib = 0;  // held by no remaining device: read once from a checkpoint
};

struct Replanned {
  StrategyInstance instance;  // the old instance on the remaining devices
  StrategyPlan plan;          // verified; without a bound
  Relocation moves;
  Ms move_ms = 0;  // RP5: time to move moved_mib
  Ms cost_ms = 0;  // RP5: the step, and its share of the move
};

struct ReplanOptions {
  // Share of the move per step: 1 / the number of steps over which it is paid off.
  double weight = 0.001;
  std::size_t most = 10;  // plans returned, at most
};

// Returns the remaining clusters of equal nodes: for each number of devices of some node, all nodes
// with at least that many. Most devices first, larger nodes first among equals. No cluster contains
// another.
std::vector<StrategyCluster> remaining_clusters(const StrategyCluster& cluster,
                                                std::span<const std::int64_t> lost);

// Returns the parts of the remaining clusters for which the options can be combined: for each
// number of devices per node the most nodes. No part contains another.
std::vector<StrategyCluster> usable_clusters(const StrategyInstance& instance,
                                             std::span<const std::int64_t> lost);

// Assigns new ranks to remaining devices such that the fewest bytes move: the optimum of the
// assignment problem in which a new node consists of devices of one old node. `cluster` is that of
// `before`. `per_node` is the number of devices of a node of `after`, for which the cluster must
// have room. RP4
Relocation least_move(const HeldStates& before, const StrategyCluster& cluster,
                      std::span<const std::int64_t> lost, const HeldStates& after,
                      std::int64_t per_node);

// Returns plans by ascending RP5, ties by step time. The configurations of each usable cluster are
// the fastest fitting one of each kind, the one that solve() finds, and the old one with fewer
// replicas. Requires a valid instance, a plan of at most kMaxReplanned devices, and distinct
// devices in `lost`, which may be empty. Returns an empty list if no configuration fits. The budget
// limits only the search for each cluster's best configuration.
std::vector<Replanned> replan(const StrategyInstance& instance, const StrategyPlan& plan,
                              std::span<const std::int64_t> lost, const ReplanOptions& options,
                              Budget& budget);

}  // namespace stowage
