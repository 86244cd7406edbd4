// Chunks of a step by the shortest path over its cut points; declared in chunking.h.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "heuristics/scatter/construct/chunking.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Ratio of a typical grouped makespan to its estimate.
constexpr double kLoss = 1.01;
// Cut points per micro-batch's worth of tokens. Short sequences are cut in bunches.
constexpr int kCutsPerBatch = 128;

using Arc = std::pair<int, int>;  // cut points

class ChunkPath {
 public:
  ChunkPath(const ScatterTable& table, const ChunkCost& cost) : table_(table), cost_(cost) {
    // If memory holds one sequence at a time, the whole step counts as one micro-batch's worth.
    const double batch_tokens =
        table.packed()
            ? static_cast<double>(table.device_tokens()) * static_cast<double>(table.devices())
            : static_cast<double>(std::min(table.batch_capacity(), table.total_tokens()));
    double since = 0;
    for (int position = 0; position < table.size(); ++position) {
      area_.push_back(area_.back() + table.area(position));
      tokens_.push_back(tokens_.back() + static_cast<double>(table.length(position)));
      since += static_cast<double>(table.length(position));
      if (since >= batch_tokens / kCutsPerBatch || position + 1 == table.size()) {
        cuts_.push_back(position + 1);
        since = 0;
      }
    }
    batch_tokens_ = batch_tokens;
    for (int position = 0; position < table.size(); ++position) {
      longest_.push_back(table.alone(table.kind(position)));
    }
    measure_arcs();
  }

  ChunkPaths run(const PathEffort& effort, const Budget& budget) && {
    const std::optional<std::vector<Arc>> best = converge(kAnyCount, effort, budget);
    if (!best) return std::move(found_);
    found_.best.push_back(chunks_of(*best));
    const int count = static_cast<int>(best->size());
    for (int other = std::max(1, count - effort.spread); other <= count + effort.spread; ++other) {
      if (other == count || budget.exhausted()) continue;
      const auto path = converge(other, effort, budget);
      if (path) found_.best.push_back(chunks_of(*path));
    }
    return std::move(found_);
  }

 private:
  static constexpr int kAnyCount = 0;

  // Prices the arcs of the shortest path of `count` arcs until the path has no unpriced arc.
  // Returns nullopt if no path was fully priced.
  std::optional<std::vector<Arc>> converge(int count, const PathEffort& effort,
                                           const Budget& budget) {
    Ms best = kInfinity;
    std::optional<std::vector<Arc>> best_path;
    for (int round = 0; round < effort.rounds && !budget.exhausted(); ++round) {
      const auto [length, path] = shortest(count);
      if (!(length < best * (1 - effort.worthwhile))) break;  // even the estimates promise no more
      bool priced_before = true;
      Ms truth = 0;
      for (const Arc& arc : path) {
        if (!price_.contains(arc)) {
          if (budget.exhausted()) return best_path;
          priced_before = false;
        }
        truth += price(arc);
      }
      if (truth < best) {
        if (best_path) found_.outrun.push_back(chunks_of(*best_path));
        best = truth;
        best_path = path;
      }
      if (priced_before) break;
    }
    return best_path;
  }

  Chunks chunks_of(const std::vector<Arc>& path) const {
    Chunks chunks;
    for (const Arc& arc : path) chunks.push_back(positions(arc));
    return chunks;
  }

  int cut(int index) const { return cuts_[static_cast<std::size_t>(index)]; }
  double at(const std::vector<double>& sums, int i) const {
    return sums[static_cast<std::size_t>(i)];
  }

  std::vector<int> positions(const Arc& arc) const {
    std::vector<int> all;
    for (int position = cut(arc.first); position < cut(arc.second); ++position) {
      all.push_back(position);
    }
    return all;
  }

  Ms price(const Arc& arc) {
    const auto found = price_.find(arc);
    if (found != price_.end()) return found->second;
    return price_[arc] = cost_(positions(arc));
  }

  Ms estimate(int from, int to) const {
    Ms area =
        table_.least_overhead() + (at(area_, cut(to)) - at(area_, cut(from))) / table_.devices();
    if (table_.offloads()) {
      const double tokens = at(tokens_, cut(to)) - at(tokens_, cut(from));
      area += table_.least_stall(static_cast<Tokens>(tokens), 1, area);
    }
    return kLoss * std::max(area, at(longest_, cut(from)));
  }

