// Times of several works that were run in rounds, each once a round.
//
// A machine is slow for a while, and faster than usual now and then: the fastest run of a work is
// as far off as the slowest. So a run is taken as the time of its work times the pace of its round,
// and both are medians of what the other leaves (Tukey, Exploratory Data Analysis, 1977: median
// polish of logarithms). The paces of all rounds have the median 1. Of few works a pace takes some
// of the noise, of one all of it, and errors are told too small.
//
//   Rounds rounds(works);
//   for (...) rounds.add(work, seconds);  // a run; the k-th one of a work is of round k
//   rounds.times()[work].seconds
#pragma once

#include <cstddef>
#include <vector>

namespace stowage::kernels {

struct RoundTime {
  double seconds = 0;  // infinite without a run
  // Of seconds, relative: the standard error of a median; infinite for fewer than three runs.
  double error = 0;
};

class Rounds {
 public:
  explicit Rounds(std::size_t works) : runs_(works) {}

  void add(std::size_t work, double seconds) { runs_[work].push_back(seconds); }
  std::size_t runs(std::size_t work) const { return runs_[work].size(); }

  // Of each work.
  std::vector<RoundTime> times() const;

 private:
  std::vector<std::vector<double>> runs_;  // above 0
};

}  // namespace stowage::kernels
