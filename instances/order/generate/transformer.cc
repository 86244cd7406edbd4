#include "instances/order/generate/transformer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "instances/order/generate/graph_builder.h"

namespace stowage {
namespace {

constexpr int kExpertsPerToken = 2;
constexpr std::int64_t kEnds =
    4;  // operators of the embedding, the head, the loss and its gradient

// The weights of a layer, one expert after another.
struct Weights {
  int qkv = 0;
  int projection = 0;
  std::vector<int> up;
  std::vector<int> down;
};

// The tensors that the forward pass of a feed-forward part, or of one expert, leaves.
struct FeedForward {
  int in = 0;
  int up = 0;
  int product = 0;
};

struct Layer {
  int x = 0;
  int normed = 0;
  int qkv = 0;
  int attention = 0;
  int middle = 0;  // x and the projected attention
  int normed_again = 0;
  std::vector<FeedForward> parts;
};

class TransformerBuilder {
 public:
  explicit TransformerBuilder(const TransformerGraph& wanted)
      : wanted_(wanted),
        wide_(kBytesPerNumber * kHidden * wanted.tokens),
        part_(wanted.experts > 1 ? wide_ * kExpertsPerToken / wanted.experts : wide_) {
    const std::int64_t layer = operators_of_a_layer();
    layers_ = std::max<std::int64_t>(1, (wanted.operators - kEnds + layer / 2) / layer);
  }

  OrderInstance make() {
    for (std::int64_t l = 0; l < layers_; ++l) weights_.push_back(weights_of(l));
    const int tokens = graph_.input("tokens", wide_ / kHidden);
    int x = graph_.run("embedding", {tokens}, "x0", wide_);
    std::vector<Layer> layers;
    for (std::int64_t l = 0; l < layers_; ++l) {
      layers.push_back(forward(std::to_string(l), weights_[at(l)], x));
      x = leave(std::to_string(l), weights_[at(l)], layers.back());
    }
    const int loss = graph_.run("head", {x}, "loss", kBytesPerNumber);
    graph_.mark_output(loss);
    int gradient = graph_.run("loss.backward", {x}, "g" + std::to_string(layers_), wide_);
    for (std::int64_t l = layers_ - 1; l >= 0; --l) {
      Layer& layer = layers[at(l)];
      if (wanted_.recompute)
        layer = forward(std::to_string(l) + ".again", weights_[at(l)], layer.x);
      gradient = backward(std::to_string(l), weights_[at(l)], layer, gradient);
    }
    graph_.run("embedding.backward", {gradient}, "embedding.gradient", wide_ / kHidden);
    for (const auto& [weight, its_gradient] : updates_) {
      graph_.update("update." + std::to_string(weight), {its_gradient}, weight);
    }
    return std::move(graph_).take();
  }

 private:
  std::int64_t operators_of_a_layer() const {
    const std::int64_t forward = 6 + 3 * wanted_.experts;
    const std::int64_t backward = 8 + 5 * wanted_.experts;
    const std::int64_t again = wanted_.recompute ? 5 + 2 * wanted_.experts : 0;
    return forward + backward + again + (wanted_.accumulate ? 0 : 2 + 2 * wanted_.experts);
  }

  Weights weights_of(std::int64_t l) {
    const std::string name = std::to_string(l) + '.';
    Weights weights;
    weights.qkv = graph_.resident(name + "w.qkv", kBytesPerNumber * kHidden * kHidden * 3);
    weights.projection =
        graph_.resident(name + "w.projection", kBytesPerNumber * kHidden * kHidden);
    for (int e = 0; e < wanted_.experts; ++e) {
      const std::string part = name + "w." + std::to_string(e);
      weights.up.push_back(
          graph_.resident(part + ".up", 2 * kBytesPerNumber * kHidden * kFeedForward));
      weights.down.push_back(
          graph_.resident(part + ".down", kBytesPerNumber * kHidden * kFeedForward));
    }
    return weights;
  }

  Bytes inner(Bytes wide) const { return wide / kHidden * kFeedForward; }

