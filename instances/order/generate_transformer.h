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
  bool recompute = false;        // each layer again before its backward pass
  bool accumulate = false;       // gradients of weights in place, and no updates
  int experts = 1;               // in place of each feed-forward part; more than 1: two per token
  std::int64_t operators = 100;  // about so many, whole layers; at least one
  Tokens tokens = 4096;
};

OrderInstance transformer_graph(const TransformerGraph& wanted);

}  // namespace stowage
