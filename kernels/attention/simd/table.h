// The hot kernels as plain functions, one table per instruction set level.
//
// A task holds plain pointers and a workspace of the caller. A kernel allocates nothing, checks
// nothing, and calls only libc's logf, memcpy and memset and a task's `await`. The sources of a
// table are compiled for instruction sets that the machine may lack. If such a source shared an
// inline function with the rest of the program, the linker could choose its version, which fails on
// an older machine. So all functions of these sources are local to their translation unit
// (tests/kernels/simd_symbols.cmake checks the objects), and this header contains only data.
//
//   const SimdTable& table = simd_table();  // isa.h
//   table.gemm({.m = 6, .n = 64, .k = 128, ...});
#pragma once

#include <cstdint>

namespace stowage::kernels {

// The workspace sizes are the largest of all levels, so that a memory plan of a block is valid on
// every machine.
inline constexpr std::int64_t kGemmDepth = 128;
inline constexpr std::int64_t kGemmRows = 384;     // rows of A per block
inline constexpr std::int64_t kGemmColumns = 256;  // columns of B per block
// The distance between rows of a packed block of A is an odd number of cache lines, because the
// factors of one tile would otherwise compete for an eighth of the first cache.
inline constexpr std::int64_t kGemmStride = kGemmRows + 16;
inline constexpr std::int64_t kGemmWorkspace = kGemmDepth * (kGemmStride + kGemmColumns) + 16;
inline constexpr std::int64_t kMaxLanes = 16;          // floats per vector, at most
inline constexpr std::int64_t kMostPanel = 64;         // lanes of a register tile, at most
inline constexpr std::int64_t kQueryBlock = 64;        // queries per block, forward
inline constexpr std::int64_t kKeyBlock = 128;         // keys per block, forward
inline constexpr std::int64_t kBackwardQueries = 128;  // queries per block, backward
inline constexpr std::int64_t kBackwardKeys = 64;
// Every block of queries reads all keys that it sees. Where these are more than a cache of a core
// holds, larger blocks read them less often.
inline constexpr std::int64_t kLongQueryBlock = 256;  // queries per block, both passes
inline constexpr std::int64_t kLongFloats = 1 << 20;  // of keys and values: 4 MiB

// Return the queries per block of a sequence of `keys` keys, with `channels` channels of a key and
// its value together.
constexpr std::int64_t forward_queries(std::int64_t keys, std::int64_t channels) {
  return keys * channels >= kLongFloats ? kLongQueryBlock : kQueryBlock;
}
constexpr std::int64_t backward_queries(std::int64_t keys, std::int64_t channels) {
  return keys * channels >= kLongFloats ? kLongQueryBlock : kBackwardQueries;
}

// C (m x n) = or += A (m x k) B (k x n); element (i, j) of A at a[i * a_row + j * a_column].
struct GemmTask {
  std::int64_t m, n, k;
  const float* a;
  std::int64_t a_row, a_column;
  const float* b;
  std::int64_t b_row, b_column;
  float* c;
  std::int64_t c_row;
  bool add;
  float* workspace;  // kGemmWorkspace floats
};

// The query heads of one kv head on one sequence: `heads` adjacent heads. Strides are distances
// between tokens; head h of q starts at q + h * dim.
struct ForwardTask {
  std::int64_t lq, lk;  // queries and keys of the sequence
  // query i sees key j when i + diagonal - window < j <= i + diagonal
  std::int64_t diagonal, window;
  // the range of queries to compute; first_query lies on a block's edge
  std::int64_t first_query, last_query;
  int heads, dim, value_dim;  // channels of q and k; channels of v and o
  double scale;
  double soft_cap;         // if not 0, a logit x becomes soft_cap * tanh(x / soft_cap)
  const float *q, *k, *v;  // arrays from the sequence's first token on
  std::int64_t q_stride, k_stride, v_stride, o_stride;
  // k packed by pack_keys() in tiles of kKeyBlock; if null, the kernel packs k
  const float* k_lanes;
  float* o;              // head h at h * value_dim
  float *lse, *lse_low;  // head h at h * lse_stride
  std::int64_t lse_stride;
  bool resume;  // if true, o and lse hold attention over other keys, and this task adds its keys
  float* workspace;  // forward_workspace() floats
};

struct BackwardTask {
  std::int64_t lq, lk, diagonal, window;
  int heads, dim, value_dim;
  double scale, soft_cap;
  const float *q, *k, *v, *o, *lse, *lse_low, *upstream;
  std::int64_t q_stride, k_stride, v_stride, o_stride, lse_stride;
  // packed in tiles of kBackwardKeys; if null, the kernel packs them
  const float *k_lanes, *v_lanes;
  float *dq, *dk, *dv;  // dq is laid out as q
  // the distance between tokens of dk and of dv
  std::int64_t dk_stride, dv_stride;
  // the distance between heads of dk and of dv; if 0, the heads are summed in head order
  std::int64_t dk_head, dv_head;
  // Used with dk_head 0. dk and dv hold the sums of earlier heads, and the kernel calls `await`
  // before it adds to them, which waits for these heads. If null, dk and dv hold no sums of earlier
  // heads.
  void (*await)(void* await_data);
  void* await_data;
  // If true, dk and dv are running sums: the kernel adds to them, dk without the logits' scale, and
  // their tokens are at least grad_row(dim) and grad_row(value_dim) apart. If false, the kernel
  // writes dk and dv.
  bool running_sums;
  bool add_to_dq;  // if false, dq is written
  // o . upstream of every query, laid out as lse. If add_to_dq is true, delta is read, otherwise
  // written. If null, delta is not kept.
  float* delta;
  float* workspace;  // backward_workspace() floats
};

// Returns the floats of a row of running gradient sums: a multiple of the largest vector of all
// levels.
constexpr std::int64_t grad_row(std::int64_t dim) {
  return (dim + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
}

// Packs rows of k or v, from a tile's first row on, into consecutive tiles of (dim, tile). Passes
// that read the same keys several times then need not pack them each time.
struct PackTask {
  const float* from;
  std::int64_t stride, rows;
  int dim;
  std::int64_t tile;
  float* to;  // the last tile may be partly filled
};

// SwiGLU of `count` elements: forward writes `out`, backward dgate and dup.
struct SwigluTask {
  std::int64_t count;
  const float *gate, *up, *dout;
  float *out, *dgate, *dup;
};

// The largest entry z of a row, and the sum of e^(z - most).
struct RowSum {
  float most;
  double sum;
};

struct SimdTable {
  const char* name;
  int lanes;  // floats in a vector
  void (*gemm)(const GemmTask&);
  void (*attention_forward)(const ForwardTask&);
  void (*attention_backward)(const BackwardTask&);
  void (*pack_keys)(const PackTask&);
  void (*swiglu_forward)(const SwigluTask&);
  void (*swiglu_backward)(const SwigluTask&);
  RowSum (*sum_exponentials)(const float* row, std::int64_t count);
  // z = e^(z - log_sum) for every entry z of a row
  void (*exponentiate_row)(float* row, std::int64_t count, double log_sum);
  // Runs 2400 * lanes * rounds FLOP in registers, which measures the machine's peak rate. The
  // result depends on all operations, so that the compiler keeps them.
  float (*multiply_add)(std::int64_t rounds);
};

}  // namespace stowage::kernels
