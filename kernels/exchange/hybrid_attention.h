// Two-dimensional sequence parallelism: Ulysses inside, a zigzag ring outside (USP, arXiv
// 2405.07719; LoongTrain, arXiv 2406.18485).
//
// P ranks form a grid: ranks that follow each other exchange tokens for heads, and rank u of every
// such Ulysses group belongs to ring u. Each place of the ring holds its zigzag part of every
// sequence, shared out evenly over its Ulysses group.
//
//   HybridAttention attention(world, ulysses_degree(world.size()), local_shape);
#pragma once

#include <memory>

#include "kernels/attention/attention_stage.h"
#include "kernels/exchange/ulysses.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// The ranks of one Ulysses group: the largest divisor u of `ranks` with u * u <= ranks.
int ulysses_degree(int ranks);

class HybridAttention final : public AttentionStage {
 public:
  // `ulysses` divides the ranks. `local` describes the rows of this rank's place in the zigzag ring
  // of world.size() / ulysses places (ring_layout.h), of which it holds its share by even_split().
  // A collective call. The spans and `world` must outlive the stage.
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
