// The times of named pieces of work, with all repetitions, measured by Google Benchmark.
//
//   Timings timings;
//   timings.add("v4/sgemm/768", flop, seconds);
//   double rate = timings.best_rate("v4/sgemm/768");
#pragma once

#include <map>
#include <string>
#include <vector>

namespace stowage::bench {

struct Timing {
  double work = 0;              // FLOP or bytes
  std::vector<double> seconds;  // thread CPU time of one run, one entry per repetition
};

class Timings {
 public:
  void add(const std::string& name, double work, double seconds);

  bool has(const std::string& name) const { return all_.contains(name); }
  // Return the work per second of the fastest and of the median repetition, or 0 for an unknown
  // name.
  double best_rate(const std::string& name) const;
  double median_rate(const std::string& name) const;
  const std::map<std::string, Timing>& all() const { return all_; }

 private:
  std::map<std::string, Timing> all_;
};

}  // namespace stowage::bench
