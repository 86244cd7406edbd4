// Selects the packs that a calibration measures: the most informative of many random packs.
//
//   std::vector<PackShape> packs = informative_packs(random, {.degrees = {1, 2}, .packs = 24});
//
// The method is A-optimal design (Fedorov, Theory of Optimal Experiments, 1972). A pack is a row x
// of the design matrix. Its entries are squared lengths, tokens and 1; a degree above 1 adds a
// latency and the tokens of the exchange. Since errors are relative, each entry is divided by the
// pack's expected time. Packs are chosen greedily. Each choice maximises, per second of
// measurement, the decrease of the trace of the inverse of M, the sum of x x'. This trace is the
// sum of the relative variances of all coefficients, with a weight for that of squares. Most of it
// belongs to the exchange, the smallest share of the time. Degrees alternate, so that each gets the
// same number of packs.
//
// Thread safety: the functions read their arguments only; each thread needs its own `random`.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "instances/units.h"

namespace stowage::kernels {

struct PackRange {
  std::vector<int> degrees = {1};   // ascending
  int packs = 14;                   // packs of each degree
  std::int64_t least_tokens = 128;  // tokens of a pack, unless most_tokens is less; at least 1
  std::int64_t most_tokens = 2048;
};

struct PackShape {
  int degree = 1;
  std::vector<Tokens> lengths;
};

// Draws a pack from the range. Its number of tokens and the typical length of its sequences are
// log-uniform.
PackShape random_pack(std::mt19937_64& random, const PackRange& range, int degree);

// Returns the packs, degree by degree. If a degree has more than 64 packs, those after the 64th are
// random.
std::vector<PackShape> informative_packs(std::mt19937_64& random, const PackRange& range);

}  // namespace stowage::kernels
