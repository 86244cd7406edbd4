#include "kernels/exchange/exchange.h"

#include <algorithm>

#include "kernels/exchange/hybrid_attention.h"
#include "kernels/exchange/ring_layout.h"
#include "kernels/ranks/communicator.h"

namespace stowage::kernels {
namespace {

void append(std::vector<std::int64_t>& rows, std::span<const std::int64_t> more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

// Returns part `index` of the `parts` parts into which even_split() cuts `rows`.
std::span<const std::int64_t> share(std::span<const std::int64_t> rows, int index, int parts) {
  const std::vector<std::int64_t> split = even_split(static_cast<std::int64_t>(rows.size()), parts);
  return rows.subspan(split[index], split[index + 1] - split[index]);
}

std::vector<std::int64_t> counted(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> rows;
  rows.reserve(end - begin);
  for (std::int64_t row = begin; row < end; ++row) rows.push_back(row);
  return rows;
}

}  // namespace

std::optional<ExchangeKind> exchange_kind(std::string_view name) {
  const auto found = std::ranges::find(kExchangeNames, name);
  if (found == kExchangeNames.end()) return std::nullopt;
  return static_cast<ExchangeKind>(found - kExchangeNames.begin());
}

std::vector<std::string> check(const Exchange& exchange) {
  std::vector<std::string> problems;
  if (exchange.chunk_size < 0) {
    problems.push_back("chunk_size must be 0 or more, is " + std::to_string(exchange.chunk_size));
  }
  if (exchange.retained < 1) {
    problems.push_back("retained must be at least 1, is " + std::to_string(exchange.retained));
  }
  return problems;
}

TokenLayout token_layout(const Exchange& exchange, std::span<const std::int32_t> cu_seqlens,
                         std::int64_t tokens, int ranks) {
  TokenLayout layout{.split = {0}, .rows = {}};
  layout.rows.reserve(tokens);
  const auto close = [&] { layout.split.push_back(static_cast<std::int64_t>(layout.rows.size())); };
  const auto ring = [&](RingOrder order, int ulysses) {
    const RingLayout places(order, cu_seqlens, tokens, ranks / ulysses);
    for (int r = 0; r < ranks; ++r, close()) {
      append(layout.rows, share(places.rows(r / ulysses), r % ulysses, ulysses));
    }
  };
  switch (exchange.kind) {
    case ExchangeKind::ulysses:
      layout.rows = counted(0, tokens);
      layout.split = even_split(tokens, ranks);
      break;
    case ExchangeKind::ring:
      ring(RingOrder::contiguous, 1);
      break;
    case ExchangeKind::zigzag:
      ring(RingOrder::zigzag, 1);
      break;
    case ExchangeKind::hybrid:
      ring(RingOrder::zigzag, ulysses_degree(ranks));
      break;
    case ExchangeKind::chunked: {
      std::vector<std::vector<std::int64_t>> chunks;
      for (const Chunk& chunk : batch_chunks(exchange, cu_seqlens)) {
        chunks.push_back(chunk_rows(chunk, cu_seqlens));
      }
      chunks.push_back(counted(cu_seqlens.back(), tokens));  // slack
      for (int r = 0; r < ranks; ++r, close()) {
        for (const auto& rows : chunks) append(layout.rows, share(rows, r, ranks));
      }
      break;
    }
  }
  return layout;
}

std::vector<Chunk> batch_chunks(const Exchange& exchange,
                                std::span<const std::int32_t> cu_seqlens) {
  std::vector<Tokens> lengths;
  std::vector<std::int64_t> places;  // indices of the sequences of each length
  Tokens longest = 1;
  for (std::size_t b = 0; b + 1 < cu_seqlens.size(); ++b) {
    if (cu_seqlens[b + 1] == cu_seqlens[b]) continue;
    lengths.push_back(cu_seqlens[b + 1] - cu_seqlens[b]);
    places.push_back(static_cast<std::int64_t>(b));
    longest = std::max(longest, lengths.back());
  }
  if (!exchange.cuts.empty()) {
    std::vector<Chunk> chunks;
    Tokens begin = 0;
    for (const Tokens end : exchange.cuts) {
      chunks.push_back({{{0, begin, end}}, chunks.size(), exchange.cuts.size()});
      begin = end;
    }
    return chunks;
  }
  constexpr Tokens kChunks = 4;
  std::vector<Chunk> chunks = cut_into_chunks(
      lengths, exchange.chunk_size > 0 ? exchange.chunk_size : (longest + kChunks - 1) / kChunks);
  for (Chunk& chunk : chunks) {
    for (ChunkPiece& piece : chunk.pieces) piece.sequence = places[piece.sequence];
  }
  return chunks;
}

std::vector<std::int64_t> chunk_rows(const Chunk& chunk, std::span<const std::int32_t> cu_seqlens) {
  std::vector<std::int64_t> rows;
  for (const ChunkPiece& piece : chunk.pieces) {
    const std::int64_t first = cu_seqlens[piece.sequence];
    append(rows, counted(first + piece.begin, first + piece.end));
  }
  return rows;
}

}  // namespace stowage::kernels
