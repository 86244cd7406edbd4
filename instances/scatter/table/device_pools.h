// The device pools of groups in a cluster whose nodes differ.
//
// Nodes of one kind are consecutive ranks. A group is as fast as its slowest device and has the
// memory of its smallest device. So only the kinds of its ranks matter: its place, a device pool.
// With K kinds, the places 0 to K - 1 are inside one kind. Place K + k is the block of `degree`
// ranks that reaches from kind k into the next kinds; there is at most one such block.
//
//   for (int place = 0; place < places(cluster); ++place)
//     if (const auto where = group_place(cluster, degree, place)) use(where->speed);
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <optional>
#include <vector>

#include "instances/scatter/instance.h"

namespace stowage {

// The properties of a group in a place, and its number of devices of each kind.
struct GroupPlace {
  double speed = 1;          // of its slowest device
  Mib memory_mib = 0;        // of its smallest device
  int first_rank = 0;        // of the kind, or of the block that reaches across kinds
  std::vector<int> devices;  // by kind
};

// Returns the number of places: 2 K - 1; 1 if all devices are alike.
int places(const Cluster& cluster);

// Returns the place, or nullopt if no group of this degree may lie there. Requires an aligned
// cluster with kinds.
std::optional<GroupPlace> group_place(const Cluster& cluster, int degree, int place);

// Returns the place of a group that starts at the rank: 0 if all devices are alike, nullopt if the
// group leaves the ranks or is not aligned.
std::optional<int> place_at(const Cluster& cluster, int degree, int first_rank);

// Returns the first rank of a kind; N for an index behind the last kind.
int first_rank_of_kind(const Cluster& cluster, int kind);

}  // namespace stowage
