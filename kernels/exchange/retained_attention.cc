#include "kernels/exchange/retained_attention.h"

#include <algorithm>

#include "kernels/attention/attention_units.h"
#include "kernels/attention/shared_units.h"
#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"

namespace stowage::kernels {
namespace {

static_assert(kKeyBlock % kBackwardKeys == 0);

}  // namespace

RetainedKeys::RetainedKeys(std::int64_t length, const AttentionShape& shape, KvGradients gradients)
    : length_(length),
      kv_heads_(shape.kv_heads),
      sum_heads_(gradients == KvGradients::per_query_head ? shape.heads : shape.kv_heads),
      dim_(shape.head_dim),
      value_dim_(shape.value_width()),
      mode_(gradients) {
  k_.resize(kv_heads_ * length * dim_);
  v_.resize(kv_heads_ * length * value_dim_);
  for (auto* lanes : {&k_forward_, &k_backward_}) lanes->resize(kv_heads_ * lanes_head(dim_));
  v_backward_.resize(kv_heads_ * lanes_head(value_dim_));
  dk_.resize(sum_heads_ * length * grad_row(dim_));
  dv_.resize(sum_heads_ * length * grad_row(value_dim_));
}

std::int64_t RetainedKeys::lanes_head(int dim) const {
  return (length_ + kKeyBlock - 1) / kKeyBlock * kKeyBlock * dim;
}

KeyArrays RetainedKeys::keys(const std::vector<float>& k_lanes) const {
  const auto places = [this](const std::vector<float>& rows, int dim,
                             const std::vector<float>& lanes) {
    return RowPlaces{.rows = rows.data(),
                     .token = dim,
                     .head = length_ * dim,
                     .lanes = lanes.data(),
                     .lanes_head = lanes_head(dim)};
  };
  return {.k = places(k_, dim_, k_lanes), .v = places(v_, value_dim_, v_backward_)};
}

void RetainedKeys::put(std::int64_t begin, std::int64_t end, std::span<const float> k,
                       std::span<const float> v) {
  if (begin == end) return;
  const auto copy = [&](std::span<const float> from, int dim, std::vector<float>& to) {
    for (std::int64_t row = begin; row < end; ++row) {
      for (int h = 0; h < kv_heads_; ++h) {
        std::copy_n(from.begin() + ((row - begin) * kv_heads_ + h) * dim, dim,
                    to.begin() + (h * length_ + row) * dim);
      }
    }
  };
  copy(k, dim_, k_);
  copy(v, value_dim_, v_);
  // Whole tiles are packed. The first and the last tile also contain keys of earlier chunks and old
  // data of later chunks.
  const auto pack = [&](const std::vector<float>& rows, int dim, std::int64_t tile,
                        std::vector<float>& lanes) {
    const std::int64_t first = begin / tile * tile;
    const std::int64_t last = std::min((end + tile - 1) / tile * tile, length_);
    for (int h = 0; h < kv_heads_; ++h) {
      simd_table().pack_keys({.from = rows.data() + (h * length_ + first) * dim,
                              .stride = dim,
                              .rows = last - first,
                              .dim = dim,
                              .tile = tile,
                              .to = lanes.data() + h * lanes_head(dim) + first * dim});
    }
  };
  pack(k_, dim_, kKeyBlock, k_forward_);
  pack(k_, dim_, kBackwardKeys, k_backward_);
  pack(v_, value_dim_, kBackwardKeys, v_backward_);
}

RetainedAttention::RetainedAttention(RetainedKeys& retained, const AttentionShape& chunk,
                                     std::int64_t begin)
    : retained_(retained),
      chunk_(chunk),
      begin_(begin),
      end_(begin + chunk.total_q),
      cu_q_{0, static_cast<std::int32_t>(chunk.total_q)},
      cu_k_{0, static_cast<std::int32_t>(end_)} {
  chunk_.total_k = end_;
}

AttentionShape RetainedAttention::shape() const {
  AttentionShape shape = chunk_;
  shape.cu_q = cu_q_;
  shape.cu_k = cu_k_;
  return shape;
}

AttentionMemory RetainedAttention::memory() const { return LocalAttention::memory_of(shape()); }

void RetainedAttention::forward(std::span<const float> q, std::span<const float> k,
                                std::span<const float> v, const StageOutput& output,
                                std::span<float> scratch) {
  retained_.put(begin_, end_, k, v);
  const AttentionShape now = shape();
  const ForwardArrays arrays = {
      .q = q, .keys = retained_.keys(retained_.k_forward_), .o = output.o, .lse = output.sums};
  run_units(now, ForwardUnits(now, arrays, unit_queries()), scratch);
}

void RetainedAttention::backward(const AttentionBackwardInput& input, std::span<float> dq,
                                 std::span<float> dk, std::span<float> dv,
                                 std::span<float> scratch) {
  const AttentionShape now = shape();
  const RunningGradients sums = {.dq = dq,
                                 .add_to_dq = false,
                                 .delta = {},
                                 .dk = retained_.dk_,
                                 .dv = retained_.dv_,
                                 .grad_rows = retained_.length_};
  const KeyArrays keys = retained_.keys(retained_.k_backward_);
  run_units(now, BackwardUnits(now, input, keys, retained_.mode_, sums), scratch);
  write_kv_gradients({.begin = begin_,
                      .rows = end_ - begin_,
                      .total = retained_.length_,
                      .heads = retained_.sum_heads_,
                      .dim = retained_.dim_,
                      .value_dim = retained_.value_dim_,
                      .scale = now.logit_scale()},
                     retained_.dk_, retained_.dv_, dk, dv);
}

}  // namespace stowage::kernels
