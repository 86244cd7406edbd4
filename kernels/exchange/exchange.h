// The methods by which the ranks of a group share the attention of a packed batch.
//
//   Exchange exchange{.kind = ExchangeKind::zigzag};
//   const TokenLayout layout = token_layout(exchange, cu_seqlens, tokens, 4);
//   layout.rows[layout.split[1]];   // the packed row that rank 1 holds first
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instances/assign/chunks/chunk_flow.h"
#include "instances/units.h"

namespace stowage::kernels {

enum class ExchangeKind {
  ulysses,  // exchanges tokens for heads (ulysses.h)
  ring,     // keys travel around a ring, contiguous parts (ring.h)
  zigzag,   // keys travel around a ring, balanced parts (ring.h)
  hybrid,   // Ulysses within groups, a zigzag ring across groups (hybrid_attention.h)
  chunked,  // long sequences chunk by chunk, each chunk by Ulysses (block/chunked_block.h)
};

inline constexpr std::array<std::string_view, 5> kExchangeNames = {"ulysses", "ring", "zigzag",
                                                                   "hybrid", "chunked"};

struct Exchange {
  ExchangeKind kind = ExchangeKind::ulysses;
  // Tokens of a chunk. 0 means a quarter of the batch's longest sequence, rounded up. Used by
  // `chunked` only.
  Tokens chunk_size = 0;
  // number of chunks of a sequence that keep their activations, at least 1
  std::int64_t retained = 1;
  // The ends of the chunks of a batch with one sequence, in ascending order; the last is the end of
  // the sequence. Empty means chunks of chunk_size. Used by `chunked` only.
  std::vector<Tokens> cuts;
};

// Returns nullopt if `name` is not in kExchangeNames.
std::optional<ExchangeKind> exchange_kind(std::string_view name);

// Returns the errors of an exchange, one sentence each; empty for a valid exchange.
std::vector<std::string> check(const Exchange& exchange);

// The rows of a packed batch that each rank holds. Every row occurs once; rows may be padding.
struct TokenLayout {
  std::vector<std::int64_t> split;  // rank r holds entries [split[r], split[r+1]) of `rows`
  std::vector<std::int64_t> rows;   // rows of the batch; -1 is padding

  std::span<const std::int64_t> of(int rank) const {
    return std::span(rows).subspan(split[rank], split[rank + 1] - split[rank]);
  }
};

// cu_seqlens must satisfy check_cu_seqlens() for `tokens` rows, and check(exchange) must be empty.
// Throws std::length_error if padding leads to more than 2^31 - 1 rows.
TokenLayout token_layout(const Exchange& exchange, std::span<const std::int32_t> cu_seqlens,
                         std::int64_t tokens, int ranks);

// Returns the chunks of a batch in the order of the forward pass. A piece names its sequence by the
// index in cu_seqlens. Sequences without tokens occur in no chunk.
std::vector<Chunk> batch_chunks(const Exchange& exchange, std::span<const std::int32_t> cu_seqlens);

// Returns the packed rows of a chunk, piece by piece.
std::vector<std::int64_t> chunk_rows(const Chunk& chunk, std::span<const std::int32_t> cu_seqlens);

}  // namespace stowage::kernels
