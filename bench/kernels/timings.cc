#include "bench/kernels/timings.h"

#include <algorithm>

#include "instances/regression/median.h"

namespace stowage::bench {

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
