// The leaves of a certificate: their shape and their numbers, and the bound that each proves.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/scatter/verify/certificate/certificate_checker.h"

namespace stowage {
namespace {

// Most steps of a packing price.
constexpr std::int64_t kMaxSteps = 1'000'000;

}  // namespace

void ScatterCertificateChecker::number(const std::string& where, double have) {
  found_.add(kNumber, [&] {
    return Description{where, text(have), "a finite number, at least 0"};
  });
}

void ScatterCertificateChecker::check_packing(const PackingPrice& packing, std::optional<Real> time,
                                              Tokens tokens, auto where) {
  const bool of_time = packing.resource == Resource::time;
  const Real all = of_time ? time.value_or(0) : static_cast<Real>(tokens);
  const bool steps = packing.threshold == 0 && packing.steps >= 1 && packing.steps <= kMaxSteps;
  const bool threshold = packing.threshold > 0 && packing.threshold <= all / 2;
  if (all > 0 && (steps || threshold)) return;
  found_.add(kPacking, [&] {
    return Description{
        where(), "steps " + text(packing.steps) + ", threshold " + text(packing.threshold),
        "1 to 1000000 steps, or a threshold of at most half of " + text(static_cast<double>(all))};
  });
}

// Returns the bound that the leaf proves, or nullopt after a violation.
std::optional<Real> ScatterCertificateChecker::check_leaf(std::size_t n) {
  const CertificateLeaf& leaf = certificate_.nodes[n].leaf;
  const std::string at = node_at(n) + "/leaf";
  const std::int64_t before = found_.total();
  check_shape(leaf, at, depth_[n]);
  if (found_.total() == before) check_numbers(leaf, at);
  if (found_.total() != before) return std::nullopt;
  // The number of conditions is that of the leaf's prices: a deep tree with short leaves costs no
  // time.
  const std::vector<Condition> conditions = conditions_of(n);
  for (std::size_t i = 0; i < leaf.intervals.size(); ++i) {
    for (const int way : ways_used_) check_interval(leaf, i, way, conditions, at);
  }
  if (found_.total() != before) return std::nullopt;
  Real plus = static_cast<Real>(leaf.micro_batch) * static_cast<Real>(fewest_);
  Real minus = 0;
  for (std::size_t s = 0; s < sorts_.size(); ++s) {
    plus += static_cast<Real>(leaf.values[s]) * static_cast<Real>(sorts_[s].count);
  }
  for (std::size_t c = 0; c < conditions.size(); ++c) {
    const Real term = leaf.conditions[c] * static_cast<Real>(conditions[c].count);
    ((term > 0) == conditions[c].at_least ? plus : minus) += std::abs(term);
  }
  Real longest = alone_;
  for (const Condition& condition : conditions) {
    if (condition.at_least && condition.count > 0) {
      longest = std::max<Real>(longest, condition.from);
    }
  }
  return (plus + longest_weight_ * longest) * kCheckerLowered - minus * kCheckerRaised;
}

void ScatterCertificateChecker::check_shape(const CertificateLeaf& leaf, const std::string& at,
                                            std::size_t conditions) {
  const auto expect = [&](Rule rule, std::string_view below, std::size_t have, std::size_t need) {
    if (have == need) return;
    found_.add(rule, [&] {
      return Description{at + std::string(below), text(have) + " entries", text(need)};
    });
  };
  expect(kValues, "/values_ms", leaf.values.size(), sorts_.size());
  expect(kConditions, "/conditions_ms", leaf.conditions.size(), conditions);
  Real least = std::numeric_limits<Real>::infinity();
  for (const Real overhead : overhead_) least = std::min(least, overhead);
  if (leaf.intervals.empty() || !(leaf.intervals.front().from <= least)) {
    found_.add(kIntervals, [&] {
      return Description{
          at + "/intervals",
          leaf.intervals.empty() ? "no interval" : text(leaf.intervals.front().from) + " ms",
          "to begin at most at " + text(static_cast<double>(least)) + " ms"};
    });
  }
  for (std::size_t i = 0; i < leaf.intervals.size(); ++i) {
    const std::string where = "/intervals/" + text(i);
    expect(kIntervals, where + "/degrees", leaf.intervals[i].degrees.size(), degrees_.size());
    if (i > 0 && !(leaf.intervals[i].from > leaf.intervals[i - 1].from)) {
      found_.add(kIntervals, [&] {
        return Description{at + where, text(leaf.intervals[i].from) + " ms",
                           "more than " + text(leaf.intervals[i - 1].from) + " ms"};
      });
    }
  }
}

void ScatterCertificateChecker::check_numbers(const CertificateLeaf& leaf, const std::string& at) {
  check_number(leaf.micro_batch, [&] { return at + "/micro_batch_ms"; });
  const auto all = [&](const std::vector<double>& values, std::string_view name) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      check_number(values[i], [&] { return at + std::string(name) + text(i); });
    }
  };
  all(leaf.values, "/values_ms/");
  all(leaf.conditions, "/conditions_ms/");
  for (std::size_t i = 0; i < leaf.intervals.size(); ++i) {
    const PriceInterval& interval = leaf.intervals[i];
    const auto where = [&] { return at + "/intervals/" + text(i); };
    check_number(interval.from, [&] { return where() + "/from_ms"; });
    for (std::size_t d = 0; d < interval.degrees.size(); ++d) {
      const DegreePrices& prices = interval.degrees[d];
      const auto here = [&] { return where() + "/degrees/" + text(d); };
      check_number(prices.time, here);
      check_number(prices.tokens, here);
      for (const PackingPrice& packing : prices.packing) {
        check_number(packing.price, here);
        check_packing(packing, room(leaf, i, d), capacity_[d], here);
      }
    }
  }
}

}  // namespace stowage
