// The parts of one layer of a strategy instance, computed from its block alone, for the verifier
// and the checks of proofs (reference_model.h). Not installed.
#pragma once

#include <cstdint>

#include "instances/strategy/instance.h"

namespace stowage {

struct LayerReference {
  double common = 0;    // weights that every token uses
  double one = 0;       // weights of an expert
  double experts = 0;   // of the layer; 0: none, or one that every token meets
  double picked = 0;    // experts that a token is sent to
  double passes = 2;    // of a token through parts whose products tp ranks share
  double results = 0;   // numbers that feed-forward parts hold of a token, before a part's last
                        // product; counted if there are experts
  double products = 0;  // of these, results of products and not of activation functions
  double wide = 0;      // version 2: width of all parts that a token goes through
  double matrices = 0;  // version 2: of the feed-forward part
  std::int64_t measured = -1;  // index of its block, if its times were measured

  LayerReference(const StrategyModel& model, const StrategyBlock& block, bool second) {
    const auto h = static_cast<double>(model.hidden);
    const auto kv = static_cast<double>(model.kv_width.value_or(model.hidden));
    const auto every = static_cast<double>(block.ffn);
    const double into = block.gated ? 2 : 1;  // matrices into the width
    const auto q = static_cast<double>(model.query_width.value_or(model.hidden));
    common = 2 * h * q + 2 * h * kv + h * every * (into + 1);
    if (second) matrices = into + 1;
    if (second) wide = every;
    if (!block.experts) return;
    one = h * static_cast<double>(block.experts->ffn) * (into + 1);
    if (block.experts->count < 2) {
      common += one;
      if (second) wide += static_cast<double>(block.experts->ffn);
      return;
    }
    experts = static_cast<double>(block.experts->count);
    picked = static_cast<double>(block.experts->top_k);
    common += h * experts;  // scores of the router
    passes = 1 + picked;
    if (block.ffn > 0) passes += 1;
    const double width = every + picked * static_cast<double>(block.experts->ffn);
    if (second) wide = width;
    products = into * width;
    results = products + width;
  }

  double held() const { return common + experts * one; }
  double met() const { return common + picked * one; }
  bool operator==(const LayerReference&) const = default;
};

}  // namespace stowage
