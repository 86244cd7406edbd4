// The transformer block, layer upon layer, as a program on named tensors: forward, then backward.
//
//   BlockProgram program(shape, tokens, 2, attention.memory());
//   SeparateTensors tensors(program.tensors());
//   program.run(program.forward_steps(), tensors, call);
//   program.run(program.backward_steps(), tensors, call);
//
// The formula is in block_weights.h. Tensors carry the formula's names behind the layer's number,
// "1.x_norm"; d_... is the gradient of its namesake. Weights, their gradients, the rotary table and
// the caller's x, y, upstream and dx are no tensors of the program: the first and the last step of
// each pass copy from and to the caller.
//
// Ranks may share the products (Megatron-LM, arXiv 1909.08053, section 3): each has some heads and
// some columns of gate and up with the rows of output and down that belong to them, so that `shape`
// and the weights are those of its part, and sums over ranks make it whole: one in the middle and
// one at the end of a layer forward, the same backward. What lies between them each rank has whole.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/attention/attention_stage.h"
#include "kernels/block/block_weights.h"
#include "kernels/block/rotary.h"
#include "kernels/block/tensor_program.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// What a program is run with. Spans of activations are (tokens, hidden).
struct BlockCall {
  const RotaryTable& rotary;
  AttentionStage& attention;  // one that keeps things of its own can serve one layer only
  std::span<const BlockWeights<float>> weights;  // of every layer
  std::span<BlockWeights<float>> gradients;      // backward adds to them
  std::span<const float> x, upstream;
  std::span<float> y, dx;
  Communicator* peers = nullptr;  // who shares the products; null for nobody
};

// What backward finds of a layer's forward pass.
enum class BlockKeeps {
  all,
  products  // not what norms and SwiGLU make, which is made again: no product of matrices is
};

// Steps [begin, end).
struct StepRange {
  int begin = 0;
  int end = 0;
};

class BlockProgram {
 public:
  // Requires check(shape) to pass and `layers` >= 1. Allocates for the list alone, not for tensors.
  BlockProgram(const BlockShape& shape, std::int64_t tokens, int layers,
               const AttentionMemory& attention, BlockKeeps keeps = BlockKeeps::all);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  StepRange forward_steps() const { return {0, backward_}; }
  StepRange backward_steps() const { return {backward_, static_cast<int>(steps_.size())}; }
  StepRange all_steps() const { return {0, static_cast<int>(steps_.size())}; }

  // Tensors that begin and end within one layer's forward (or backward) pass: [layer][...], in the
  // order of the passes.
  std::vector<std::vector<std::int64_t>> inside_forward() const;
  std::vector<std::vector<std::int64_t>> inside_backward() const;

  // Allocates nothing. Backward needs what forward left in `memory`.
  void run(StepRange steps, TensorMemory& memory, const BlockCall& call) const;

 private:
  using Compute = std::function<void(const Operands&, const BlockCall&)>;
  struct Step {
    std::string name;  // for debuggers
    StepOperands operands;
    Compute compute;
    int pass = 0;
    std::vector<int> begins, ends;
  };
  // Tensors of a layer that its backward pass reads.
  struct Saved {
    int x = 0, x_norm = 0, x_inverse_rms = 0, q = 0, k = 0, v = 0, o = 0, sums = 0;
    int a = 0, a_norm = 0, a_inverse_rms = 0, gate = 0, up = 0, product = 0;
  };

  int tensor(const char* name, std::int64_t floats);
  void step(const char* name, StepOperands operands, Compute compute);
  // The two halves of a layer, forward and backward; they fill in or read what is kept in between.
  void forward_attention(int layer, Saved& s);
  int forward_ffn(int layer, Saved& s);
  int backward_ffn(int layer, Saved s, int dy);
  int backward_attention(int layer, Saved s, int d_a);
  // What backward makes again under BlockKeeps::products.
  struct Norm {
    int norm = 0, inverse_rms = 0;
  };
  using Gain = std::function<std::span<const float>(const BlockCall&)>;
  int product_again(const Saved& s);
  Norm norm_again(const std::string& of, int x, Gain gain);
  void settle_lifetimes();
  std::vector<std::vector<std::int64_t>> inside(int first_pass) const;

  BlockShape shape_;
  std::int64_t tokens_;
  int layers_;
  BlockKeeps keeps_;
  AttentionMemory attention_;
  std::vector<Tensor> tensors_;
  std::vector<Step> steps_;
  int backward_ = 0;    // its first step
  int pass_ = 0;        // that is being written down; 0 for the ends
  std::string prefix_;  // of names
};

}  // namespace stowage::kernels
