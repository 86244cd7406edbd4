// Estimates the times of several works that run in rounds, each once per round.
//
// A machine has slow and fast phases, so neither the fastest nor the mean run of a work is a good
// estimate. The model of a run is the time of its work times the pace of its round. Median polish
// of the logarithms estimates both (Tukey, Exploratory Data Analysis, 1977). The paces of all
// rounds have the median 1. With few works the paces absorb part of the noise, and with one work
// all of it; the estimated errors are then too small.
//
//   TimingRounds rounds(works);
//   for (...) rounds.add(work, seconds);  // a run; the k-th one of a work is of round k
//   rounds.times()[work].seconds
#pragma once

#include <cstddef>
#include <vector>

namespace stowage::kernels {

struct RoundTime {
  double seconds = 0;  // infinite if the work has no run
  // Relative standard error of the median; infinite for fewer than three runs.
  double error = 0;
};

class TimingRounds {
 public:
  explicit TimingRounds(std::size_t works) : runs_(works) {}

  void add(std::size_t work, double seconds) { runs_[work].push_back(seconds); }
  std::size_t runs(std::size_t work) const { return runs_[work].size(); }

  // Returns one entry per work.
  std::vector<RoundTime> times() const;

 private:
  std::vector<std::vector<double>> runs_;  // runs of each work in seconds, above 0
};

}  // namespace stowage::kernels
