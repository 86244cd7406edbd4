// What rows, states and exchanges of a strategy cost, computed from the instance alone, layer by
// layer, in bytes and seconds: the lower half of reference_model.h. Not installed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/verify/layer_reference.h"
#include "instances/strategy/verify/measured_reference.h"

namespace stowage {

class StrategyReferenceCosts {
 public:
  // A class and a layout.
  struct Setting {
    std::int64_t pp = 1;
    std::int64_t v = 1;
    std::int64_t micro_batches = 1;
    std::int64_t tp = 1;
    std::int64_t cp = 1;
    std::int64_t dp = 1;
    std::int64_t ep = 1;
    std::int64_t shard = 0;  // 0 means all ranks of dp and cp
    StrategyExchange cp_exchange = StrategyExchange::all_to_all;
  };

  explicit StrategyReferenceCosts(const StrategyInstance& instance) : in_(instance) {
    for (std::size_t k = 0; k < in_.model.blocks.size(); ++k) {
      LayerReference layer(in_.model, in_.model.blocks[k], in_.cost.detail.has_value());
      for (const StrategyMeasured& entry : in_.cost.measured) {
        if (entry.block == static_cast<std::int64_t>(k)) layer.measured = entry.block;
      }
      layers_.insert(layers_.end(), static_cast<std::size_t>(in_.model.blocks[k].count), layer);
    }
    differ_ = std::any_of(layers_.begin(), layers_.end(),
                          [&](const LayerReference& layer) { return layer != layers_.front(); });
    for (const Tokens length : in_.lengths) {
      const auto s = static_cast<double>(length);
      tokens_ += s;
      squares_ += s * s;
      longest_ = std::max(longest_, s);
    }
  }

  std::int64_t layers() const { return static_cast<std::int64_t>(layers_.size()); }
  bool layers_differ() const { return differ_; }

 protected:
  static constexpr double kWholePower = 1e-9;  // rounding of a logarithm that is a whole number

  static double double_of(std::int64_t number) { return static_cast<double>(number); }
  static double mib(double bytes) { return bytes / 1048576; }
  double kv() const { return double_of(in_.model.kv_width.value_or(in_.model.hidden)); }
  double query() const { return double_of(in_.model.query_width.value_or(in_.model.hidden)); }
  const LayerReference& layer_at(std::int64_t layer) const {
    return layers_[static_cast<std::size_t>(layer)];
  }

  // Returns the MiB per ms among neighbours that span `devices` devices.
  double link(std::int64_t devices) const {
    return in_one_node(devices) ? in_.cluster.mib_per_ms.inside : in_.cluster.mib_per_ms.across;
  }

  bool in_one_node(std::int64_t devices) const {
    return devices <= in_.cluster.devices_per_node && in_.cluster.devices_per_node % devices == 0;
  }

  // Returns the MiB per ms of a ring whose ranks are `apart` devices apart. Beyond a node, each
  // rank of a node has a card.
  double ring(std::int64_t ranks, std::int64_t apart) const {
    const double slowest = link(ranks * apart);
    if (!in_.cost.detail || in_one_node(ranks * apart)) return slowest;
    return std::min(in_.cluster.mib_per_ms.inside, double_of(of_node(ranks, apart)) * slowest);
  }

  // Returns the number of the ranks that one node has.
  std::int64_t of_node(std::int64_t ranks, std::int64_t apart) const {
    if (in_one_node(ranks * apart)) return ranks;
    const std::int64_t room = in_.cluster.devices_per_node / apart;
    return room < 1 ? 1 : std::min(room, ranks);
  }

  // Returns the time of a collective of `shared` bytes among `peers` ranks, and one of `experts`
  // bytes among those with the same experts.
  Ms states_ms(const Setting& at, std::int64_t peers, double shared, double experts) const {
    return mib(shared) / ring(peers, at.tp) + mib(experts) / ring(peers / at.ep, at.tp * at.ep);
  }

  // Returns the latency of a collective of each of `layers` layers among `ranks` ranks that are
  // `apart` devices apart.
  Ms messages_ms(std::int64_t ranks, std::int64_t apart, double layers) const {
    if (!in_.cost.detail) return 0;
    return layers * in_.cost.detail->message_ms *
           (double_of(ranks) / double_of(of_node(ranks, apart)) - 1);
  }

  Ms memory_ms(double bytes) const { return mib(bytes) / in_.cost.detail->memory_mib_per_ms; }

  double bytes_per_weight(std::int64_t zero, double peers) const {
    const double gradient = in_.cost.detail ? double_of(in_.cost.detail->gradient_bytes) : 4;
    if (zero == 0) return 14 + gradient;
    if (zero == 1) return 2 + gradient + 12 / peers;
    return zero == 2 ? 2 + (12 + gradient) / peers : (14 + gradient) / peers;
  }

