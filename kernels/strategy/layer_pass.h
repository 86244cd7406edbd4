// One layer's forward and backward pass over one rank's part of a micro-batch. The recomputation
// mode determines the tensors that are kept in between:
//
//   none       keeps all tensors that the backward pass reads
//   selective  does not keep the outputs of norms and SwiGLU: BlockKeeps::products
//   full       keeps the input of the layer, and repeats the forward pass first
//
//   const RowPart row(task, place, micro_batch);
//   LayerPass pass(row, {.cp = &cp, .tp = &tp, .recompute = StrategyRecompute::full}, meter);
//   pass.forward(weights, x, y);
//   pass.backward(weights, upstream, dx, gradient);      // adds to gradient; then frees all tensors
//
// Attention is shared over the ranks of cp by Ulysses (exchange/ulysses.h), products over those of
// tp (block_program.h). One thread uses a LayerPass; all ranks of cp and tp make the same calls.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "instances/strategy/instance.h"
#include "kernels/attention/attention_stage.h"
#include "kernels/block/operation/rotary.h"
#include "kernels/block/program/block_program.h"
#include "kernels/exchange/ulysses.h"
#include "kernels/ranks/communicator.h"
#include "kernels/strategy/memory_meter.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

// The tokens of a rank in one micro-batch: the rank's slice of the packed sequences of a row. These
// constants are shared by all layers and do not count as activations.
struct RowPart {
  std::vector<std::int32_t> cu_seqlens;  // prefix sums of the row's sequences
  std::int64_t first = 0;                // first of the row's tokens on this rank
  std::int64_t tokens = 0;               // number of tokens on this rank
  BlockShape part;                       // shape of this rank's part of the block
  AttentionShape shape;                  // attention in the whole row, with this rank's heads
  RotaryTable rotary;
  BlockProgram program;  // program of one layer

  RowPart(const StrategyTask& task, const StrategyPlace& place, int micro_batch);
  RowPart(const RowPart&) = delete;  // not copyable, because `shape` refers to `cu_seqlens`
  RowPart& operator=(const RowPart&) = delete;
};

struct LayerSharing {
  Communicator* cp = nullptr;  // null for one rank
  Communicator* tp = nullptr;  // null for one rank
  StrategyRecompute recompute = StrategyRecompute::none;
};

class LayerPass {
 public:
  // All arguments must outlive this object.
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
  std::optional<MeteredFloats> input_;  // input of the layer under full recomputation
};

}  // namespace stowage::kernels
