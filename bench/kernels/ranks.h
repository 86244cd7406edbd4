// How well attention is shared out over ranks, and what working chunk by chunk costs.
//
// More ranks than cores make the wall clock worthless, so time is the critical path: a rank's CPU
// time between one collective and the next is a step, and T sums the slowest rank of every step. It
// contains computing and copying, and neither waiting nor a network.
//
//   for (const RankRow& row : rank_rows({})) std::cout << json_line(row) << '\n';
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/exchange/exchange.h"

namespace stowage::bench {

// A figure beside what it should be.
struct RankRow {
  std::string name;
  double measured = 0;
  double target = 0;
  bool at_least = true;  // else at most
  std::string unit;
  bool met() const { return at_least ? measured >= target : measured <= target; }
};

// What is measured: causal attention forward and backward over one sequence.
struct RankSetting {
  std::int64_t length = 8192;
  int heads = 4;
  int head_dim = 64;
  int repeats = 3;  // rounds in which everything is measured once; the fastest counts
};

// T in CPU seconds of one run on `ranks` ranks; any exchange but chunked.
double critical_path_s(const RankSetting& setting, kernels::ExchangeKind exchange, int ranks);

// CPU seconds of one run on one rank in chunks of that many tokens; all at once for 0. All
// activations are kept: recomputing costs its forward pass on top.
double chunked_s(const RankSetting& setting, std::int64_t chunk_size);

// T(1) / (P T(P)) of Ulysses, zigzag and, as the negative control, a contiguous ring, and the share
// that chunks add.
std::vector<RankRow> rank_rows(const RankSetting& setting);

std::string json_line(const RankRow& row);
std::string markdown(const std::vector<RankRow>& rows);

}  // namespace stowage::bench
