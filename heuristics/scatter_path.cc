#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "heuristics/scatter_chunking.h"

namespace stowage {
namespace {

constexpr Ms kForever = std::numeric_limits<Ms>::infinity();
// What a grouping typically loses against its estimate.
constexpr double kLoss = 1.01;
// Cut points per micro-batch's worth of tokens: short sequences are cut in bunches.
constexpr int kCutsPerBatch = 128;

using Arc = std::pair<int, int>;  // cut points

class ChunkPath {
 public:
  ChunkPath(const ScatterTable& table, const ChunkCost& cost) : table_(table), cost_(cost) {
    const double batch_tokens =
        static_cast<double>(table.device_tokens()) * static_cast<double>(table.devices());
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
  }

  std::optional<Chunks> run(int rounds, const Budget& budget) {
    Ms best = kForever;
    std::vector<Arc> best_path;
    for (int round = 0; round < rounds; ++round) {
      const auto [length, path] = shortest();
      if (!(length < best)) break;  // even the estimates promise nothing better
      bool priced_before = true;
      Ms truth = 0;
      for (const Arc& arc : path) {
        if (budget.exhausted()) break;
        if (!price_.contains(arc)) priced_before = false;
        truth += price(arc);
      }
      if (budget.exhausted()) break;
      if (truth < best) {
        best = truth;
        best_path = path;
      }
      if (priced_before) break;
    }
    if (best_path.empty() && table_.size() > 0) return std::nullopt;
    Chunks chunks;
    for (const Arc& arc : best_path) chunks.push_back(positions(arc));
    return chunks;
  }

 private:
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
    const Ms area =
        table_.least_overhead() + (at(area_, cut(to)) - at(area_, cut(from))) / table_.devices();
    return kLoss * std::max(area, at(longest_, cut(from)));
  }

  std::pair<Ms, std::vector<Arc>> shortest() {
    const int last = static_cast<int>(cuts_.size()) - 1;
    std::vector<Ms> reach(cuts_.size(), kForever);
    std::vector<int> previous(cuts_.size(), -1);
    reach[0] = 0;
    auto known = price_.begin();
    for (int from = 0; from < last; ++from) {
      while (known != price_.end() && known->first.first < from) ++known;
      for (int to = from + 1; to <= last; ++to) {
        if (at(tokens_, cut(to)) - at(tokens_, cut(from)) > batch_tokens_) break;
        while (known != price_.end() && known->first < Arc{from, to}) ++known;
        const bool priced = known != price_.end() && known->first == Arc{from, to};
        const Ms then =
            reach[static_cast<std::size_t>(from)] + (priced ? known->second : estimate(from, to));
        if (then < reach[static_cast<std::size_t>(to)]) {
          reach[static_cast<std::size_t>(to)] = then;
          previous[static_cast<std::size_t>(to)] = from;
        }
      }
    }
    std::vector<Arc> path;
    for (int to = last; to > 0 && previous[static_cast<std::size_t>(to)] >= 0;) {
      const int from = previous[static_cast<std::size_t>(to)];
      path.insert(path.begin(), {from, to});
      to = from;
    }
    return {reach.back(), path};
  }

  const ScatterTable& table_;
  const ChunkCost& cost_;
  std::vector<int> cuts_{0};
  std::vector<double> area_{0};
  std::vector<double> tokens_{0};
  std::vector<Ms> longest_;
  double batch_tokens_ = 0;
  std::map<Arc, Ms> price_;
};

}  // namespace

std::optional<Chunks> shortest_path_chunks(const ScatterTable& table, const ChunkCost& cost,
                                           int rounds, const Budget& budget) {
  return ChunkPath(table, cost).run(rounds, budget);
}

}  // namespace stowage
