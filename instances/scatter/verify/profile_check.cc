// Checks certificates by makespans with arithmetic alone: every number of micro-batches, every box
// of makespans, every set of sequences that a group could hold.
#include "instances/scatter/verify/profile_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

// Weighted sums of the two capacities that are tried.
constexpr int kMixtures = 24;
constexpr std::size_t kMaxPartial = 2'000'000;  // partial sets that are tried
// Limit of a tree of boxes.
constexpr std::size_t kMaxNodes = 1'000'000;

// Decides whether some set of sequences, of at most the given tokens and ms, is worth more than a
// price. Sets grow one length after another, and end if even a fractional filling cannot exceed the
// price.
class PatternQuestion {
 public:
  PatternQuestion(Tokens tokens, Real ms, Real price) : tokens_(tokens), ms_(ms), price_(price) {}

  void offer(Tokens tokens, Tokens count, Real ms, Real worth) {
    if (worth <= 0 || tokens > tokens_ || ms > ms_) return;
    offers_.push_back({tokens, ms, worth, std::min(count, tokens_ / tokens)});
  }

  // Returns the answer, or nullopt if there are too many sets to decide.
  std::optional<bool> exceeded() {
    Real least = std::numeric_limits<Real>::infinity();
    Real best = 0;
    for (int i = 0; i <= kMixtures; ++i) {
      mixture_ = static_cast<Real>(i) / kMixtures;
      order();
      const Real filled = filling(0, 1);
      if (filled >= least) continue;
      least = filled;
      best = mixture_;
    }
    if (offers_.empty() || least <= price_) return false;
    mixture_ = best;
    order();
    std::vector<Partial> now{{0, 0, 0}};
    std::size_t seen = 0;
    for (std::size_t i = 0; i < offers_.size() && !now.empty(); ++i) {
      std::vector<Partial> next;
      for (const Partial& set : now) {
        Partial more = set;
        for (Tokens copies = 0;; ++copies) {
          if (more.worth > price_) return true;
          if (more.worth + filling(i + 1, 1 - size(more.tokens, more.ms)) > price_) {
            next.push_back(more);
            if (++seen > kMaxPartial) return std::nullopt;
          }
          if (copies == offers_[i].count) break;
          more.tokens += offers_[i].tokens;
          more.ms += offers_[i].ms;
          more.worth += offers_[i].worth;
          if (more.tokens > tokens_ || more.ms > ms_) break;
          if (more.worth + filling(i, 1 - size(more.tokens, more.ms)) <= price_) break;
        }
      }
      now = undominated(std::move(next));
    }
    return false;
  }

 private:
  struct Offer {
    Tokens tokens = 0;
    Real ms = 0;
    Real worth = 0;
    Tokens count = 0;
  };
  struct Partial {
    Tokens tokens = 0;
    Real ms = 0;
    Real worth = 0;
  };

  Real size(Tokens tokens, Real ms) const {
    Real sum = 0;
    if (tokens_ > 0) sum += mixture_ * static_cast<Real>(tokens) / static_cast<Real>(tokens_);
    if (ms_ > 0) sum += (1 - mixture_) * ms / ms_;
    return sum;
  }

  void order() {
    std::ranges::stable_sort(offers_, [&](const Offer& a, const Offer& b) {
      return a.worth * size(b.tokens, b.ms) > b.worth * size(a.tokens, a.ms);
    });
    sizes_.assign(1, 0);
    worths_.assign(1, 0);
    for (const Offer& offer : offers_) {
      const auto count = static_cast<Real>(offer.count);
      sizes_.push_back(sizes_.back() + count * size(offer.tokens, offer.ms));
      worths_.push_back(worths_.back() + count * offer.worth);
    }
  }

  // Returns the worth of a fractional filling of `room` with offers from `first` on, rounded up.
  Real filling(std::size_t first, Real room) const {
    const Real full = sizes_[first] + std::max<Real>(room, 0);
    const auto after = std::ranges::upper_bound(sizes_.begin() + static_cast<std::ptrdiff_t>(first),
                                                sizes_.end(), full) -
                       sizes_.begin();
    const auto last = static_cast<std::size_t>(after) - 1;
    Real worth = worths_[last] - worths_[first];
    if (last < offers_.size()) {
      worth += (full - sizes_[last]) / (sizes_[last + 1] - sizes_[last]) *
               (worths_[last + 1] - worths_[last]);
    }
    return worth * (1 + 1e-15L);
  }

