// The attention stage of an exchange, on one rank of a group.
//
//   RankAttention attention(world, exchange, shape);   // shape of the whole packed batch
//   BlockPass pass(block, positions, attention.stage());
#pragma once

#include <memory>
#include <optional>

#include "kernels/attention/attention_stage.h"
#include "kernels/exchange/exchange.h"
#include "kernels/exchange/ring_layout.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

class RankAttention {
 public:
  // A collective call. `shape` has total_q == total_k and cu_q == cu_k; its spans and `world` must
  // outlive this object. ExchangeKind::chunked is not allowed, since it affects the whole block
  // (block/chunked_block.h).
  RankAttention(Communicator& world, const Exchange& exchange, const AttentionShape& shape);

  // Returns the stage for the rows of token_layout() of this rank.
  AttentionStage& stage() { return *stage_; }

 private:
  std::optional<RingLayout> ring_;
  std::unique_ptr<AttentionStage> stage_;
};

}  // namespace stowage::kernels
