// The training step of a stack of blocks as operators: forward, a loss, backward, and an update of
// every weight. The operators can run in any order that respects their dependencies.
//
//   TrainingProgram program({.block = shape, .layers = 2, .cu_seqlens = {0, 65, 66}});
//   SeparateTensors memory(program.tensors());
//   for (int t = 0; t < std::ssize(program.tensors()); ++t) {
//     if (program.is_input(t)) program.fill_input(t, seed, memory.at(t));
//   }
//   for (int step = 0; step < program.steps(); ++step) program.run(step, memory);
//
// The formula is in block_weights.h. In the backward pass the gradients of an input and of a weight
// are separate operators. The loss is the sum of (y - target)^2 / 2 over all channels of the last
// layer, divided by the number of tokens; an update is w -= rate dw. Weights and their gradients
// are tensors too, while the angles of the rotary embedding are constants.
//
// The step processes a whole packed batch at once, or its chunks one after another, with the chunks
// of ChunkedBlock (chunked_block.h). A chunk's attention reads the keys and values of its sequence
// up to the chunk's end. The list of operators runs forward chunk by chunk, and backward in reverse
// order. Contributions of several chunks to one gradient are always added in the order of the list,
// so the sums have the same bits in every valid order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/attention/attention_stage.h"
#include "kernels/block/block_weights.h"
#include "kernels/block/operation/gemm.h"
#include "kernels/block/operation/rotary.h"
#include "kernels/block/program/tensor_program.h"

namespace stowage::kernels {

struct TrainingShape {
  BlockShape block;
  int layers = 1;
  // prefix sums of the packed sequences; the last entry is positive
  std::vector<std::int32_t> cu_seqlens;
  std::int64_t chunk_tokens = 0;  // tokens of a chunk; 0: all tokens at once
};

enum class TensorRole {
  activation,      // activations and their gradients
  scratch,         // scratch of attention; its values at the end are unspecified
  input,           // x and the targets
  output,          // y of the last layer
  loss,            // one float
  input_gradient,  // gradient of x
  weight_gradient,
  weight,
};

class TrainingProgram {
 public:
  static constexpr float kRate = 0.01F;

  // Requires check(shape.block) to be empty and `layers` >= 1. The constructor allocates memory for
  // the list only, not for tensors.
  explicit TrainingProgram(const TrainingShape& shape);

  // Returns the tensors in the order of the list; `first` and `last` are step numbers.
  const std::vector<Tensor>& tensors() const { return tensors_; }
  TensorRole role(int tensor) const { return roles_[static_cast<std::size_t>(tensor)]; }
  // Returns true for tensors that no step writes: x, targets and weights.
  bool is_input(int tensor) const;

  int steps() const { return static_cast<int>(steps_.size()); }
  const std::string& name(int step) const { return steps_[static_cast<std::size_t>(step)].name; }
  const StepOperands& operands(int step) const {
    return steps_[static_cast<std::size_t>(step)].operands;
  }
  // Returns the useful FLOP of the step's products and attention, or 0 if the step has neither.
  double flop(int step) const { return steps_[static_cast<std::size_t>(step)].flop; }
  // Returns true if the step belongs to the forward pass.
  bool forward(int step) const { return step < forward_steps_; }

  // Writes the initial values of an input to `to`, which has the tensor's floats. The values are
  // deterministic for each seed.
  void fill_input(int tensor, std::uint64_t seed, std::span<float> to) const;

  // Runs a step. All tensors that the step reads or updates must be in `memory`.
  void run(int step, TensorMemory& memory) const {
    const Step& now = steps_[static_cast<std::size_t>(step)];
    now.compute(Operands(memory, now.operands));
  }

 private:
  using Compute = std::function<void(const Operands&)>;
  struct Step {
    std::string name;
    StepOperands operands;
    Compute compute;
    double flop = 0;
  };
  struct Piece {  // consecutive tokens of a sequence
    std::int64_t sequence = 0, begin = 0, end = 0;
  };
  // The tensors of one layer and part that live from the forward to the backward pass.
  struct Saved {
    int x = 0, x_norm = 0, x_inverse_rms = 0, q = 0, k = 0, v = 0, o = 0, sums = 0;
    int a = 0, a_norm = 0, a_inverse_rms = 0, gate = 0, up = 0, product = 0;
    int d_k = -1, d_v = -1;
  };
  // Tokens that are processed together.
  struct Part {
    std::vector<Piece> pieces;
    std::int64_t tokens = 0;
    std::int64_t before = 0;  // tokens of its sequence before this part
    bool last = true;         // true if it is the last part of its sequence
    std::size_t first = 0;    // index of the first part of its sequence
    std::vector<std::int32_t> cu_q, cu_k;
    std::shared_ptr<const RotaryTable> rotary;
    int x = 0, target = 0, y = 0;
    std::vector<Saved> saved;  // one entry per layer
  };
  // The weights in the order of kWeightNames.
  enum Weight {
    kAttentionNorm,
    kQuery,
    kKey,
    kValue,
    kOutput,
    kFfnNorm,
    kGate,
    kUp,
    kDown,
  };
  // A linear layer y = x W: its weight and the weight's shape.
  struct Linear {
    Weight weight = kQuery;
    std::int64_t in = 0, out = 0;
  };

  int tensor(const std::string& name, std::int64_t floats,
             TensorRole role = TensorRole::activation);
  void step(const std::string& name, StepOperands operands, Compute compute, double flop = 0);
  double product_flop(const Linear& by) const;
  double attention_flop(double of_pair) const;
  int weight(int kind) const { return weights_[static_cast<std::size_t>(layer_)][kind]; }
  // Returns the gradient of a weight. The first operator that contributes to the gradient writes
  // it, later operators update it.
  std::pair<int, Update> gradient(int kind, StepOperands& operands);

  void cut(const TrainingShape& shape);
  void add_part(Part part);
  void forward();
  void loss();
  void backward();
  void updates();

  // Record operators for the current part and layer.
  void norm(const char* name, Weight kind, int x, int y, int inverse_rms);
  void linear(const char* name, const Linear& by, int x, int y);
  void linear_onto(const char* name, const Linear& by, int residual, int x, int y);
  void turn(const char* name, int heads, int tensor, Turn way);
  int forward_layer(Saved& s);
  void attention(Saved& s);
  void linear_gradients(const char* name, const Linear& by, int x, int dy, int dx, Update update);
  void norm_gradients(const char* name, Weight kind, int x, int inverse_rms, int dy, int residual,
                      int dx);
  int backward_ffn(const Saved& s, int dy);
  int backward_attention(Saved& s, int d_a);
  void attention_gradients(Saved& s, int d_o, int d_q);
  void settle_lifetimes();

  BlockShape shape_;
  int layers_;
  std::int64_t tokens_ = 0;
  std::vector<Tensor> tensors_;
  std::vector<TensorRole> roles_;
  std::vector<Step> steps_;
  int forward_steps_ = 0;
  std::vector<Part> parts_;
  std::vector<std::vector<int>> weights_, gradients_;  // [layer][kind]; -1: not yet written
  // State while the list is recorded.
  std::size_t part_ = 0;
  int layer_ = 0;
  std::string prefix_;  // prefix of tensor names
};

}  // namespace stowage::kernels