  // Drops each set that takes at least the resources of another and is worth no more.
  static std::vector<Partial> undominated(std::vector<Partial> sets) {
    std::ranges::sort(sets, [](const Partial& a, const Partial& b) {
      return std::tie(a.tokens, a.ms, b.worth) < std::tie(b.tokens, b.ms, a.worth);
    });
    std::vector<Partial> kept;
    std::map<Real, Real> most;  // most worth by ms, over the sets of fewer tokens
    for (const Partial& set : sets) {
      const auto longer = most.upper_bound(set.ms);
      if (longer != most.begin() && std::prev(longer)->second >= set.worth) continue;
      kept.push_back(set);
      auto beaten = longer;
      while (beaten != most.end() && beaten->second <= set.worth) ++beaten;
      most.erase(longer, beaten);
      most[set.ms] = set.worth;
    }
    return kept;
  }

  Tokens tokens_;
  Real ms_;
  Real price_;
  Real mixture_ = 0;
  std::vector<Offer> offers_;
  std::vector<Real> sizes_;  // of all offers before the index
  std::vector<Real> worths_;
};

struct Box {
  std::vector<Real> low;
  std::vector<Real> high;
};

class ProfileChecker {
 public:
  ProfileChecker(const CertificateFacts& facts, const ScatterCertificate& certificate,
                 const ProfileRules& rules, ViolationList& found)
      : facts_(facts), certificate_(certificate), rules_(rules), found_(found) {
    for (const Real overhead : facts.overhead) least_ = std::min(least_, overhead);
  }

  void run() {
    const std::size_t cases = certificate_.profiles.size();
    for (std::size_t i = 0; i < cases; ++i) {
      const std::int64_t count = facts_.fewest + static_cast<std::int64_t>(i) * facts_.multiple;
      if (count < 1 || count > kMaxMicroBatches) {
        wrong(at(i), text(count) + " micro-batches", "1 to " + text(kMaxMicroBatches));
        continue;
      }
      const auto batches = static_cast<std::size_t>(count);
      Box box{std::vector<Real>(batches, least_),
              std::vector<Real>(batches, certificate_.bound_ms)};
      box.low[0] = std::max(box.low[0], facts_.alone);
      check_tree(i, std::move(box));
    }
    // Every micro-batch lasts at least an overhead, and devices do all the work at their best [B2].
    Real area = 0;
    for (const CertificateSort& sort : facts_.sorts) {
      Real best = std::numeric_limits<Real>::infinity();
      for (std::size_t d = 0; d < facts_.degrees.size(); ++d) {
        if (sort.ms[d] >= 0) best = std::min(best, facts_.degrees[d] * sort.ms[d]);
      }
      area += static_cast<Real>(sort.count) * best;
    }
    const std::int64_t next = facts_.fewest + static_cast<std::int64_t>(cases) * facts_.multiple;
    const Real more = of_more(static_cast<Real>(next), area / facts_.devices);
    if (!(certificate_.bound_ms <= more * kCheckerLowered)) {
      over("/profiles", static_cast<double>(more), "of more micro-batches");
    }
  }

 private:
  static constexpr std::int64_t kMaxMicroBatches = 64;

  // Returns the least time of a step of `batches` or more micro-batches, which share `even` ms
  // beside their overheads. If the longest makespan counts again, more micro-batches may take less.
  Real of_more(Real batches, Real even) const {
    if (facts_.again == 0) return batches * least_ + even;
    const Real endless = std::numeric_limits<Real>::infinity();
    const Real beyond = facts_.alone - least_;
    // From `first` on, the longest makespan is that of the longest sequence. From `second` on, an
    // overhead costs more than a shorter longest makespan gains. Between the two, the time is
    // convex.
    const Real first = beyond > 0 ? even / beyond : endless;
    const Real second = least_ > 0 ? std::sqrt(facts_.again * even / least_) : endless;
    const Real count = std::max(batches, std::min(first, second));
    const bool many = count == endless;  // without overhead
    const Real longest = std::max(facts_.alone, least_ + (many ? 0 : even / count));
    return (many ? 0 : count * least_) + even + facts_.again * longest;
  }

