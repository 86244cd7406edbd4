// The hot kernels as raw functions, once per instruction set level.
//
// Tasks hold plain pointers and a workspace of the caller's; a kernel allocates nothing, checks
// nothing and calls nothing but libc's logf, memcpy and memset, and a task's `turn`. The sources
// behind a table are compiled for instruction sets that the machine may lack. An inline function
// that one of them shared with the rest of the program could be linked in from there and end a run
// on an older machine, so they share none: everything is local to its translation unit
// (tests/kernels/simd_symbols.cmake looks at the objects), and this header has nothing but data.
//
//   const SimdTable& table = simd_table();  // isa.h
//   table.gemm({.m = 6, .n = 64, .k = 128, ...});
#pragma once

#include <cstdint>

namespace stowage::kernels {

// Workspace is what any level needs, so that a plan of a block's memory holds on every machine.
inline constexpr std::int64_t kGemmDepth = 128;   // of the blocks that a sum is cut into
inline constexpr std::int64_t kGemmRows = 384;    // of A at a time
inline constexpr std::int64_t kGemmColumns = 64;  // of B at a time, at most
inline constexpr std::int64_t kGemmWorkspace = kGemmDepth * (kGemmRows + kGemmColumns) + 16;
inline constexpr std::int64_t kMostLanes = 16;         // of a vector
inline constexpr std::int64_t kQueryBlock = 64;        // queries at a time, forward
inline constexpr std::int64_t kKeyBlock = 128;         // keys at a time, forward
inline constexpr std::int64_t kBackwardQueries = 128;  // and backward
inline constexpr std::int64_t kBackwardKeys = 64;

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

// The query heads of one kv head on one sequence: `heads` of them, side by side. Strides are
// between tokens; head h of q starts at q + h * dim.
struct ForwardTask {
  std::int64_t lq, lk;                   // of the sequence
  std::int64_t diagonal;                 // query i sees key j when j <= i + diagonal
  std::int64_t first_query, last_query;  // the run of queries to compute; first on a block's edge
  int heads, dim;
  double scale;
  const float *q, *k, *v;  // the sequence's first token
  std::int64_t q_stride, k_stride;
  const float* k_lanes;  // k as pack_keys() packs it in tiles of kKeyBlock; null: it is packed here
  float* o;              // as q
  float *lse, *lse_low;  // head h at h * lse_stride
  std::int64_t lse_stride;
  bool resume;       // o and lse hold attention over other keys: those here come on top
  float* workspace;  // forward_workspace()
};

struct BackwardTask {
  std::int64_t lq, lk, diagonal;
  int heads, dim;
  double scale;
  const float *q, *k, *v, *o, *lse, *lse_low, *upstream;
  std::int64_t q_stride, k_stride, lse_stride;
  const float *k_lanes, *v_lanes;  // packed in tiles of kBackwardKeys; null: they are packed here
  float *dq, *dk, *dv;             // dq as q
  std::int64_t grad_stride;        // between tokens of dk and dv
  std::int64_t grad_head;          // between heads; 0: they are added up in head order
  // With grad_head 0: dk and dv hold the sums of earlier heads, which `turn` waits for; null: there
  // are none.
  void (*turn)(void* turn_data);
  void* turn_data;
  // dk and dv are running sums: they are added to, dk without the scale, and grad_stride is at
  // least grad_row(dim). Else they are written.
  bool running_sums;
  bool add_to_dq;  // else dq is written
  // o . upstream of every query, as lse: read where dq is added to, else written; null: not kept.
  float* delta;
  float* workspace;  // backward_workspace()
};

// A row of running sums of gradients: whole vectors, at any level.
constexpr std::int64_t grad_row(std::int64_t dim) {
  return (dim + kMostLanes - 1) / kMostLanes * kMostLanes;
}

// Rows of k or v from a tile's first on, into tiles of (dim, tile) behind one another: what passes
// over the same keys again and again need not pack each time.
struct PackTask {
  const float* from;
  std::int64_t stride, rows;
  int dim;
  std::int64_t tile;
  float* to;  // the last tile may be filled in part
};

struct SimdTable {
  const char* name;
  int lanes;  // floats in a vector
  void (*gemm)(const GemmTask&);
  void (*attention_forward)(const ForwardTask&);
  void (*attention_backward)(const BackwardTask&);
  void (*pack_keys)(const PackTask&);
  // 2400 * lanes * rounds FLOP in registers: what the machine's multipliers can do. Returns
  // something that depends on all of them.
  float (*multiply_add)(std::int64_t rounds);
};

}  // namespace stowage::kernels
