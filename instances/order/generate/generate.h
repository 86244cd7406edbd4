// Seeded graphs of the shapes that training and inference have, for tests and benchmarks.
//
//   Result<OrderInstance> graph =
//       generate_order({.kind = OrderGenerator::Kind::experts, .operators = 1000});
//
// The same parameters give the same instance everywhere.
//
// A transformer's layer has 9 operators forward, 9 backward for gradients of inputs, 4 for
// gradients of weights and 4 updates; numbers have 2 bytes, the width is 4096, that of the
// feed-forward part 11008. Weights stay in memory. Sources of the shapes: Llama (arXiv 2302.13971);
// RandWire (1904.01569), graphs of Watts and Strogatz with 4 neighbours, 0.75 of them rewired;
// local layers (2207.05899, appendix A), as Moccasin (2304.14463) uses them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "instances/order/instance.h"
#include "instances/result.h"

namespace stowage {

struct OrderGenerator {
  enum class Kind {
    transformer,    // forward and backward; the list has all updates of weights at the end
    recompute,      // the same, each layer computed again before its backward pass
    accumulate,     // the same as recompute; gradients of weights are added up in place, no updates
    experts,        // a transformer with 8 experts in place of each feed-forward part
    chunked,        // forward passes of two layers over chunks of tokens; the list goes by layers
    randwire,       // stages of 32 randomly wired operators
    layered,        // operators in layers; each reads one to four tensors of the few layers before
    layered_local,  // operators in layers; each is read by those at about its place in the next
                    // one, and some by one further on (2207.05899, appendix A)
    vgg,            // a convolutional network forward and backward; forward operators may run again
    unet,           // the same of a network that goes down and up in size
  };
  static constexpr std::array<std::string_view, 10> kNames = {
      "transformer", "recompute", "accumulate",    "experts", "chunked",
      "randwire",    "layered",   "layered-local", "vgg",     "unet"};

  Kind kind = Kind::transformer;
  std::int64_t operators = 100;  // roughly; whole layers, chunks or stages; 1 to 1e6
  Tokens tokens = 4096;          // of the whole sequence; transformers, experts, chunked; to 2^24
  // For the same kinds: sizes grow with a length from `tokens_from` to `tokens`. With 0, sizes do
  // not grow. Bytes per token are rounded up.
  Tokens tokens_from = 0;
  Bytes alignment = 1;     // of all tensors; 1 to 2^20
  std::uint64_t seed = 0;  // of randwire and both layered; at most 2^53
  // For vgg and unet: the objective is the time, and the capacity is this share of the peak of the
  // list's order. With 0, the objective is the peak.
  double capacity_share = 0;
  // For vgg and unet: bytes per ms of each channel of a host, at most 2^53. With 0, there is no
  // host.
  double host_bytes_per_ms = 0;
  std::optional<Bytes> host_capacity;  // 0 to 2^53; with host_bytes_per_ms alone

  bool operator==(const OrderGenerator&) const = default;
};

// Makes the time the objective, with a capacity of `share` (above 0) of the peak of the list's
// order, and adds this to the name. Requires an instance for which check_order() adds no error.
void limit_time(double share, OrderInstance& instance);

// Adds a host with two equal channels, and adds this to the name.
void add_host(double bytes_per_ms, std::optional<Bytes> capacity, OrderInstance& instance);

// Returns E504 for an option out of its range, and E376 for sizes that sum to more than 2^53.
Result<OrderInstance> generate_order(const OrderGenerator& generator);

}  // namespace stowage