  static std::string at(std::size_t tree) { return "/profiles/" + text(tree); }

  void wrong(const std::string& where, const std::string& have, const std::string& need) {
    found_.add(rules_.shape, [&] { return Description{where, have, need}; });
  }
  void over(const std::string& where, double proven, const std::string& what) {
    found_.add(rules_.bound, [&] {
      return Description{where, text(certificate_.bound_ms) + " ms",
                         "at most " + text(proven) + " ms, as " + what};
    });
  }

  void check_tree(std::size_t index, Box box) {
    const ProfileTree& tree = certificate_.profiles[index];
    if (tree.empty() || tree.size() > kMaxNodes) {
      wrong(at(index), text(tree.size()) + " nodes", "1 to " + text(kMaxNodes));
      return;
    }
    std::vector<Box> boxes(tree.size());
    std::vector<bool> has_parent(tree.size(), false);
    boxes[0] = std::move(box);
    has_parent[0] = true;
    for (std::size_t n = 0; n < tree.size(); ++n) {
      const std::string where = at(index) + "/" + text(n);
      const ProfileNode& node = tree[n];
      if (!has_parent[n]) {
        wrong(where, "no parent", "one parent before it");
        return;
      }
      if (node.kind != ProfileNode::Kind::split) {
        check_leaf(node, std::move(boxes[n]), where);
        continue;
      }
      const auto child = [&](std::size_t c) { return c > n && c < tree.size() && !has_parent[c]; };
      if (!child(node.below) || !child(node.above) || node.below == node.above ||
          node.batch >= boxes[n].low.size()) {
        wrong(where,
              "children " + text(node.below) + ", " + text(node.above) + ", micro-batch " +
                  text(node.batch),
              "two later nodes that are nobody else's children");
        return;
      }
      if (!std::isfinite(node.at) || node.at < 0) {
        bad_number(where, node.at);
        return;
      }
      has_parent[node.below] = has_parent[node.above] = true;
      boxes[node.below] = boxes[n];
      boxes[node.above] = std::move(boxes[n]);
      Real& high = boxes[node.below].high[node.batch];
      high = std::min<Real>(high, node.at);
      Real& low = boxes[node.above].low[node.batch];
      low = std::max<Real>(low, node.at);
    }
  }

  void bad_number(const std::string& where, double have) {
    found_.add(rules_.number, [&] {
      return Description{where, text(have), "a finite number, at least 0"};
    });
  }

  bool check_numbers(const ProfileNode& node, std::size_t batches, const std::string& where) {
    bool shape = node.values.size() == facts_.sorts.size() && node.batches.size() == batches;
    bool numbers = true;
    const auto number = [&](double value) {
      if (std::isfinite(value) && value >= 0) return;
      if (numbers) bad_number(where, value);
      numbers = false;
    };
    for (const double value : node.values) number(value);
    for (const std::vector<GroupPrices>& degrees : node.batches) {
      shape = shape && degrees.size() == facts_.degrees.size();
      for (const GroupPrices& prices : degrees) {
        number(prices.time);
        number(prices.group);
      }
    }
    if (!shape) {
      wrong(where,
            text(node.values.size()) + " values, " + text(node.batches.size()) + " micro-batches",
            text(facts_.sorts.size()) + " and " + text(batches) + ", each with " +
                text(facts_.degrees.size()) + " degrees");
    }
    return shape && numbers;
  }

