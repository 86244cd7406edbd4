#include "tests/oracles/order/every_length.h"

#include <algorithm>
#include <set>

#include "instances/order/plan.h"

namespace stowage {
namespace {

bool has(std::span<const std::int64_t> list, std::int64_t item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// The graph by the definitions on the page of the format.
class Graph {
 public:
  explicit Graph(const OrderInstance& instance) : instance_(instance) {}

  std::int64_t operators() const { return std::ssize(instance_.operators); }
  std::int64_t tensors() const { return std::ssize(instance_.tensors); }
  const OrderOperator& op(std::int64_t i) const {
    return instance_.operators[static_cast<std::size_t>(i)];
  }
  const OrderTensor& tensor(std::int64_t t) const {
    return instance_.tensors[static_cast<std::size_t>(t)];
  }
  Bytes rounded(Bytes size) const {
    while (size % instance_.alignment != 0) ++size;
    return size;
  }
  Bytes size(std::int64_t t, Tokens length) const {
    return rounded(tensor(t).size) + length * rounded(tensor(t).size_per_token);
  }
  Bytes workspace(std::int64_t i, Tokens length) const {
    return rounded(op(i).workspace) + length * rounded(op(i).workspace_per_token);
  }
  bool touches(std::int64_t i, std::int64_t t) const {
    return has(op(i).reads, t) || has(op(i).updates, t);
  }
  bool writes(std::int64_t i, std::int64_t t) const { return has(op(i).writes, t); }

  // Returns true for an output, and for an input that no operator uses.
  bool stays(std::int64_t t) const {
    if (tensor(t).output) return true;
    for (std::int64_t i = 0; i < operators(); ++i) {
      if (touches(i, t)) return false;
    }
    return tensor(t).input;
  }

  // Returns whether a must run before b.
  bool precedes(std::int64_t a, std::int64_t b) const {
    if (has(op(b).after, a)) return true;
    for (std::int64_t t = 0; t < tensors(); ++t) {
      if (!touches(b, t)) continue;
      if (writes(a, t)) return true;
      const bool one_updates = has(op(a).updates, t) || has(op(b).updates, t);
      if (touches(a, t) && one_updates && a < b) return true;
    }
    return false;
  }

 private:
  const OrderInstance& instance_;
};

// Returns whether the tensor holds a value before this step that is still needed.
bool live_before(const Graph& graph, std::span<const std::int64_t> order, std::size_t step,
                 std::int64_t t) {
  bool made = graph.tensor(t).input;
  for (std::size_t k = 0; k < step; ++k) made = made || graph.writes(order[k], t);
  if (!made) return false;
  for (std::size_t k = step; k < order.size(); ++k) {
    if (graph.writes(order[k], t)) return false;  // rewritten before its next use
    if (graph.touches(order[k], t)) return true;
  }
  return graph.stays(t);
}

// Returns the direct and indirect predecessors of `op` as a set of bits.
unsigned waits_for(const Graph& graph, std::int64_t op) {
  unsigned all = 0;
  for (std::int64_t other = 0; other < graph.operators(); ++other) {
    if (other != op && graph.precedes(other, op)) all |= (1U << other) | waits_for(graph, other);
  }
  return all;
}

}  // namespace

Bytes recounted_peak(const OrderInstance& instance, std::span<const std::int64_t> order,
                     Tokens length) {
  const Graph graph(instance);
  Bytes peak = 0;
  if (order.empty()) {
    for (std::int64_t t = 0; t < graph.tensors(); ++t) {
      if (graph.tensor(t).input) peak += graph.size(t, length);
    }
  }
  for (std::size_t step = 0; step < order.size(); ++step) {
    Bytes need = graph.workspace(order[step], length);
    for (std::int64_t t = 0; t < graph.tensors(); ++t) {
      const bool counts = graph.writes(order[step], t) || live_before(graph, order, step, t);
      if (counts) need += graph.size(t, length);
    }
    peak = std::max(peak, need);
  }
  return peak;
}

LeastNeed::LeastNeed(const OrderInstance& instance, std::int64_t op) {
  const Graph graph(instance);
  std::set<Line> lines;
  const auto add_sum = [&](auto counts, Line line) {
    for (std::int64_t t = 0; t < graph.tensors(); ++t) {
      if (!counts(t)) continue;
      line.fixed += graph.size(t, 0);
      line.per_token += graph.size(t, 1) - graph.size(t, 0);
    }
    lines.insert(line);
  };
  if (op == OrderRow::kInputs) {
    add_sum([&](std::int64_t t) { return graph.tensor(t).input; }, {});
  } else if (op == OrderRow::kLeft) {
    add_sum([&](std::int64_t t) { return graph.stays(t); }, {});
  } else {
    std::vector<unsigned> waits;
    for (std::int64_t i = 0; i < graph.operators(); ++i) waits.push_back(waits_for(graph, i));
    const Bytes workspace = graph.workspace(op, 0);
    const Line own{workspace, graph.workspace(op, 1) - workspace};
    for (unsigned ran = 0; ran < (1U << graph.operators()); ++ran) {
      const auto has_run = [&](std::int64_t i) { return ((ran >> i) & 1U) != 0; };
      bool may_be = !has_run(op);
      for (std::int64_t i = 0; i < graph.operators(); ++i) {
        const bool must_have = i == op || has_run(i);
        may_be = may_be && (!must_have || (waits[static_cast<std::size_t>(i)] & ~ran) == 0);
      }
      if (!may_be) continue;
      add_sum(
          [&](std::int64_t t) {
            bool made = graph.tensor(t).input;
            bool needed = graph.stays(t);
            for (std::int64_t i = 0; i < graph.operators(); ++i) {
              made = made || (has_run(i) && graph.writes(i, t));
              needed = needed || (!has_run(i) && graph.touches(i, t));
            }
            return graph.writes(op, t) || (made && needed);
          },
          own);
    }
  }
  lines_.assign(lines.begin(), lines.end());
}

Bytes LeastNeed::at(Tokens length) const {
  Bytes least = lines_.front().fixed + lines_.front().per_token * length;
  for (const Line& line : lines_) least = std::min(least, line.fixed + line.per_token * length);
  return least;
}

}  // namespace stowage
