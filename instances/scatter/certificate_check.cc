// The rules of instances/scatter/certificate.h. Shares no line with whoever finds certificates: all
// it knows of the cost model is below, in other words than cost_model.cc. Longer than 300 lines
// because the proof is one walk from the root to an inequality.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "instances/scatter/certificate.h"
#include "instances/scatter/profile_check.h"
#include "instances/scatter/truth.h"
#include "instances/violation_list.h"

namespace stowage {
namespace {

enum Rule : std::size_t {
  kNumber,
  kTree,
  kIntervals,
  kValues,
  kConditions,
  kPacking,
  kInterval,
  kProfile,
  kPattern,
  kBound,
  kRuleCount,
};

constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
    "certificate_number",     "certificate_tree",    "certificate_intervals", "certificate_values",
    "certificate_conditions", "certificate_packing", "certificate_interval",  "certificate_profile",
    "certificate_pattern",    "certificate_bound"};

using Real = long double;

constexpr Real kRaised = 1 + 1e-12L;
constexpr Real kLowered = 1 - 1e-12L;
// A sequence that takes this little more than the room might fit; a time this much shorter is
// certainly not longer than the true one.
constexpr Real kMightFit = 1 + 1e-9L;
constexpr Real kShorter = 1 - 1e-9L;
constexpr std::int64_t kMostSteps = 1'000'000;

struct Condition {
  Ms from = 0;
  bool at_least = false;
  std::int64_t count = 0;
};

class CertificateChecker {
 public:
  CertificateChecker(const ScatterInstance& instance, const ScatterCertificate& certificate)
      : cluster_(instance.cluster), certificate_(certificate), found_(kRuleNames) {
    const ScatterTruth truth(instance);
    std::map<Tokens, std::int64_t, std::greater<>> counts;
    for (std::int64_t id = 0; id < truth.sequences(); ++id) {
      ++counts[truth.length(id).value_or(kMaxExact)];
    }
    for (const int degree : cluster_.degrees) {
      capacity_.push_back(truth.capacity(degree));
      overhead_.push_back(alone(instance, 0, degree));
    }
    for (const auto& [tokens, count] : counts) {
      CertificateSort sort{.tokens = tokens, .count = count};
      for (std::size_t d = 0; d < cluster_.degrees.size(); ++d) {
        const Real with = alone(instance, tokens, cluster_.degrees[d]);
        sort.ms.push_back(tokens > capacity_[d] ? -1 : with - overhead_[d]);
      }
      sorts_.push_back(std::move(sort));
    }
    fewest_ = fewest_micro_batches(truth.capacity(1));
  }

  CertificateCheck run() && {
    std::optional<Real> weakest;
    if (!certificate_.profiles.empty()) {
      check_makespans();
    } else if (check_tree()) {
      for (std::size_t n = 0; n < certificate_.nodes.size(); ++n) {
        if (!certificate_.nodes[n].is_leaf) continue;
        const std::optional<Real> proven = check_leaf(n);
        if (proven && (!weakest || *proven < *weakest)) weakest = proven;
      }
    }
    const Ms claimed = certificate_.bound_ms;
    if (!std::isfinite(claimed) || claimed < 0) {
      number("/bound_ms", claimed);
    } else if (weakest && claimed > *weakest) {
      found_.add(kBound, [&] {
        return Description{"/bound_ms", text(claimed) + " ms",
                           "at most " + text(static_cast<double>(*weakest)) + " ms"};
      });
    }
    CertificateCheck check{.violations = std::move(found_).take()};
    if (check.violations.empty()) check.bound_ms = claimed;
    return check;
  }

 private:
  // The time of a group of this degree that holds one sequence of so many tokens, or none.
  static Real alone(const ScatterInstance& instance, Tokens tokens, int degree) {
    const ScatterCost& cost = instance.cost;
    const auto s = static_cast<Real>(tokens);
    Real shared = s * (cost.quadratic_ms * s + cost.linear_ms);
    if (degree > 1 && cost.all_to_all.mib_per_token > 0) {
      const auto speed = cost.all_to_all.mib_per_ms.find(degree);
      if (speed != cost.all_to_all.mib_per_ms.end()) {
        shared += cost.all_to_all.mib_per_token * s / static_cast<Real>(speed->second);
      }
    }
    const auto latency = cost.all_to_all.latency_ms.find(degree);
    const Ms once = latency == cost.all_to_all.latency_ms.end() ? 0 : latency->second;
    return static_cast<Real>(cost.fixed_ms) + once + shared / degree;
  }

