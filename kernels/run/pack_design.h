// Which packs a calibration measures: those of many drawn ones that tell most about the cost.
//
//   std::vector<PackShape> packs = informative_packs(random, {.degrees = {1, 2}, .packs = 24});
//
// A pack says about the coefficients what its row x of the design matrix says: squared lengths,
// tokens, 1, and for its degree above 1 a latency and the tokens of its exchange, each as the share
// of the pack's time that it is expected to be, as errors are relative. Packs are taken one by one,
// each the one that lowers the trace of the inverse of M, the sum of x x', most for each second of
// measuring: that trace is the sum of the relative variances of all coefficients, that of squares
// weighted, (A-optimal design; Fedorov, Theory of Optimal Experiments, 1972), and most of it is of
// the exchange, which is the smallest share. Degrees take turns, so that each has as many.
//
// Thread safety: its functions read their arguments; `random` is the caller's.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "instances/units.h"

namespace stowage::kernels {

struct PackRange {
  std::vector<int> degrees = {1};   // ascending
  int packs = 14;                   // of each degree
  std::int64_t least_tokens = 128;  // of a pack, unless most_tokens is less; at least 1
  std::int64_t most_tokens = 2048;
};

struct PackShape {
  int degree = 1;
  std::vector<Tokens> lengths;
};

// A pack drawn from the range: tokens and the typical length of its sequences are log-uniform.
PackShape random_pack(std::mt19937_64& random, const PackRange& range, int degree);

// By degree. Of more than 64 packs of a degree, those behind the 64th are drawn and not chosen.
std::vector<PackShape> informative_packs(std::mt19937_64& random, const PackRange& range);

}  // namespace stowage::kernels
