#include "instances/order/generate/layered.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/order/generate/graph_builder.h"

namespace stowage {
namespace {

// The layered graphs of 2207.05899 (appendix A), as far as Moccasin's examples (2304.14463) show
// them. There are about 1.8 times as many layers as operators in a layer. Layers have a quarter to
// seven quarters of the mean width. Edges go to the operators at about the same place, in a window
// of a fifth of the next layer and at least one operator. One edge of seven skips to a later layer.
// Sizes follow half a normal distribution.
class LocalLayers {
 public:
  LocalLayers(std::int64_t operators, std::uint64_t seed) : random_(seed) {
    constexpr std::int64_t kSquareOfWidth = 3;  // tenths of the number of operators
    std::int64_t width = 1;
    while (10 * width * width < kSquareOfWidth * operators) ++width;
    const std::int64_t inner = std::max<std::int64_t>(1, operators - 1);
    for (std::int64_t left = inner; left > 0; left -= std::ssize(layers_.back())) {
      const std::int64_t drawn =
          width + draw_below(6 * width + 1);  // four times the size of the layer
      const std::int64_t count = std::min(left, std::max<std::int64_t>(1, (drawn + 2) / 4));
      layers_.emplace_back(at(count));
    }
  }

  OrderInstance graph() && {
    for (std::size_t to = 1; to < layers_.size(); ++to) join_next(to);
    add_skips();
    GraphBuilder graph;
    const int x = graph.input("x", size());
    std::int64_t number = 0;
    for (Layer& layer : layers_) {
      for (Node& node : layer) {
        std::vector<int> reads;
        for (const auto& [from, place] : node.reads) {
          reads.push_back(layers_[from][place].tensor);
        }
        if (reads.empty()) reads.push_back(x);
        std::sort(reads.begin(), reads.end());
        reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
        node.tensor = graph.run(numbered("f", number), reads, numbered("y", number), size());
        ++number;
      }
    }
    std::vector<int> ends;
    for (const Node& node : layers_.back()) ends.push_back(node.tensor);
    graph.mark_output(graph.run("end", ends, "end.y", size()));
    return std::move(graph).take();
  }

 private:
  struct Node {
    std::vector<std::pair<std::size_t, std::size_t>> reads;  // layers, and places in those layers
    int tensor = 0;
  };
  using Layer = std::vector<Node>;

  std::int64_t draw_below(std::int64_t bound) {
    return static_cast<std::int64_t>(draw(random_, static_cast<std::uint64_t>(bound)));
  }

  Bytes size() {
    // Sizes are 8 to 872 steps: 8 more than the distance of a sum of four draws from its mean.
    constexpr Bytes kStep = 10 << 10;
    constexpr Bytes kSpread = 433;
    Bytes sum = 0;
    for (int k = 0; k < 4; ++k) sum += draw_below(kSpread);
    return kStep * (8 + std::abs(sum - 2 * (kSpread - 1)));
  }

  // Returns the range of places in layer `to` at about the position of place `place` in layer
  // `from`.
  std::pair<std::size_t, std::size_t> window(std::size_t from, std::size_t place,
                                             std::size_t to) const {
    const double wide = static_cast<double>(layers_[to].size());
    const double centre =
        (static_cast<double>(place) + 0.5) / static_cast<double>(layers_[from].size()) * wide - 0.5;
    const double reach = 0.1 * wide + 0.5;
    const auto first = static_cast<std::size_t>(std::max(0.0, std::ceil(centre - reach)));
    const auto last = static_cast<std::size_t>(std::min(wide - 1, std::floor(centre + reach)));
    if (first <= last) return {first, last + 1};
    const auto nearest = static_cast<std::size_t>(std::clamp(std::round(centre), 0.0, wide - 1));
    return {nearest, nearest + 1};
  }

  void join_next(std::size_t to) {
    const Layer& from = layers_[to - 1];
    for (std::size_t place = 0; place < from.size(); ++place) {
      const auto [first, end] = window(to - 1, place, to);
      for (std::size_t its = first; its < end; ++its) join(to - 1, place, to, its);
    }
    for (std::size_t its = 0; its < layers_[to].size(); ++its) {
      if (!layers_[to][its].reads.empty()) continue;
      join(to - 1, window(to, its, to - 1).first, to, its);
    }
  }

  void add_skips() {
    // One skip is added for this number of edges to the next layer.
    constexpr std::int64_t kEdgesOfASkip = 6;
    for (std::int64_t skips = edges_ / kEdgesOfASkip; layers_.size() > 2 && skips > 0; --skips) {
      const auto from = static_cast<std::size_t>(draw_below(std::ssize(layers_) - 2));
      const auto place = static_cast<std::size_t>(draw_below(std::ssize(layers_[from])));
      const std::size_t to = from + 2 +
                             static_cast<std::size_t>(draw_below(std::ssize(layers_) - 2 -
                                                                 static_cast<std::int64_t>(from)));
      const auto [first, end] = window(from, place, to);
      join(from, place, to,
           first + static_cast<std::size_t>(draw_below(static_cast<std::int64_t>(end - first))));
    }
  }

  void join(std::size_t from, std::size_t place, std::size_t to, std::size_t its) {
    layers_[to][its].reads.emplace_back(from, place);
    ++edges_;
  }

  std::mt19937_64 random_;
  std::vector<Layer> layers_;
  std::int64_t edges_ = 0;
};

}  // namespace

OrderInstance layered_graph(std::int64_t operators, std::uint64_t seed) {
  constexpr std::uint64_t kReads = 4;
  constexpr std::uint64_t kLayersBack = 3;
  constexpr Bytes kUnit = Bytes{1} << 20;
  constexpr Bytes kMaxUnits = 100;
  std::mt19937_64 random(seed);
  std::int64_t width = 1;
  while (width * width < operators) ++width;
  width = std::max<std::int64_t>(1, width / 2);
  const auto size = [&] { return kUnit * static_cast<Bytes>(1 + draw(random, kMaxUnits)); };
  GraphBuilder graph;
  std::vector<std::vector<int>> layers = {{graph.input("x", size())}};
  for (std::int64_t i = 0; i < operators; ++i) {
    if (i % width == 0) layers.emplace_back();
    std::vector<int> reads;
    const std::uint64_t count = 1 + draw(random, kReads);
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::size_t back =
          std::min<std::size_t>(layers.size() - 1, 1 + draw(random, kLayersBack));
      const std::vector<int>& from = layers[layers.size() - 1 - back];
      reads.push_back(from[draw(random, from.size())]);
    }
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    layers.back().push_back(graph.run(numbered("f", i), reads, numbered("y", i), size()));
  }
  for (const int tensor : layers.back()) graph.mark_output(tensor);
  return std::move(graph).take();
}

OrderInstance local_layers_graph(std::int64_t operators, std::uint64_t seed) {
  return LocalLayers(operators, seed).graph();
}

}  // namespace stowage
