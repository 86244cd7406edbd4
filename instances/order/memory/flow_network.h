// A network of arcs with capacities in bytes, its maximum flow and its minimum cut.
//
// The flow is Dinic's: distances to the sink are computed, then flow is pushed along shortest
// paths, until no path is left. It takes O(V^2 E) at worst and near linear time in practice.
//
//   FlowNetwork network;
//   const int node = network.new_node();
//   network.add_arc(FlowNetwork::kSource, node, 10);
//   network.add_arc(node, FlowNetwork::kSink, 7);
//   network.push_all();                              // network.value() == 7
//   if (network.reaches_sink(node)) ...              // the node is on the sink's side
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstddef>
#include <vector>

#include "instances/units.h"

namespace stowage {

class FlowNetwork {
 public:
  static constexpr int kSource = 0;
  static constexpr int kSink = 1;
  static constexpr int kNone = -1;
  static constexpr Bytes kNoLimit = Bytes{1} << 60;  // capacity of an arc without a limit, bytes

  struct Arc {
    int to = 0;
    int next = kNone;  // of the same tail node
    Bytes room = 0;
  };
  // A state of the network that restore() brings back.
  struct Saved {
    std::vector<int> first;
    std::vector<Arc> arcs;
    Bytes value = 0;
  };

  // Leaves the source and the sink alone, without a flow.
  void clear();
  int new_node();
  // Returns the index of the arc. Requires that `from` and `to` are nodes.
  int add_arc(int from, int to, Bytes room);

  // Adds flow until it is maximal or at least `enough`.
  void push_all(Bytes enough = kNoLimit);
  Bytes value() const { return value_; }
  Bytes flow(int arc) const { return arcs_[index(arc ^ 1)].room; }
  // Returns whether a path with room leads from the node to the sink. Requires a maximum flow. The
  // nodes without such a path are the largest source side of a minimum cut.
  bool reaches_sink(int node) const { return level_[index(node)] != kNone; }
  // Returns, for each node, whether a path with room leads from the source to it. After a maximum
  // flow these nodes are the smallest source side of a minimum cut.
  std::vector<char> reached_from_source() const;

  void save(Saved& state) const;
  void restore(Saved& state);  // takes what save() has left there

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  bool label();
  Bytes push(int node, Bytes most);

  std::vector<int> first_ = {kNone, kNone};  // arc of a node
  std::vector<Arc> arcs_;                    // each followed by its reverse
  std::vector<int> level_;                   // of a node, from the sink
  std::vector<int> turn_;                    // next arc of a node to try
  Bytes value_ = 0;
};

}  // namespace stowage
