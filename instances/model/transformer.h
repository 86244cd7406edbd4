// Shapes of published transformers: the one table of them.
//
//   const int hidden = transformer_shape("llama-7b")->hidden;
//
// Sources: LLaMA (arXiv 2302.13971), GPT-3 (2005.14165).
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "instances/result.h"

namespace stowage {

struct TransformerShape {
  std::string_view name;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int feed_forward = 0;
  int vocabulary = 0;
  bool gated = true;  // gate and up; otherwise up alone
};

inline constexpr std::array<TransformerShape, 7> kTransformerShapes = {
    {{"llama-7b", 32, 4096, 32, 11008, 32000},
     {"llama-13b", 40, 5120, 40, 13824, 32000},
     {"llama-30b", 60, 6656, 52, 17920, 32000},
     {"llama-65b", 80, 8192, 64, 22016, 32000},
     {"gpt-7b", 32, 4096, 32, 16384, 50257, false},
     {"gpt-13b", 40, 5120, 40, 20480, 50257, false},
     {"gpt-30b", 60, 6656, 52, 26624, 50257, false}}};

// Null if there is none of this name.
constexpr const TransformerShape* transformer_shape(std::string_view name) {
  const auto found = std::ranges::find(kTransformerShapes, name, &TransformerShape::name);
  return found == kTransformerShapes.end() ? nullptr : &*found;
}

// In the order of the table.
std::vector<std::string_view> transformer_names();

// E501 at "/model" for a name that is none of `known`; names them and the nearest.
InputError unknown_model(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace stowage
