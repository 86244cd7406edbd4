#include "kernels/run/timing/timing_rounds.h"

#include <algorithm>
#include <cmath>

#include "instances/numeric/numbers.h"
#include "instances/regression/median.h"

namespace stowage::kernels {
namespace {

constexpr int kSweeps = 8;  // further sweeps do not change the result noticeably

}  // namespace

std::vector<RoundTime> TimingRounds::times() const {
  std::size_t rounds = 0;
  std::vector<std::vector<double>> logs(runs_.size());
  for (std::size_t w = 0; w < runs_.size(); ++w) {
    rounds = std::max(rounds, runs_[w].size());
    for (const double seconds : runs_[w]) logs[w].push_back(std::log(seconds));
  }
  std::vector<double> time(runs_.size(), 0);
  std::vector<double> pace(rounds, 0);
  const auto left = [&](std::size_t w) {
    std::vector<double> rest;
    for (std::size_t r = 0; r < logs[w].size(); ++r) rest.push_back(logs[w][r] - pace[r]);
    return rest;
  };
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t w = 0; w < logs.size(); ++w) time[w] = median(left(w));
    for (std::size_t r = 0; r < rounds; ++r) {
      std::vector<double> rest;
      for (std::size_t w = 0; w < logs.size(); ++w) {
        if (r < logs[w].size()) rest.push_back(logs[w][r] - time[w]);
      }
      pace[r] = median(std::move(rest));
    }
    const double usual = median(pace);
    for (double& own : pace) own -= usual;
  }
  // For a normal distribution the standard deviation is 1.4826 times the median absolute deviation,
  // and the standard error of a median is 1.2533 times that of a mean.
  constexpr double kDeviation = 1.4826 * 1.2533;
  std::vector<RoundTime> times(runs_.size());
  for (std::size_t w = 0; w < logs.size(); ++w) {
    times[w].seconds = logs[w].empty() ? kInfinity : std::exp(median(left(w)));
    std::vector<double> off = left(w);
    const double middle = median(off);
    for (double& own : off) own = std::abs(own - middle);
    times[w].error = logs[w].size() < 3 ? kInfinity
                                        : kDeviation * median(std::move(off)) /
                                              std::sqrt(static_cast<double>(logs[w].size()));
  }
  return times;
}

}  // namespace stowage::kernels