  // No plan has fewer micro-batches: by tokens, and by how many sequences of some length or more
  // fit one.
  std::int64_t fewest_micro_batches(Tokens per_device) const {
    bool chain = true;
    for (std::size_t d = 1; d < cluster_.degrees.size(); ++d) {
      chain = chain && cluster_.degrees[d] % cluster_.degrees[d - 1] == 0;
    }
    const Real all = static_cast<Real>(per_device) * cluster_.devices;
    const auto batches = [](Real needed, Real each) {
      return each > 0 ? static_cast<std::int64_t>(std::ceil(needed / each * kLowered)) : 0;
    };
    std::int64_t fewest = 0;
    std::int64_t longer = 0;
    Real tokens = 0;
    for (const CertificateSort& sort : sorts_) {
      longer += sort.count;
      tokens += static_cast<Real>(sort.tokens) * static_cast<Real>(sort.count);
      Real together = std::floor(all / static_cast<Real>(sort.tokens) * kRaised);
      if (chain) {
        // The largest groups first: a group never holds fewer than the groups it could be cut into.
        together = 0;
        int free = cluster_.devices;
        for (std::size_t d = cluster_.degrees.size(); d-- > 0;) {
          const int groups = free / cluster_.degrees[d];
          const Tokens held = capacity_[d] / sort.tokens;  // sequences in one group
          together += static_cast<Real>(groups) * static_cast<Real>(held);
          free -= groups * cluster_.degrees[d];
        }
      }
      fewest = std::max(fewest, batches(static_cast<Real>(longer), together));
    }
    return std::max(fewest, batches(tokens, all));
  }

  static std::string node_at(std::size_t n) { return "/nodes/" + text(n); }

  void number(const std::string& where, double have) {
    found_.add(kNumber, [&] {
      return Description{where, text(have), "a finite number, at least 0"};
    });
  }
  bool check_number(double value, auto where) {
    if (std::isfinite(value) && value >= 0) return true;
    number(where(), value);
    return false;
  }

  // The other kind of certificate.
  void check_makespans() {
    if (!certificate_.nodes.empty()) {
      found_.add(kProfile, [] {
        return Description{"/nodes", "intervals beside profiles", "one or the other"};
      });
      return;
    }
    if (!std::isfinite(certificate_.bound_ms)) return;  // run() says so
    const CertificateFacts facts{cluster_.devices, cluster_.degrees, capacity_,
                                 overhead_,        sorts_,           fewest_};
    check_profiles(facts, certificate_,
                   {.number = kNumber, .shape = kProfile, .pattern = kPattern, .bound = kBound},
                   found_);
  }

  // Every node but the root has one parent, which stands before it.
  bool check_tree() {
    const auto& nodes = certificate_.nodes;
    const std::size_t count = nodes.size();
    parent_.assign(count, count);
    depth_.assign(count, 0);
    bool good = count > 0;
    if (count == 0) {
      found_.add(kTree, [] { return Description{"/nodes", "no node", "a root"}; });
    }
    for (std::size_t n = 0; n < count; ++n) {
      if (nodes[n].is_leaf) continue;
      if (!check_number(nodes[n].from, [&] { return node_at(n) + "/from_ms"; })) good = false;
      for (const std::size_t child : {nodes[n].fewer, nodes[n].more}) {
        if (child > n && child < count && parent_[child] == count) {
          parent_[child] = n;
          depth_[child] = depth_[n] + 1;
          continue;
        }
        good = false;
        found_.add(kTree, [&] {
          return Description{node_at(n), "child " + text(child),
                             "a later node that is nobody else's child"};
        });
      }
    }
    for (std::size_t n = 1; n < count; ++n) {
      if (parent_[n] != count) continue;
      good = false;
      found_.add(kTree, [&] { return Description{node_at(n), "no parent", "one parent"}; });
    }
    return good;
  }

  // From the root to the leaf.
  std::vector<Condition> conditions_of(std::size_t leaf) const {
    std::vector<Condition> path;
    for (std::size_t n = leaf; n != 0; n = parent_[n]) {
      const CertificateNode& above = certificate_.nodes[parent_[n]];
      const bool more = above.more == n;
      path.push_back({above.from, more, more ? above.at_most + 1 : above.at_most});
    }
    std::ranges::reverse(path);
    return path;
  }

  // What the leaf proves, or nothing after a violation.
  std::optional<Real> check_leaf(std::size_t n) {
    const CertificateLeaf& leaf = certificate_.nodes[n].leaf;
    const std::string at = node_at(n) + "/leaf";
    bool good = check_shape(leaf, at, depth_[n]);
    good = good && check_numbers(leaf, at);
    if (!good) return std::nullopt;
    // As many as the leaf lists itself: a deep tree with short leaves costs no time.
    const std::vector<Condition> conditions = conditions_of(n);
    for (std::size_t i = 0; i < leaf.intervals.size(); ++i) {
      good = check_interval(leaf, i, conditions, at) && good;
    }
    if (!good) return std::nullopt;
    Real plus = static_cast<Real>(leaf.micro_batch) * static_cast<Real>(fewest_);
    Real minus = 0;
    for (std::size_t s = 0; s < sorts_.size(); ++s) {
      plus += static_cast<Real>(leaf.values[s]) * static_cast<Real>(sorts_[s].count);
    }
    for (std::size_t c = 0; c < conditions.size(); ++c) {
      const Real term = leaf.conditions[c] * static_cast<Real>(conditions[c].count);
      ((term > 0) == conditions[c].at_least ? plus : minus) += std::abs(term);
    }
    return plus * kLowered - minus * kRaised;
  }

