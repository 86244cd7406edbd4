#include "kernels/exchange/hybrid_attention.h"

#include "kernels/exchange/ring.h"

namespace stowage::kernels {

int ulysses_degree(int ranks) {
  int degree = 1;
  for (int u = 2; u * u <= ranks; ++u) {
    if (ranks % u == 0) degree = u;
  }
  return degree;
}

HybridAttention::HybridAttention(Communicator& world, int ulysses, const AttentionShape& local)
    : ulysses_(world.split(world.rank() / ulysses)), ring_(world.split(world.rank() % ulysses)) {
  attention_ = std::make_unique<UlyssesAttention>(*ulysses_, local, [&](const AttentionShape& own) {
    return std::make_unique<RingAttention>(*ring_, RingOrder::zigzag, own,
                                           KvGradients::per_query_head);
  });
}

}  // namespace stowage::kernels
