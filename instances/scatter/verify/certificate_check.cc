// The rules of instances/scatter/certificate.h. It shares no code with the searches that find
// certificates. It takes the cost and room of groups from reference_model.h, as the verifier does.
// Longer than 300 lines because the proof is one walk from the root to an inequality.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "instances/numeric/tolerances.h"
#include "instances/proof/violation_list.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/verify/profile_check.h"
#include "instances/scatter/verify/reference_counts.h"
#include "instances/scatter/verify/reference_model.h"

namespace stowage {
namespace {

enum Rule : std::size_t {
  kNumber,
  kTree,
  kLevels,
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
    "certificate_number",  "certificate_tree",       "certificate_levels",  "certificate_intervals",
    "certificate_values",  "certificate_conditions", "certificate_packing", "certificate_interval",
    "certificate_profile", "certificate_pattern",    "certificate_bound"};

// A level that is more expensive than another by at most this factor differs by rounding only.
constexpr Real kAsCheap = 1 + 1e-13L;
// Most steps of a packing price.
constexpr std::int64_t kMaxSteps = 1'000'000;

struct Condition {
  Ms from = 0;
  bool at_least = false;
  std::int64_t count = 0;
};

class CertificateChecker {
 public:
  CertificateChecker(const ScatterInstance& instance, const ScatterCertificate& certificate)
      : measured_(!instance.cost.table.empty()),
        cluster_(instance.cluster),
        rules_(instance.rules),
        certificate_(certificate),
        found_(kRuleNames) {
    const ScatterReferenceModel truth(instance);
    for (const GroupForm form : truth.forms()) forms_.push_back(form);
    const LengthCounts counts = true_length_counts(instance);
    const Tokens shortest = counts.empty() ? 1 : counts.rbegin()->first;
    std::vector<CertificateLevel> levels = certificate_.levels;
    if (levels.empty()) {
      for (const GroupForm form : forms_) {
        levels.push_back({.degree = form.degree,
                          .exchange = form.exchange,
                          .recomputation = form.recomputation,
                          .place = form.place});
      }
    }
    weigh_devices(instance);
    for (const CertificateLevel& level : levels) {
      degrees_.push_back(level.degree);
      shares_.push_back(is_form(truth, level.form()) ? share(truth, level.form()) : level.degree);
      ways_.push_back(level.recomputation);
      ways_used_.insert(level.recomputation);
      limits_.push_back(limit(truth, level.form(), counts, shortest));
      capacity_.push_back(limits_.back().capacity);
      beside_.push_back(limits_.back().beside);
      overhead_.push_back(measured_ ? level.below.ms : overhead(truth, level.form()));
    }
    for (const auto& [tokens, count] : counts) {
      CertificateSort sort{.tokens = tokens, .count = count};
      for (std::size_t d = 0; d < levels.size(); ++d) {
        const GroupForm form = levels[d].form();
        const bool fits = is_form(truth, form) && tokens <= truth.room(form);
        sort.ms.push_back(fits ? pays(truth, tokens, levels[d]) : -1);
        sort.padded.push_back(truth.on_group(tokens, form).value_or(kMaxExact));
      }
      sorts_.push_back(std::move(sort));
    }
    if (!certificate_.levels.empty()) check_levels(truth, counts, shortest);
    if (levels_hold_) fewest_ = true_fewest_micro_batches(instance, counts);
    longest_weight_ = instance.pipeline_stages - 1;
    if (longest_weight_ > 0) alone_ = longest_alone(truth, counts);
  }