  bool check_shape(const CertificateLeaf& leaf, const std::string& at, std::size_t conditions) {
    bool good = true;
    const auto expect = [&](Rule rule, std::string_view below, std::size_t have, std::size_t need) {
      if (have == need) return;
      good = false;
      found_.add(rule, [&] {
        return Description{at + std::string(below), text(have) + " entries", text(need)};
      });
    };
    expect(kValues, "/values_ms", leaf.values.size(), sorts_.size());
    expect(kConditions, "/conditions_ms", leaf.conditions.size(), conditions);
    Real least = 0;
    for (std::size_t d = 0; d < overhead_.size(); ++d) {
      least = d == 0 ? overhead_[d] : std::min(least, overhead_[d]);
    }
    if (leaf.intervals.empty() || !(leaf.intervals.front().from <= least)) {
      good = false;
      found_.add(kIntervals, [&] {
        return Description{
            at + "/intervals",
            leaf.intervals.empty() ? "no interval" : text(leaf.intervals.front().from) + " ms",
            "to begin at most at " + text(static_cast<double>(least)) + " ms"};
      });
    }
    for (std::size_t i = 0; i < leaf.intervals.size(); ++i) {
      const std::string where = "/intervals/" + text(i);
      expect(kIntervals, where + "/degrees", leaf.intervals[i].degrees.size(),
             cluster_.degrees.size());
      if (i > 0 && !(leaf.intervals[i].from > leaf.intervals[i - 1].from)) {
        good = false;
        found_.add(kIntervals, [&] {
          return Description{at + where, text(leaf.intervals[i].from) + " ms",
                             "more than " + text(leaf.intervals[i - 1].from) + " ms"};
        });
      }
    }
    return good;
  }

