#include "formulations/scatter/lp/step_prices.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "formulations/scatter/packing.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

// Prices of conditions may be many times larger than the difference that remains after subtracting
// them.
constexpr double kCancelled = 1e-11;

class Settling {
 public:
  Settling(const ScatterTable& table, std::span<const StepCondition> conditions,
           CertificateLeaf& leaf)
      : table_(table), conditions_(conditions), leaf_(leaf) {}

  double run(std::int64_t fewest) {
    const std::size_t count = leaf_.intervals.size();
    const int modes = table_.recomputations();
    std::vector<Prices> price;  // by interval, and by recomputation mode within it
    for (std::size_t i = 0; i < count; ++i) {
      for (int mode = 0; mode < modes; ++mode) {
        level_prices(i, mode);
        Prices& own = price.emplace_back(Prices{.interval = i, .mode = mode});
        for (std::size_t k = 0; k < table_.kinds().size(); ++k) {
          own.of_kind.push_back(least_price(i, mode, static_cast<int>(k)));
        }
      }
    }
    for (std::size_t k = 0; k < leaf_.values.size(); ++k) {
      if (leaf_.values[k] > 0) continue;
      double least = kInfinity;
      for (const Prices& own : price) least = std::min(least, own.of_kind[k]);
      leaf_.values[k] = std::isfinite(least) ? least : 0;
    }
    // Values that an interval cannot pay shrink all prices. The least prices are always paid.
    const double as_given = shrinkage(price) * value(fewest);
    std::vector<double> given = leaf_.values;
    for (std::size_t k = 0; k < leaf_.values.size(); ++k) {
      for (const Prices& own : price) {
        leaf_.values[k] = std::min(leaf_.values[k], own.of_kind[k]);
      }
    }
    if (shrinkage(price) * value(fewest) < as_given) leaf_.values = std::move(given);
    scale(shrinkage(price) * (1 - kBoundMargin));
    return value(fewest) * (1 - kBoundMargin);
  }

 private:
  // The least prices that sequences pay in micro-batches of an interval and a recomputation mode.
  struct Prices {
    std::size_t interval = 0;
    int mode = 0;
    std::vector<double> of_kind = {};
  };

  double shrinkage(const std::vector<Prices>& price) const {
    double shrink = 1;
    for (const auto& [i, mode, of_kind] : price) {
      double linked = 0;
      for (std::size_t k = 0; k < leaf_.values.size(); ++k) {
        linked += table_.kinds()[k].count * std::max(0.0, leaf_.values[k] - of_kind[k]);
      }
      const double worth_low =
          devices_worth(i, mode, low(i)) + linked + leaf_.micro_batch + conditions(i);
      const double worth_high = std::isfinite(high(i)) ? devices_worth(i, mode, high(i)) + linked +
                                                             leaf_.micro_batch + conditions(i)
                                                       : 0;
      if (worth_low > low(i)) shrink = std::min(shrink, low(i) / worth_low);
      if (worth_high > high(i)) shrink = std::min(shrink, high(i) / worth_high);
    }
    return shrink;
  }

  double value(std::int64_t fewest) const {
    double value = leaf_.micro_batch * static_cast<double>(fewest);
    for (std::size_t k = 0; k < leaf_.values.size(); ++k) {
      value += table_.kinds()[k].count * leaf_.values[k];
    }
    for (std::size_t c = 0; c < conditions_.size(); ++c) {
      const double term = leaf_.conditions[c] * static_cast<double>(conditions_[c].count);
      value += conditions_[c].at_least ? term : -term * (1 + kCancelled);
    }
    return value;
  }

  double low(std::size_t i) const { return leaf_.intervals[i].from; }
  double high(std::size_t i) const {
    return i + 1 < leaf_.intervals.size() ? leaf_.intervals[i + 1].from : kInfinity;
  }
  const GroupConfig& config(std::size_t d) const { return table_.configs()[d]; }
  double room(std::size_t i, std::size_t d) const { return high(i) - config(d).overhead; }

  double conditions(std::size_t i) const {
    double sum = 0;
    for (std::size_t c = 0; c < conditions_.size(); ++c) {
      const StepCondition& condition = conditions_[c];
      if (condition.at_least && high(i) > condition.from) sum += leaf_.conditions[c];
      if (!condition.at_least && low(i) >= condition.from)
        sum -= leaf_.conditions[c] * (1 - kCancelled);
    }
    return sum;
  }

