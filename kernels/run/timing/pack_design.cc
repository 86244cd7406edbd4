#include "kernels/run/timing/pack_design.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "instances/numeric/random.h"

namespace stowage::kernels {
namespace {

// chosen packs of a degree, at most; later packs are drawn without a choice
constexpr int kMaxChosen = 64;
constexpr int kCandidatesOfPack = 8;  // number of random candidates per chosen pack
// Expected times in units of a token's time, measured on the bundled block: a pair of tokens of
// attention, the fixed time (also used as the latency), and the exchange of a token. A sequence
// took less than measurements show. The times of sequence and exchange are small, and the design
// must still estimate them. These values affect only the choice of packs.
constexpr double kSquareTokens = 1.0 / 2000;
constexpr double kSequenceTokens = 1;
constexpr double kFixedTokens = 25;
constexpr double kExchangeTokens = 0.015;
// Weight of the relative variance of a pair's time against the other terms. Plans have longer
// sequences than the packs, and pairs take most of the time of long sequences.
constexpr double kQuadraticWeight = 100;
// Initial value of the diagonal of M, which makes M invertible before rows of all columns were
// added.
constexpr double kPrior = 1e-3;

// Returns an integer in [least, most] with a uniform logarithm, so that short lengths are as likely
// as long ones.
std::int64_t log_uniform(std::mt19937_64& random, std::int64_t least, std::int64_t most) {
  constexpr std::uint64_t kSteps = 1 << 20;
  const double share = static_cast<double>(draw(random, kSteps)) / kSteps;
  const double ratio = static_cast<double>(most) / static_cast<double>(least);
  return std::min(most,
                  static_cast<std::int64_t>(static_cast<double>(least) * std::pow(ratio, share)));
}

constexpr std::size_t kShared = 4;  // columns of all degrees

// A pack that may be chosen. At most six entries of its design row differ from 0.
struct Candidate {
  PackShape shape;
  std::vector<double> row;
  double time = 0;
  bool chosen = false;
};

Candidate candidate(PackShape shape, std::size_t at, std::size_t columns) {
  double tokens = 0;
  double squares = 0;
  for (const Tokens length : shape.lengths) {
    const auto s = static_cast<double>(length);
    tokens += s;
    squares += s * s;
  }
  const double d = shape.degree;
  Candidate made{.row = std::vector<double>(columns, 0.0)};
  made.row[0] = squares * kSquareTokens / d;
  made.row[1] = tokens / d;
  made.row[2] = kSequenceTokens * static_cast<double>(shape.lengths.size());
  made.row[3] = kFixedTokens;
  if (shape.degree > 1) {
    made.row[at] = kFixedTokens;
    made.row[at + 1] = kExchangeTokens * tokens / d;
  }
  made.time = std::accumulate(made.row.begin(), made.row.end(), 0.0);
  for (double& value : made.row) value /= made.time;
  // With fewer cores than ranks, a processor computes the ranks of a group one after another.
  made.time *= d;
  made.shape = std::move(shape);
  return made;
}

// The inverse of M = prior I + the sum of x x' of the added rows.
class Information {
 public:
  explicit Information(std::size_t columns) : columns_(columns), inverse_(columns * columns, 0.0) {
    for (std::size_t c = 0; c < columns; ++c) inverse_[c * columns + c] = 1 / kPrior;
  }

  // Returns the decrease of the weighted trace of the inverse if the row is added.
  double gain(const std::vector<double>& x) const {
    const std::vector<double> turned = times(x);
    double fall = 0;
    for (std::size_t c = 0; c < columns_; ++c) {
      fall += (c == 0 ? kQuadraticWeight : 1) * turned[c] * turned[c];
    }
    return fall / (1 + std::inner_product(x.begin(), x.end(), turned.begin(), 0.0));
  }

  // Adds a row to M by the formula of Sherman and Morrison.
  void add(const std::vector<double>& x) {
    const std::vector<double> turned = times(x);
    const double scale = 1 + std::inner_product(x.begin(), x.end(), turned.begin(), 0.0);
    for (std::size_t r = 0; r < columns_; ++r) {
      for (std::size_t c = 0; c < columns_; ++c) {
        inverse_[r * columns_ + c] -= turned[r] * turned[c] / scale;
      }
    }
  }

