// The model of a strategy instance from the table of published shapes.
//
//   instance.model = model_of(*transformer_shape("llama-7b"));
//
// Requires a shape that not_for_strategy() has nothing against.
#pragma once

#include <optional>
#include <string>

#include "instances/model/transformer.h"
#include "instances/strategy/instance.h"

namespace stowage {

// E501 for heads that together are wider or narrower than the model: parameters,
// attention and activations of the format's formulas are those of heads that fill `hidden`.
inline std::optional<InputError> not_for_strategy(const TransformerShape& shape) {
  if (shape.query_width() == shape.hidden) return std::nullopt;
  return InputError{"E501", "/model",
                    "must be a model whose heads fill its width " + std::to_string(shape.hidden) +
                        ", is '" + std::string(shape.name) + "', whose " +
                        std::to_string(shape.heads) + " heads of " +
                        std::to_string(shape.head_size()) +
                        " do not: a strategy's formulas know no width of attention"};
}

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
  if (shape.key_value_width() != shape.hidden) model.kv_width = shape.key_value_width();
  return model;
}

}  // namespace stowage
