#include "kernels/memory/recorded_block.h"

#include <numeric>
#include <string>

#include "instances/document/option_check.h"
#include "instances/json/errors.h"
#include "instances/json/limits.h"

namespace stowage::kernels {
namespace {

constexpr int kMaxWidth = 1 << 16;
constexpr int kMostLayers = 1000;

}  // namespace

Tokens tokens_of(const RecordedBlock& block) {
  return std::accumulate(block.lengths.begin(), block.lengths.end(), Tokens{0});
}

void check_block(const RecordedBlock& block, ErrorList& errors) {
  const bool heads = check_option("/heads", block.heads, 1, kMaxWidth, errors);
  const bool kv_heads = check_option("/kv_heads", block.kv_heads, 1, kMaxWidth, errors);
  check_option("/hidden", block.hidden, 1, kMaxWidth, errors);
  const bool head_dim = check_option("/head_dim", block.head_dim, 1, kMaxWidth, errors);
  check_option("/ffn", block.ffn, 1, kMaxWidth, errors);
  check_option("/layers", block.layers, 1, kMostLayers, errors);
  if (heads && kv_heads && block.heads % block.kv_heads != 0) {
    errors.add(code::kGenerator, "/kv_heads",
               "must divide the heads, " + std::to_string(block.heads) + ", is " +
                   std::to_string(block.kv_heads));
  }
  if (head_dim && block.head_dim % 2 != 0) {
    errors.add(code::kGenerator, "/head_dim",
               "must be even for rotary embedding, is " + std::to_string(block.head_dim));
  }
  Tokens tokens = 0;
  for (const Tokens length : block.lengths) {
    if (!check_option("/lengths", length, 0, kMaxRecordedTokens, errors)) return;
    // no overflow: each length is at most 2^24, and there are at most kMostValues lengths
    tokens += length;
  }
  if (tokens < 1 || tokens > kMaxRecordedTokens) {
    errors.add(code::kGenerator, "/lengths",
               "must sum to 1 to " + std::to_string(kMaxRecordedTokens) + " tokens, sum to " +
                   std::to_string(tokens));
  }
}

BlockShape shape_of(const RecordedBlock& block) {
  BlockShape shape;
  shape.hidden = block.hidden;
  shape.heads = block.heads;
  shape.kv_heads = block.kv_heads;
  shape.head_dim = block.head_dim;
  shape.ffn = block.ffn;
  return shape;
}

void check_alignment(Bytes alignment, ErrorList& errors) {
  if (alignment < 1 || alignment > kMaxExact || alignment % kFloatBytes != 0) {
    errors.add(code::kGenerator, "/alignment",
               "must be a positive multiple of " + std::to_string(kFloatBytes) + ", is " +
                   std::to_string(alignment));
  }
}

}  // namespace stowage::kernels