 private:
  std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> product(columns_, 0.0);
    for (std::size_t c = 0; c < columns_; ++c) {
      if (x[c] == 0) continue;
      for (std::size_t r = 0; r < columns_; ++r) product[r] += inverse_[r * columns_ + c] * x[c];
    }
    return product;
  }

  std::size_t columns_;
  std::vector<double> inverse_;
};

}  // namespace

ScatterCost expected_cost(const std::vector<int>& degrees) {
  ScatterCost cost{.quadratic_ms = kSquareTokens,
                   .linear_ms = 1,
                   .fixed_ms = kFixedTokens,
                   .all_to_all = {.mib_per_token = 1},
                   .sequence_fixed_ms = kSequenceTokens};
  for (const int degree : degrees) {
    if (degree == 1) continue;
    cost.all_to_all.latency_ms[degree] = kFixedTokens;
    cost.all_to_all.mib_per_ms[degree] = 1 / kExchangeTokens;
  }
  return cost;
}

std::vector<Tokens> varied_lengths(std::mt19937_64& random, const std::vector<Tokens>& lengths) {
  constexpr double kMostLonger = 1.4;
  constexpr std::uint64_t kSteps = 1 << 20;
  std::vector<Tokens> varied;
  varied.reserve(lengths.size());
  for (const Tokens length : lengths) {
    const double share = static_cast<double>(draw(random, kSteps)) / kSteps;
    const double factor = std::pow(kMostLonger, 2 * share - 1);
    varied.push_back(std::max<Tokens>(1, std::llround(static_cast<double>(length) * factor)));
  }
  return varied;
}

PackShape random_pack(std::mt19937_64& random, const PackRange& range, int degree) {
  const auto of_degree = [&](const PackShape& shape) { return shape.degree == degree; };
  if (const auto groups = std::ranges::count_if(range.like, of_degree); groups > 0) {
    auto left = draw(random, static_cast<std::uint64_t>(groups));
    const auto chosen = std::ranges::find_if(
        range.like, [&](const PackShape& shape) { return of_degree(shape) && left-- == 0; });
    return {.degree = degree, .lengths = varied_lengths(random, chosen->lengths)};
  }
  constexpr std::int64_t kLeastSequence = 64;
  const std::int64_t tokens =
      log_uniform(random, std::min(range.least_tokens, range.most_tokens), range.most_tokens);
  const std::int64_t typical = log_uniform(random, std::min(kLeastSequence, tokens), tokens);
  PackShape pack{.degree = degree};
  std::int64_t at = 0;
  while (at < tokens) {
    const std::int64_t length = std::min(
        tokens - at, log_uniform(random, std::max<std::int64_t>(typical / 2, 1), typical * 2));
    pack.lengths.push_back(length);
    at += length;
  }
  return pack;
}

std::vector<PackShape> informative_packs(std::mt19937_64& random, const PackRange& range) {
  const std::size_t degrees = range.degrees.size();
  const std::size_t columns = kShared + 2 * degrees;
  const int chosen = std::min(range.packs, kMaxChosen);
  std::vector<std::vector<Candidate>> drawn(degrees);
  for (std::size_t d = 0; d < degrees; ++d) {
    for (int k = 0; k < kCandidatesOfPack * chosen; ++k) {
      drawn[d].push_back(
          candidate(random_pack(random, range, range.degrees[d]), kShared + 2 * d, columns));
    }
  }
  Information information(columns);
  std::vector<std::vector<PackShape>> taken(degrees);
  for (int k = 0; k < chosen; ++k) {
    for (std::size_t d = 0; d < degrees; ++d) {
      Candidate* best = nullptr;
      double most = -std::numeric_limits<double>::infinity();
      for (Candidate& each : drawn[d]) {
        if (each.chosen) continue;
        const double gain = information.gain(each.row) / each.time;
        if (gain <= most) continue;
        most = gain;
        best = &each;
      }
      best->chosen = true;
      information.add(best->row);
      taken[d].push_back(std::move(best->shape));
    }
  }
  std::vector<PackShape> packs;
  for (std::size_t d = 0; d < degrees; ++d) {
    for (int k = chosen; k < range.packs; ++k) {
      taken[d].push_back(random_pack(random, range, range.degrees[d]));
    }
    std::move(taken[d].begin(), taken[d].end(), std::back_inserter(packs));
  }
  return packs;
}

}  // namespace stowage::kernels
