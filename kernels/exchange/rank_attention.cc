#include "kernels/exchange/rank_attention.h"

#include <stdexcept>

#include "kernels/exchange/hybrid_attention.h"
#include "kernels/exchange/ring.h"
#include "kernels/exchange/ulysses.h"

namespace stowage::kernels {

RankAttention::RankAttention(Communicator& world, const Exchange& exchange,
                             const AttentionShape& shape) {
  // Computes the shape of the rows of one of `places` places of the ring.
  const auto local = [&](RingOrder order, int places, int place) {
    ring_.emplace(order, shape.cu_q, shape.total_q, places);
    AttentionShape part = shape;
    part.cu_q = part.cu_k = ring_->local_cu_seqlens();
    part.total_q = part.total_k = static_cast<std::int64_t>(ring_->rows(place).size());
    return part;
  };
  const auto ring = [&](RingOrder order) {
    return std::make_unique<RingAttention>(world, order, local(order, world.size(), world.rank()),
                                           KvGradients::per_kv_head);
  };
  switch (exchange.kind) {
    case ExchangeKind::ulysses:
      stage_ = std::make_unique<UlyssesAttention>(world, shape);
      return;
    case ExchangeKind::ring:
      stage_ = ring(RingOrder::contiguous);
      return;
    case ExchangeKind::zigzag:
      stage_ = ring(RingOrder::zigzag);
      return;
    case ExchangeKind::hybrid: {
      const int ulysses = ulysses_degree(world.size());
      stage_ = std::make_unique<HybridAttention>(
          world, ulysses, local(RingOrder::zigzag, world.size() / ulysses, world.rank() / ulysses));
      return;
    }
    case ExchangeKind::chunked:
      break;
  }
  throw std::invalid_argument("chunked is no exchange of attention alone");
}

}  // namespace stowage::kernels
