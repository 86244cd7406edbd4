// The training step of a transformer as a graph; see generate.h. Not installed.
//
//   const OrderInstance graph = transformer_graph({.recompute = true, .operators = 1000});
#pragma once

#include <cstdint>

#include "instances/order/instance.h"

namespace stowage {

inline constexpr Bytes kBytesPerNumber = 2;  // of an activation and of a weight
inline constexpr Bytes kHidden = 4096;
inline constexpr Bytes kFeedForward = 11008;

struct TransformerGraph {
  bool recompute = false;   // each layer runs again before its backward pass
  bool accumulate = false;  // adds gradients of weights up in place, without updates
  int experts = 1;  // experts in place of each feed-forward part; if more than 1, two per token
  std::int64_t operators = 100;  // roughly; whole layers, at least one
  Tokens tokens = 4096;
};

OrderInstance transformer_graph(const TransformerGraph& wanted);

}  // namespace stowage
