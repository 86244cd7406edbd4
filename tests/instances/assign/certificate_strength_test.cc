// No certificate of one strategy that is accepted claims more than the optimum of that strategy:
// proofs of each kind are drawn at random, and their prices changed as long as they prove more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "instances/assign/certificate.h"
#include "tests/long_run.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/pinned_values.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_certificate_strength_test {
namespace {

class Prover {
 public:
  // Requires an instance with one strategy.
  Prover(const AssignInstance& instance, Ms optimum, std::uint64_t seed)
      : instance_(instance), optimum_(optimum), random_(seed) {
    const std::vector<Tokens> lengths = padded_lengths(instance);
    for (const Tokens length : lengths) ++lengths_[length];
    for (std::size_t g = 0; g < replicas().size(); ++g) all_replicas_ += at_least_0(g);
  }

  // Returns the greatest bound that a proof of this kind was accepted for, in ms.
  Ms prove(const std::string& by, int changes) {
    certificate_ = {.strategies = {{.strategy = instance_.strategies[0].name, .by = by}}};
    prices_.clear();
    StrategyProof& proof = certificate_.strategies[0];
    if (by == "patterns") draw_patterns(proof);
    if (by == "configurations") draw_lengths(proof);
    if (by == "bands") draw_bands(proof);
    Ms best = climbed(0);
    for (int change = 0; change < changes && !prices_.empty(); ++change) {
      double& price = *prices_[draw(random_, prices_.size())];
      const double before = price;
      price = one_in(4) ? 0 : one_in(2) ? share() : price * (0.5 + share());
      certificate_.bound_ms = best;
      if (best > 0 && !holds()) {
        price = before;
      } else {
        best = climbed(best);
      }
    }
    return best;
  }

 private:
  const std::vector<int>& replicas() const { return instance_.strategies[0].replicas; }
  int at_least_0(std::size_t g) const { return replicas()[g]; }
  bool one_in(std::uint64_t n) { return draw(random_, n) == 0; }
  double share() { return static_cast<double>(draw(random_, 1001)) / 1000; }
  bool holds() const { return check_certificate(instance_, certificate_).violations.empty(); }

  // Returns the highest accepted bound, found by steps from an accepted one.
  Ms climbed(Ms bound) {
    for (double step = optimum_; step > 1e-4 * optimum_; step /= 2) {
      certificate_.bound_ms = bound + step;
      if (holds()) bound += step;
    }
    certificate_.bound_ms = bound;
    return bound;
  }

  void priced(double& price) {
    price = one_in(3) ? 0 : share();
    prices_.push_back(&price);
  }

  void draw_patterns(StrategyProof& proof) {
    for (std::size_t g = 0; g < replicas().size(); ++g) {
      if (replicas()[g] == 0) continue;
      SchemePrices& scheme = proof.schemes.emplace_back();
      scheme.scheme = instance_.schemes[g].name;
      const auto apart = static_cast<std::int64_t>(draw(random_, 4));  // row counts alone
      for (std::int64_t rows = 1; rows <= apart + 1; ++rows) {
        const std::int64_t most = rows > apart ? 0 : rows;
        for (const auto& [length, count] : std::map(lengths_)) {
          const bool is_short = length < std::prev(lengths_.end())->first;
          if (is_short && one_in(3) && length < instance_.schemes[g].max_tokens) {
            add_pattern(scheme, {.least_rows = rows, .most_rows = most, .longest = length});
          }
        }
        add_pattern(
            scheme,
            {.least_rows = rows, .most_rows = most, .longest = instance_.schemes[g].max_tokens});
      }
    }
    for (SchemePrices& scheme : proof.schemes) {
      for (RowPattern& pattern : scheme.patterns) {
        priced(pattern.time);
        if (pattern.most_rows > 0) priced(pattern.tokens);
        for (PartPrice& part : pattern.parts) priced(part.price);
      }
    }
  }

  void add_pattern(SchemePrices& scheme, RowPattern pattern) {
    for (std::uint64_t parts = draw(random_, 3); parts > 0; --parts) {
      pattern.parts.push_back({.of_rows = pattern.most_rows > 0 && one_in(2),
                               .steps = 1 + static_cast<std::int64_t>(draw(random_, 3))});
    }
    scheme.patterns.push_back(std::move(pattern));
  }

  void draw_lengths(StrategyProof& proof) {
    for (auto length = lengths_.rbegin(); length != lengths_.rend(); ++length) {
      proof.prices.push_back({.tokens = length->first});
    }
    for (LengthPrice& price : proof.prices) priced(price.price);
  }

  void draw_bands(StrategyProof& proof) {
    // A node with two leaves, or a leaf.
    if (one_in(2)) {
      std::vector<std::size_t> used;
      for (std::size_t g = 0; g < replicas().size(); ++g) {
        if (replicas()[g] > 0) used.push_back(g);
      }
      const std::size_t g = used[draw(random_, used.size())];
      const auto above =
          std::next(lengths_.begin(), static_cast<std::ptrdiff_t>(draw(random_, lengths_.size())));
      proof.bands.push_back({.scheme = instance_.schemes[g].name,
                             .replica = static_cast<std::int64_t>(
                                 draw(random_, static_cast<std::uint64_t>(replicas()[g]))),
                             .above = above->first - static_cast<Tokens>(draw(random_, 2)),
                             .work_prices = {},
                             .token_prices = {}});
    }
    const std::size_t leaves = proof.bands.empty() ? 1 : 2;
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      BandStep& step = proof.bands.emplace_back();
      step.work_prices.resize(static_cast<std::size_t>(all_replicas_));
      step.token_prices.resize(static_cast<std::size_t>(all_replicas_));
    }
    for (BandStep& step : proof.bands) {
      for (double& price : step.work_prices) priced(price);
      for (double& price : step.token_prices) priced(price);
    }
  }

  const AssignInstance& instance_;
  Ms optimum_ = 0;
  std::mt19937_64 random_;
  std::map<Tokens, std::int64_t> lengths_;
  int all_replicas_ = 0;
  AssignCertificate certificate_;
  std::vector<double*> prices_;
};

TEST(AssignCertificates, NoneThatHoldsIsAboveTheOptimumOfItsStrategy) {
  PinnedValues values("tests/instances/values/assign.txt");
  std::map<std::string, int> tight;  // by kind of proof: those near the optimum
  for (int seed = 0; seed < in_long_run(24, 3000); ++seed) {
    const AssignInstance all = tiny_assign(static_cast<std::uint64_t>(seed), 5);
    for (const Strategy& strategy : all.strategies) {
      AssignInstance instance = all;
      instance.strategies = {strategy};
      if (instance.lengths.empty()) continue;
      const auto best = brute_force(instance);
      if (!best) continue;
      Prover prover(instance, best->objective_ms, static_cast<std::uint64_t>(seed));
      for (const char* by :
           {"longest", "pigeonhole", "rows", "patterns", "configurations", "bands"}) {
        for (int draws = 0; draws < 2; ++draws) {
          const Ms bound = prover.prove(by, 16);
          values.add(static_cast<std::uint64_t>(seed), by, bound);
          EXPECT_LE(bound, best->objective_ms * (1 + 1e-9)) << by << ' ' << seed;
          tight[by] += bound > 0.8 * best->objective_ms ? 1 : 0;
        }
      }
    }
  }
  for (const auto& [by, count] : tight) EXPECT_GT(count, 2) << by;
  if (in_long_run(0, 1) == 0) values.compare();
}

}  // namespace
}  // namespace stowage::assign_certificate_strength_test
