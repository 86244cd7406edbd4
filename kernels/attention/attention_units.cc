#include "kernels/attention/attention_units.h"

#include <algorithm>

#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"

namespace stowage::kernels {
namespace {

static_assert(kUnitQueries % kQueryBlock == 0 && kUnitQueries % kLongQueryBlock == 0);

// Distances between tokens.
std::int64_t q_stride(const AttentionShape& shape) {
  return std::int64_t{shape.heads} * shape.head_dim;
}
std::int64_t o_stride(const AttentionShape& shape) {
  return std::int64_t{shape.heads} * shape.value_width();
}

// Returns the first row of the group's keys or values.
const float* rows_of(const RowPlaces& places, const HeadGroups& group) {
  return places.rows + group.first_key() * places.token + group.kv_head() * places.head;
}
// Returns the packed keys of the group's kv head, or null if none are packed.
const float* lanes_of(const RowPlaces& places, const HeadGroups& group) {
  return places.lanes == nullptr ? nullptr : places.lanes + group.kv_head() * places.lanes_head;
}

// The heads that a unit of one query head awaits before it adds to the gradients of its kv head.
struct EarlierHeads {
  OrderedReduction* turns;
  std::size_t group;
  int head;
};
void await(void* data) {
  const EarlierHeads& turn = *static_cast<const EarlierHeads*>(data);
  turn.turns->await(turn.group, turn.head);
}

}  // namespace

KeyArrays keys_by_token(const AttentionShape& shape, std::span<const float> k,
                        std::span<const float> v) {
  const std::int64_t heads = shape.kv_heads, dim = shape.head_dim, wide = shape.value_width();
  return {.k = {.rows = k.data(), .token = heads * dim, .head = dim},
          .v = {.rows = v.data(), .token = heads * wide, .head = wide}};
}

void clear_forward_slack(const AttentionShape& shape, std::span<float> o, std::span<float> lse) {
  const std::int64_t used = shape.cu_q.back();
  std::fill(o.begin() + used * o_stride(shape), o.end(), 0.0f);
  for (int h = 0; h < 2 * shape.heads; ++h) {
    std::fill_n(lse.begin() + h * shape.total_q + used, shape.total_q - used, 0.0f);
  }
}

void clear_backward_slack(const AttentionShape& shape, KvGradients mode, std::span<float> dq,
                          std::span<float> dk, std::span<float> dv) {
  std::fill(dq.begin() + shape.cu_q.back() * q_stride(shape), dq.end(), 0.0f);
  const bool apart = mode == KvGradients::per_query_head;
  const bool all_read = apart || (shape.heads > 0 && shape.kv_head(0) == 0 &&
                                  shape.kv_head(shape.heads - 1) == shape.kv_heads - 1);
  const std::int64_t heads = apart ? shape.heads : shape.kv_heads;
  const std::int64_t used = all_read ? shape.cu_k.back() * heads : 0;
  std::fill(dk.begin() + used * shape.head_dim, dk.end(), 0.0f);
  std::fill(dv.begin() + used * shape.value_width(), dv.end(), 0.0f);
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
  const int head = groups_.first_head();
  const std::int64_t row = groups_.first_query();
  const std::int64_t q = row * q_stride(shape_) + std::int64_t{head} * shape_.head_dim;
  const std::int64_t o = row * o_stride(shape_) + std::int64_t{head} * shape_.value_width();
  const std::int64_t sums = head * shape_.total_q + row;
  const bool sinks = !shape_.sinks.empty() && !arrays_.resume;
  if (sinks) put_sinks();
  const KeyArrays& keys = arrays_.keys;
  simd_table().attention_forward({.lq = groups_.queries(),
                                  .lk = groups_.keys(),
                                  .diagonal = groups_.diagonal(),
                                  .window = shape_.visible(),
                                  .first_query = begin_,
                                  .last_query = end_,
                                  .heads = groups_.heads(),
                                  .dim = shape_.head_dim,
                                  .value_dim = shape_.value_width(),
                                  .scale = shape_.logit_scale(),
                                  .soft_cap = shape_.soft_cap,
                                  .q = arrays_.q.data() + q,
                                  .k = rows_of(keys.k, groups_),
                                  .v = rows_of(keys.v, groups_),
                                  .q_stride = q_stride(shape_),
                                  .k_stride = keys.k.token,
                                  .v_stride = keys.v.token,
                                  .o_stride = o_stride(shape_),
                                  .k_lanes = lanes_of(keys.k, groups_),
                                  .o = arrays_.o.data() + o,
                                  .lse = arrays_.lse.data() + sums,
                                  .lse_low = arrays_.lse.data() + shape_.logarithms() + sums,
                                  .lse_stride = shape_.total_q,
                                  .resume = arrays_.resume || sinks,
                                  .workspace = workspace.data()});
}

// The softmax over a sink alone: its logarithm is the sink, and its value is 0. The keys come on
// top.
void ForwardUnits::put_sinks() const {
  const std::int64_t width = shape_.value_width();
  for (int h = 0; h < groups_.heads(); ++h) {
    const int head = groups_.first_head() + h;
    const std::int64_t row = groups_.first_query() + begin_, count = end_ - begin_;
    const auto lse = arrays_.lse.begin() + head * shape_.total_q + row;
    std::fill_n(lse, count, shape_.sinks[static_cast<std::size_t>(head)]);
    std::fill_n(lse + shape_.logarithms(), count, 0.0f);
    for (std::int64_t i = row; i < row + count; ++i) {
      std::fill_n(arrays_.o.begin() + i * o_stride(shape_) + head * width, width, 0.0f);
    }
  }
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
           .grad_rows = 0},
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

BackwardUnits::Places BackwardUnits::places(std::int64_t dim, int head) const {
  const bool apart = mode_ == KvGradients::per_query_head;
  const std::int64_t heads = apart ? shape_.heads : shape_.kv_heads;
  const std::int64_t token = running_ ? grad_row(dim) : heads * dim;
  const std::int64_t between = running_ ? out_.grad_rows * token : dim;
  return {.first = groups_.first_key() * token + (apart ? head : groups_.kv_head()) * between,
          .token = token,
          .head = apart ? between : 0};
}

void BackwardUnits::run(std::span<float> workspace) const {
  const int head = groups_.first_head() + first_;
  const std::int64_t row = groups_.first_query();
  const std::int64_t q = row * q_stride(shape_) + std::int64_t{head} * shape_.head_dim;
  const std::int64_t o = row * o_stride(shape_) + std::int64_t{head} * shape_.value_width();
  const std::int64_t sums = head * shape_.total_q + row;
  const Places dk = places(shape_.head_dim, head), dv = places(shape_.value_width(), head);
  EarlierHeads turn{.turns = turns_, .group = groups_.number(), .head = first_};
  simd_table().attention_backward(
      {.lq = groups_.queries(),
       .lk = groups_.keys(),
       .diagonal = groups_.diagonal(),
       .window = shape_.visible(),
       .heads = last_ - first_,
       .dim = shape_.head_dim,
       .value_dim = shape_.value_width(),
       .scale = shape_.logit_scale(),
       .soft_cap = shape_.soft_cap,
       .q = input_.q.data() + q,
       .k = rows_of(keys_.k, groups_),
       .v = rows_of(keys_.v, groups_),
       .o = input_.o.data() + o,
       .lse = input_.lse.data() + sums,
       .lse_low = input_.lse.data() + shape_.logarithms() + sums,
       .upstream = input_.upstream.data() + o,
       .q_stride = q_stride(shape_),
       .k_stride = keys_.k.token,
       .v_stride = keys_.v.token,
       .o_stride = o_stride(shape_),
       .lse_stride = shape_.total_q,
       .k_lanes = lanes_of(keys_.k, groups_),
       .v_lanes = lanes_of(keys_.v, groups_),
       .dq = out_.dq.data() + q,
       .dk = out_.dk.data() + dk.first,
       .dv = out_.dv.data() + dv.first,
       .dk_stride = dk.token,
       .dv_stride = dv.token,
       .dk_head = dk.head,
       .dv_head = dv.head,
       .await = mode_ == KvGradients::per_kv_head && first_ > 0 ? await : nullptr,
       .await_data = &turn,
       .running_sums = running_,
       .add_to_dq = out_.add_to_dq,
       .delta = out_.delta.empty() ? nullptr : out_.delta.data() + sums,
       .workspace = workspace.data()});
  if (by_head()) turns_->pass(groups_.number());
}

void write_kv_gradients(const KvGradientRows& rows, std::span<const float> dk_sums,
                        std::span<const float> dv_sums, std::span<float> dk, std::span<float> dv) {
  const auto write = [&rows](std::int64_t dim, float factor, std::span<const float> sums,
                             std::span<float> gradients) {
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      for (int h = 0; h < rows.heads; ++h) {
        const std::int64_t from = (h * rows.total + rows.begin + i) * grad_row(dim);
        const std::int64_t to = (i * rows.heads + h) * dim;
        for (std::int64_t d = 0; d < dim; ++d) gradients[to + d] = factor * sums[from + d];
      }
    }
  };
  write(rows.dim, static_cast<float>(rows.scale), dk_sums, dk);
  write(rows.value_dim, 1.0f, dv_sums, dv);
}

}  // namespace stowage::kernels
