#include "kernels/block/weight_shards.h"

#include <algorithm>
#include <array>

namespace stowage::kernels {
namespace {

// A rectangle of a matrix (rows, columns).
struct Cut {
  std::int64_t columns = 0;
  std::int64_t first_row = 0, row_count = 0;
  std::int64_t first_column = 0, column_count = 0;
};

// Returns the cut of each weight in the order of kWeightNames.
std::array<Cut, kWeightTensors> cuts(const BlockShape& shape, int ranks, int rank) {
  const BlockShape part = shard_shape(shape, ranks);
  const std::int64_t h = shape.hidden, f = shape.ffn;
  const std::int64_t first_kv = std::int64_t{rank} * shape.kv_heads / ranks;  // kv head
  const auto columns = [&](std::int64_t all, std::int64_t first, std::int64_t count) {
    return Cut{.columns = all,
               .first_row = 0,
               .row_count = h,
               .first_column = first,
               .column_count = count};
  };
  const auto rows = [&](std::int64_t count) {
    return Cut{.columns = h,
               .first_row = rank * count,
               .row_count = count,
               .first_column = 0,
               .column_count = h};
  };
  const Cut norm{.columns = h, .row_count = 1, .column_count = h};
  const Cut query = columns(shape.q_width(), rank * part.q_width(), part.q_width());
  const Cut key = columns(shape.k_width(), first_kv * shape.head_dim, part.k_width());
  const Cut value = columns(shape.v_width(), first_kv * shape.value_width(), part.v_width());
  const Cut gate = columns(f, std::int64_t{rank} * part.ffn, part.ffn);
  return {norm, query, key, value, rows(part.o_width()), norm, gate, gate, rows(part.ffn)};
}

}  // namespace

std::vector<std::string> check_shards(const BlockShape& shape, int ranks) {
  std::vector<std::string> problems;
  const std::string who = std::to_string(ranks) + " ranks that share products";
  if (ranks < 1) return {who + ": there must be one or more"};
  if (shape.heads % ranks != 0) {
    problems.push_back(who + " must divide heads, " + std::to_string(shape.heads));
  }
  if (shape.ffn % ranks != 0) {
    problems.push_back(who + " must divide ffn, " + std::to_string(shape.ffn));
  }
  if (shape.kv_heads % ranks != 0 && ranks % shape.kv_heads != 0) {
    problems.push_back(who + " must divide kv_heads or be divided by them, " +
                       std::to_string(shape.kv_heads));
  }
  return problems;
}

BlockShape shard_shape(const BlockShape& shape, int ranks) {
  BlockShape part = shape;
  part.heads /= ranks;
  part.kv_heads = std::max(1, shape.kv_heads / ranks);
  part.ffn /= ranks;
  return part;
}

int kv_copies(const BlockShape& shape, int ranks) { return std::max(1, ranks / shape.kv_heads); }

BlockWeights<float> shard_weights(const BlockShape& shape, const BlockWeights<float>& whole,
                                  int ranks, int rank) {
  BlockWeights<float> part = zero_weights<float>(shard_shape(shape, ranks));
  const auto its = cuts(shape, ranks, rank);
  for (int t = 0; t < kWeightTensors; ++t) {
    const Cut& cut = its[t];
    auto to = part.tensors()[t]->begin();
    for (std::int64_t r = cut.first_row; r < cut.first_row + cut.row_count; ++r) {
      const auto from = whole.tensors()[t]->begin() + (r * cut.columns + cut.first_column);
      to = std::copy_n(from, cut.column_count, to);
    }
  }
  return part;
}

void put_shard(const BlockShape& shape, int ranks, int rank, const BlockWeights<float>& part,
               BlockWeights<float>& whole) {
  const auto its = cuts(shape, ranks, rank);
  for (int t = 0; t < kWeightTensors; ++t) {
    const Cut& cut = its[t];
    auto from = part.tensors()[t]->begin();
    for (std::int64_t r = cut.first_row; r < cut.first_row + cut.row_count; ++r) {
      const auto to = whole.tensors()[t]->begin() + (r * cut.columns + cut.first_column);
      std::copy_n(from, cut.column_count, to);
      from += cut.column_count;
    }
  }
}

}  // namespace stowage::kernels
