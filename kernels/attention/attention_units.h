// Attention divided into units that can be computed in any order or in parallel. A forward unit is
// a range of queries of one sequence, for all heads that share a kv head. A backward unit is the
// whole sequence, for all heads that share a kv head or for one of these heads.
//
//   ForwardUnits units(shape, arrays);
//   while (units.next()) units.run(workspace);
//
// Units write different elements, and the result of a unit does not depend on other units. The
// exception: query heads of one kv head add to the same gradients, in head order
// (ordered_reduction.h).
#pragma once

#include <cstdint>
#include <span>

#include "kernels/attention/attention.h"
#include "kernels/attention/ordered_reduction.h"

namespace stowage::kernels {

// The location of keys and values: token t of kv head h begins at t * token + h * head. Keys that
// several units use may be packed beforehand (PackTask), with head h at lanes + h * lanes_head.
// Forward uses tiles of kKeyBlock keys, backward tiles of kBackwardKeys. Packed keys require a
// batch of one sequence.
struct RowPlaces {
  const float* rows;
  std::int64_t token, head;
  const float* lanes = nullptr;
  std::int64_t lanes_head = 0;
};
struct KeyArrays {
  RowPlaces k, v;  // the forward pass packs no values
};

// Returns the location of keys in the layout of attention.h: (tokens, kv_heads, channels).
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

// Gradients that are summed over several passes over different queries or keys. dk and dv are
// (heads, grad_rows, grad_row(channels)) with `heads` as KvGradients says; dk has yet to be
// multiplied by the logits' scale, which write_kv_gradients() does.
struct RunningGradients {
  std::span<float> dq;
  bool add_to_dq;  // if false, dq is written, where a sequence has queries
  // (heads, total_q): the pass that writes dq stores delta here for the passes that add to dq. May
  // be empty.
  std::span<float> delta;
  std::span<float> dk, dv;
  std::int64_t grad_rows;
};

// Queries per forward unit: enough that the time to copy the keys is small beside the work.
inline constexpr std::int64_t kUnitQueries = 256;

// Sequences with at least this many queries have one backward unit per query head on threads. From
// this length on, the time to pack the keys for each head is small beside the work.
inline constexpr std::int64_t kHeadUnitQueries = 512;

// Write 0 to the elements that no unit writes: rows beyond the last sequence, and kv heads that no
// query head reads.
void clear_forward_slack(const AttentionShape& shape, std::span<float> o, std::span<float> lse);
void clear_backward_slack(const AttentionShape& shape, KvGradients mode, std::span<float> dq,
                          std::span<float> dk, std::span<float> dv);

// Iterates over sequences and, for each sequence, over the groups of heads that share a kv head.
class HeadGroups {
 public:
  explicit HeadGroups(const AttentionShape& shape) : shape_(shape) {}

  bool next();  // returns false after the last group
  std::int64_t first_query() const { return shape_.cu_q[sequence_]; }
  std::int64_t first_key() const { return shape_.cu_k[sequence_]; }
  std::int64_t queries() const { return shape_.cu_q[sequence_ + 1] - first_query(); }
  std::int64_t keys() const { return shape_.cu_k[sequence_ + 1] - first_key(); }
  std::int64_t diagonal() const { return shape_.diagonal(sequence_); }
  int first_head() const { return first_head_; }
  int heads() const { return last_head_ - first_head_; }
  int kv_head() const { return shape_.kv_head(first_head_); }
  // index of the group
  std::size_t number() const { return sequence_ * shape_.kv_heads + kv_head(); }
  static std::size_t most(const AttentionShape& shape) {
    return (shape.cu_q.size() - 1) * shape.kv_heads;
  }

 private:
  const AttentionShape& shape_;
  std::size_t sequence_ = 0;
  int first_head_ = 0, last_head_ = 0;  // heads of the current group
};

class ForwardUnits {
 public:
  // `queries` is the largest number of queries of a unit, a multiple of kUnitQueries. 0 means whole
  // sequences, which avoids copying keys again. The last queries of a sequence, which see most
  // keys, come first.
  ForwardUnits(const AttentionShape& shape, const ForwardArrays& arrays, std::int64_t queries)
      : shape_(shape), arrays_(arrays), groups_(shape), queries_(queries) {}

  bool next();
  void run(std::span<float> workspace) const;  // `workspace` has forward_workspace() floats

 private:
  void put_sinks() const;

  const AttentionShape& shape_;
  ForwardArrays arrays_;
  HeadGroups groups_;
  std::int64_t queries_;
  std::int64_t begin_ = 0, end_ = 0;  // queries of the current unit
};

class BackwardUnits {
 public:
  // `turns`, if given, has HeadGroups::most(shape) groups and must outlive the units. Long
  // sequences then have one unit per query head, and units must be started in their order.
  BackwardUnits(const AttentionShape& shape, const AttentionBackwardInput& input, KvGradients mode,
                const AttentionGradientArrays& out, OrderedReduction* turns = nullptr);
  // `keys` replaces k and v of `input`, which are not read.
  BackwardUnits(const AttentionShape& shape, const AttentionBackwardInput& input,
                const KeyArrays& keys, KvGradients mode, const RunningGradients& out);

  bool next();
  void run(std::span<float> workspace) const;  // `workspace` has backward_workspace() floats

 private:
  // The place of the gradients of the unit's kv head, of `dim` channels.
  struct Places {
    std::int64_t first, token, head;
  };
  Places places(std::int64_t dim, int head) const;
  bool by_head() const { return turns_ != nullptr && groups_.queries() >= kHeadUnitQueries; }

  const AttentionShape& shape_;
  AttentionBackwardInput input_;
  KeyArrays keys_;
  KvGradients mode_;
  RunningGradients out_;
  bool running_;
  OrderedReduction* turns_ = nullptr;
  HeadGroups groups_;
  int first_ = 0, last_ = 0;  // heads of the current unit, within its group
};

// Converts rows [begin, begin + rows) of running sums over `total` rows to gradients (rows, heads,
// dim or value_dim).
struct KvGradientRows {
  std::int64_t begin, rows, total;
  int heads, dim, value_dim;
  double scale;  // factor of the logits
};
void write_kv_gradients(const KvGradientRows& rows, std::span<const float> dk_sums,
                        std::span<const float> dv_sums, std::span<float> dk, std::span<float> dv);

}  // namespace stowage::kernels
