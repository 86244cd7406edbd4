// Blocks whose memory is recorded, planned and run: shapes with and without grouped queries, widths
// that are no power of two, sequences around a tile's edge, several layers.
#pragma once

#include <vector>

#include "instances/layout/instance.h"

namespace stowage::kernels {

inline std::vector<RecordedBlock> recorded_blocks() {
  return {
      {.lengths = {65, 1, 130}},
      {.lengths = {64}},
      {.hidden = 48, .heads = 6, .kv_heads = 3, .head_dim = 10, .ffn = 70, .lengths = {33, 0, 20}},
      {.hidden = 128, .heads = 4, .kv_heads = 4, .head_dim = 32, .ffn = 300, .lengths = {90}},
      {.hidden = 7, .heads = 1, .kv_heads = 1, .head_dim = 2, .ffn = 3, .lengths = {5}},
      {.hidden = 32, .heads = 8, .kv_heads = 1, .head_dim = 8, .ffn = 40, .lengths = {1, 1, 1}},
      {.hidden = 24,
       .heads = 4,
       .kv_heads = 2,
       .head_dim = 6,
       .ffn = 50,
       .layers = 3,
       .lengths = {17, 40}},
  };
}

}  // namespace stowage::kernels
