#include "bench/kernels/timings.h"

#include <algorithm>

namespace stowage::bench {
namespace {

// Requires a value.
double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

void Timings::add(const std::string& name, double work, double seconds) {
  all_[name].work = work;
  all_[name].seconds.push_back(seconds);
}

double Timings::best_rate(const std::string& name) const {
  const auto found = all_.find(name);
  if (found == all_.end()) return 0;
  return found->second.work / *std::ranges::min_element(found->second.seconds);
}

double Timings::median_rate(const std::string& name) const {
  const auto found = all_.find(name);
  if (found == all_.end()) return 0;
  return found->second.work / median(found->second.seconds);
}

}  // namespace stowage::bench