  bool check_numbers(const CertificateLeaf& leaf, const std::string& at) {
    bool good = check_number(leaf.micro_batch, [&] { return at + "/micro_batch_ms"; });
    const auto all = [&](const std::vector<double>& values, std::string_view name) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        good = check_number(values[i], [&] { return at + std::string(name) + text(i); }) && good;
      }
    };
    all(leaf.values, "/values_ms/");
    all(leaf.conditions, "/conditions_ms/");
    for (std::size_t i = 0; i < leaf.intervals.size(); ++i) {
      const PriceInterval& interval = leaf.intervals[i];
      const auto where = [&] { return at + "/intervals/" + text(i); };
      good = check_number(interval.from, [&] { return where() + "/from_ms"; }) && good;
      for (std::size_t d = 0; d < interval.degrees.size(); ++d) {
        const DegreePrices& prices = interval.degrees[d];
        const auto here = [&] { return where() + "/degrees/" + text(d); };
        good = check_number(prices.time, here) && good;
        good = check_number(prices.tokens, here) && good;
        for (const PackingPrice& packing : prices.packing) {
          good = check_number(packing.price, here) && good;
          good = check_packing(packing, room(leaf, i, d), capacity_[d], here) && good;
        }
      }
    }
    return good;
  }

  // What a group of this degree has at most, beyond its overhead, if its micro-batch lasts less
  // than the end of the interval; absent in the last one.
  std::optional<Real> room(const CertificateLeaf& leaf, std::size_t i, std::size_t d) const {
    if (i + 1 == leaf.intervals.size()) return std::nullopt;
    return leaf.intervals[i + 1].from - overhead_[d];
  }

  bool check_packing(const PackingPrice& packing, std::optional<Real> time, Tokens tokens,
                     auto where) {
    const bool of_time = packing.resource == Resource::time;
    const Real all = of_time ? time.value_or(0) : static_cast<Real>(tokens);
    const bool steps = packing.threshold == 0 && packing.steps >= 1 && packing.steps <= kMostSteps;
    const bool threshold = packing.threshold > 0 && packing.threshold <= all / 2;
    if (all > 0 && (steps || threshold)) return true;
    found_.add(kPacking, [&] {
      return Description{where(),
                         "steps " + text(packing.steps) + ", threshold " + text(packing.threshold),
                         "1 to 1000000 steps, or a threshold of at most half of " +
                             text(static_cast<double>(all))};
    });
    return false;
  }

  // f of PackingPrice, where `amount` of `all` is surely not more than the truth.
  static Real packed(const PackingPrice& packing, Real amount, Real all) {
    if (packing.threshold > 0) {
      if (amount > all - packing.threshold) return 1;
      return amount >= packing.threshold ? amount / all : 0;
    }
    const auto steps = static_cast<Real>(packing.steps);
    return std::max(0.0L, (std::ceil((steps + 1) * amount / all * kShorter) - 1) / steps);
  }

  bool check_interval(const CertificateLeaf& leaf, std::size_t i,
                      const std::vector<Condition>& conditions, const std::string& at) {
    const PriceInterval& interval = leaf.intervals[i];
    const bool endless = i + 1 == leaf.intervals.size();
    const Real low = interval.from;
    const Real high = endless ? low : leaf.intervals[i + 1].from;
    Real device_low = 0;  // what a device earns at most in a micro-batch that lasts `low`
    Real device_high = 0;
    bool good = true;
    for (std::size_t d = 0; d < cluster_.degrees.size(); ++d) {
      const DegreePrices& prices = interval.degrees[d];
      if (endless && prices.time > 0) good = false;
      if (!endless && *room(leaf, i, d) <= 0) continue;
      Real fixed = static_cast<Real>(prices.tokens) * static_cast<Real>(capacity_[d]);
      for (const PackingPrice& packing : prices.packing) fixed += packing.price;
      const auto worth = [&](Real makespan) {
        return (fixed + prices.time * (makespan - overhead_[d])) / cluster_.degrees[d];
      };
      device_low = std::max(device_low, worth(low));
      device_high = std::max(device_high, worth(high));
    }
    // A sequence may be worth more than it pays, but each is in the micro-batch only once.
    Real beyond = leaf.micro_batch;
    for (std::size_t s = 0; s < sorts_.size(); ++s) {
      beyond += static_cast<Real>(sorts_[s].count) *
                std::max(0.0L, leaf.values[s] - least_price(leaf, i, s));
    }
    Real allowance = 0;
    for (std::size_t c = 0; c < conditions.size(); ++c) {
      const bool reaches = endless || high > conditions[c].from;
      if (conditions[c].at_least && reaches) beyond += leaf.conditions[c];
      if (!conditions[c].at_least && low >= conditions[c].from) allowance += leaf.conditions[c];
    }
    const auto holds = [&](Real device, Real makespan) {
      return (device * cluster_.devices + beyond) * kRaised <= makespan + allowance;
    };
    // The worth is convex in the makespan: what holds at both ends holds between them.
    good = good && holds(device_low, low) && holds(device_high, high);
    if (!good) {
      found_.add(kInterval, [&] {
        const bool above = !holds(device_high, high);
        const Real worth = (above ? device_high : device_low) * cluster_.devices + beyond;
        return Description{
            at + "/intervals/" + text(i),
            endless && holds(device_low, low) ? "a price of time without end"
                                              : "worth " + text(static_cast<double>(worth)) + " ms",
            "at most " + text(static_cast<double>((above ? high : low) + allowance)) + " ms"};
      });
    }
    return good;
  }

  // The least that a sequence pays in a micro-batch of the interval; infinite if it fits none.
  Real least_price(const CertificateLeaf& leaf, std::size_t i, std::size_t s) const {
    const CertificateSort& sort = sorts_[s];
    const auto tokens = static_cast<Real>(sort.tokens);
    Real least = std::numeric_limits<Real>::infinity();
    for (std::size_t d = 0; d < cluster_.degrees.size(); ++d) {
      const std::optional<Real> all = room(leaf, i, d);
      if (sort.ms[d] < 0 || (all && (*all <= 0 || sort.ms[d] > *all * kMightFit))) continue;
      const DegreePrices& prices = leaf.intervals[i].degrees[d];
      Real price = prices.time * sort.ms[d] + prices.tokens * tokens;
      for (const PackingPrice& packing : prices.packing) {
        price += packing.price * (packing.resource == Resource::time
                                      ? packed(packing, sort.ms[d] * kShorter, *all)
                                      : packed(packing, tokens, static_cast<Real>(capacity_[d])));
      }
      least = std::min(least, price);
    }
    return least;
  }

  const Cluster& cluster_;
  const ScatterCertificate& certificate_;
  ViolationList found_;
  std::vector<Tokens> capacity_;        // tokens per group, per degree
  std::vector<Real> overhead_;          // ms per group, per degree
  std::vector<CertificateSort> sorts_;  // longest first
  std::int64_t fewest_ = 0;
  std::vector<std::size_t> parent_;
  std::vector<std::size_t> depth_;  // conditions from the root
};

}  // namespace

CertificateCheck check_certificate(const ScatterInstance& instance,
                                   const ScatterCertificate& certificate) {
  return CertificateChecker(instance, certificate).run();
}

std::vector<std::string_view> certificate_rules() { return {kRuleNames.begin(), kRuleNames.end()}; }

}  // namespace stowage
