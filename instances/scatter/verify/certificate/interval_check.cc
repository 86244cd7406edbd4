// The inequality of an interval of makespans: no micro-batch in it is worth more than it lasts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "instances/scatter/verify/certificate/certificate_checker.h"

namespace stowage {

// Returns the most time of a group of this degree beyond its overhead, if its micro-batch lasts
// less than the end of the interval; nullopt for the last interval.
std::optional<Real> ScatterCertificateChecker::room(const CertificateLeaf& leaf, std::size_t i,
                                                    std::size_t d) const {
  if (i + 1 == leaf.intervals.size()) return std::nullopt;
  return leaf.intervals[i + 1].from - overhead_[d];
}

// Returns f of PackingPrice, where `amount` of `all` is a lower bound on the true amount.
Real ScatterCertificateChecker::packed(const PackingPrice& packing, Real amount, Real all) {
  if (packing.threshold > 0) {
    if (amount > all - packing.threshold) return 1;
    return amount >= packing.threshold ? amount / all : 0;
  }
  const auto steps = static_cast<Real>(packing.steps);
  return std::max(0.0L, (std::ceil((steps + 1) * amount / all * kCheckerShort) - 1) / steps);
}

// Checks an interval for micro-batches of this recomputation mode.
void ScatterCertificateChecker::check_interval(const CertificateLeaf& leaf, std::size_t i, int way,
                                               const std::vector<Condition>& conditions,
                                               const std::string& at) {
  const PriceInterval& interval = leaf.intervals[i];
  const bool endless = i + 1 == leaf.intervals.size();
  const Real low = interval.from;
  const Real high = endless ? low : leaf.intervals[i + 1].from;
  Real device_low = 0;  // most that a device earns in a micro-batch of `low` ms
  Real device_high = 0;
  bool good = true;
  for (std::size_t d = 0; d < degrees_.size(); ++d) {
    if (ways_[d] != way) continue;
    const DegreePrices& prices = interval.degrees[d];
    if (endless && prices.time > 0) good = false;
    if (!endless && *room(leaf, i, d) <= 0) continue;
    Real fixed = static_cast<Real>(prices.tokens) * static_cast<Real>(capacity_[d]);
    for (const PackingPrice& packing : prices.packing) fixed += packing.price;
    const auto worth = [&](Real makespan) {
      return (fixed + prices.time * (makespan - overhead_[d])) / shares_[d];
    };
    device_low = std::max(device_low, worth(low));
    device_high = std::max(device_high, worth(high));
  }
  // A sequence may be worth more than it pays, but each is in the micro-batch only once.
  Real beyond = leaf.micro_batch;
  for (std::size_t s = 0; s < sorts_.size(); ++s) {
    beyond += static_cast<Real>(sorts_[s].count) *
              std::max(0.0L, leaf.values[s] - least_price(leaf, i, s, way));
  }
  Real allowance = 0;
  for (std::size_t c = 0; c < conditions.size(); ++c) {
    const bool reaches = endless || high > conditions[c].from;
    if (conditions[c].at_least && reaches) beyond += leaf.conditions[c];
    if (!conditions[c].at_least && low >= conditions[c].from) allowance += leaf.conditions[c];
  }
  const auto holds = [&](Real device, Real makespan) {
    return (device * all_devices_ + beyond) * kCheckerRaised <= makespan + allowance;
  };
  // The worth is convex in the makespan: if it is small enough at both ends, it is between them.
  good = good && holds(device_low, low) && holds(device_high, high);
  if (good) return;
  found_.add(kInterval, [&] {
    const bool above = !holds(device_high, high);
    const Real worth = (above ? device_high : device_low) * all_devices_ + beyond;
    return Description{
        at + "/intervals/" + text(i),
        endless && holds(device_low, low) ? "a price of time without end"
                                          : "worth " + text(static_cast<double>(worth)) + " ms",
        "at most " + text(static_cast<double>((above ? high : low) + allowance)) + " ms"};
  });
}

// Returns the least that a sequence pays in a micro-batch of the interval and recomputation mode;
// infinite if it fits no group.
Real ScatterCertificateChecker::least_price(const CertificateLeaf& leaf, std::size_t i,
                                            std::size_t s, int way) const {
  const CertificateSort& sort = sorts_[s];
  Real least = std::numeric_limits<Real>::infinity();
  for (std::size_t d = 0; d < degrees_.size(); ++d) {
    if (ways_[d] != way) continue;
    const std::optional<Real> all = room(leaf, i, d);
    if (sort.ms[d] < 0 || (all && (*all <= 0 || sort.ms[d] > *all * kCheckerFits))) continue;
    const DegreePrices& prices = leaf.intervals[i].degrees[d];
    const auto tokens = static_cast<Real>(sort.padded[d] + beside_[d]);
    Real price = prices.time * sort.ms[d] + prices.tokens * tokens;
    for (const PackingPrice& packing : prices.packing) {
      price += packing.price * (packing.resource == Resource::time
                                    ? packed(packing, sort.ms[d] * kCheckerShort, *all)
                                    : packed(packing, tokens, static_cast<Real>(capacity_[d])));
    }
    least = std::min(least, price);
  }
  return least;
}

}  // namespace stowage
