// What the results of a suite come to: best known plan and bound of each instance, and each method
// measured against them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/record.h"

namespace stowage::bench {

// The best of all results of one instance, whoever found it and in whatever run.
struct BestKnown {
  std::optional<double> objective;
  std::string objective_by;  // method
  double bound = 0;
  std::string bound_by;  // certificate

  std::optional<double> gap() const;
};

// By name of the instance.
std::map<std::string, BestKnown> best_known(const std::vector<Record>& records);

// A method over all instances of a suite; limits are part of a method's name ("auto 10 s").
struct MethodSummary {
  std::string method;
  std::string kind;
  std::size_t instances = 0;
  std::size_t planned = 0;  // with a plan
  std::size_t proven = 0;   // status optimal
  double median_gap = 0;    // to the bound of this very run
  double worst_gap = 0;
  double median_excess = 0;  // objective over the best known, minus 1
  double worst_excess = 0;
  double mean_cpu_s = 0;  // shifted geometric mean, shift 10 ms
  double most_cpu_s = 0;
};

// "auto 10 s"; "fast" where there was no limit.
std::string method_title(const Record& record);

// In the order in which the methods first stand in the results.
std::vector<MethodSummary> summarise(const std::vector<Record>& records,
                                     const std::map<std::string, BestKnown>& best);

double median(std::vector<double> values);  // 0 for none
double shifted_geometric_mean(const std::vector<double>& values, double shift);

}  // namespace stowage::bench
