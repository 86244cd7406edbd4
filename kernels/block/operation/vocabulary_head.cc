#include "kernels/block/operation/vocabulary_head.h"

#include <algorithm>
#include <cmath>

#include "instances/numeric/numbers.h"
#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"
#include "kernels/block/operation/linear.h"
#include "kernels/block/synthetic.h"
#include "kernels/threads/workers.h"

namespace stowage::kernels {
namespace {

// The log-sum-exp state of one token over the columns of one rank.
struct LogSum {
  float most = 0;
  float sum = 0;  // sum of exp(z - most)
};

// Returns the states of every rank for every token, in rank order.
std::vector<LogSum> sums_of_ranks(Communicator* peers, const std::vector<LogSum>& mine) {
  if (peers == nullptr) return mine;
  std::vector<float> words;
  for (const LogSum& token : mine) words.insert(words.end(), {token.most, token.sum});
  std::vector<float> all(words.size() * at(peers->size()));
  peers->all_gather(words, all, std::vector<std::int64_t>(at(peers->size()), std::ssize(words)));
  std::vector<LogSum> sums;
  for (std::size_t i = 0; i < all.size(); i += 2) sums.push_back({all[i], all[i + 1]});
  return sums;
}

// Returns log(sum exp(z)) of one token from the states of all ranks.
double log_sum(std::span<const LogSum> sums, std::size_t token, std::size_t tokens) {
  double most = -kInfinity;
  for (std::size_t i = token; i < sums.size(); i += tokens) {
    most = std::max(most, double{sums[i].most});
  }
  double sum = 0;
  for (std::size_t i = token; i < sums.size(); i += tokens) {
    sum += double{sums[i].sum} * std::exp(double{sums[i].most} - most);
  }
  return most + std::log(sum);
}

}  // namespace

double head_chunk(const HeadPart& part, std::span<const float> weights, const HeadTokens& tokens,
                  std::span<float> logits, std::span<float> dy, std::span<float> gradient) {
  const std::size_t count = tokens.targets.size();
  const auto n = static_cast<std::int64_t>(count);
  linear_forward(n, part.hidden, part.columns, tokens.y, weights, logits, Update::assign);
  const auto row = [&](std::size_t token) {
    return logits.subspan(token * at(part.columns), at(part.columns));
  };
  std::vector<LogSum> mine(count);
  std::vector<float> wanted(count);  // the target's logit, on the rank that holds its column
  const SimdTable& table = simd_table();
  share_rows(n, part.columns, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::size_t i = at(begin); i < at(end); ++i) {
      const std::span<const float> z = row(i);
      const RowSum sum = table.sum_exponentials(z.data(), std::ssize(z));
      mine[i] = {.most = sum.most, .sum = static_cast<float>(sum.sum)};
      const std::int64_t column = tokens.targets[i] - part.first;
      if (column >= 0 && column < part.columns) wanted[i] = z[at(column)];
    }
  });
  const std::vector<LogSum> sums = sums_of_ranks(part.peers, mine);
  if (part.peers != nullptr) part.peers->all_reduce(wanted);
  double loss = 0;
  std::vector<double> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = log_sum(sums, i, count);
    loss += all[i] - double{wanted[i]};
  }
  share_rows(n, part.columns, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::size_t i = at(begin); i < at(end); ++i) {
      table.exponentiate_row(row(i).data(), part.columns, all[i]);
      const std::int64_t column = tokens.targets[i] - part.first;
      if (column >= 0 && column < part.columns) row(i)[at(column)] -= 1;
    }
  });
  linear_backward_input(n, part.hidden, part.columns, weights, logits, dy, Update::assign);
  if (part.peers != nullptr) part.peers->all_reduce(dy);
  linear_backward_weight(n, part.hidden, part.columns, tokens.y, logits, gradient, Update::add);
  return loss;
}

std::vector<float> synthetic_head(int hidden, std::int64_t vocabulary, std::uint64_t seed) {
  constexpr std::int64_t kBehindBlocks = kWeightTensors;
  std::vector<float> weights(at(hidden * vocabulary));
  fill_tokens({.seed = seed, .stream = Stream::weights}, kBehindBlocks, 0, vocabulary, weights);
  const auto deviation = static_cast<float>(1 / std::sqrt(hidden));
  for (float& weight : weights) weight *= deviation;
  return weights;
}

std::vector<std::int32_t> synthetic_targets(std::uint64_t seed, std::int64_t sequence,
                                            std::int64_t first, std::int64_t count,
                                            std::int64_t vocabulary) {
  // The values have mean 0 and variance 1. Their low digits are distributed evenly enough to draw
  // targets from.
  std::vector<float> values(at(count));
  fill_tokens({.seed = seed, .stream = Stream::target}, sequence, first, 1, values);
  std::vector<std::int32_t> targets;
  for (const float value : values) {
    const double digits = std::abs(double{value}) * 1000;
    const double share = digits - std::floor(digits);
    targets.push_back(static_cast<std::int32_t>(std::min(
        vocabulary - 1, static_cast<std::int64_t>(share * static_cast<double>(vocabulary)))));
  }
  return targets;
}

}  // namespace stowage::kernels
