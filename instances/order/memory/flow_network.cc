#include "instances/order/memory/flow_network.h"

#include <algorithm>
#include <utility>

namespace stowage {

void FlowNetwork::clear() {
  first_.assign(2, kNone);
  arcs_.clear();
  value_ = 0;
}

int FlowNetwork::new_node() {
  first_.push_back(kNone);
  return static_cast<int>(first_.size()) - 1;
}

int FlowNetwork::add_arc(int from, int to, Bytes room) {
  const int arc = static_cast<int>(arcs_.size());
  arcs_.push_back({to, first_[index(from)], room});
  first_[index(from)] = arc;
  arcs_.push_back({from, first_[index(to)], 0});
  first_[index(to)] = arc + 1;
  return arc;
}

void FlowNetwork::push_all(Bytes enough) {
  while (value_ < enough && label()) {
    turn_ = first_;
    while (const Bytes more = push(kSource, kNoLimit)) value_ += more;
  }
}

bool FlowNetwork::label() {
  level_.assign(first_.size(), kNone);
  std::vector<int> queue = {kSink};
  level_[kSink] = 0;
  for (std::size_t k = 0; k < queue.size(); ++k) {
    for (int arc = first_[index(queue[k])]; arc != kNone; arc = arcs_[index(arc)].next) {
      const int from = arcs_[index(arc)].to;
      if (level_[index(from)] != kNone || arcs_[index(arc ^ 1)].room == 0) continue;
      level_[index(from)] = level_[index(queue[k])] + 1;
      queue.push_back(from);
    }
  }
  return level_[kSource] != kNone;
}

// Pushes flow along one path, without recursion: graphs are thousands of operators deep.
Bytes FlowNetwork::push(int node, Bytes most) {
  std::vector<int> path;  // arcs
  while (node != kSink) {
    int& turn = turn_[index(node)];
    while (turn != kNone && (arcs_[index(turn)].room == 0 ||
                             level_[index(arcs_[index(turn)].to)] != level_[index(node)] - 1)) {
      turn = arcs_[index(turn)].next;
    }
    if (turn != kNone) {
      path.push_back(turn);
      node = arcs_[index(turn)].to;
      continue;
    }
    if (path.empty()) return 0;
    node = arcs_[index(path.back() ^ 1)].to;  // back, and past the arc that is a dead end
    turn_[index(node)] = arcs_[index(turn_[index(node)])].next;
    path.pop_back();
  }
  for (const int arc : path) most = std::min(most, arcs_[index(arc)].room);
  for (const int arc : path) {
    arcs_[index(arc)].room -= most;
    arcs_[index(arc ^ 1)].room += most;
  }
  return most;
}

std::vector<char> FlowNetwork::reached_from_source() const {
  std::vector<char> reached(first_.size(), 0);
  std::vector<int> todo = {kSource};
  reached[kSource] = 1;
  while (!todo.empty()) {
    const int node = todo.back();
    todo.pop_back();
    for (int arc = first_[index(node)]; arc != kNone; arc = arcs_[index(arc)].next) {
      const int to = arcs_[index(arc)].to;
      if (reached[index(to)] != 0 || arcs_[index(arc)].room == 0) continue;
      reached[index(to)] = 1;
      todo.push_back(to);
    }
  }
  return reached;
}

void FlowNetwork::save(Saved& state) const {
  state.first = first_;
  state.arcs = arcs_;
  state.value = value_;
}

void FlowNetwork::restore(Saved& state) {
  std::swap(first_, state.first);
  std::swap(arcs_, state.arcs);
  value_ = state.value;
}

}  // namespace stowage
