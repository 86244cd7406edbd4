// Estimates the times of several works that run in rounds, each once per round.
//
// A machine has slow and fast phases, so neither the fastest nor the mean run of a work is a good
// estimate. The model of a run is the time of its work times the pace of the machine, and the pace
// of a run is that of the runs right before and after it. Median polish of the logarithms estimates
// both (Tukey, Exploratory Data Analysis, 1977). The paces of all runs have the median 1. Works
// must run in a different order in each round. Otherwise the neighbours of a run are always the
// same, and a slow phase cannot be told from slow works. With few works the paces absorb part of
// the noise, and with one work all of it; the estimated errors are then too small.
//
//   TimingRounds rounds(works);
//   for (...) rounds.add(work, seconds);  // the runs, in the order in which they ran
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

  void add(std::size_t work, double seconds);
  std::size_t runs(std::size_t work) const { return runs_[work].size(); }

  // Returns one entry per work.
  std::vector<RoundTime> times() const;

 private:
  struct Run {
    std::size_t work = 0;
    double log = 0;  // of its seconds
  };
  std::vector<Run> all_;                        // in the order in which they ran
  std::vector<std::vector<std::size_t>> runs_;  // of each work, as indices of all_
};

}  // namespace stowage::kernels