  // Returns the micro-batches in flight of a stage with `layers` layers. With several chunks, each
  // pass of a chunk counts as a part.
  static double held(const Setting& at, std::int64_t s, double layers) {
    if (at.v == 1) return double_of(std::min(at.micro_batches, at.pp - s));
    const std::int64_t warm = 2 * (at.pp - 1 - s) + at.pp * (at.v - 1) + 1;
    const double passes = double_of(std::min(at.micro_batches * at.v, warm));
    const double whole = std::ceil(layers / double_of(at.v));  // layers of a chunk
    if (whole * double_of(at.v) == layers) return passes / double_of(at.v);
    // One chunk has a layer less, and so each pass through it holds a layer less.
    std::int64_t of_it = at.micro_batches > at.pp ? 0 : 1;
    if (s == 0) of_it = std::min(at.micro_batches, 2 * at.pp - 1);
    return (passes * whole - double_of(of_it)) / layers;
  }

  // Returns the bytes that a layer keeps of a row on one device.
  double layer_bytes(const Setting& at, const LayerReference& layer, double tokens, double squares,
                     StrategyRecompute recompute) const {
    if (in_.cost.detail) return layer_bytes_2(at, layer, tokens, squares, recompute);
    const double share = double_of(in_.model.hidden) * tokens / double_of(at.cp);
    const double heads = query() * tokens / double_of(at.cp);
    const double t = double_of(at.tp);
    const double whole = in_.model.sequence_parallel ? t : 1;  // divisor of the rest
    if (recompute == StrategyRecompute::full) return 2 * share / whole;
    const bool functions_again =
        recompute == StrategyRecompute::selective && in_.model.flash_attention;
    double bytes = share * 10 / whole + heads * (functions_again ? 6 : 8) / t;
    if (layer.experts == 0) {
      bytes += share * (functions_again ? 8 : 16) / t;
    } else {
      bytes += 2 * layer.picked * share / whole;  // tokens that are sent to experts
      bytes +=
          2 * (functions_again ? layer.products : layer.results) * tokens / double_of(at.cp) / t;
    }
    if (recompute == StrategyRecompute::none && !in_.model.flash_attention) {
      bytes += 5 * double_of(in_.model.heads) * squares / t / double_of(at.cp);
    }
    return bytes;
  }

  // Returns the same by version 2, which counts the true width of the feed-forward part.
  double layer_bytes_2(const Setting& at, const LayerReference& layer, double tokens,
                       double squares, StrategyRecompute recompute) const {
    const double own = tokens / double_of(at.cp) / double_of(at.tp);  // of all that tp ranks share
    const double rest = in_.model.sequence_parallel ? own : own * double_of(at.tp);
    const double h = double_of(in_.model.hidden);
    const double factor = in_.cost.detail->activation_factor;
    if (recompute == StrategyRecompute::full) return 2 * factor * h * rest;
    double saved_pairs = 4;  // numbers of two bytes per unit of the queries' width
    double saved_wide = layer.matrices;
    if (recompute == StrategyRecompute::selective && in_.model.flash_attention) {
      saved_pairs -= 1;
      saved_wide -= 1;
    }
    const double kept = factor * (2 * (saved_pairs * query() + saved_wide * layer.wide) * own +
                                  (10 + 2 * layer.picked) * h * rest);
    if (in_.model.flash_attention || recompute == StrategyRecompute::selective) return kept;
    return kept + 5 * double_of(in_.model.heads) * squares / double_of(at.tp * at.cp);
  }

  // Returns the time of an all-to-all among the ranks that share experts, each of which has `had`
  // MiB for all of them.
  Ms all_to_all_ms(const Setting& at, Mib had) const {
    const std::int64_t node = in_.cluster.devices_per_node;
    const std::int64_t devices = at.tp * at.ep;
    const bool whole_nodes = node % at.tp == 0 && devices % node == 0;
    std::int64_t neighbours = 0;
    std::int64_t others = at.ep - 1;
    if (whole_nodes) neighbours = node / at.tp - 1;
    if (node % devices == 0) neighbours = others;
    others -= neighbours;
    const Mib to_each = had / double_of(at.ep);
    return std::max(double_of(neighbours) * to_each / in_.cluster.mib_per_ms.inside,
                    double_of(others) * to_each / in_.cluster.mib_per_ms.across);
  }

  // Returns the time of all-to-alls among cp ranks, each of which has `had` MiB for all of them.
  Ms context_ms(const Setting& at, Mib had) const {
    if (!in_.cost.detail) return had * (1 - 1 / double_of(at.cp)) / link(at.tp * at.cp);
    const std::int64_t neighbours = of_node(at.cp, at.tp) - 1;
    const std::int64_t others = at.cp - 1 - neighbours;
    const Mib to_each = had / double_of(at.cp);
    return std::max(double_of(neighbours) * to_each / in_.cluster.mib_per_ms.inside,
                    double_of(others) * to_each / in_.cluster.mib_per_ms.across);
  }

  const StrategyMeasured* measured(const Setting& at, const LayerReference& layer,
                                   StrategyRecompute recompute) const {
    if (layer.measured < 0 || at.ep > 1) return nullptr;
    for (const StrategyMeasured& entry : in_.cost.measured) {
      if (entry.block == layer.measured && entry.tp == at.tp && entry.cp == at.cp &&
          entry.recompute == recompute) {
        return &entry;
      }
    }
    return nullptr;
  }