  CertificateCheck run() && {
    std::optional<Real> weakest;
    if (!levels_hold_) {
      // The levels are wrong, so their prices cannot be checked.
    } else if (!certificate_.profiles.empty()) {
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
  // Returns the least time of a micro-batch that holds the sequence for which that time is the
  // largest.
  Real longest_alone(const ScatterReferenceModel& truth, const LengthCounts& counts) const {
    Real longest = 0;
    for (const auto& [tokens, count] : counts) {
      std::optional<Real> least;
      for (const GroupForm form : forms_) {
        if (tokens > truth.room(form)) continue;
        const GroupTimes times = truth.times(truth.sums_of(tokens, form), form);
        const Real time = std::max(times.compute, times.transfer);
        if (!least || time < *least) least = time;
      }
      longest = std::max(longest, least.value_or(0));
    }
    return longest;
  }

  // Computes the sum of the weights of all devices.
  void weigh_devices(const ScatterInstance& instance) {
    const std::vector<double>& weights = certificate_.kind_weights;
    all_devices_ = cluster_.devices;
    if (weights.empty()) return;
    const bool positive = std::ranges::all_of(
        weights, [](double weight) { return weight > 0 && std::isfinite(weight); });
    if (weights.size() != cluster_.kinds.size() || !positive) {
      levels_hold_ = false;
      found_.add(kLevels, [&] {
        return Description{"/kind_weights", text(weights.size()) + " weights",
                           text(cluster_.kinds.size()) + ", all above 0"};
      });
      return;
    }
    all_devices_ = 0;
    for (std::size_t kind = 0; kind < weights.size(); ++kind) {
      all_devices_ += static_cast<Real>(weights[kind]) * cluster_.kinds[kind].nodes *
                      instance.cluster.devices_per_node;
    }
  }

  // Returns the sum of the weights of a group's devices.
  Real share(const ScatterReferenceModel& truth, GroupForm form) const {
    const std::vector<double>& weights = certificate_.kind_weights;
    if (weights.size() != cluster_.kinds.size() || weights.empty()) return form.degree;
    Real share = 0;
    truth.each_rank_kind(form, [&](std::size_t kind) { share += weights[kind]; });
    return share;
  }

  // Returns whether the form has valid indices; check_levels() decides whether groups may have it.
  static bool is_form(const ScatterReferenceModel& truth, GroupForm form) {
    return form.degree > 0 && form.recomputation >= 0 &&
           form.recomputation < truth.ways_to_recompute();
  }

  static Real overhead(const ScatterReferenceModel& truth, GroupForm form) {
    return is_form(truth, form) ? truth.times({}, form).compute : 0;
  }

  // Returns the time that a sequence of `tokens` tokens adds to the weighted time of a group.
  static Real adds(const ScatterReferenceModel& truth, Tokens tokens, GroupForm form, Real weight) {
    if (!is_form(truth, form)) return 0;
    const GroupTimes empty = truth.times_before_filling({}, form);
    const GroupTimes with = truth.times_before_filling(truth.sums_of(tokens, form), form);
    return weight * (with.compute - empty.compute) +
           (1 - weight) * (with.transfer - empty.transfer);
  }

  // Returns the time that it adds to the time that a group of the level pays for.
  Real pays(const ScatterReferenceModel& truth, Tokens tokens,
            const CertificateLevel& level) const {
    if (!measured_) return adds(truth, tokens, level.form(), level.weight);
    const Real length = static_cast<Real>(truth.on_group(tokens, level.form()).value_or(kMaxExact));
    return level.below.token_ms * length + level.below.square_ms * length * length;
  }

  // Returns whether groups of the level take at least the time of its plane; without a table it has
  // no plane.
  bool plane_holds(const ScatterReferenceModel& truth, const CertificateLevel& level) const {
    const AffineTime& plane = level.below;
    if (!measured_) return plane == AffineTime{};
    for (const double number : {plane.ms, plane.token_ms, plane.square_ms}) {
      if (!(number >= 0) || !std::isfinite(number)) return false;
    }
    if (sorts_.empty()) return true;
    Tokens longest = sorts_.back().tokens;
    for (const CertificateSort& sort : sorts_) {
      if (sort.tokens <= truth.room(level.form())) longest = std::max(longest, sort.tokens);
    }
    const auto padded = [&](Tokens tokens) {
      return truth.on_group(tokens, level.form()).value_or(kMaxExact);
    };
    return truth.takes_at_least(plane, level.degree, padded(sorts_.back().tokens), padded(longest));
  }

  static ScatterReferenceModel::Limit limit(const ScatterReferenceModel& truth, GroupForm form,
                                            const LengthCounts& counts, Tokens shortest) {
    if (!is_form(truth, form)) return {};
    return truth.limit(form, tokens_on(truth, counts, form),
                       truth.on_group(shortest, form).value_or(kMaxExact));
  }

  // Checks the rule certificate_levels.
  void check_levels(const ScatterReferenceModel& truth, const LengthCounts& counts,
                    Tokens shortest) {
    const auto& levels = certificate_.levels;
    const auto wrong = [&](const std::string& where, std::string&& have, std::string&& need) {
      levels_hold_ = false;
      found_.add(kLevels, [&] { return Description{where, std::move(have), std::move(need)}; });
    };
    std::vector<bool> listed(forms_.size(), false);
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const std::string where = "/levels/" + text(l);
      const GroupForm form = levels[l].form();
      const auto place = static_cast<std::size_t>(std::ranges::find(forms_, form) - forms_.begin());
      if (place == forms_.size() || listed[place]) {
        wrong(where, "degree " + text(form.degree), "a form of groups of the instance, once");
      } else {
        listed[place] = true;
      }
      if (l > 0 && form.degree < levels[l - 1].degree) {
        wrong(where, "degree " + text(form.degree), "levels by degree");
      }
      if (!(levels[l].weight >= 0 && levels[l].weight <= 1)) {
        wrong(where, "weight " + text(levels[l].weight), "0 to 1");
      }
      if (levels_hold_ && !plane_holds(truth, levels[l])) {
        wrong(where, "a plane of " + text(levels[l].below.ms) + " ms and more",
              measured_ ? "one below the measured times" : "none, as no times are measured");
      }
    }
    if (!levels_hold_) return;
    // For each recomputation mode, all forms of a micro-batch must find such a level in one mode.
    for (int way = 0; way < truth.ways_to_recompute(); ++way) {
      std::optional<GroupForm> without;
      const bool covered = std::ranges::any_of(ways_used_, [&](int own) {
        const auto bad = std::ranges::find_if(forms_, [&](GroupForm form) {
          return form.recomputation == way && !is_covered(truth, form, own, counts, shortest);
        });
        if (bad != forms_.end() && !without) without = *bad;
        return bad == forms_.end();
      });
      if (covered) continue;
      wrong("/levels", "none for a group of degree " + text(without ? without->degree : 0),
            "one of its degree that is never worse");
    }
  }

  // Returns whether a level of this mode is the form, or is never worse than it.
  bool is_covered(const ScatterReferenceModel& truth, GroupForm form, int way,
                  const LengthCounts& counts, Tokens shortest) const {
    for (std::size_t l = 0; l < certificate_.levels.size(); ++l) {
      if (ways_[l] != way) continue;
      if (certificate_.levels[l].form() == form) return true;
      if (never_worse(truth, l, form) &&
          never_smaller(truth, l, form, limit(truth, form, counts, shortest))) {
        return true;
      }
    }
    return false;
  }

  // Returns whether the room of the level, for which its prices pay, is enough for every group of
  // the form. With n sequences the level has at most c - n b tokens, and the form c' - n b'. If n
  // are too many for the level, they must be too many for the form, even if they are the shortest.
  bool never_smaller(const ScatterReferenceModel& truth, std::size_t l, GroupForm form,
                     const ScatterReferenceModel::Limit& theirs) const {
    const ScatterReferenceModel::Limit& own = limits_[l];
    for (const CertificateSort& sort : sorts_) {
      if (sort.tokens <= truth.room(form) && sort.ms[l] < 0) return false;
      if (sort.padded[l] > truth.on_group(sort.tokens, form).value_or(kMaxExact)) return false;
    }
    const auto spare = static_cast<Real>(own.capacity) - static_cast<Real>(theirs.capacity);
    const auto each = static_cast<Real>(own.beside) - static_cast<Real>(theirs.beside);
    std::int64_t count = 0;
    Real held = 0;  // of the form's capacity, by the shortest sequences
    for (auto sort = sorts_.rbegin(); sort != sorts_.rend(); ++sort) {
      for (std::int64_t i = 0; i < sort->count; ++i) {
        ++count;
        held += static_cast<Real>(truth.on_group(sort->tokens, form).value_or(kMaxExact)) +
                static_cast<Real>(theirs.beside);
        if (held > static_cast<Real>(theirs.capacity)) return true;
        if (count > rules_.max_sequences_per_group) return true;
        if (spare < static_cast<Real>(count) * each) return false;
      }
    }
    return true;
  }

  // Returns whether bounds on groups of the level are bounds on those of the form.
  bool never_worse(const ScatterReferenceModel& truth, std::size_t l, GroupForm form) const {
    const CertificateLevel& level = certificate_.levels[l];
    if (level.degree != form.degree || overhead_[l] > overhead(truth, form) * kAsCheap)
      return false;
    return std::ranges::all_of(sorts_, [&](const CertificateSort& sort) {
      return sort.ms[l] <= adds(truth, sort.tokens, form, level.weight) * kAsCheap;
    });
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

  // Checks a certificate by makespans.
  void check_makespans() {
    if (!certificate_.nodes.empty()) {
      found_.add(kProfile, [] {
        return Description{"/nodes", "intervals beside profiles", "one or the other"};
      });
      return;
    }
    if (!std::isfinite(certificate_.bound_ms)) return;  // run() reports it
    const CertificateFacts facts{.devices = all_devices_,
                                 .degrees = shares_,
                                 .capacity = capacity_,
                                 .beside = beside_,
                                 .overhead = overhead_,
                                 .sorts = sorts_,
                                 .fewest = fewest_,
                                 .multiple = rules_.micro_batches_multiple_of,
                                 .again = longest_weight_,
                                 .alone = alone_};
    check_profiles(facts, certificate_,
                   {.number = kNumber, .shape = kProfile, .pattern = kPattern, .bound = kBound},
                   found_);
  }

  // Checks that every node but the root has one parent, which stands before it.
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

  // Returns the conditions from the root to the leaf.
  std::vector<Condition> conditions_of(std::size_t leaf) const {
    std::vector<Condition> path;
    for (std::size_t n = leaf; n != 0; n = parent_[n]) {
      const CertificateNode& above = certificate_.nodes[parent_[n]];
      const bool more = above.more == n;
      // `at_most` is capped at the largest number of a document. The leaf then proves less.
      path.push_back(
          {above.from, more, more ? std::min(above.at_most, kMaxExact) + 1 : above.at_most});
    }
    std::ranges::reverse(path);
    return path;
  }

  // Returns the bound that the leaf proves, or nullopt after a violation.
  std::optional<Real> check_leaf(std::size_t n) {
    const CertificateLeaf& leaf = certificate_.nodes[n].leaf;
    const std::string at = node_at(n) + "/leaf";
    bool good = check_shape(leaf, at, depth_[n]);
    good = good && check_numbers(leaf, at);
    if (!good) return std::nullopt;
    // The number of conditions is that of the leaf's prices: a deep tree with short leaves costs no
    // time.
    const std::vector<Condition> conditions = conditions_of(n);
    for (std::size_t i = 0; i < leaf.intervals.size(); ++i) {
      for (const int way : ways_used_) good = check_interval(leaf, i, way, conditions, at) && good;
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
    Real longest = alone_;
    for (const Condition& condition : conditions) {
      if (condition.at_least && condition.count > 0) {
        longest = std::max<Real>(longest, condition.from);
      }
    }
    return (plus + longest_weight_ * longest) * kCheckerLowered - minus * kCheckerRaised;
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
      expect(kIntervals, where + "/degrees", leaf.intervals[i].degrees.size(), degrees_.size());
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

  // Returns the most time of a group of this degree beyond its overhead, if its micro-batch lasts
  // less than the end of the interval; nullopt for the last interval.
  std::optional<Real> room(const CertificateLeaf& leaf, std::size_t i, std::size_t d) const {
    if (i + 1 == leaf.intervals.size()) return std::nullopt;
    return leaf.intervals[i + 1].from - overhead_[d];
  }

  bool check_packing(const PackingPrice& packing, std::optional<Real> time, Tokens tokens,
                     auto where) {
    const bool of_time = packing.resource == Resource::time;
    const Real all = of_time ? time.value_or(0) : static_cast<Real>(tokens);
    const bool steps = packing.threshold == 0 && packing.steps >= 1 && packing.steps <= kMaxSteps;
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

  // Returns f of PackingPrice, where `amount` of `all` is a lower bound on the true amount.
  static Real packed(const PackingPrice& packing, Real amount, Real all) {
    if (packing.threshold > 0) {
      if (amount > all - packing.threshold) return 1;
      return amount >= packing.threshold ? amount / all : 0;
    }
    const auto steps = static_cast<Real>(packing.steps);
    return std::max(0.0L, (std::ceil((steps + 1) * amount / all * kCheckerShort) - 1) / steps);
  }

  // Checks an interval for micro-batches of this recomputation mode.
  bool check_interval(const CertificateLeaf& leaf, std::size_t i, int way,
                      const std::vector<Condition>& conditions, const std::string& at) {
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
    if (!good) {
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
    return good;
  }

  // Returns the least that a sequence pays in a micro-batch of the interval and recomputation mode;
  // infinite if it fits no group.
  Real least_price(const CertificateLeaf& leaf, std::size_t i, std::size_t s, int way) const {
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

  bool measured_ = false;  // times are looked up in a table
  const Cluster& cluster_;
  const ScatterRules& rules_;
  const ScatterCertificate& certificate_;
  ViolationList found_;
  std::vector<GroupForm> forms_;  // that groups may have
  bool levels_hold_ = true;       // certificate_levels
  std::vector<int> degrees_;      // per level
  std::vector<Real> shares_;      // per level: the sum of its devices' weights
  Real all_devices_ = 0;          // of all of them
  std::vector<int> ways_;         // per level: recomputation mode
  std::set<int> ways_used_;
  std::vector<ScatterReferenceModel::Limit> limits_;  // of a group, per level
  std::vector<Tokens> capacity_;                      // of these the tokens
  std::vector<Tokens> beside_;          // tokens that each sequence takes beside its own
  std::vector<Real> overhead_;          // ms per group, per level
  std::vector<CertificateSort> sorts_;  // longest first
  std::int64_t fewest_ = 0;
  int longest_weight_ = 0;  // times that the longest makespan counts beside the sum
  Real alone_ = 0;          // least value of the longest makespan, if that counts
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
