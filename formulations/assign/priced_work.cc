#include "formulations/assign/priced_work.h"

#include <algorithm>
#include <cmath>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr int kPriceRounds = 60;
constexpr int kRowCountClasses = 64;  // row numbers up to this one are considered separately
constexpr int kWorkBisections = 50;
constexpr std::size_t kLargeRound = 20'000;  // steps per round from which the clock is read

// Returns the largest work in ms of a replica within `time`, over all row numbers.
Ms most_work(const Scheme& scheme, Ms time, int most_rows) {
  if (scheme.pp == 1) return time;
  const int classes = std::min(kRowCountClasses, most_rows);
  const double bubble = scheme.pp - 1;
  // Z v / (v + bubble) - c v rises up to this number of rows and falls beyond.
  const double peak = scheme.fixed_ms > 0
                          ? std::sqrt(std::max(0.0, time) * bubble / scheme.fixed_ms) - bubble
                          : kRowCountClasses;
  const int near = static_cast<int>(std::clamp<double>(peak, 1, std::max(1, classes)));
  Ms most = 0;
  for (int rows = std::max(1, near - 1); rows <= std::min(near + 2, classes); ++rows) {
    most = std::max(most, (time - scheme.fixed_ms * (rows + bubble)) * rows / (rows + bubble));
  }
  if (most_rows > classes) most = std::max(most, time - scheme.fixed_ms * (classes + scheme.pp));
  return most;
}

class PricedWork {
 public:
  PricedWork(const std::vector<PricedKind>& kinds, const std::vector<PricedGroup>& groups,
             int most_rows, const Budget& budget)
      : kinds_(kinds), groups_(groups), most_rows_(most_rows), budget_(budget) {}

  Ms run() {
    std::vector<double> price(groups_.size(), 1);
    Ms best = 0;
    double step = 0.5;
    const bool large = groups_.size() * (kinds_.size() + kWorkBisections) > kLargeRound;
    for (int round = 0; round < kPriceRounds; ++round, step *= 0.93) {
      if (round > 0 && large && budget_.exhausted()) break;
      std::vector<double> load(groups_.size(), 0);
      const Ms time = least_time(price, load);
      best = std::max(best, time);
      if (groups_.size() == 1 || !(time > 0)) break;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const double share = load[g] / (groups_[g].count * capacity(g, time));
        price[g] *= std::pow(std::clamp(share, 0.1, 10.0), step);
      }
    }
    return best;
  }

 private:
  double capacity(std::size_t g, Ms time) const {
    return most_work(*groups_[g].scheme, time, most_rows_);
  }

  // Returns the least time for these prices. Writes the work that each group then gets to `load`.
  Ms least_time(const std::vector<double>& price, std::vector<double>& load) const {
    double sum = 0;
    for (const PricedKind& kind : kinds_) {
      std::size_t home = 0;
      double least = kInfinity;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const double cost = price[g] * kind.weight[g];
        if (cost < least) {
          least = cost;
          home = g;
        }
      }
      sum += least * kind.count;
      load[home] += kind.weight[home] * kind.count;
    }
    const auto offered = [&](Ms time) {
      double all = 0;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        all += price[g] * groups_[g].count * capacity(g, time);
      }
      return all;
    };
    Ms low = 0;
    Ms high = 1;
    while (offered(high) < sum) high *= 2;
    for (int k = 0; k < kWorkBisections; ++k) {
      const Ms middle = low + (high - low) / 2;
      (offered(middle) < sum ? low : high) = middle;
    }
    return low;
  }

  const std::vector<PricedKind>& kinds_;
  const std::vector<PricedGroup>& groups_;
  const int most_rows_;
  const Budget& budget_;
};

}  // namespace

Ms priced_work(const std::vector<PricedKind>& kinds, const std::vector<PricedGroup>& groups,
               int most_rows, const Budget& budget) {
  return PricedWork(kinds, groups, most_rows, budget).run();
}

}  // namespace stowage
