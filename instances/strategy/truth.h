// What a configuration of a strategy instance takes, counted from the instance alone, layer by
// layer, in bytes and seconds. Not installed: the verifier of strategies and the checks of its
// proofs use it, and nothing that plans does.
//
//   const StrategyTruth truth(instance);
//   const StrategyTruth::Stage stage = truth.stage(setting, s, layers_of_it, zero, recompute);
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "instances/strategy/instance.h"

namespace stowage {

class StrategyTruth {
 public:
  // A class and a layout.
  struct Setting {
    std::int64_t pp = 1;
    std::int64_t v = 1;
    std::int64_t micro_batches = 1;
    std::int64_t tp = 1;
    std::int64_t cp = 1;
    std::int64_t dp = 1;
  };
  struct Stage {
    Ms time_ms = 0;
    Ms longest_ms = 0;
    Ms exchange_ms = 0;
    Mib memory_mib = 0;
  };

  explicit StrategyTruth(const StrategyInstance& instance) : in_(instance) {
    const auto h = static_cast<double>(in_.model.hidden);
    for (const StrategyBlock& block : in_.model.blocks) {
      const double attention = 2 * h * h + 2 * h * kv();
      const double feed_forward = h * static_cast<double>(block.ffn) * (block.gated ? 3 : 2);
      for (std::int64_t k = 0; k < block.count; ++k) weights_.push_back(attention + feed_forward);
    }
    for (const Tokens length : in_.lengths) {
      const auto s = static_cast<double>(length);
      tokens_ += s;
      squares_ += s * s;
      longest_ = std::max(longest_, s);
    }
  }

  std::int64_t layers() const { return static_cast<std::int64_t>(weights_.size()); }
  bool layers_differ() const {
    return std::any_of(weights_.begin(), weights_.end(),
                       [&](double weight) { return weight != weights_.front(); });
  }

  // Every class and layout that the options allow, whatever it needs; by class.
  std::vector<Setting> settings() const {
    const auto sequences = static_cast<std::int64_t>(in_.lengths.size());
    std::vector<Setting> all;
    const std::set<std::int64_t> tps(in_.options.tp.begin(), in_.options.tp.end());
    const std::set<std::int64_t> cps(in_.options.cp.begin(), in_.options.cp.end());
    for (const auto& [pp, v, m] : pipelines()) {
      for (const std::int64_t tp : tps) {
        for (const std::int64_t cp : cps) {
          const std::int64_t stage = in_.cluster.nodes * in_.cluster.devices_per_node / pp;
          if (stage % (tp * cp) != 0 || in_.model.heads % (tp * cp) != 0) continue;
          const std::int64_t dp = stage / (tp * cp);
          if (sequences % (m * dp) == 0) all.push_back({pp, v, m, tp, cp, dp});
        }
      }
    }
    return all;
  }

  // The layers of stage s, which has `count` of them where stages before it have `before`.
  std::vector<std::int64_t> layers_of(const Setting& at, std::int64_t s, std::int64_t before,
                                      std::int64_t count) const {
    std::vector<std::int64_t> its;
    if (at.v == 1 || !layers_differ()) {
      for (std::int64_t k = 0; k < count; ++k) its.push_back(before + k);
      return its;
    }
    const std::int64_t part = layers() / at.pp / at.v;
    for (std::int64_t round = 0; round < at.v; ++round) {
      for (std::int64_t k = 0; k < part; ++k) its.push_back((round * at.pp + s) * part + k);
    }
    return its;
  }

