// Training steps that are recorded, ordered and run: shapes with and without grouped queries,
// widths that are no power of two, several sequences and layers, and chunks: of one long sequence,
// of a long one beside short ones, with a last chunk that is not full.
#pragma once

#include <vector>

#include "instances/order/instance.h"

namespace stowage::kernels {

inline std::vector<RecordedStep> recorded_steps() {
  return {
      {.block = {.lengths = {65, 1, 30}}},
      {.block = {.hidden = 48,
                 .heads = 6,
                 .kv_heads = 3,
                 .head_dim = 10,
                 .ffn = 70,
                 .lengths = {33, 0, 20}}},
      {.block = {.hidden = 24,
                 .heads = 4,
                 .kv_heads = 2,
                 .head_dim = 6,
                 .ffn = 50,
                 .layers = 3,
                 .lengths = {17, 40}}},
      {.block = {.hidden = 7, .heads = 1, .kv_heads = 1, .head_dim = 2, .ffn = 3, .lengths = {5}}},
      {.block = {.lengths = {96}}, .chunk_tokens = 32},
      {.block = {.hidden = 32,
                 .heads = 4,
                 .kv_heads = 1,
                 .head_dim = 8,
                 .ffn = 40,
                 .layers = 2,
                 .lengths = {37, 9, 5}},
       .chunk_tokens = 20},
      {.block = {.hidden = 16,
                 .heads = 2,
                 .kv_heads = 2,
                 .head_dim = 8,
                 .ffn = 24,
                 .layers = 2,
                 .lengths = {64}},
       .chunk_tokens = 8},
  };
}

}  // namespace stowage::kernels