  void check_leaf(const ProfileNode& node, Box box, const std::string& where) {
    const std::size_t batches = box.low.size();
    // Makespans descend, and their sum is below the bound.
    for (std::size_t b = batches - 1; b-- > 0;) box.low[b] = std::max(box.low[b], box.low[b + 1]);
    Real sum = 0;  // the longest makespan counts 1 + again times
    for (std::size_t b = 0; b < batches; ++b) sum += times(b) * box.low[b];
    if (sum >= certificate_.bound_ms) return;
    if (node.kind == ProfileNode::Kind::open) {
      over(where, static_cast<double>(sum), "the least makespans sum up to no more");
      return;
    }
    if (!check_numbers(node, batches, where)) return;
    for (std::size_t b = 0; b < batches; ++b) {
      const Real left = certificate_.bound_ms - (sum - times(b) * box.low[b]);
      box.high[b] = std::min(box.high[b], left / times(b));
      if (b > 0) box.high[b] = std::min(box.high[b], box.high[b - 1]);
      if (box.high[b] < box.low[b]) return;  // no plan has such makespans
    }
    const bool has_runs = std::ranges::adjacent_find(node.values) != node.values.end();
    Real proven = 0;
    for (std::size_t s = 0; s < facts_.sorts.size(); ++s) {
      proven += static_cast<Real>(facts_.sorts[s].count) * node.values[s];
    }
    proven *= kCheckerLowered;
    for (std::size_t b = 0; b < batches; ++b) {
      Real device_low = 0;
      Real device_high = 0;
      for (std::size_t d = 0; d < facts_.degrees.size(); ++d) {
        const Real room = box.high[b] * kCheckerFits - facts_.overhead[d];
        if (room < 0) continue;
        const GroupPrices& prices = node.batches[b][d];
        std::optional<bool> exceeded = exceeds(node, d, room, prices, has_runs);
        if (has_runs && exceeded.value_or(true)) exceeded = exceeds(node, d, room, prices, false);
        if (exceeded.value_or(true)) {
          found_.add(rules_.pattern, [&] {
            return Description{where + "/batches/" + text(b) + "/" + text(d),
                               exceeded ? "a group worth more than " + text(prices.group) + " ms"
                                        : "too many groups to tell",
                               "no group worth more than its price"};
          });
          return;
        }
        const auto worth = [&](Real makespan) {
          return (prices.group + prices.time * (makespan - facts_.overhead[d])) / facts_.degrees[d];
        };
        device_low = std::max(device_low, worth(box.low[b]));
        device_high = std::max(device_high, worth(box.high[b]));
      }
      // The term is convex in the makespan, so it is largest at one of the ends.
      proven -= std::max(facts_.devices * device_low * kCheckerRaised - times(b) * box.low[b],
                         facts_.devices * device_high * kCheckerRaised - times(b) * box.high[b]);
    }
    if (!(certificate_.bound_ms <= proven)) {
      over(where, static_cast<double>(proven), "its prices prove no more");
    }
  }

  // Decides whether a group can be worth more than its price. With `in_runs`, successive lengths of
  // one value count as one, of their least tokens and ms. No set of them is worth less then, so
  // that false is right; true may be wrong.
  std::optional<bool> exceeds(const ProfileNode& node, std::size_t d, Real room,
                              const GroupPrices& prices, bool in_runs) const {
    PatternQuestion question(facts_.capacity[d], room, prices.group);
    for (std::size_t s = 0; s < facts_.sorts.size();) {
      const double value = node.values[s];
      Tokens tokens = kMaxExact;
      Tokens count = 0;
      Real ms = std::numeric_limits<Real>::infinity();
      do {
        const CertificateSort& sort = facts_.sorts[s];
        if (sort.ms[d] < 0) continue;
        tokens = std::min(tokens, sort.padded[d] + facts_.beside[d]);
        ms = std::min(ms, sort.ms[d]);
        count += sort.count;
      } while (++s < facts_.sorts.size() && in_runs && node.values[s] == value);
      if (count > 0) question.offer(tokens, count, ms, value - prices.time * ms);
    }
    return question.exceeded();
  }

  // Returns the number of times that the makespan of the micro-batch counts.
  Real times(std::size_t batch) const { return batch == 0 ? 1 + facts_.again : 1; }

  const CertificateFacts& facts_;
  const ScatterCertificate& certificate_;
  const ProfileRules& rules_;
  ViolationList& found_;
  Real least_ = std::numeric_limits<Real>::infinity();
};

}  // namespace

void check_profiles(const CertificateFacts& facts, const ScatterCertificate& certificate,
                    const ProfileRules& rules, ViolationList& found) {
  ProfileChecker(facts, certificate, rules, found).run();
}

}  // namespace stowage
