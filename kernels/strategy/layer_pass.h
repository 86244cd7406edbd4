// One layer's forward and backward pass over one rank's part of a micro-batch, with what the
// recomputation keeps in between.
//
//   none       all that the backward pass reads
//   selective  not what norms and SwiGLU make: BlockKeeps::products
//   full       the input of the layer; the forward pass is run again first
//
//   const RowPart row(task, place, micro_batch);
//   LayerPass pass(row, {.cp = &cp, .tp = &tp, .recompute = StrategyRecompute::full}, meter);
//   pass.forward(weights, x, y);
//   pass.backward(weights, upstream, dx, gradient);      // adds to gradient; then nothing is kept
//
// Attention is shared over the ranks of cp by Ulysses (exchange/ulysses.h), products over those of
// tp (block_program.h). A LayerPass is of one thread; all ranks of cp and tp call the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "instances/strategy/instance.h"
#include "kernels/attention/attention_stage.h"
#include "kernels/block/block_program.h"
#include "kernels/block/rotary.h"
#include "kernels/exchange/ulysses.h"
#include "kernels/ranks/communicator.h"
#include "kernels/strategy/memory_meter.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

// The tokens of a rank in one micro-batch: its slice of the packed sequences of a row. Constants
// that all layers share; they are not counted as activations.
struct RowPart {
  std::vector<std::int32_t> cu_seqlens;  // of the row
  std::int64_t first = 0;                // of the row's tokens
  std::int64_t tokens = 0;               // from there on
  BlockShape part;                       // of the block
  AttentionShape shape;                  // of attention in the whole row, with this rank's heads
  RotaryTable rotary;
  BlockProgram program;  // of one layer

  RowPart(const StrategyTask& task, const StrategyPlace& place, int micro_batch);
  RowPart(const RowPart&) = delete;  // shape refers to cu_seqlens
  RowPart& operator=(const RowPart&) = delete;
};

struct LayerSharing {
  Communicator* cp = nullptr;  // null for one rank
  Communicator* tp = nullptr;  // null for one rank
  StrategyRecompute recompute = StrategyRecompute::none;
};

class LayerPass {
 public:
  // All must outlive this.
  LayerPass(const RowPart& row, const LayerSharing& sharing, MemoryMeter& meter)
      : row_(row), sharing_(sharing), meter_(meter), tensors_(row.program.tensors(), meter) {}
  LayerPass(const LayerPass&) = delete;
  LayerPass& operator=(const LayerPass&) = delete;
  ~LayerPass() { release_attention(); }

  // x, y (tokens, hidden), which must not overlap.
  void forward(const BlockWeights<float>& weights, std::span<const float> x, std::span<float> y);
  void backward(const BlockWeights<float>& weights, std::span<const float> upstream,
                std::span<float> dx, BlockWeights<float>& gradient);

 private:
  void run_forward(const BlockWeights<float>& weights, std::span<const float> x,
                   std::span<float> y);
  BlockCall call(const BlockWeights<float>& weights);
  void make_attention();
  void release_attention();

  const RowPart& row_;
  const LayerSharing& sharing_;
  MemoryMeter& meter_;
  MeteredTensors tensors_;
  std::optional<LocalAttention> local_;
  std::optional<UlyssesAttention> ulysses_;
  std::optional<MeteredFloats> input_;  // of full recomputation
};

}  // namespace stowage::kernels
