// The buffers of a rank in one stage of a configuration, as a layout instance. The token model of a
// strategy counts the same memory by formula M3 (instances/layout/generate/transformer_trace.h).
//
//   Result<RankLayout> layout = rank_layout(instance, handover, tokens_of_rank);
#pragma once

#include "instances/layout/instance.h"
#include "instances/result.h"
#include "instances/strategy/instance.h"
#include "solvers/configure/handover.h"

namespace stowage {

struct RankLayout {
  LayoutInstance instance;  // one micro-batch, forward and backward, through the stage's layers
  Bytes waiting_bytes = 0;  // kept by other micro-batches in flight
};

// Returns the layout of the handover's tightest stage, for a micro-batch with `tokens` tokens on
// each of its ranks of tp devices, rounded up to a number that tp and the chunks of logits divide.
// Only a stage with a head has the operations of the head. Experts hold the copies of tokens that
// M3 counts: equally many on every rank, and twice that while ranks that share experts exchange
// them. Errors: those of trace_layout().
Result<RankLayout> rank_layout(const StrategyInstance& instance, const Handover& handover,
                               Tokens tokens);

}  // namespace stowage
