// Valid but unusual instances, made from a fuzzer's bytes: degrees that do not divide each other,
// costs of zero and of 2^53, lengths up to the stated limits, tight memory, row constraints, pins,
// gaps and alignments. Small in count, so that solving one takes milliseconds.
//
//   FuzzedDataProvider bytes(data, size);
//   const ScatterInstance instance = OddInstance(bytes).scatter();
//
// Sometimes an instance breaks a rule across several fields (lengths that sum to more than 2^53,
// pins that violate their alignment). The reader reports it, and the caller drops the instance.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <string>

#include "instances/json/limits.h"

namespace stowage {

class OddInstance {
 public:
  explicit OddInstance(FuzzedDataProvider& bytes) : bytes_(bytes) {}

  ScatterInstance scatter() {
    ScatterInstance instance{.name = "odd"};
    Cluster& cluster = instance.cluster;
    cluster.devices = static_cast<int>(bytes_.ConsumeBool() ? small(1, 16) : integer(1, 4096));
    cluster.aligned = bytes_.ConsumeBool();
    int degree = static_cast<int>(small(1, std::min(4, cluster.devices)));
    while (degree <= cluster.devices && cluster.degrees.size() < 6) {
      cluster.degrees.push_back(degree);
      const int step = static_cast<int>(small(1, 3));
      degree = cluster.aligned ? degree * (step + 1) : degree + step;
    }
    cluster.memory_mib = number();
    instance.model = {.states_mib = number(), .activation_mib_per_token = std::max(1e-9, number())};
    if (bytes_.ConsumeBool()) {  // room for this number of tokens on each device
      instance.model = {.states_mib = 0, .activation_mib_per_token = 1};
      cluster.memory_mib = static_cast<double>(integer(0, kMaxExact));
    }
    if (bytes_.ConsumeBool()) {
      const Mib all = instance.model.activation_mib_per_token;
      instance.model.offload =
          ActivationOffload{.mib_per_token = bytes_.ConsumeBool() ? all : all / 2,
                            .out_mib_per_ms = std::max(1e-9, number()),
                            .in_mib_per_ms = std::max(1e-9, number())};
      if (bytes_.ConsumeBool()) instance.model.offload->host_mib = number();
    } else if (bytes_.ConsumeBool()) {
      instance.model.sequence_mib = number();
    }
    if (bytes_.ConsumeBool()) instance.model.keys_values_mib_per_token = number();
    if (bytes_.ConsumeBool()) {
      instance.model.logits_mib_per_token = std::max(1e-9, number());
      if (bytes_.ConsumeBool()) instance.model.logits_chunk_tokens = integer(1, kMaxExact);
    }
    ScatterCost& cost = instance.cost;
    cost = {.quadratic_ms = number(), .linear_ms = number(), .fixed_ms = number()};
    if (bytes_.ConsumeBool()) cost.split_ms = number();
    cost.all_to_all.mib_per_token = bytes_.ConsumeBool() ? 0 : number();
    for (const int d : cluster.degrees) {
      cost.all_to_all.mib_per_ms[d] = std::max(1e-9, number());
      if (bytes_.ConsumeBool()) cost.all_to_all.latency_ms[d] = number();
    }
    add_lengths(instance);
    return instance;
  }

  AssignInstance assign() {
    AssignInstance instance{.name = "odd"};
    const auto schemes = small(1, 4);
    for (std::int64_t g = 0; g < schemes; ++g) {
      instance.schemes.push_back({.name = "g" + std::to_string(g),
                                  .tp = static_cast<int>(small(1, 8)),
                                  .pp = static_cast<int>(integer(1, 64)),
                                  .quadratic_ms = number(),
                                  .linear_ms = number(),
                                  .fixed_ms = number(),
                                  .max_tokens = integer(1, kMaxExact)});
    }
    const auto strategies = small(1, 4);
    for (std::int64_t k = 0; k < strategies; ++k) {
      Strategy strategy{.name = "S" + std::to_string(k)};
      std::int64_t devices = 0;
      for (const Scheme& scheme : instance.schemes) {
        const auto replicas = small(0, 4);
        strategy.replicas.push_back(static_cast<int>(replicas));
        devices += replicas * scheme.tp * scheme.pp;
      }
      instance.devices = std::max(instance.devices, static_cast<int>(devices));
      instance.strategies.push_back(strategy);
    }
    if (bytes_.ConsumeBool()) {
      instance.constraints = {.rows_multiple_of = static_cast<int>(integer(1, kMaxDevices)),
                              .equal_rows = bytes_.ConsumeBool(),
                              .allow_empty = bytes_.ConsumeBool()};
    }
    add_lengths(instance);
    return instance;
  }

