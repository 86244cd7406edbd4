// Attention cut into units that can be computed in any order, or at the same time: a run of queries
// of the heads that share a kv head, of one sequence (forward); those heads, or one of them, on the
// whole sequence (backward).
//
//   ForwardUnits units(shape, arrays);
//   while (units.next()) units.run(workspace);
//
// Units write different elements, and what one of them computes does not depend on the others; but
// the query heads of one kv head add to the same gradients, in turns.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/attention/attention.h"
#include "kernels/attention/head_turns.h"

namespace stowage::kernels {

// Where keys and values are: token t of kv head h begins at t * token + h * head. Keys that are
// used several times may be packed beforehand (PackTask), head h at lanes + h * lanes_head: in
// tiles of kKeyBlock for forward, of kBackwardKeys for backward. That takes a batch of one
// sequence.
struct KeyArrays {
  const float *k, *v;
  std::int64_t token, head;
  const float *k_lanes = nullptr, *v_lanes = nullptr;  // forward packs no values
  std::int64_t lanes_head = 0;
};

// As attention.h has them: (tokens, kv_heads, head_dim).
KeyArrays keys_by_token(const AttentionShape& shape, std::span<const float> k,
                        std::span<const float> v);

struct ForwardArrays {
  std::span<const float> q;
  KeyArrays keys;
  std::span<float> o, lse;
  bool resume = false;  // o and lse hold attention over other keys: these keys come on top
};

struct AttentionGradientArrays {
  std::span<float> dq, dk, dv;
};

// Gradients that several passes over different queries or keys add up to. dk and dv are
// (heads, rows, grad_row(head_dim)) with `heads` as KvGradients says and grad_head floats between
// heads; dk has yet to be multiplied by the logits' scale, which write_kv_gradients() does.
struct RunningGradients {
  std::span<float> dq;
  bool add_to_dq;  // else dq is written, where a sequence has queries
  // (heads, total_q): what the pass that writes dq keeps for those that add to it. May be empty.
  std::span<float> delta;
  std::span<float> dk, dv;
  std::int64_t grad_head;
};

// The grain of ForwardUnits: enough queries to pay for copying the keys they see.
inline constexpr std::int64_t kUnitQueries = 256;

// Sequences of at least so many queries have a unit per query head in the backward pass on threads:
// what it costs to pack the keys for each head is then little beside the work.
inline constexpr std::int64_t kHeadUnitQueries = 512;

// What no unit writes: rows beyond the last sequence, and kv heads that no query head reads.
void clear_forward_slack(const AttentionShape& shape, std::span<float> o, std::span<float> lse);
void clear_backward_slack(const AttentionShape& shape, KvGradients mode, std::span<float> dq,
                          std::span<float> dk, std::span<float> dv);

// Walks over sequences and, for each, over the groups of heads that share a kv head.
class HeadGroups {
 public:
  explicit HeadGroups(const AttentionShape& shape) : shape_(shape) {}

  bool next();  // false behind the last one
  std::int64_t first_query() const { return shape_.cu_q[sequence_]; }
  std::int64_t first_key() const { return shape_.cu_k[sequence_]; }
  std::int64_t queries() const { return shape_.cu_q[sequence_ + 1] - first_query(); }
  std::int64_t keys() const { return shape_.cu_k[sequence_ + 1] - first_key(); }
  int first_head() const { return first_head_; }
  int heads() const { return last_head_ - first_head_; }
  int kv_head() const { return shape_.kv_head(first_head_); }
  std::size_t number() const { return sequence_ * shape_.kv_heads + kv_head(); }  // of the group
  static std::size_t most(const AttentionShape& shape) {
    return (shape.cu_q.size() - 1) * shape.kv_heads;
  }

 private:
  const AttentionShape& shape_;
  std::size_t sequence_ = 0;
  int first_head_ = 0, last_head_ = 0;  // of the current group
};

class ForwardUnits {
 public:
  // Units of at most `queries`, a multiple of kUnitQueries; 0: as long as the sequences, which
  // saves copying keys again. The last queries of a sequence, which see most keys, come first.
  ForwardUnits(const AttentionShape& shape, const ForwardArrays& arrays, std::int64_t queries)
      : shape_(shape), arrays_(arrays), groups_(shape), queries_(queries) {}

  bool next();
  void run(std::span<float> workspace) const;  // forward_workspace() floats

 private:
  const AttentionShape& shape_;
  ForwardArrays arrays_;
  HeadGroups groups_;
  std::int64_t queries_;
  std::int64_t begin_ = 0, end_ = 0;  // queries of the current unit
};

class BackwardUnits {
 public:
  // With `turns`, of HeadGroups::most(shape) groups, which outlive the units, long sequences have a
  // unit per query head. Units must then be begun in their order.
  BackwardUnits(const AttentionShape& shape, const AttentionBackwardInput& input, KvGradients mode,
                const AttentionGradientArrays& out, HeadTurns* turns = nullptr);
  // Of `input`, k and v are not looked at.
  BackwardUnits(const AttentionShape& shape, const AttentionBackwardInput& input,
                const KeyArrays& keys, KvGradients mode, const RunningGradients& out);

  bool next();
  void run(std::span<float> workspace) const;  // backward_workspace() floats

 private:
  bool by_head() const { return turns_ != nullptr && groups_.queries() >= kHeadUnitQueries; }

  const AttentionShape& shape_;
  AttentionBackwardInput input_;
  KeyArrays keys_;
  KvGradients mode_;
  RunningGradients out_;
  std::int64_t grad_token_;  // between tokens of dk and dv
  bool running_;
  HeadTurns* turns_ = nullptr;
  HeadGroups groups_;
  int first_ = 0, last_ = 0;  // heads of the current unit, within its group
};

// Running sums as gradients: rows [begin, begin + rows) of `total`, as (rows, heads, dim).
struct KvGradientRows {
  std::int64_t begin, rows, total;
  int heads, dim;
  double scale;  // of the logits
};
void write_kv_gradients(const KvGradientRows& rows, std::span<const float> dk_sums,
                        std::span<const float> dv_sums, std::span<float> dk, std::span<float> dv);

}  // namespace stowage::kernels
