// Where groups lie in a cluster whose nodes differ.
//
// Nodes of one kind are consecutive ranks. A group is as fast as its slowest device and has the
// memory of its smallest one, so that all that matters of its ranks is which kinds they are of: its
// place. Of K kinds the places 0 to K - 1 are inside one kind. Place K + k is the block of as many
// ranks as the degree that reaches from kind k into the next ones; there is one at most.
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

// What a group has there, and what it takes of each kind.
struct GroupPlace {
  double speed = 1;          // of its slowest device
  Mib memory_mib = 0;        // of its smallest one
  int first_rank = 0;        // of the kind, or of the block that reaches across kinds
  std::vector<int> devices;  // by kind
};

// 2 K - 1; 1 where all devices are alike.
int places(const Cluster& cluster);

// Nothing if no group of this degree may lie there. Requires an aligned cluster with kinds.
std::optional<GroupPlace> group_place(const Cluster& cluster, int degree, int place);

// The place of a group that starts at the rank; 0 where all devices are alike, nothing if the group
// is not within the ranks or not aligned.
std::optional<int> place_at(const Cluster& cluster, int degree, int first_rank);

// The first rank of a kind; of one more than there are, N.
int first_rank_of_kind(const Cluster& cluster, int kind);

}  // namespace stowage
