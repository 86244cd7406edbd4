// The model of a strategy instance from the table of published shapes.
//
//   instance.model = model_of(*transformer_shape("llama-7b"));
#pragma once

#include <string>

#include "instances/model/transformer.h"
#include "instances/strategy/instance.h"

namespace stowage {

inline StrategyModel model_of(const TransformerShape& shape) {
  return {.hidden = shape.hidden,
          .heads = shape.heads,
          .vocabulary = shape.vocabulary,
          .blocks = {{.name = "dense",
                      .count = shape.layers,
                      .ffn = shape.feed_forward,
                      .gated = shape.gated}}};
}

}  // namespace stowage
