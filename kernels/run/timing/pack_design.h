// Selects the packs that a calibration measures: the most informative of many random packs.
//
//   std::vector<PackShape> packs = informative_packs(random, {.degrees = {1, 2}, .packs = 24});
//
// The method is A-optimal design (Fedorov, Theory of Optimal Experiments, 1972). A pack is a row x
// of the design matrix. Its entries are squared lengths, tokens, sequences and 1; a degree above 1
// adds a latency and the tokens of the exchange. Since errors are relative, each entry is divided
// by the pack's expected time. Packs are chosen greedily. Each choice maximises, per second of
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

#include "instances/scatter/instance.h"
#include "instances/units.h"

namespace stowage::kernels {

struct PackShape {
  int degree = 1;
  std::vector<Tokens> lengths;
};

struct PackRange {
  std::vector<int> degrees = {1};   // ascending
  int packs = 14;                   // packs of each degree
  std::int64_t least_tokens = 128;  // tokens of a pack, unless most_tokens is less; at least 1
  std::int64_t most_tokens = 2048;
  // Groups of plans. A pack of a degree with such groups is one of them with varied lengths.
  std::vector<PackShape> like;
};

// Returns the cost that the design expects of a block, in units of the time of a token.
ScatterCost expected_cost(const std::vector<int>& degrees);

// Returns the lengths, each longer or shorter by a factor of its own, from 1/1.4 to 1.4.
std::vector<Tokens> varied_lengths(std::mt19937_64& random, const std::vector<Tokens>& lengths);

// Draws a pack of the degree. If `like` has no group of the degree, the pack's number of tokens and
// the typical length of its sequences are log-uniform within the range.
PackShape random_pack(std::mt19937_64& random, const PackRange& range, int degree);

// Returns the packs, degree by degree. If a degree has more than 64 packs, those after the 64th are
// random.
std::vector<PackShape> informative_packs(std::mt19937_64& random, const PackRange& range);

}  // namespace stowage::kernels
