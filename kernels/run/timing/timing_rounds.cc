#include "kernels/run/timing/timing_rounds.h"

#include <algorithm>
#include <cmath>

#include "instances/numeric/numbers.h"
#include "instances/regression/median.h"

namespace stowage::kernels {
namespace {

constexpr int kSweeps = 12;  // further sweeps do not change the result noticeably
// Runs before and as many after a run whose pace it has, at most; with few works half a round.
// Evidence: of 2 to 40, 5 to 8 gave the
// steadiest times of 96 groups of a step in seven rounds on a machine whose pace had a deviation of
// 15 % within a round.
constexpr std::ptrdiff_t kMaxNeighbours = 8;

}  // namespace

void TimingRounds::add(std::size_t work, double seconds) {
  runs_[work].push_back(all_.size());
  all_.push_back({work, std::log(seconds)});
}

std::vector<RoundTime> TimingRounds::times() const {
  std::vector<double> time(runs_.size(), 0);
  std::vector<double> pace(all_.size(), 0);
  const auto left = [&](std::size_t w) {
    std::vector<double> rest;
    for (const std::size_t r : runs_[w]) rest.push_back(all_[r].log - pace[r]);
    return rest;
  };
  const auto neighbours = std::clamp<std::ptrdiff_t>(std::ssize(runs_) / 2, 1, kMaxNeighbours);
  const auto set_paces = [&] {
    std::vector<double> off;  // of each run from the time of its work
    for (const Run& run : all_) off.push_back(run.log - time[run.work]);
    for (std::ptrdiff_t r = 0; r < std::ssize(all_); ++r) {
      const auto first = off.begin() + std::max<std::ptrdiff_t>(0, r - neighbours);
      const auto last = off.begin() + std::min(std::ssize(all_), r + neighbours + 1);
      std::vector<double> near(first, off.begin() + r);
      near.insert(near.end(), off.begin() + r + 1, last);
      pace[at(r)] = near.empty() ? 0 : median(std::move(near));
    }
    const double usual = pace.empty() ? 0 : median(pace);
    for (double& own : pace) own -= usual;
  };
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t w = 0; w < runs_.size(); ++w) {
      if (!runs_[w].empty()) time[w] = median(left(w));
    }
    set_paces();
  }
  // For a normal distribution the standard deviation is 1.4826 times the median absolute deviation,
  // and the standard error of a median is 1.2533 times that of a mean.
  constexpr double kDeviation = 1.4826 * 1.2533;
  std::vector<RoundTime> times(runs_.size());
  for (std::size_t w = 0; w < runs_.size(); ++w) {
    times[w] = {.seconds = kInfinity, .error = kInfinity};
    if (runs_[w].empty()) continue;
    std::vector<double> off = left(w);
    const double middle = median(off);
    times[w].seconds = std::exp(middle);
    if (off.size() < 3) continue;
    for (double& own : off) own = std::abs(own - middle);
    const auto runs = static_cast<double>(off.size());
    times[w].error = kDeviation * median(std::move(off)) / std::sqrt(runs);
  }
  return times;
}

}  // namespace stowage::kernels
