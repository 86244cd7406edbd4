// Attention cut into units that can be computed in any order, or at the same time: a run of queries
// of the heads that share a kv head, of one sequence (forward); those heads on the whole sequence
// (backward). Not installed.
//
//   ForwardUnits units(shape, arrays);
//   while (units.next()) units.run(workspace);
//
// Units write different elements, and what one of them computes does not depend on the others.
#pragma once

#include "kernels/attention.h"

namespace stowage::kernels {

struct ForwardArrays {
  std::span<const float> q, k, v;
  std::span<float> o, lse;
};

struct AttentionGradientArrays {
  std::span<float> dq, dk, dv;
};

// The grain of ForwardUnits: enough queries to pay for copying the keys they see.
inline constexpr std::int64_t kUnitQueries = 256;

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
  BackwardUnits(const AttentionShape& shape, const AttentionBackwardInput& input, KvGradients mode,
                const AttentionGradientArrays& out)
      : shape_(shape), input_(input), mode_(mode), out_(out), groups_(shape) {}

  bool next() { return groups_.next(); }
  void run(std::span<float> workspace) const;  // backward_workspace() floats

 private:
  const AttentionShape& shape_;
  AttentionBackwardInput input_;
  KvGradients mode_;
  AttentionGradientArrays out_;
  HeadGroups groups_;
};

}  // namespace stowage::kernels
