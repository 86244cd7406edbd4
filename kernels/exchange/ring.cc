#include "kernels/exchange/ring.h"

#include <algorithm>
#include <cassert>

#include "kernels/attention/attention_units.h"
#include "kernels/attention/shared_units.h"
#include "kernels/attention/simd/table.h"

namespace stowage::kernels {

void RingAttention::Part::add(std::int32_t end_q, std::int32_t end_k, std::int64_t diagonal) {
  cu_q.push_back(end_q);
  cu_k.push_back(end_k);
  diagonals.push_back(diagonal);
}

AttentionShape RingAttention::Part::shape(const AttentionShape& own) const {
  AttentionShape shape = own;
  shape.cu_q = cu_q;
  shape.cu_k = cu_k;
  shape.diagonals = diagonals;
  return shape;
}

RingAttention::RingAttention(Communicator& world, RingOrder order, const AttentionShape& local,
                             KvGradients mode)
    : world_(world), order_(order), local_(local), mode_(mode) {
  assert(local.causal && local.cu_q.data() == local.cu_k.data());
  own_ = local;
  own_.total_k = rows();
  own_.scale = local.logit_scale();
  own_.group_size = local.heads > 0 ? local.queries_per_kv() : 1;
  for (int source = 0; source < world.size(); ++source) {
    parts_.push_back(own_.window > 0 ? window_parts_of(source) : parts_of(source));
  }
  sum_heads_ = mode == KvGradients::per_query_head ? own_.heads : own_.kv_heads;
  v_at_ = own_.k_size();
  dk_at_ = v_at_ + own_.v_size();
  dv_at_ = dk_at_ + sum_heads_ * rows() * grad_row(own_.head_dim);
  size_ = dv_at_ + sum_heads_ * rows() * grad_row(own_.value_width());
  for (auto* v : {&travelling_, &arriving_}) v->resize(static_cast<std::size_t>(size_));
  delta_.resize(static_cast<std::size_t>(own_.logarithms()));
  workspace_.resize(
      static_cast<std::size_t>(std::max(forward_workspace(own_), backward_workspace(own_))));
}

// A segment with keys and without queries, or with queries and without keys, describes pairs that
// are masked.
std::vector<RingAttention::Part> RingAttention::parts_of(int source) const {
  Part part{.cu_q = {0}, .cu_k = {0}, .diagonals = {}};
  const bool own = source == world_.rank(), earlier = source < world_.rank();
  const bool zigzag = order_ == RingOrder::zigzag;
  if (!own && !earlier && !zigzag) return {};
  for (std::size_t b = 0; b + 1 < own_.cu_q.size(); ++b) {
    const std::int32_t begin = own_.cu_q[b], end = own_.cu_q[b + 1];
    const std::int32_t middle = begin + (end - begin) / 2;
    const std::int64_t every = end - begin;  // a diagonal that hides no key
    if (own) {
      part.add(end, end, 0);
    } else if (!zigzag) {
      part.add(end, end, every);
    } else if (earlier) {
      part.add(end, middle, every);
      part.add(end, end, every);
    } else {
      part.add(middle, begin, every);
      part.add(end, end, every);
    }
  }
  return {std::move(part)};
}

// A rank has one run of positions of a sequence, or in zigzag order two: chunks r and 2P-1-r. A
// query sees the keys behind it by less than the window. Where a query's later chunk meets a later
// chunk of keys and its earlier one an earlier one, the segments stand in the order of the rows;
// later queries against earlier keys are a part of their own. Earlier queries see no later chunk.
std::vector<RingAttention::Part> RingAttention::window_parts_of(int source) const {
  const std::int64_t rank = world_.rank(), last = 2 * std::int64_t{world_.size()} - 1;
  const bool zigzag = order_ == RingOrder::zigzag;
  Part alike{.cu_q = {0}, .cu_k = {0}, .diagonals = {}};
  Part across = alike;
  bool any_alike = source == rank, any_across = false;  // the first part writes every query
  for (std::size_t b = 0; b + 1 < own_.cu_q.size(); ++b) {
    const std::int32_t begin = own_.cu_q[b], end = own_.cu_q[b + 1];
    const std::int32_t middle = zigzag ? begin + (end - begin) / 2 : end;
    const std::int64_t chunk = middle - begin;
    // Returns whether a query of a chunk `distance` behind the keys' chunk sees one of its keys.
    const auto sees = [&](std::int64_t distance) {
      return distance > -chunk && distance - chunk + 1 < own_.window;
    };
    const std::int64_t ahead = (rank - source) * chunk;
    alike.add(middle, middle, ahead);
    any_alike = any_alike || sees(ahead);
    if (!zigzag) continue;
    alike.add(end, end, -ahead);
    any_alike = any_alike || sees(-ahead);
    const std::int64_t distance = (last - rank - source) * chunk;
    across.add(middle, begin, 0);
    across.add(end, middle, distance);
    across.add(end, end, 0);
    any_across = any_across || sees(distance);
  }
  std::vector<Part> parts;
  if (any_alike) parts.push_back(std::move(alike));
  if (any_across) parts.push_back(std::move(across));
  return parts;
}

void RingAttention::load_keys(std::span<const float> k, std::span<const float> v) {
  const auto load = [&](std::span<const float> from, std::int64_t dim, std::int64_t at) {
    for (std::int64_t row = 0; row < rows(); ++row) {
      for (int h = 0; h < own_.kv_heads; ++h) {
        std::copy_n(from.begin() + (row * own_.kv_heads + h) * dim, dim,
                    travelling_.begin() + at + (h * rows() + row) * dim);
      }
    }
  };
  load(k, own_.head_dim, 0);
  load(v, own_.value_width(), v_at_);
}

KeyArrays RingAttention::keys() const {
  const std::int64_t dim = own_.head_dim, wide = own_.value_width();
  return {.k = {.rows = travelling_.data(), .token = dim, .head = rows() * dim},
          .v = {.rows = travelling_.data() + v_at_, .token = wide, .head = rows() * wide}};
}

void RingAttention::pass_on(std::int64_t skip, std::int64_t count) {
  const int size = world_.size(), me = world_.rank();
  world_.send_receive(std::span(travelling_).subspan(skip, count), (me + 1) % size,
                      std::span(arriving_).subspan(skip, count), (me + size - 1) % size);
  std::swap(travelling_, arriving_);
}

void RingAttention::forward(std::span<const float> q, std::span<const float> k,
                            std::span<const float> v, const StageOutput& output, std::span<float>) {
  const int size = world_.size();
  load_keys(k, v);
  clear_forward_slack(own_, output.o, output.sums);
  bool resume = false;
  for (int step = 0; step < size; ++step) {
    for (const Part& part : parts_[(world_.rank() + size - step) % size]) {
      const AttentionShape shape = part.shape(own_);
      const ForwardArrays arrays = {
          .q = q, .keys = keys(), .o = output.o, .lse = output.sums, .resume = resume};
      run_units(shape, ForwardUnits(shape, arrays, unit_queries()), workspace_);
      resume = true;
    }
    if (step + 1 < size) pass_on(0, dk_at_);
  }
}

void RingAttention::backward(const AttentionBackwardInput& input, std::span<float> dq,
                             std::span<float> dk, std::span<float> dv, std::span<float>) {
  const int size = world_.size();
  load_keys(input.k, input.v);
  std::fill(travelling_.begin() + dk_at_, travelling_.end(), 0.0f);
  clear_backward_slack(own_, mode_, dq, dk, dv);
  bool add_to_dq = false;
  for (int step = 0; step < size; ++step) {
    for (const Part& part : parts_[(world_.rank() + size - step) % size]) {
      const AttentionShape shape = part.shape(own_);
      const std::span<float> sums = travelling_;
      const RunningGradients running = {.dq = dq,
                                        .add_to_dq = add_to_dq,
                                        .delta = delta_,
                                        .dk = sums.subspan(dk_at_, dv_at_ - dk_at_),
                                        .dv = sums.subspan(dv_at_, size_ - dv_at_),
                                        .grad_rows = rows()};
      run_units(shape, BackwardUnits(shape, input, keys(), mode_, running), workspace_);
      add_to_dq = true;
    }
    // In the last hop the gradients return to their rank; the keys are not needed there.
    if (step + 1 < size) {
      pass_on(0, size_);
    } else if (size > 1) {
      pass_on(dk_at_, size_ - dk_at_);
    }
  }
  const std::span<const float> sums = travelling_;
  write_kv_gradients({.begin = 0,
                      .rows = rows(),
                      .total = rows(),
                      .heads = sum_heads_,
                      .dim = own_.head_dim,
                      .value_dim = own_.value_width(),
                      .scale = own_.logit_scale()},
                     sums.subspan(dk_at_, dv_at_ - dk_at_), sums.subspan(dv_at_, size_ - dv_at_),
                     dk, dv);
}

}  // namespace stowage::kernels
