// The kernels as plain C functions over arrays of the caller, for a program in another language
// that times them beside its own (beside_torch.py).
//
// Arrays are contiguous, row-major and of floats, with the shapes of the kernels' headers. No
// function checks its arguments, and none may run beside another: all share one workspace.
//
//   stowage_use_level("v3");
//   stowage_product(m, n, k, a, k, 1, b, n, 1, c);
#pragma once

#include <cstdint>

extern "C" {

// Selects an instruction set level (kernels/attention/simd/isa.h). Returns 0 if the machine lacks
// it.
int stowage_use_level(const char* level);

// Runs multiply-adds in registers, the limit of all kernels, and returns their FLOP.
double stowage_multiply_add(std::int64_t rounds);

// C (m x n) = A (m x k) B (k x n), with the strides of A and B between rows and between columns.
void stowage_product(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                     std::int64_t a_row, std::int64_t a_column, const float* b, std::int64_t b_row,
                     std::int64_t b_column, float* c);

// Causal attention of packed sequences, which the `sequences` + 1 entries of `cu` delimit.
struct StowageAttention {
  std::int64_t sequences;
  const std::int32_t* cu;
  std::int32_t heads, kv_heads, dim;
  const float *q, *k, *v;
  float *o, *lse;
  const float* upstream;  // the backward pass alone reads it
  float *dq, *dk, *dv;
};
void stowage_attention_forward(const StowageAttention* task);
void stowage_attention_backward(const StowageAttention* task);

void stowage_swiglu_forward(std::int64_t count, const float* gate, const float* up, float* out);
void stowage_swiglu_backward(std::int64_t count, const float* gate, const float* up,
                             const float* dout, float* dgate, float* dup);

// Head and loss, forward and backward. Returns the loss; `gradient` is overwritten.
double stowage_head(std::int64_t tokens, std::int32_t hidden, std::int64_t vocabulary,
                    const float* y, const float* weights, const std::int32_t* targets,
                    float* logits, float* dy, float* gradient);

// A block with weights of its own, forward and backward over the sequences of `cu`.
struct StowageBlockShape {
  std::int32_t hidden, heads, kv_heads, head_dim, ffn;
};
// `weights` are nine tensors in the order of kWeightNames, which are copied.
void* stowage_block(StowageBlockShape shape, std::int64_t sequences, const std::int32_t* cu,
                    const float* const* weights);
// Writes y and dx (tokens, hidden), and computes the weights' gradients.
void stowage_block_step(void* block, const float* x, const float* upstream, float* y, float* dx);
void stowage_block_end(void* block);
}