  LayoutInstance layout() {
    LayoutInstance instance{.name = "odd"};
    instance.alignment = bytes_.ConsumeBool() ? 1 : integer(1, kMaxExact);
    const auto count = small(0, 14);
    const std::int64_t steps = bytes_.ConsumeBool() ? 12 : kMaxExact - 1;
    const Bytes sizes = bytes_.ConsumeBool() ? 64 : kMaxExact;
    for (std::int64_t b = 0; b < count; ++b) {
      Buffer buffer{.lower = integer(0, steps)};
      buffer.upper = buffer.lower + integer(1, steps + 1 - buffer.lower);
      buffer.size = integer(0, sizes);
      if (bytes_.ConsumeBool()) buffer.alignment = integer(1, sizes);
      if (bytes_.ConsumeBool() && bytes_.ConsumeBool()) {
        const auto grid = checked_mul(buffer.alignment, instance.alignment);
        if (grid && *grid <= kMaxExact) buffer.offset = integer(0, kMaxExact / *grid) * *grid;
      }
      std::int64_t at = buffer.lower;
      while (at < buffer.upper && bytes_.ConsumeBool() && bytes_.ConsumeBool()) {
        const std::int64_t from = integer(at, buffer.upper - 1);
        const std::int64_t to = integer(from + 1, buffer.upper);
        buffer.gaps.push_back({from, to});
        at = to + 1;
      }
      const bool twin = b > 0 && bytes_.ConsumeBool() && bytes_.ConsumeBool();
      instance.buffers.push_back(twin ? instance.buffers.back() : buffer);
    }
    if (bytes_.ConsumeBool()) instance.capacity = integer(0, kMaxExact);
    return instance;
  }

 private:
  std::int64_t small(std::int64_t least, std::int64_t most) {
    return bytes_.ConsumeIntegralInRange<std::int64_t>(least, most);
  }

  // Returns an integer in [least, most]: an end, a value near one, a power of two or any value.
  std::int64_t integer(std::int64_t least, std::int64_t most) {
    switch (bytes_.ConsumeIntegralInRange(0, 7)) {
      case 0:
        return least;
      case 1:
        return most;
      case 2:
        return std::max(least, most - small(0, 16));
      case 3:
        return std::clamp(std::int64_t{1} << small(0, 53), least, most);
      case 4:
        return small(least, most);
      default:
        return small(least, least + std::min<std::int64_t>(most - least, 100));
    }
  }

  // Returns a number in [0, 2^53]: 0, the maximum, nearly 0, or a fraction of a small or large
  // number.
  double number() {
    switch (bytes_.ConsumeIntegralInRange(0, 7)) {
      case 0:
        return 0;
      case 1:
        return static_cast<double>(kMaxExact);
      case 2:
        return 1e-300;
      case 3:
        return bytes_.ConsumeFloatingPointInRange(0.0, static_cast<double>(kMaxExact));
      case 4:
        return bytes_.ConsumeFloatingPointInRange(0.0, 1e-3);
      default:
        return static_cast<double>(small(0, 200)) / 4;
    }
  }

  template <class InstanceT>
  void add_lengths(InstanceT& instance) {
    instance.pad_multiple = bytes_.ConsumeBool() ? 1 : integer(1, kMaxPadMultiple);
    const auto count = bytes_.ConsumeBool() ? small(0, 6) : small(0, 24);
    const Tokens longest = bytes_.ConsumeBool() ? 100 : kMaxExact;
    for (std::int64_t k = 0; k < count; ++k) instance.lengths.push_back(integer(1, longest));
  }

  FuzzedDataProvider& bytes_;
};

}  // namespace stowage
