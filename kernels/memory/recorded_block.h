// The blocks of a recorded instance as the kernels' types.
//
//   ErrorList errors;
//   check_block(block, errors);          // E504, "/kv_heads"
//   if (errors.empty()) use(shape_of(block), tokens_of(block));
#pragma once

#include "instances/json/errors.h"
#include "instances/model/recorded_block.h"
#include "kernels/block/block_weights.h"

namespace stowage::kernels {

// Limit on the total number of tokens of all sequences.
inline constexpr Tokens kMaxRecordedTokens = Tokens{1} << 24;

BlockShape shape_of(const RecordedBlock& block);
Tokens tokens_of(const RecordedBlock& block);

// Adds E504 for every option that no block can have, with the option as the pointer.
void check_block(const RecordedBlock& block, ErrorList& errors);

inline constexpr Bytes kFloatBytes = sizeof(float);

// Adds E504 for an alignment, in bytes, that a tensor of floats cannot have.
void check_alignment(Bytes alignment, ErrorList& errors);

}  // namespace stowage::kernels