  Stage stage(const Setting& at, std::int64_t s, const std::vector<std::int64_t>& its,
              std::int64_t zero, StrategyRecompute recompute, std::int64_t logit_chunks) const {
    double weights = 0;
    double largest = 0;
    for (const std::int64_t layer : its) {
      const double own = weights_[static_cast<std::size_t>(layer)];
      weights += own;
      largest = std::max(largest, own);
    }
    const double table = double_of(in_.model.vocabulary) * double_of(in_.model.hidden);
    double kept = weights;
    if (s == 0) kept += table;
    if (s == at.pp - 1 && !(s == 0 && in_.model.tied)) kept += table;
    const double peers = double_of(at.dp * at.cp);
    const double sent = 2 * kept / double_of(at.tp) * (1 - 1 / peers);  // bytes of a collective
    const double states_mib_per_ms = link(at.tp * at.cp * at.dp);
    const auto of_row = [&](double tokens, double squares) {
      const double ms = busy_ms(at, s, double_of(static_cast<std::int64_t>(its.size())), weights,
                                tokens, squares, recompute);
      if (zero != 3) return ms;
      return ms + std::max(0.0, 3 * mib(sent) / states_mib_per_ms - in_.cost.overlap * ms);
    };
    const double rows = double_of(at.micro_batches) * double_of(at.dp);
    Stage stage;
    stage.time_ms = of_row(tokens_ / rows, squares_ / rows);
    stage.longest_ms = of_row(longest_, longest_ * longest_);
    stage.exchange_ms = zero == 3 ? 0 : 2 * mib(sent) / states_mib_per_ms;

    const double row = std::max(tokens_ / rows, longest_);
    const double row_squares = std::max(squares_ / rows, longest_ * longest_);
    double bytes = kept / double_of(at.tp) * bytes_per_weight(zero, peers);
    bytes += double_of(static_cast<std::int64_t>(its.size())) * held(at, s) *
             layer_bytes(at, row, row_squares, recompute);
    if (recompute == StrategyRecompute::full) {
      bytes += layer_bytes(at, row, row_squares, StrategyRecompute::none);
    }
    if (zero == 3) bytes += 2 * (2 * largest / double_of(at.tp));
    if (s == at.pp - 1) {
      bytes += 8 * double_of(in_.model.vocabulary) * row / double_of(at.tp * at.cp) /
               double_of(logit_chunks);
    }
    stage.memory_mib = mib(bytes);
    return stage;
  }

  Ms uncovered(const Stage& stage) const {
    return std::max(0.0, stage.exchange_ms - in_.cost.overlap * stage.time_ms);
  }

  Ms step(const Setting& at, const std::vector<Stage>& stages) const {
    const double chunk = 1 / double_of(at.v);
    Ms fill = 0;
    Ms most = 0;
    Ms alone = 0;
    Ms tail = 0;
    for (const Stage& each : stages) {
      fill += chunk * each.time_ms;
      most = std::max(most, each.time_ms);
      alone += each.longest_ms;
      tail = std::max(tail, uncovered(each));
    }
    return std::max(fill + (double_of(at.micro_batches) - chunk) * most, alone) + tail;
  }

 private:
  static double double_of(std::int64_t number) { return static_cast<double>(number); }
  static double mib(double bytes) { return bytes / 1048576; }
  double kv() const { return double_of(in_.model.kv_width.value_or(in_.model.hidden)); }

  using Pipeline = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // pp, v, m

  std::set<Pipeline> pipelines() const {
    const auto sequences = static_cast<std::int64_t>(in_.lengths.size());
    std::set<std::int64_t> counts(in_.options.micro_batches.begin(),
                                  in_.options.micro_batches.end());
    if (counts.empty()) {
      for (std::int64_t m = 1; m * m <= sequences; ++m) {
        if (sequences % m == 0) counts.insert({m, sequences / m});
      }
    }
    std::set<Pipeline> all;
    const bool differ = layers_differ();
    for (const std::int64_t pp : in_.options.pp) {
      if (in_.cluster.nodes * in_.cluster.devices_per_node % pp != 0) continue;
      for (const std::int64_t v : in_.options.v) {
        if (pp * v > layers() || layers() % v != 0) continue;
        if (v > 1 && (pp == 1 || (differ && layers() % (pp * v) != 0))) continue;
        for (const std::int64_t m : counts) {
          if (sequences % m == 0 && (v == 1 || m % pp == 0)) all.insert({pp, v, m});
        }
      }
    }
    return all;
  }

