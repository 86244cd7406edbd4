#include "heuristics/assign/construct/propose.h"

#include <algorithm>
#include <optional>
#include <string>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// A range of lengths up to `longest`, above the longest length of the previous bucket. The sums are
// per step.
struct Bucket {
  Tokens longest = 0;
  double count = 0;  // per step
  double tokens = 0;
  double squares = 0;
};

// Returns at most `most` buckets with about equal numbers of tokens. Sequences of equal length
// share a bucket.
std::vector<Bucket> buckets_of(std::vector<Tokens> lengths, double steps, int most) {
  std::sort(lengths.begin(), lengths.end());
  double total = 0;
  for (const Tokens length : lengths) total += static_cast<double>(length);
  std::vector<Bucket> buckets;
  double seen = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double share = seen / total * most;
    const bool next = buckets.empty() || (lengths[i] > buckets.back().longest &&
                                          share >= static_cast<double>(buckets.size()));
    if (next) buckets.emplace_back();
    const auto s = static_cast<double>(lengths[i]);
    Bucket& bucket = buckets.back();
    bucket.longest = lengths[i];
    bucket.count += 1 / steps;
    bucket.tokens += s / steps;
    bucket.squares += s * s / steps;
    seen += s;
  }
  return buckets;
}

// A range of buckets, from `first` on, assigned to copies of a scheme.
struct Choice {
  std::size_t scheme = 0;
  std::size_t first = 0;  // first bucket of the range
  int copies = 0;         // 0: nothing chosen
};

class Programme {
 public:
  Programme(const AssignInstance& instance, const ProposeOptions& options)
      : instance_(instance), options_(options) {
    Tokens longest = 0;
    for (const Scheme& scheme : instance.schemes) longest = std::max(longest, scheme.max_tokens);
    std::vector<Tokens> lengths;
    for (const Tokens length : padded_lengths(instance)) {
      if (length <= longest) lengths.push_back(length);
    }
    buckets_ = buckets_of(std::move(lengths), options.steps, options.buckets);
    sums_.resize(buckets_.size() + 1);
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      sums_[b + 1] = {.longest = buckets_[b].longest,
                      .count = sums_[b].count + buckets_[b].count,
                      .tokens = sums_[b].tokens + buckets_[b].tokens,
                      .squares = sums_[b].squares + buckets_[b].squares};
    }
  }

  std::vector<Strategy> run() {
    const auto devices = static_cast<std::size_t>(instance_.devices);
    best_.assign(buckets_.size() + 1, std::vector<Ms>(devices + 1, kInfinity));
    choice_.assign(buckets_.size() + 1, std::vector<Choice>(devices + 1));
    best_[0].assign(devices + 1, 0);
    for (std::size_t end = 1; end <= buckets_.size(); ++end) {
      for (std::size_t g = 0; g < instance_.schemes.size(); ++g) extend(end, g);
    }
    std::vector<Strategy> strategies;
    for (std::size_t end = buckets_.size(); end > 0 && strategies.size() < options_.most; --end) {
      std::vector<int> replicas = replicas_for(end);
      if (replicas.empty() ||
          std::any_of(strategies.begin(), strategies.end(),
                      [&](const Strategy& s) { return s.replicas == replicas; })) {
        continue;
      }
      strategies.push_back({'P' + std::to_string(strategies.size()), std::move(replicas)});
    }
    return strategies;
  }

 private:
  // Updates the dynamic program with `scheme` on the ranges that end with bucket end - 1.
  void extend(std::size_t end, std::size_t g) {
    const Scheme& scheme = instance_.schemes[g];
    if (scheme.max_tokens < buckets_[end - 1].longest) return;
    const auto each = static_cast<std::int64_t>(devices_of(g));
    for (std::size_t first = 0; first < end; ++first) {
      for (std::int64_t copies = 1; copies * each <= instance_.devices; ++copies) {
        const Ms time = cost(scheme, first, end, static_cast<double>(copies));
        for (std::int64_t n = copies * each; n <= instance_.devices; ++n) {
          const auto at = static_cast<std::size_t>(n);
          const Ms step = std::max(best_[first][static_cast<std::size_t>(n - copies * each)], time);
          if (step >= best_[end][at]) continue;
          best_[end][at] = step;
          choice_[end][at] = {g, first, static_cast<int>(copies)};
        }
      }
    }
  }

  Ms cost(const Scheme& scheme, std::size_t first, std::size_t end, double copies) const {
    const double count = sums_[end].count - sums_[first].count;
    const double tokens = sums_[end].tokens - sums_[first].tokens;
    const double squares = sums_[end].squares - sums_[first].squares;
    const auto s = static_cast<double>(buckets_[end - 1].longest);
    const Ms longest = scheme.quadratic_ms * s * s + scheme.linear_ms * s + scheme.fixed_ms;
    const Ms work = scheme.quadratic_ms * squares + scheme.linear_ms * tokens;
    if (options_.cost == RangeCost::hydraulis) {
      return (work + count * scheme.fixed_ms + (scheme.pp - 1) * longest) / copies;
    }
    // A replica has at least one row, or as many rows as its tokens fill.
    const double rows = std::max(1.0, tokens / copies / static_cast<double>(scheme.max_tokens));
    const Ms busy = std::max(longest, work / copies + rows * scheme.fixed_ms);
    return busy + (scheme.pp - 1) * std::max(longest, busy / rows);
  }

  // Returns the replicas of each scheme for the first `end` buckets, or an empty list if these
  // lengths cannot be served.
  std::vector<int> replicas_for(std::size_t end) const {
    auto left = static_cast<std::size_t>(instance_.devices);
    if (best_[end][left] == kInfinity) return {};
    std::vector<int> replicas(instance_.schemes.size());
    while (end > 0) {
      const Choice& choice = choice_[end][left];
      replicas[choice.scheme] += choice.copies;
      left -= devices_of(choice.scheme) * static_cast<std::size_t>(choice.copies);
      end = choice.first;
    }
    // If another range takes longer, more copies of one range do not help. The remaining devices go
    // to the scheme with the least device time per token.
    for (std::optional<std::size_t> g = cheapest(left); g; g = cheapest(left)) {
      ++replicas[*g];
      left -= devices_of(*g);
    }
    return replicas;
  }

  std::size_t devices_of(std::size_t g) const {
    const Scheme& scheme = instance_.schemes[g];
    return static_cast<std::size_t>(std::int64_t{scheme.tp} * scheme.pp);
  }

  std::optional<std::size_t> cheapest(std::size_t devices) const {
    std::optional<std::size_t> best;
    const auto price = [&](std::size_t g) {
      return instance_.schemes[g].linear_ms * static_cast<double>(devices_of(g));
    };
    for (std::size_t g = 0; g < instance_.schemes.size(); ++g) {
      if (devices_of(g) <= devices && (!best || price(g) < price(*best))) best = g;
    }
    return best;
  }

  const AssignInstance& instance_;
  const ProposeOptions options_;
  std::vector<Bucket> buckets_;
  std::vector<Bucket> sums_;           // sums over the first b buckets
  std::vector<std::vector<Ms>> best_;  // t by number of buckets and of devices
  std::vector<std::vector<Choice>> choice_;
};

}  // namespace

std::vector<Strategy> propose_strategies(const AssignInstance& instance,
                                         const ProposeOptions& options) {
  return Programme(instance, options).run();
}

}  // namespace stowage
