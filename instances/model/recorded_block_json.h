// Recorded blocks in JSON, inside instances. Not installed.
//
//   v.required("block", block);   // fields() of instances/json/fields.h
#pragma once

#include <cstdint>

#include "instances/json/fields.h"
#include "instances/model/recorded_block.h"

namespace stowage {

// Adds E337 if the key heads do not divide the heads, and if the heads are of odd width.
void check_recorded(const RecordedBlock& block, const ObjectReader& reader);

template <class Visitor, Of<RecordedBlock> Block>
void fields(Visitor& v, Block& block) {
  constexpr IntegerRange kWidth = {1, 1 << 16};
  v.required("hidden", block.hidden, kWidth);
  v.required("heads", block.heads, kWidth);
  v.required("kv_heads", block.kv_heads, kWidth);
  v.required("head_dim", block.head_dim, kWidth);
  v.required("ffn", block.ffn, kWidth);
  v.required("layers", block.layers, {1, 1000});
  v.required("lengths", block.lengths, {0, std::int64_t{1} << 31});
  v.check(block, check_recorded);
}

}  // namespace stowage