  // MiB in a ms among neighbours that span so many devices.
  double link(std::int64_t devices) const {
    const std::int64_t node = in_.cluster.devices_per_node;
    if (devices <= node && node % devices == 0) return in_.cluster.mib_per_ms.inside;
    return in_.cluster.mib_per_ms.across;
  }

  static double bytes_per_weight(std::int64_t zero, double peers) {
    if (zero == 0) return 18;
    if (zero == 1) return 6 + 12 / peers;
    return zero == 2 ? 2 + 16 / peers : 18 / peers;
  }

  // Micro-batches in flight, as parts of a chunk each where there are several.
  static double held(const Setting& at, std::int64_t s) {
    if (at.v == 1) return double_of(std::min(at.micro_batches, at.pp - s));
    const std::int64_t warm = 2 * (at.pp - 1 - s) + at.pp * (at.v - 1) + 1;
    return double_of(std::min(at.micro_batches * at.v, warm)) / double_of(at.v);
  }

  // What a layer keeps of a row on one device.
  double layer_bytes(const Setting& at, double tokens, double squares,
                     StrategyRecompute recompute) const {
    const double share = double_of(in_.model.hidden) * tokens / double_of(at.cp);
    const double t = double_of(at.tp);
    const double whole = in_.model.sequence_parallel ? t : 1;  // by which the rest is divided
    switch (recompute) {
      case StrategyRecompute::full:
        return 2 * share / whole;
      case StrategyRecompute::selective:
        return share * (10 / whole + (in_.model.flash_attention ? 14 : 24) / t);
      case StrategyRecompute::none:
        break;
    }
    double bytes = share * (10 / whole + 24 / t);
    if (!in_.model.flash_attention) {
      bytes += 5 * double_of(in_.model.heads) * squares / t / double_of(at.cp);
    }
    return bytes;
  }

  // Computing, and exchanges that wait for each other, of a row on a stage.
  Ms busy_ms(const Setting& at, std::int64_t s, double count, double weights, double tokens,
             double squares, StrategyRecompute recompute) const {
    const double h = double_of(in_.model.hidden);
    const double t = double_of(at.tp);
    const double c = double_of(at.cp);
    const double flops_per_ms = in_.cost.linear_tflops * 1e12 / 1e3;
    const double narrow = 1 + in_.cost.half_width * t / h;  // times the time of a wide product
    const double products = 2 * weights * tokens / t / c / flops_per_ms * narrow;
    const double attention = count * h * squares * (in_.model.causal ? 2 : 4) / t / c /
                             (in_.cost.attention_tflops * 1e12 / 1e3);
    const double ring_mib = mib(2 * h * tokens / c * (t - 1) / t) * count;  // one collective
    const double tensor = ring_mib / link(at.tp);
    const double context =
        count * mib(2 * (2 * h + 2 * kv()) * tokens / t / c * (1 - 1 / c)) / link(at.tp * at.cp);
    double forward = products + attention + 4 * tensor + context;
    double ms = forward + 2 * products + (in_.model.flash_attention ? 2.5 : 2) * attention +
                (in_.model.sequence_parallel ? 6 : 4) * tensor + context;
    if (recompute == StrategyRecompute::full) ms += forward;
    if (recompute == StrategyRecompute::selective) {
      ms += in_.model.flash_attention ? products / 25 : attention;
    }
    if (s == at.pp - 1) {
      ms += 6 * double_of(in_.model.vocabulary) * h * tokens / t / c / flops_per_ms;
    }
    if (at.pp > 1) {
      ms += 2 * double_of(at.v) * mib(2 * h * tokens / t / c) /
            link(in_.cluster.nodes * in_.cluster.devices_per_node);
    }
    return ms;
  }

  const StrategyInstance& in_;
  std::vector<double> weights_;  // of each layer
  double tokens_ = 0;
  double squares_ = 0;
  double longest_ = 0;
};

}  // namespace stowage
