#include "kernels/exchange/ulysses.h"

#include <algorithm>
#include <cassert>

namespace stowage::kernels {

UlyssesAttention::UlyssesAttention(Communicator& world, const AttentionShape& shape)
    : UlyssesAttention(world, shape, [](const AttentionShape& own) {
        return std::make_unique<LocalAttention>(own, KvGradients::per_query_head);
      }) {}

UlyssesAttention::UlyssesAttention(Communicator& world, const AttentionShape& shape,
                                   const MakeAttention& inside)
    : world_(world), shape_(shape), own_(shape), split_(even_split(shape.total_q, world.size())) {
  assert(shape.total_q == shape.total_k);
  const std::vector<std::int64_t> heads = even_split(shape.heads, world.size());
  for (int r = 0; r < world.size(); ++r) {
    const int first = static_cast<int>(heads[r]), last = static_cast<int>(heads[r + 1]);
    query_.first.push_back(first);
    query_.last.push_back(last);
    // A rank without query heads needs no kv heads.
    kv_.first.push_back(first < last ? shape.kv_head(first) : 0);
    kv_.last.push_back(first < last ? shape.kv_head(last - 1) + 1 : 0);
  }
  const int me = world.rank();
  own_.heads = query_.width(me);
  own_.kv_heads = kv_.width(me);
  own_.scale = shape.logit_scale();
  own_.group_size = shape.queries_per_kv();
  own_.group_offset = query_.first[me] - kv_.first[me] * own_.group_size;
  if (own_.heads == 0) own_.group_offset = 0;
  if (!shape.sinks.empty()) {
    own_.sinks = shape.sinks.subspan(static_cast<std::size_t>(query_.first[me]),
                                     static_cast<std::size_t>(own_.heads));
  }
  send_counts_.resize(world.size());
  recv_counts_.resize(world.size());
  for (auto* v : {&q_, &dq_, &dk_}) v->resize(own_.q_size());
  for (auto* v : {&o_, &upstream_, &dv_}) v->resize(own_.o_size());
  k_.resize(own_.k_size());
  v_.resize(own_.v_size());
  inside_ = inside(own_);
  sums_.resize(inside_->memory().sums);
  const int widest = std::max(shape.head_dim, shape.value_width());
  slice_.resize(my_tokens() * shape.heads * widest);
  // With more ranks than kv heads, a slice of k is sent to every rank that needs it.
  std::int64_t copies = shape.heads;
  for (int r = 0, kv = 0; r < world.size(); ++r)
    copies = std::max<std::int64_t>(copies, kv += kv_.width(r));
  packed_.resize(my_tokens() * copies * widest);
  const AttentionMemory memory = inside_->memory();
  workspace_.resize(std::max(memory.forward_scratch, memory.backward_scratch));
}

std::int64_t UlyssesAttention::floats() const {
  std::size_t all = 0;
  for (const auto* v :
       {&q_, &k_, &v_, &o_, &sums_, &upstream_, &dq_, &dk_, &dv_, &packed_, &slice_, &workspace_}) {
    all += v->size();
  }
  return static_cast<std::int64_t>(all);
}

std::int64_t UlyssesAttention::my_tokens() const {
  return split_[world_.rank() + 1] - split_[world_.rank()];
}

void UlyssesAttention::to_heads(const Deal& deal, Width all, std::span<const float> slice,
                                std::span<float> mine) {
  const std::int64_t dim = all.dim, n = my_tokens(), heads = all.heads;
  auto to = packed_.begin();
  for (int r = 0; r < world_.size(); ++r) {
    const std::int64_t width = deal.width(r) * dim;
    send_counts_[r] = n * width;
    recv_counts_[r] = (split_[r + 1] - split_[r]) * deal.width(world_.rank()) * dim;
    for (std::int64_t t = 0; t < n; ++t) {
      to = std::copy_n(slice.begin() + (t * heads + deal.first[r]) * dim, width, to);
    }
  }
  // The received data are in rank order, hence in token order: they already have the layout (all
  // tokens, my heads, dim).
  const auto size = static_cast<std::size_t>(to - packed_.begin());
  world_.all_to_all_v(std::span(packed_).first(size), send_counts_, mine, recv_counts_);
}

void UlyssesAttention::to_tokens(const Deal& deal, Width all, std::span<const float> mine,
                                 std::span<float> slice) {
  const std::int64_t dim = all.dim, n = my_tokens(), heads = all.heads;
  std::int64_t size = 0;
  for (int r = 0; r < world_.size(); ++r) {
    send_counts_[r] = (split_[r + 1] - split_[r]) * deal.width(world_.rank()) * dim;
    size += recv_counts_[r] = n * deal.width(r) * dim;
  }
  world_.all_to_all_v(mine, send_counts_, std::span(packed_).first(size), recv_counts_);
  auto from = packed_.cbegin();
  for (int r = 0; r < world_.size(); ++r) {
    const std::int64_t width = deal.width(r) * dim;
    for (std::int64_t t = 0; t < n; ++t, from += width) {
      std::copy_n(from, width, slice.begin() + (t * heads + deal.first[r]) * dim);
    }
  }
}

void UlyssesAttention::sum_to_tokens(int dim, std::span<const float> mine, std::span<float> slice) {
  to_tokens(query_, {shape_.heads, dim}, mine, slice_);
  sum_kv_gradients(my_tokens(), shape_.heads, shape_.kv_heads, dim, slice_, slice);
}

void UlyssesAttention::forward(std::span<const float> q, std::span<const float> k,
                               std::span<const float> v, const StageOutput& output,
                               std::span<float>) {
  to_heads(query_, {shape_.heads, shape_.head_dim}, q, q_);
  to_heads(kv_, {shape_.kv_heads, shape_.head_dim}, k, k_);
  to_heads(kv_, {shape_.kv_heads, shape_.value_width()}, v, v_);
  inside_->forward(q_, k_, v_, {.o = o_, .sums = sums_}, workspace_);
  to_tokens(query_, {shape_.heads, shape_.value_width()}, o_, output.o);
}

void UlyssesAttention::backward(const AttentionBackwardInput& input, std::span<float> dq,
                                std::span<float> dk, std::span<float> dv, std::span<float>) {
  to_heads(query_, {shape_.heads, shape_.value_width()}, input.upstream, upstream_);
  inside_->backward({.q = q_, .k = k_, .v = v_, .o = o_, .lse = sums_, .upstream = upstream_}, dq_,
                    dk_, dv_, workspace_);
  to_tokens(query_, {shape_.heads, shape_.head_dim}, dq_, dq);
  sum_to_tokens(shape_.head_dim, dk_, dk);
  sum_to_tokens(shape_.value_width(), dv_, dv);
}

}  // namespace stowage::kernels
