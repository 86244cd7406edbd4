// Two-dimensional sequence parallelism: Ulysses inside, a zigzag ring outside (USP, arXiv
// 2405.07719; LoongTrain, arXiv 2406.18485).
//
// P ranks form a grid. Consecutive ranks form a Ulysses group and exchange tokens for heads; rank u
// of every Ulysses group belongs to ring u. Each Ulysses group is one place of the ring, holds the
// zigzag part of every sequence, and splits it evenly over its ranks.
//
//   HybridAttention attention(world, ulysses_degree(world.size()), local_shape);
#pragma once

#include <memory>

#include "kernels/attention/attention_stage.h"
#include "kernels/exchange/ulysses.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// Returns the number of ranks of one Ulysses group: the largest divisor u of `ranks` with u * u <=
// ranks.
int ulysses_degree(int ranks);

class HybridAttention final : public AttentionStage {
 public:
  // `ulysses` must divide the number of ranks. `local` describes the rows of this rank's place in
  // the zigzag ring of world.size() / ulysses places (ring_layout.h). This rank holds its
  // even_split() share of these rows. A collective call. The spans and `world` must outlive the
  // stage.
  HybridAttention(Communicator& world, int ulysses, const AttentionShape& local);

  AttentionMemory memory() const override { return attention_->memory(); }
  void forward(std::span<const float> q, std::span<const float> k, std::span<const float> v,
               const StageOutput& output, std::span<float> scratch) override {
    attention_->forward(q, k, v, output, scratch);
  }
  void backward(const AttentionBackwardInput& input, std::span<float> dq, std::span<float> dk,
                std::span<float> dv, std::span<float> scratch) override {
    attention_->backward(input, dq, dk, dv, scratch);
  }

 private:
  std::unique_ptr<Communicator> ulysses_, ring_;
  std::unique_ptr<UlyssesAttention> attention_;
};

}  // namespace stowage::kernels
