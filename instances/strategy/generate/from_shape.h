// Makes the model of a strategy instance from the table of published shapes.
//
//   instance.model = model_of(*transformer_shape("llama-7b"));
#pragma once

#include "instances/model/transformer.h"
#include "instances/strategy/instance.h"

namespace stowage {

inline StrategyModel model_of(const TransformerShape& shape) {
  StrategyModel model{.hidden = shape.hidden,
                      .heads = shape.heads,
                      .vocabulary = shape.vocabulary,
                      .tied = shape.tied,
                      .blocks = {{.name = "dense",
                                  .count = shape.layers,
                                  .ffn = shape.feed_forward,
                                  .gated = shape.gated}}};
  if (shape.experts > 0) {
    StrategyBlock& block = model.blocks.front();
    block.name = "experts";
    block.ffn = 0;
    block.experts = {shape.experts, shape.active_experts, shape.feed_forward};
  }
  if (shape.query_width() != shape.hidden) model.query_width = shape.query_width();
  if (shape.key_value_width() != shape.hidden) model.kv_width = shape.key_value_width();
  return model;
}

}  // namespace stowage
