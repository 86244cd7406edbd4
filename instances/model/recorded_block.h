// The transformer blocks that the kernels run: all values needed to build and run them again.
//
// An instance that was recorded from such a run carries the blocks, so that the kernels can execute
// a plan of it (kernels/memory/recorded_layout.h, kernels/memory/recorded_order.h). They change no
// rule.
//
// Thread safety: plain data.
#pragma once

#include <vector>

#include "instances/units.h"

namespace stowage {

struct RecordedBlock {
  int hidden = 64;
  int heads = 8;
  int kv_heads = 2;
  int head_dim = 16;
  int ffn = 128;  // width of the feed-forward part
  int layers = 1;
  std::vector<Tokens> lengths;  // of the sequences, packed end to end

  bool operator==(const RecordedBlock&) const = default;
};

}  // namespace stowage
