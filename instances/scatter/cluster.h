// The devices that a scatter step has: how many, of what memory, in which nodes, and the degrees
// that groups of them may have.
//
//   Cluster cluster{.devices = 2, .memory_mib = 100, .degrees = {1, 2}};
//
// Thread safety: plain data.
#pragma once

#include <string>
#include <vector>

#include "instances/units.h"

namespace stowage {

// Consecutive nodes of equal devices.
struct DeviceKind {
  std::string name;    // for people; may be empty
  int nodes = 0;       // >= 1
  double speed = 1;    // compute takes 1 / speed times what the cost says, > 0
  Mib memory_mib = 0;  // in place of the cluster's

  bool operator==(const DeviceKind&) const = default;
};

struct Cluster {
  int devices = 0;  // N >= 1
  // Devices [k n, (k + 1) n) are a node. Costs depend on it where `ScatterCost::exchange` is given,
  // pictures always.
  int devices_per_node = 8;
  Mib memory_mib = 0;        // usable memory of one device
  std::vector<int> degrees;  // allowed group degrees, strictly increasing, each in [1, N]
  // Groups of degree d start at a rank that is a multiple of d. Then the degrees must form a
  // divisibility chain (each divides the next), so that every multiset of degrees whose sum is at
  // most N can be placed, largest first. With `aligned = false` any degrees go, at any first rank.
  bool aligned = true;
  // Where nodes differ: their kinds in the order of ranks, of all nodes together. Empty: all
  // devices are alike. Needs `aligned`, and that each kind starts at a multiple of every allowed
  // degree that fits into it: see devices.h.
  std::vector<DeviceKind> kinds = {};

  bool operator==(const Cluster&) const = default;
};

}  // namespace stowage
