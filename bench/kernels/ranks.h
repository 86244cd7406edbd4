// Measures the load balance of attention over ranks, and the cost of processing chunk by chunk.
//
// With more ranks than cores the wall clock has no meaning, so the time T is the critical path. A
// step is a rank's CPU time between two collectives, and T is the sum over steps of the slowest
// rank. T contains computing and copying, but no waiting and no network.
//
//   for (const RankRow& row : rank_rows({})) std::cout << json_line(row) << '\n';
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/exchange/exchange.h"

namespace stowage::bench {

// A measured value and its target.
struct RankRow {
  std::string name;
  double measured = 0;
  double target = 0;
  bool at_least = true;  // if false, the target is an upper limit
  std::string unit;
  bool met() const { return at_least ? measured >= target : measured <= target; }
};

// The measured work: causal attention, forward and backward, over one sequence.
struct RankSetting {
  std::int64_t length = 8192;
  int heads = 4;
  int head_dim = 64;
  int repeats = 3;  // number of rounds; each round measures every item once, and the fastest counts
};

// Returns T in CPU seconds of one run on `ranks` ranks. Every exchange but chunked is allowed.
double critical_path_s(const RankSetting& setting, kernels::ExchangeKind exchange, int ranks);

// Returns the CPU seconds of one run on one rank in chunks of that many tokens; 0 means all tokens
// at once. All activations are kept; recomputation would add the time of a forward pass.
double chunked_s(const RankSetting& setting, std::int64_t chunk_size);

// Returns T(1) / (P T(P)) of Ulysses, zigzag and, as the negative control, a contiguous ring, and
// the additional share of the time for chunks.
std::vector<RankRow> rank_rows(const RankSetting& setting);

std::string json_line(const RankRow& row);
std::string markdown(const std::vector<RankRow>& rows);

}  // namespace stowage::bench