  // Returns the time of a row on a stage: compute, and exchanges that compute does not hide.
  Ms busy_ms(const Setting& at, std::int64_t s, const std::vector<std::int64_t>& its, double tokens,
             double squares, StrategyRecompute recompute, std::int64_t stream_chunks) const {
    const double all_tokens = tokens;
    Ms known = 0;
    double all_weights = 0;
    double count = 0;
    double weights = 0;
    double passes = 0;
    double picked = 0;
    const double slowdown = in_.cost.detail ? in_.cost.detail->expert_slowdown : 1;
    const auto slow_weights = [&](const LayerReference& layer) {
      return layer.common + slowdown * layer.picked * layer.one;
    };
    for (const std::int64_t layer : its) {
      all_weights += slow_weights(layer_at(layer));
      if (const StrategyMeasured* entry = measured(at, layer_at(layer), recompute)) {
        known += MeasuredReference{*entry}.row_ms(all_tokens, squares);
        continue;
      }
      ++count;
      weights += slow_weights(layer_at(layer));
      passes += layer_at(layer).passes;
      picked += layer_at(layer).picked;
    }
    const double h = double_of(in_.model.hidden);
    const double t = double_of(at.tp);
    const double c = double_of(at.cp);
    const double flops_per_ms = in_.cost.linear_tflops * 1e12 / 1e3;
    const double narrow = 1 + in_.cost.half_width * t / h;  // factor on the time of a wide product
    const double products = 2 * weights * tokens / t / c / flops_per_ms * narrow;
    double attention = count * query() * squares * (in_.model.causal ? 2 : 4) / t / c /
                       (in_.cost.attention_tflops * 1e12 / 1e3);
    if (in_.cost.detail && !in_.model.flash_attention) {
      const double scores = double_of(in_.model.heads) * squares / t / c;
      attention = count * (memory_ms(in_.cost.detail->square_bytes * scores) +
                           4 * query() * squares / t / c / flops_per_ms);
    }
    Ms between = 0;  // time between products, of one forward pass
    if (in_.cost.detail) {
      const double all = tokens / c / t * h * in_.cost.detail->pass_bytes;
      between = count * (in_.cost.detail->pass_ms +
                         memory_ms(in_.model.sequence_parallel ? all : all * (2 + t) / 3));
    }
    const double ring_mib = mib(2 * h * tokens / c * (t - 1) / t);  // one collective
    const double tensor = passes * ring_mib / ring(at.tp, 1);
    const double backward = (in_.model.flash_attention ? 2.5 : 2) * attention;
    double context = count * context_ms(at, mib(2 * (2 * query() + 2 * kv()) * tokens / t / c));
    double context_back = context;
    if (at.cp_exchange == StrategyExchange::ring) {
      // A block is computed while the keys and values of the next arrive, and in the backward pass
      // the gradients of both.
      const Ms block = count * mib(2 * 2 * kv() * tokens / t / c) / link(at.tp * at.cp);
      context = (c - 1) * std::max(0.0, block - attention / c);
      context_back = (c - 1) * std::max(0.0, 2 * block - backward / c);
    }
    const double routed = 2 * all_to_all_ms(at, picked * mib(2 * h * tokens / t / c));
    const double forward = products + attention + 2 * tensor + context + routed + between;
    double ms = forward + 2 * products + backward + (in_.model.sequence_parallel ? 3 : 2) * tensor +
                context_back + routed + 2 * between;
    ms += known;
    if (recompute == StrategyRecompute::full) {
      ms += forward;
      // Each part after the first costs as much as `half_width` / tp more tokens in four passes of
      // products.
      ms += double_of(stream_chunks - 1) * 8 * all_weights * in_.cost.half_width / t /
            flops_per_ms * narrow;
    }
    if (recompute == StrategyRecompute::selective) {
      ms += 0.3 * between;
      if (!in_.model.flash_attention) {
        ms += attention;
      } else if (!in_.cost.detail) {
        ms += products / 25;
      }
    }
    if (in_.cost.detail && recompute == StrategyRecompute::full) {
      ms += 4 * double_of(stream_chunks - 1) * double_of(static_cast<std::int64_t>(its.size())) *
            in_.cost.detail->pass_ms;
    }
    if (s == at.pp - 1) {
      const double logits = double_of(in_.model.vocabulary) * tokens / t / c;
      ms += 6 * logits * h / flops_per_ms;
      if (in_.cost.detail) ms += memory_ms(12 * logits);
    }
    if (at.pp > 1) {
      ms += 2 * double_of(at.v) * mib(2 * h * tokens / t / c) /
            link(in_.cluster.nodes * in_.cluster.devices_per_node);
    }
    return ms;
  }

  double all_tokens() const { return tokens_; }
  double all_squares() const { return squares_; }
  double longest() const { return longest_; }

 private:
  const StrategyInstance& in_;
  std::vector<LayerReference> layers_;
  bool differ_ = false;
  double tokens_ = 0;
  double squares_ = 0;
  double longest_ = 0;
};

}  // namespace stowage