  // Adds all operators of a layer except those that end its feed-forward parts.
  Layer forward(const std::string& name, const Weights& w, int x) {
    const auto run = [&](const std::string& op, const std::vector<int>& reads, Bytes size) {
      return graph_.run(name + '.' + op, reads, name + '.' + op + ".y", size);
    };
    Layer layer{.x = x};
    layer.normed = run("norm", {x}, wide_);
    layer.qkv = run("qkv", {layer.normed, w.qkv}, 3 * wide_);
    layer.attention = run("attention", {layer.qkv}, wide_);
    layer.middle = run("projection", {layer.attention, w.projection, x}, wide_);
    layer.normed_again = run("norm2", {layer.middle}, wide_);
    for (int e = 0; e < wanted_.experts; ++e) {
      const std::string part = "part" + std::to_string(e) + '.';
      FeedForward its{.in = layer.normed_again};
      its.up = run(part + "up", {its.in, w.up[at(e)]}, 2 * inner(part_));
      its.product = run(part + "product", {its.up}, inner(part_));
      layer.parts.push_back(its);
    }
    return layer;
  }

  // Adds the operators that end the parts, and the sum of their outputs and the residual. Returns
  // the sum.
  int leave(const std::string& name, const Weights& w, const Layer& layer) {
    std::vector<int> outs = {layer.middle};
    for (int e = 0; e < wanted_.experts; ++e) {
      const std::string op = name + ".part" + std::to_string(e) + ".down";
      const std::vector<int> reads = {layer.parts[at(e)].product, w.down[at(e)]};
      outs.push_back(graph_.run(op, reads, op + ".y", part_));
    }
    return graph_.run(name + ".sum", outs, 'x' + name + ".next", wide_);
  }

  // Adds the gradient of a weight: in place, or as a tensor that waits for its update.
  void weight_gradient(const std::string& op, const std::vector<int>& reads, int weight,
                       Bytes size) {
    if (wanted_.accumulate) {
      graph_.update(op, reads, graph_.resident(op + ".sum", size));
    } else {
      updates_.emplace_back(weight, graph_.run(op, reads, op + ".g", size));
    }
  }

  // Adds the backward operators of the layer and returns the gradient of its input x.
  int backward(const std::string& name, const Weights& w, const Layer& layer, int gradient) {
    const auto run = [&](const std::string& op, const std::vector<int>& reads, Bytes size) {
      return graph_.run(name + ".d." + op, reads, name + ".d." + op + ".g", size);
    };
    std::vector<int> normed_gradients = {layer.middle, gradient};
    for (int e = 0; e < wanted_.experts; ++e) {
      const std::string part = "part" + std::to_string(e) + '.';
      const FeedForward& its = layer.parts[at(e)];
      const int product = run(part + "down", {gradient, w.down[at(e)]}, inner(part_));
      weight_gradient(name + ".dw." + part + "down", {gradient, its.product}, w.down[at(e)],
                      kBytesPerNumber * kHidden * kFeedForward);
      const int up = run(part + "product", {product, its.up}, 2 * inner(part_));
      normed_gradients.push_back(run(part + "up", {up, w.up[at(e)]}, wide_));
      weight_gradient(name + ".dw." + part + "up", {up, its.in}, w.up[at(e)],
                      2 * kBytesPerNumber * kHidden * kFeedForward);
    }
    const int middle = run("norm2", normed_gradients, wide_);
    const int attention = run("projection", {middle, w.projection}, wide_);
    weight_gradient(name + ".dw.projection", {middle, layer.attention}, w.projection,
                    kBytesPerNumber * kHidden * kHidden);
    const int scores = run("scores", {attention, layer.qkv}, 2 * wide_);
    const int qkv = run("attention", {scores, layer.qkv, attention}, 3 * wide_);
    const int normed = run("qkv", {qkv, w.qkv}, wide_);
    weight_gradient(name + ".dw.qkv", {qkv, layer.normed}, w.qkv,
                    kBytesPerNumber * kHidden * kHidden * 3);
    return run("norm", {normed, layer.x, middle}, wide_);
  }

  const TransformerGraph wanted_;
  Bytes wide_;
  Bytes part_;  // bytes for the tokens of one expert
  std::int64_t layers_ = 1;
  GraphBuilder graph_;
  std::vector<Weights> weights_;
  std::vector<std::pair<int, int>> updates_;  // weight, gradient
};

}  // namespace

OrderInstance transformer_graph(const TransformerGraph& wanted) {
  return TransformerBuilder(wanted).make();
}

}  // namespace stowage
