#include "kernels/exchange/ring_layout.h"

#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

RingLayout::RingLayout(RingOrder order, std::span<const std::int32_t> cu_seqlens,
                       std::int64_t tokens, int ranks)
    : order_(order),
      ranks_(ranks),
      tokens_(tokens),
      cu_(cu_seqlens.begin(), cu_seqlens.end()),
      padded_{0},
      local_{0} {
  const std::int64_t chunks = order == RingOrder::zigzag ? std::int64_t{2} * ranks : ranks;
  std::int64_t end = 0;
  for (std::size_t b = 0; b + 1 < cu_.size(); ++b) {
    const std::int64_t length = cu_[b + 1] - cu_[b];
    end += (length + chunks - 1) / chunks * chunks;
    if (end > std::numeric_limits<std::int32_t>::max()) {
      throw std::length_error(
          "more than 2^31 - 1 tokens when sequences are padded to multiples of " +
          std::to_string(chunks));
    }
    padded_.push_back(static_cast<std::int32_t>(end));
    local_.push_back(static_cast<std::int32_t>(end / ranks));
  }
}

std::vector<std::int64_t> RingLayout::rows(int rank) const {
  std::vector<std::int64_t> rows;
  rows.reserve(local_.back());
  for (std::size_t b = 0; b + 1 < cu_.size(); ++b) {
    const std::int64_t first = cu_[b], length = cu_[b + 1] - cu_[b];
    const std::int64_t mine = local_[b + 1] - local_[b];
    const auto append = [&](std::int64_t begin, std::int64_t count) {
      for (std::int64_t i = begin; i < begin + count; ++i)
        rows.push_back(i < length ? first + i : -1);
    };
    if (order_ == RingOrder::contiguous) {
      append(rank * mine, mine);
    } else {
      const std::int64_t chunk = mine / 2;
      append(rank * chunk, chunk);
      append((2 * ranks_ - 1 - rank) * chunk, chunk);
    }
  }
  const std::vector<std::int64_t> slack = even_split(tokens_ - cu_.back(), ranks_);
  for (std::int64_t i = slack[rank]; i < slack[rank + 1]; ++i) rows.push_back(cu_.back() + i);
  return rows;
}

}  // namespace stowage::kernels
