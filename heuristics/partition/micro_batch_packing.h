// Packs units into the same number of micro-batches on each rank, below a strict token limit.
//
//   const auto bins = pack_micro_batches(units, {.ranks = 8, .each = 3, .max_tokens = 8192});
//   if (bins) use(*bins);   // units of each micro-batch, rank after rank
//
// 1. Two plans are made. The first plan balances the ranks by cost without the limit (balance.h)
// and then packs each rank. The second plan packs all units into micro-batches and then shares
// these out among the ranks.
// 2. A packing takes the first of these rules that keeps the limit: the most expensive unit into
// the cheapest micro-batch with room (LPT, Graham 1969), a balanced partition of the tokens, and
// first-fit decreasing or best-fit decreasing (Johnson 1974) with the most expensive micro-batches
// split. If none does, first-fit in the order of the units may.
// 3. Micro-batches, and then ranks, exchange units below the limit (capped_exchange.h).
//
// All arithmetic is on integers, without clock and random numbers: the same input gives the same
// micro-batches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heuristics/partition/capped_exchange.h"
#include "instances/units.h"

namespace stowage {

struct MicroBatchRules {
  std::int64_t ranks = 1;
  std::int64_t each = 1;  // micro-batches of a rank
  Tokens max_tokens = 0;  // of a micro-batch
};

// Returns the units of each micro-batch, ascending; the micro-batches of rank r are entries
// r * each to (r + 1) * each - 1. Returns nullopt if no rule finds a
// packing, which first-fit decreasing does if its micro-batches are not too many. Minimises the
// cost of the most expensive rank first, then that of the most expensive micro-batch. Requires at
// least ranks * each units, each at most max_tokens, of costs from 1 that sum to at most kMaxExact.
std::optional<std::vector<std::vector<std::int64_t>>> pack_micro_batches(
    std::span<const CappedUnit> units, const MicroBatchRules& rules);

}  // namespace stowage
