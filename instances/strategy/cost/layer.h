// The weights of one layer of a strategy instance and the work of a token in it, computed from its
// block.
//
//   const StrategyLayer layer = layer_of(instance.model, instance.model.blocks.front());
//
// A layer with experts routes each token to `top_k` of them. Formulas are numbered in
// docs/reference/strategy.md. The verifier has its own.
//
// Thread safety: plain data.
#pragma once

#include "instances/strategy/instance.h"

namespace stowage {

struct StrategyLayer {
  double shared = 0;   // parameters that every token goes through, the router's included
  double experts = 0;  // parameters of all experts
  double active = 0;   // parameters that one token goes through
  double picked = 0;   // of these, parameters of experts
  // Passes of a token through parts that tp ranks share: T5 has half of it.
  double parts = 0;
  double copies = 0;          // copies of a token that go to experts: T11
  double kept = 0;            // bytes of a token beyond those of a dense layer: M3
  double kept_selective = 0;  // the same if activation functions are computed again
  double held = 0;            // version 2: bytes of a token between products of feed-forward parts
  double held_selective = 0;  // the same if activation functions are computed again

  StrategyLayer& operator+=(const StrategyLayer& other);
  StrategyLayer& operator*=(double times);
  bool operator==(const StrategyLayer&) const = default;
};

// Computes the layer. `detailed` is for version 2 of the formulas. Without it `held` and
// `held_selective` are 0.
StrategyLayer layer_of(const StrategyModel& model, const StrategyBlock& block,
                       bool detailed = false);

}  // namespace stowage
