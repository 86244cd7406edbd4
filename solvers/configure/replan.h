// A new configuration after devices are lost (ElasWave, arXiv 2510.00606): steps should be short,
// and few states should move to devices that do not have them.
//
//   std::vector<Replanned> found = replan(instance, plan, {3, 17}, {}, budget);
//   if (!found.empty()) use(found.front().instance, found.front().plan);
//
// Ranks of the old plan ran on the devices of the same numbers, those of a node one after another.
// A node of the new plan is devices of one old node; which node and which devices is chosen for the
// fewest bytes. Formulas are RP1 to RP5 of instances/strategy/README.md.
//
// Thread safety: reads its arguments and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/budget.h"
#include "instances/strategy/held_states.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "instances/units.h"

namespace stowage {

inline constexpr std::int64_t kMostReplanned = 2048;  // devices of the old plan

struct Relocation {
  std::vector<std::int64_t> device_of_rank;  // each new rank's, by its old number
  Mib moved_mib = 0;                         // sent between devices, to all of them
  Mib most_mib = 0;  // that one device receives, what is read from a checkpoint included
  Mib lost_mib = 0;  // that no device has any more: to be read from a checkpoint, once
};

struct Replanned {
  StrategyInstance instance;  // the old one, on devices that remain
  StrategyPlan plan;          // verified; without bound
  Relocation moves;
  Ms move_ms = 0;  // RP5: of moved_mib
  Ms cost_ms = 0;  // RP5: the step and its share of the move
};

struct ReplanOptions {
  double weight = 0.001;  // of the move in a step: one part of so many steps as it is paid off in
  std::size_t most = 10;  // plans that are returned
};

// Clusters of equal nodes that remain: for each number of devices that some node still has the
// nodes with as many, most devices first; of as many, larger nodes first. None contains another.
std::vector<StrategyCluster> remaining_clusters(const StrategyCluster& cluster,
                                                std::span<const std::int64_t> lost);

// Of these the parts in which the options combine: for each number of devices of a node the most
// nodes. None contains another.
std::vector<StrategyCluster> usable_clusters(const StrategyInstance& instance,
                                             std::span<const std::int64_t> lost);

// New ranks on devices that remain, so that the fewest bytes move: the least of the transport
// problem in which a new node is devices of one old node. `cluster` is that of `before`; `per_node`
// are the devices of a node of `after`, which has enough devices for it. RP4
Relocation least_move(const HeldStates& before, const StrategyCluster& cluster,
                      std::span<const std::int64_t> lost, const HeldStates& after,
                      std::int64_t per_node);

// The least of RP5 first, of equal ones the fastest. Configurations of each usable cluster are
// the fastest of each kind that fits, the one that solve() finds, and the old one with fewer
// replicas. Requires a valid instance and plan of at most kMostReplanned devices, and `lost` of
// different devices of it, maybe none. Empty if nothing fits. A budget ends the search for each
// cluster's best configuration, not that of the others.
std::vector<Replanned> replan(const StrategyInstance& instance, const StrategyPlan& plan,
                              std::span<const std::int64_t> lost, const ReplanOptions& options,
                              Budget& budget);

}  // namespace stowage
