// The ways in which the ranks of a group can share the attention of a packed batch.
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

#include "instances/assign/chunk_flow.h"
#include "instances/units.h"

namespace stowage::kernels {

enum class ExchangeKind {
  ulysses,  // tokens for heads (ulysses.h)
  ring,     // keys go round, contiguous parts (ring.h)
  zigzag,   // keys go round, balanced parts (ring.h)
  hybrid,   // Ulysses inside, zigzag outside (hybrid_attention.h)
  chunked,  // long sequences chunk by chunk, each by Ulysses (block/chunked_block.h)
};

inline constexpr std::array<std::string_view, 5> kExchangeNames = {"ulysses", "ring", "zigzag",
                                                                   "hybrid", "chunked"};

struct Exchange {
  ExchangeKind kind = ExchangeKind::ulysses;
  // Of chunked, else without effect. Tokens of a chunk; 0: a quarter of the batch's longest
  // sequence, rounded up.
  Tokens chunk_size = 0;
  std::int64_t retained = 1;  // chunks of a sequence that keep their activations, at least 1
  // Of chunked and a batch of one sequence: where its chunks end, ascending, the last at its end.
  // Empty: chunks of chunk_size.
  std::vector<Tokens> cuts;
};

// Nothing for a name that is none of kExchangeNames.
std::optional<ExchangeKind> exchange_kind(std::string_view name);

// Everything wrong with an exchange, one sentence each; empty for a usable one.
std::vector<std::string> check(const Exchange& exchange);

// Which rows of a packed batch each rank holds. Every row stands once; rows may be padding.
struct TokenLayout {
  std::vector<std::int64_t> split;  // rank r holds entries [split[r], split[r+1]) of `rows`
  std::vector<std::int64_t> rows;   // of the batch; -1 is padding

  std::span<const std::int64_t> of(int rank) const {
    return std::span(rows).subspan(split[rank], split[rank + 1] - split[rank]);
  }
};

// cu_seqlens as check_cu_seqlens() wants it for `tokens` rows; check(exchange) is empty. Throws
// std::length_error where padding leads to more than 2^31 - 1 rows.
TokenLayout token_layout(const Exchange& exchange, std::span<const std::int32_t> cu_seqlens,
                         std::int64_t tokens, int ranks);

// The chunks of a batch in the order of the forward pass; pieces name sequences by their place in
// cu_seqlens. Sequences without tokens are in none.
std::vector<Chunk> batch_chunks(const Exchange& exchange, std::span<const std::int32_t> cu_seqlens);

// The packed rows of a chunk, piece by piece.
std::vector<std::int64_t> chunk_rows(const Chunk& chunk, std::span<const std::int32_t> cu_seqlens);

}  // namespace stowage::kernels
