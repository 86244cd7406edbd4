// A stack of transformer blocks as a program on named tensors: the forward pass, then the backward
// pass.
//
//   BlockProgram program(shape, tokens, 2, attention.memory());
//   SeparateTensors tensors(program.tensors());
//   program.run(program.forward_steps(), tensors, call);
//   program.run(program.backward_steps(), tensors, call);
//
// The formula is in block_weights.h. A tensor's name is the layer's number and the name in the
// formula, "1.x_norm"; d_NAME is the gradient of NAME. Weights, their gradients, the rotary table
// and the caller's x, y, upstream and dx are not tensors of the program. The first and the last
// step of each pass copy from and to the caller's arrays.
//
// Tensor parallelism (Megatron-LM, arXiv 1909.08053, section 3): ranks may share the products. Each
// rank has some heads, some columns of gate and up, and the matching rows of output and down;
// `shape` and the weights describe this part. Sums over ranks complete the results: one sum in the
// middle and one at the end of a layer, in forward and in backward. Tensors between the sums are
// complete on each rank.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/attention/attention_stage.h"
#include "kernels/block/block_weights.h"
#include "kernels/block/operation/rotary.h"
#include "kernels/block/program/tensor_program.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// The arguments of a run of the program. Spans of activations are (tokens, hidden).
struct BlockCall {
  const RotaryTable& rotary;
  AttentionStage& attention;  // a stage that keeps state between passes can serve one layer only
  std::span<const BlockWeights<float>> weights;  // one entry per layer
  std::span<BlockWeights<float>> gradients;      // backward adds to them
  std::span<const float> x, upstream;
  std::span<float> y, dx;
  // ranks that share the products; null if this rank computes them alone
  Communicator* peers = nullptr;
};

// The tensors of a layer that are kept from its forward pass to its backward pass.
enum class BlockKeeps {
  all,
  // without the outputs of norms and SwiGLU, which backward recomputes; it repeats no matrix
  // product
  products
};

// The steps [begin, end).
struct StepRange {
  int begin = 0;
  int end = 0;
};

class BlockProgram {
 public:
  // Requires check(shape) to be empty and `layers` >= 1. The constructor allocates memory for the
  // list of steps only, not for tensors.
  BlockProgram(const BlockShape& shape, std::int64_t tokens, int layers,
               const AttentionMemory& attention, BlockKeeps keeps = BlockKeeps::all);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  StepRange forward_steps() const { return {0, backward_}; }
  StepRange backward_steps() const { return {backward_, static_cast<int>(steps_.size())}; }
  StepRange all_steps() const { return {0, static_cast<int>(steps_.size())}; }

  // Return the tensors that begin and end within one layer's forward (or backward) pass:
  // [layer][...], in the order of the passes.
  std::vector<std::vector<std::int64_t>> inside_forward() const;
  std::vector<std::vector<std::int64_t>> inside_backward() const;

  // Allocates no memory. The backward steps read tensors that the forward steps wrote to `memory`.
  void run(StepRange steps, TensorMemory& memory, const BlockCall& call) const;

 private:
  using Compute = std::function<void(const Operands&, const BlockCall&)>;
  struct Step {
    std::string name;  // used by debuggers only
    StepOperands operands;
    Compute compute;
    int pass = 0;
    std::vector<int> begins, ends;
  };
  // The tensors of a layer that its backward pass reads.
  struct Saved {
    int x = 0, x_norm = 0, x_inverse_rms = 0, q = 0, k = 0, v = 0, o = 0, sums = 0;
    int a = 0, a_norm = 0, a_inverse_rms = 0, gate = 0, up = 0, product = 0;
  };

  int tensor(const char* name, std::int64_t floats);
  void step(const char* name, StepOperands operands, Compute compute);
  // The two halves of a layer, forward and backward. They write or read the tensors in Saved.
  void forward_attention(int layer, Saved& s);
  int forward_ffn(int layer, Saved& s);
  int backward_ffn(int layer, Saved s, int dy);
  int backward_attention(int layer, Saved s, int d_a);
  // The tensors that backward recomputes under BlockKeeps::products.
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
  int backward_ = 0;    // first step of the backward pass
  int pass_ = 0;        // pass that is being recorded; 0 outside of the layers
  std::string prefix_;  // prefix of tensor names
};

}  // namespace stowage::kernels