  // Returns the worth of a device of a group of this degree in a micro-batch of makespan `at`.
  double device_worth(std::size_t i, std::size_t d, double at) const {
    const DegreePrices& prices = leaf_.intervals[i].degrees[d];
    double worth = prices.tokens * static_cast<double>(config(d).capacity);
    if (prices.time > 0) worth += prices.time * (at - config(d).overhead);
    for (const PackingPrice& packing : prices.packing) worth += packing.price;
    return worth / config(d).weighted_devices;
  }
  double devices_worth(std::size_t i, int mode, double at) const {
    double most = 0;
    for (std::size_t d = 0; d < table_.configs().size(); ++d) {
      if (is_of(d, mode) && room(i, d) > 0) most = std::max(most, device_worth(i, d, at));
    }
    return most * table_.devices();
  }

  bool is_of(std::size_t d, int mode) const { return table_.mode(static_cast<int>(d)) == mode; }

  // Raises prices that can rise without loss.
  void level_prices(std::size_t i, int mode) {
    const bool endless = !std::isfinite(high(i));
    const double most_low = devices_worth(i, mode, low(i)) / table_.devices();
    const double most_high =
        endless ? kInfinity : devices_worth(i, mode, high(i)) / table_.devices();
    std::size_t like = table_.configs().size();  // a degree with prices, near d
    for (std::size_t d = 0; d < table_.configs().size(); ++d) {
      DegreePrices& prices = leaf_.intervals[i].degrees[d];
      if (!is_of(d, mode) || room(i, d) <= 0) continue;
      const auto capacity = static_cast<double>(config(d).capacity);
      if (prices.time == 0 && prices.tokens == 0 && prices.packing.empty()) {
        // Split the worth between tokens and time as the next lower degree with prices does.
        double by_tokens = endless ? 1 : 0;
        if (!endless && like < table_.configs().size()) {
          const double tokens =
              leaf_.intervals[i].degrees[like].tokens * static_cast<double>(config(like).capacity);
          const double time = leaf_.intervals[i].degrees[like].time * room(i, like);
          if (tokens + time > 0) by_tokens = tokens / (tokens + time);
        }
        if (capacity > 0) prices.tokens = by_tokens / capacity;
        if (!endless) prices.time = (1 - by_tokens) / room(i, d);
      } else {
        like = d;
      }
      const double worth_low = device_worth(i, d, low(i));
      const double worth_high = endless ? 0 : device_worth(i, d, high(i));
      double factor = kInfinity;
      if (worth_low > 0) factor = most_low / worth_low;
      if (worth_high > 0) factor = std::min(factor, most_high / worth_high);
      if (!std::isfinite(factor)) continue;
      prices.time *= factor;
      prices.tokens *= factor;
      for (PackingPrice& packing : prices.packing) packing.price *= factor;
    }
  }

  double least_price(std::size_t i, int mode, int kind) const {
    const Tokens length = table_.kinds()[static_cast<std::size_t>(kind)].length;
    double least = kInfinity;
    for (std::size_t d = 0; d < table_.configs().size(); ++d) {
      const auto capacity = static_cast<double>(config(d).capacity);
      const auto tokens = static_cast<double>(config(d).padded(length) + config(d).sequence_tokens);
      const Ms cost = table_.kind_cost(kind, static_cast<int>(d));
      if (!is_of(d, mode) || !table_.holds_kind(static_cast<int>(d), kind) || room(i, d) <= 0 ||
          cost > room(i, d) * kBoundFits)
        continue;
      const DegreePrices& prices = leaf_.intervals[i].degrees[d];
      double price = prices.time * cost + prices.tokens * tokens;
      for (const PackingPrice& packing : prices.packing) {
        price += packing.price * (packing.resource == Resource::time
                                      ? packing_value(packing, cost, room(i, d))
                                      : packing_value(packing, tokens, capacity));
      }
      least = std::min(least, price);
    }
    return least;
  }

  void scale(double factor) {
    for (PriceInterval& interval : leaf_.intervals) {
      for (DegreePrices& prices : interval.degrees) {
        prices.time *= factor;
        prices.tokens *= factor;
        for (PackingPrice& packing : prices.packing) packing.price *= factor;
      }
    }
    for (double& value : leaf_.values) value *= factor;
    for (double& price : leaf_.conditions) price *= factor;
    leaf_.micro_batch *= factor;
  }

  const ScatterTable& table_;
  std::span<const StepCondition> conditions_;
  CertificateLeaf& leaf_;
};

}  // namespace

double settle_prices(const ScatterTable& table, std::int64_t fewest,
                     std::span<const StepCondition> conditions, CertificateLeaf& leaf) {
  return Settling(table, conditions, leaf).run(fewest);
}

}  // namespace stowage
