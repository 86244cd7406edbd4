// The shapes of published transformers, in one table.
//
//   const int hidden = transformer_shape("llama-7b")->hidden;
//
// Sources: LLaMA (arXiv 2302.13971), Llama 3 (2407.21783; 3.2 from its model cards), Qwen3
// (2505.09388), Mistral (2310.06825), Mixtral (2401.04088), OLMoE (2409.02060), GPT-3 (2005.14165).
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "instances/result.h"

namespace stowage {

struct TransformerShape {
  std::string_view name;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int feed_forward = 0;  // of one expert, if there are experts
  int vocabulary = 0;
  bool gated = true;       // gate and up; otherwise up alone
  int kv_heads = 0;        // 0: the same as heads
  int head_dim = 0;        // 0: hidden / heads
  bool tied = false;       // embedding and head have the same parameters
  int experts = 0;         // of each layer; 0: one feed-forward part that every token goes through
  int active_experts = 0;  // experts that a token goes through

  constexpr int head_size() const { return head_dim > 0 ? head_dim : hidden / heads; }
  // The width of queries and of the output of attention. It differs from `hidden` if head_dim is
  // set.
  constexpr int query_width() const { return heads * head_size(); }
  // The width of keys, and of values.
  constexpr int key_value_width() const { return (kv_heads > 0 ? kv_heads : heads) * head_size(); }
};

inline constexpr std::array<TransformerShape, 23> kTransformerShapes = {
    {{"llama-7b", 32, 4096, 32, 11008, 32000},
     {"llama-13b", 40, 5120, 40, 13824, 32000},
     {"llama-30b", 60, 6656, 52, 17920, 32000},
     {"llama-65b", 80, 8192, 64, 22016, 32000},
     {"gpt-7b", 32, 4096, 32, 16384, 50257, false},
     {"gpt-13b", 40, 5120, 40, 20480, 50257, false},
     {"gpt-30b", 60, 6656, 52, 26624, 50257, false},
     {"llama3-8b", 32, 4096, 32, 14336, 128256, true, 8},
     {"llama3-70b", 80, 8192, 64, 28672, 128256, true, 8},
     {"llama3-405b", 126, 16384, 128, 53248, 128256, true, 8},
     {"llama3.2-1b", 16, 2048, 32, 8192, 128256, true, 8, 64, true},
     {"llama3.2-3b", 28, 3072, 24, 8192, 128256, true, 8, 128, true},
     {"qwen3-0.6b", 28, 1024, 16, 3072, 151936, true, 8, 128, true},
     {"qwen3-1.7b", 28, 2048, 16, 6144, 151936, true, 8, 128, true},
     {"qwen3-4b", 36, 2560, 32, 9728, 151936, true, 8, 128, true},
     {"qwen3-8b", 36, 4096, 32, 12288, 151936, true, 8, 128},
     {"qwen3-14b", 40, 5120, 40, 17408, 151936, true, 8, 128},
     {"qwen3-32b", 64, 5120, 64, 25600, 151936, true, 8, 128},
     {"qwen3-30b-a3b", 48, 2048, 32, 768, 151936, true, 4, 128, false, 128, 8},
     {"qwen3-235b-a22b", 94, 4096, 64, 1536, 151936, true, 4, 128, false, 128, 8},
     {"mistral-7b", 32, 4096, 32, 14336, 32000, true, 8},
     {"mixtral-8x7b", 32, 4096, 32, 14336, 32000, true, 8, 128, false, 8, 2},
     {"olmoe-1b-7b", 16, 2048, 16, 1024, 50304, true, 16, 128, false, 64, 8}}};

// Returns the shape called `name`, or null if there is none.
constexpr const TransformerShape* transformer_shape(std::string_view name) {
  const auto found = std::ranges::find(kTransformerShapes, name, &TransformerShape::name);
  return found == kTransformerShapes.end() ? nullptr : &*found;
}

// Returns the names in the order of the table.
std::vector<std::string_view> transformer_names();

// Return the weights that a token goes through in one layer, and all weights of the layer:
// projections of attention, router, feed-forward part. Norms and biases are a thousandth of them
// and left out.
std::int64_t active_layer_parameters(const TransformerShape& shape);
std::int64_t layer_parameters(const TransformerShape& shape);

// Return the same of the model, with embedding and head, counted once if they are tied; without
// position embeddings.
std::int64_t active_parameters(const TransformerShape& shape);
std::int64_t parameters(const TransformerShape& shape);

// Returns an E501 at "/model" for a name that is not in `known`; it names all of them and the
// nearest.
InputError unknown_model(std::string_view name, const std::vector<std::string_view>& known);

// Returns an E501 at "/model" for a shape with experts, for formulas with a single feed-forward
// part.
InputError experts_not_modelled(const TransformerShape& shape);

}  // namespace stowage