  // Returns the length and the arcs of the shortest path of `count` arcs, or of any number of arcs.
  std::pair<Ms, std::vector<Arc>> shortest(int count) {
    const int last = static_cast<int>(cuts_.size()) - 1;
    // With a count, there is one layer per number of arcs used. Layers from which the end cannot be
    // reached are skipped.
    const int layers = count == kAnyCount ? 1 : count + 1;
    std::vector<Ms> reach(cuts_.size() * static_cast<std::size_t>(layers), kInfinity);
    std::vector<int> previous(reach.size(), -1);
    const auto node = [layers](int index, int layer) {
      return static_cast<std::size_t>(index) * static_cast<std::size_t>(layers) +
             static_cast<std::size_t>(layer);
    };
    reach[0] = 0;
    auto known = price_.begin();
    for (int from = 0; from < last; ++from) {
      while (known != price_.end() && known->first.first < from) ++known;
      const int first_layer =
          count == kAnyCount ? 0 : std::max(fewest_to_[static_cast<std::size_t>(from)], 0);
      const int last_layer =
          count == kAnyCount ? 0 : count - fewest_from_[static_cast<std::size_t>(from)];
      for (int to = from + 1; to <= furthest_[static_cast<std::size_t>(from)]; ++to) {
        while (known != price_.end() && known->first < Arc{from, to}) ++known;
        const bool priced = known != price_.end() && known->first == Arc{from, to};
        const Ms arc = priced ? known->second : estimate(from, to);
        const std::size_t source = node(from, 0);
        const std::size_t target = node(to, count == kAnyCount ? 0 : 1);
        for (int layer = first_layer; layer <= last_layer; ++layer) {
          const auto l = static_cast<std::size_t>(layer);
          const Ms then = reach[source + l] + arc;
          if (then < reach[target + l]) {
            reach[target + l] = then;
            previous[target + l] = from;
          }
        }
      }
    }
    std::vector<Arc> path;
    int layer = layers - 1;
    for (int to = last; to > 0 && previous[node(to, layer)] >= 0;) {
      const int from = previous[node(to, layer)];
      path.push_back({from, to});
      to = from;
      if (count != kAnyCount) --layer;
    }
    std::ranges::reverse(path);
    return {reach[node(last, layers - 1)], path};
  }

  // Computes for each cut point the furthest end of an arc from it, the fewest arcs to it, and the
  // fewest arcs from it to the end.
  void measure_arcs() {
    const auto nodes = cuts_.size();
    furthest_.resize(nodes);
    std::size_t to = 0;
    for (std::size_t from = 0; from < nodes; ++from) {
      to = std::max(to, from);
      while (to + 1 < nodes &&
             at(tokens_, cuts_[to + 1]) - at(tokens_, cuts_[from]) <= batch_tokens_) {
        ++to;
      }
      furthest_[from] = static_cast<int>(to);
    }
    constexpr int kNever = std::numeric_limits<int>::max() / 2;
    fewest_from_.assign(nodes, kNever);
    fewest_from_.back() = 0;
    for (std::size_t from = nodes - 1; from-- > 0;) {
      const auto end = static_cast<std::size_t>(furthest_[from]);
      if (end > from) fewest_from_[from] = fewest_from_[end] + 1;
    }
    fewest_to_.assign(nodes, kNever);
    fewest_to_[0] = 0;
    std::size_t from = 0;
    for (std::size_t end = 1; end < nodes; ++end) {
      while (from < end && static_cast<std::size_t>(furthest_[from]) < end) ++from;
      if (from < end) fewest_to_[end] = fewest_to_[from] + 1;
    }
  }

  const ScatterTable& table_;
  const ChunkCost& cost_;
  ChunkPaths found_;
  std::vector<int> cuts_{0};
  std::vector<double> area_{0};
  std::vector<double> tokens_{0};
  std::vector<Ms> longest_;
  double batch_tokens_ = 0;
  std::map<Arc, Ms> price_;
  std::vector<int> furthest_;
  std::vector<int> fewest_to_;
  std::vector<int> fewest_from_;
};

}  // namespace

ChunkPaths shortest_path_chunks(const ScatterTable& table, const ChunkCost& cost,
                                const PathEffort& effort, const Budget& budget) {
  if (table.size() == 0) return {.best = {Chunks{}}};
  return ChunkPath(table, cost).run(effort, budget);
}

}  // namespace stowage
