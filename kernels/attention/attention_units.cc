#include "kernels/attention/attention_units.h"

#include <algorithm>

#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"

namespace stowage::kernels {
namespace {

static_assert(kUnitQueries % kQueryBlock == 0);

std::int64_t q_stride(const AttentionShape& shape) {
  return std::int64_t{shape.heads} * shape.head_dim;
}
std::int64_t k_stride(const AttentionShape& shape) {
  return std::int64_t{shape.kv_heads} * shape.head_dim;
}
std::int64_t gradient_stride(const AttentionShape& shape, KvGradients mode) {
  return mode == KvGradients::per_query_head ? q_stride(shape) : k_stride(shape);
}

// Returns the packed keys of the group's kv head, or null if `lanes` is null.
const float* lanes_of(const float* lanes, const KeyArrays& keys, const HeadGroups& group) {
  return lanes == nullptr ? nullptr : lanes + group.kv_head() * keys.lanes_head;
}

// The turn that a unit of one query head awaits before it adds to the gradients of its kv head.
struct Turn {
  OrderedReduction* turns;
  std::size_t group;
  int head;
};
void await(void* data) {
  const Turn& turn = *static_cast<const Turn*>(data);
  turn.turns->await(turn.group, turn.head);
}

}  // namespace

KeyArrays keys_by_token(const AttentionShape& shape, std::span<const float> k,
                        std::span<const float> v) {
  return {.k = k.data(), .v = v.data(), .token = k_stride(shape), .head = shape.head_dim};
}

void clear_forward_slack(const AttentionShape& shape, std::span<float> o, std::span<float> lse) {
  const std::int64_t used = shape.cu_q.back();
  std::fill(o.begin() + used * q_stride(shape), o.end(), 0.0f);
  for (int h = 0; h < 2 * shape.heads; ++h) {
    std::fill_n(lse.begin() + h * shape.total_q + used, shape.total_q - used, 0.0f);
  }
}

void clear_backward_slack(const AttentionShape& shape, KvGradients mode, std::span<float> dq,
                          std::span<float> dk, std::span<float> dv) {
  std::fill(dq.begin() + shape.cu_q.back() * q_stride(shape), dq.end(), 0.0f);
  const bool all_read =
      mode == KvGradients::per_query_head || (shape.heads > 0 && shape.kv_head(0) == 0 &&
                                              shape.kv_head(shape.heads - 1) == shape.kv_heads - 1);
  const std::int64_t used = all_read ? shape.cu_k.back() * gradient_stride(shape, mode) : 0;
  std::fill(dk.begin() + used, dk.end(), 0.0f);
  std::fill(dv.begin() + used, dv.end(), 0.0f);
}

bool HeadGroups::next() {
  if (last_head_ == shape_.heads) {
    if (shape_.heads == 0) return false;
    ++sequence_;
    last_head_ = 0;
  }
  if (sequence_ + 1 >= shape_.cu_q.size()) return false;
  first_head_ = last_head_;
  while (last_head_ < shape_.heads && shape_.kv_head(last_head_) == kv_head()) ++last_head_;
  return true;
}

bool ForwardUnits::next() {
  end_ = begin_;
  while (end_ == 0) {
    if (!groups_.next()) return false;
    end_ = groups_.queries();
  }
  begin_ = queries_ == 0 ? 0 : (end_ - 1) / queries_ * queries_;
  return true;
}

void ForwardUnits::run(std::span<float> workspace) const {
  const std::int64_t dim = shape_.head_dim;
  const std::int64_t q = groups_.first_query() * q_stride(shape_) + groups_.first_head() * dim;
  const KeyArrays& keys = arrays_.keys;
  const std::int64_t k = groups_.first_key() * keys.token + groups_.kv_head() * keys.head;
  const std::int64_t sums = groups_.first_head() * shape_.total_q + groups_.first_query();
  simd_table().attention_forward({.lq = groups_.queries(),
                                  .lk = groups_.keys(),
                                  .diagonal = shape_.diagonal(groups_.queries(), groups_.keys()),
                                  .first_query = begin_,
                                  .last_query = end_,
                                  .heads = groups_.heads(),
                                  .dim = shape_.head_dim,
                                  .scale = shape_.logit_scale(),
                                  .q = arrays_.q.data() + q,
                                  .k = keys.k + k,
                                  .v = keys.v + k,
                                  .q_stride = q_stride(shape_),
                                  .k_stride = keys.token,
                                  .k_lanes = lanes_of(keys.k_lanes, keys, groups_),
                                  .o = arrays_.o.data() + q,
                                  .lse = arrays_.lse.data() + sums,
                                  .lse_low = arrays_.lse.data() + shape_.logarithms() + sums,
                                  .lse_stride = shape_.total_q,
                                  .resume = arrays_.resume,
                                  .workspace = workspace.data()});
}

BackwardUnits::BackwardUnits(const AttentionShape& shape, const AttentionBackwardInput& input,
                             KvGradients mode, const AttentionGradientArrays& out,
                             OrderedReduction* turns)
    : shape_(shape),
      input_(input),
      keys_(keys_by_token(shape, input.k, input.v)),
      mode_(mode),
      out_{.dq = out.dq,
           .add_to_dq = false,
           .delta = {},
           .dk = out.dk,
           .dv = out.dv,
           .grad_head = shape.head_dim},
      grad_token_(gradient_stride(shape, mode)),
      running_(false),
      turns_(turns),
      groups_(shape) {}

BackwardUnits::BackwardUnits(const AttentionShape& shape, const AttentionBackwardInput& input,
                             const KeyArrays& keys, KvGradients mode, const RunningGradients& out)
    : shape_(shape),
      input_(input),
      keys_(keys),
      mode_(mode),
      out_(out),
      grad_token_(grad_row(shape.head_dim)),
      running_(true),
      groups_(shape) {}

bool BackwardUnits::next() {
  first_ = last_;
  if (first_ == groups_.heads()) {
    if (!groups_.next()) return false;
    first_ = 0;
  }
  last_ = by_head() ? first_ + 1 : groups_.heads();
  return true;
}

void BackwardUnits::run(std::span<float> workspace) const {
  const std::int64_t dim = shape_.head_dim;
  const int first_head = groups_.first_head() + first_;
  const std::int64_t q = groups_.first_query() * q_stride(shape_) + first_head * dim;
  const std::int64_t k = groups_.first_key() * keys_.token + groups_.kv_head() * keys_.head;
  const std::int64_t sums = first_head * shape_.total_q + groups_.first_query();
  const bool apart = mode_ == KvGradients::per_query_head;
  const std::int64_t grad =
      groups_.first_key() * grad_token_ + (apart ? first_head : groups_.kv_head()) * out_.grad_head;
  Turn turn{.turns = turns_, .group = groups_.number(), .head = first_};
  simd_table().attention_backward({.lq = groups_.queries(),
                                   .lk = groups_.keys(),
                                   .diagonal = shape_.diagonal(groups_.queries(), groups_.keys()),
                                   .heads = last_ - first_,
                                   .dim = shape_.head_dim,
                                   .scale = shape_.logit_scale(),
                                   .q = input_.q.data() + q,
                                   .k = keys_.k + k,
                                   .v = keys_.v + k,
                                   .o = input_.o.data() + q,
                                   .lse = input_.lse.data() + sums,
                                   .lse_low = input_.lse.data() + shape_.logarithms() + sums,
                                   .upstream = input_.upstream.data() + q,
                                   .q_stride = q_stride(shape_),
                                   .k_stride = keys_.token,
                                   .lse_stride = shape_.total_q,
                                   .k_lanes = lanes_of(keys_.k_lanes, keys_, groups_),
                                   .v_lanes = lanes_of(keys_.v_lanes, keys_, groups_),
                                   .dq = out_.dq.data() + q,
                                   .dk = out_.dk.data() + grad,
                                   .dv = out_.dv.data() + grad,
                                   .grad_stride = grad_token_,
                                   .grad_head = apart ? out_.grad_head : 0,
                                   .turn = !apart && first_ > 0 ? await : nullptr,
                                   .turn_data = &turn,
                                   .running_sums = running_,
                                   .add_to_dq = out_.add_to_dq,
                                   .delta = out_.delta.empty() ? nullptr : out_.delta.data() + sums,
                                   .workspace = workspace.data()});
  if (by_head()) turns_->pass(groups_.number());
}

void write_kv_gradients(const KvGradientRows& rows, std::span<const float> dk_sums,
                        std::span<const float> dv_sums, std::span<float> dk, std::span<float> dv) {
  const std::int64_t row = grad_row(rows.dim);
  const auto scale = static_cast<float>(rows.scale);
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    for (int h = 0; h < rows.heads; ++h) {
      const std::int64_t from = (h * rows.total + rows.begin + i) * row;
      const std::int64_t to = (i * rows.heads + h) * rows.dim;
      for (int d = 0; d < rows.dim; ++d) dk[to + d] = scale * dk_sums[from + d];
      std::copy_n(dv_sums.begin() + from, rows.dim, dv.begin() + to);
    }
  }
}

}  // namespace stowage::kernels
