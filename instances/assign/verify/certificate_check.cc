// The rules of instances/assign/certificate.h. It shares no code with the searches that find
// certificates or with the closed bounds: closed_reference.h and work_reference.h have its own time
// model.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "instances/assign/certificate.h"
#include "instances/assign/verify/closed_reference.h"
#include "instances/assign/verify/lengths_reference.h"
#include "instances/assign/verify/reference_model.h"
#include "instances/assign/verify/shape_reference.h"
#include "instances/assign/verify/work_reference.h"
#include "instances/numeric/tolerances.h"
#include "instances/proof/violation_list.h"

namespace stowage {
namespace {

enum Rule : std::size_t {
  kNumber,
  kChunks,
  kStrategy,
  kScheme,
  kPattern,
  kClosed,
  kLengths,
  kBands,
  kPrices,
  kRuleCount,
};

constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
    "certificate_number",  "certificate_chunks",  "certificate_strategy",
    "certificate_scheme",  "certificate_pattern", "certificate_closed",
    "certificate_lengths", "certificate_bands",   "certificate_prices"};

// Limits of knapsacks.
constexpr std::int64_t kMaxLoads = 512;
// Limits of trees.
constexpr std::size_t kMaxBanded = 64;  // replicas
constexpr std::size_t kMaxOpen = 1024;  // questions with an answer still to come

class AssignCertificateChecker {
 public:
  AssignCertificateChecker(const AssignInstance& instance, const AssignCertificate& certificate)
      : instance_(instance),
        certificate_(certificate),
        truth_(instance),
        bound_(certificate.bound_ms),
        sorts_(length_sorts(truth_)),
        closed_(instance, sorts_),
        work_(instance, sorts_, truth_.sequences(), bound_),
        found_(kRuleNames) {}

  AssignCertificateCheck run() && {
    const Ms claimed = certificate_.bound_ms;
    if (!std::isfinite(claimed) || claimed < 0) {
      number("/bound_ms", claimed);
    } else if (instance_.constraints.chunks) {
      // A cut sequence lies in several rows and is longer than any of them, so the inequalities
      // below do not hold for it.
      found_.add(kChunks, [] {
        return Description{"", "a certificate of whole sequences", "none: this instance cuts them"};
      });
    } else {
      check_strategies();
    }
    AssignCertificateCheck check{.violations = std::move(found_).take()};
    if (check.violations.empty()) check.bound_ms = claimed;
    return check;
  }

 private:
  static std::string proof_at(std::size_t p) { return "/strategies/" + text(p); }

  void number(const std::string& where, double have) {
    found_.add(kNumber, [&] {
      return Description{where, text(have), "a finite number, at least 0"};
    });
  }

  bool admits_all(const Strategy& strategy) const {
    if (sorts_.empty()) return true;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      if (strategy.replicas[g] > 0 && holds(instance_.schemes[g], sorts_.front().tokens)) {
        return true;
      }
    }
    return false;
  }

  void check_strategies() {
    std::map<std::string_view, std::size_t> proofs;
    for (std::size_t p = 0; p < certificate_.strategies.size(); ++p) {
      const StrategyProof& proof = certificate_.strategies[p];
      const bool known = truth_.strategy(proof.strategy) != nullptr;
      const bool first = proofs.emplace(proof.strategy, p).second;
      if (known && first) continue;
      found_.add(kStrategy, [&] {
        return Description{proof_at(p) + "/strategy", '"' + proof.strategy + '"',
                           "a strategy of the instance, once"};
      });
    }
    for (const Strategy& strategy : instance_.strategies) {
      if (!admits_all(strategy)) continue;
      const auto found = proofs.find(strategy.name);
      if (found == proofs.end()) {
        found_.add(kStrategy, [&] {
          return Description{"/strategies", "no proof for \"" + strategy.name + '"', "one"};
        });
      } else {
        check_proof(strategy, found->second);
      }
    }
  }

  void check_proof(const Strategy& strategy, std::size_t p) {
    const StrategyProof& proof = certificate_.strategies[p];
    std::optional<Real> closed;
    if (proof.by == "longest") closed = closed_.longest(strategy);
    if (proof.by == "pigeonhole") closed = closed_.pigeonhole(strategy);
    if (proof.by == "rows") closed = closed_.captives(strategy);
    if (closed) {
      if (bound_ <= *closed * kCheckerLowered) return;
      found_.add(kClosed, [&] {
        return Description{proof_at(p), text(static_cast<double>(*closed)) + " ms by " + proof.by,
                           "at least " + text(certificate_.bound_ms) + " ms"};
      });
      return;
    }
    if (proof.by == "patterns") return check_patterns(strategy, p);
    if (proof.by == "configurations") return check_configurations(strategy, p);
    if (proof.by == "bands") return check_bands(strategy, p);
    found_.add(kStrategy, [&] {
      return Description{proof_at(p) + "/by", '"' + proof.by.substr(0, 40) + '"',
                         "longest, pigeonhole, rows, patterns, configurations or bands"};
    });
  }

  void check_patterns(const Strategy& strategy, std::size_t p) {
    const StrategyProof& proof = certificate_.strategies[p];
    std::map<std::string_view, std::size_t> prices;
    bool good = true;
    for (std::size_t k = 0; k < proof.schemes.size(); ++k) {
      if (!prices.emplace(proof.schemes[k].scheme, k).second) good = false;
    }
    std::size_t used = 0;
    std::vector<PatternRoom> rooms;
    Real spent = 0;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      if (strategy.replicas[g] == 0) continue;
      ++used;
      const auto found = prices.find(instance_.schemes[g].name);
      if (found == prices.end()) {
        good = false;
        continue;
      }
      const std::string at = proof_at(p) + "/schemes/" + text(found->second);
      const SchemePrices& own = proof.schemes[found->second];
      if (!check_shape(instance_.schemes[g], own, at)) return;
      const ReplicaBudget most = work_.budget(instance_.schemes[g], own, rooms);
      const bool alone = alone_holds_longest(strategy, g);
      spent += most.any * (strategy.replicas[g] - 1) + (alone ? most.with_longest : most.any);
    }
    if (!good || used != proof.schemes.size()) {
      found_.add(kScheme, [&] {
        return Description{proof_at(p) + "/schemes", text(proof.schemes.size()) + " schemes",
                           "each scheme of the strategy, once"};
      });
      return;
    }
    Real paid = 0;
    for (const LengthSort& sort : sorts_) {
      Real least = kCheckerForever;
      for (const PatternRoom& room : rooms)
        least = std::min(least, AssignWorkReference::price(room, sort.tokens));
      paid += least * static_cast<Real>(sort.count);
    }
    compare_prices(p, paid, spent);
  }

  // `paid` is infinite if a sequence fits no replica within the bound.
  bool compare_prices(std::size_t p, Real paid, Real spent) {
    if (paid * kCheckerLowered > spent * kCheckerRaised) return true;
    found_.add(kPrices, [&] {
      return Description{proof_at(p), "sequences cost " + text(static_cast<double>(paid)),
                         "more than the " + text(static_cast<double>(spent)) +
                             " that the replicas may spend within " + text(certificate_.bound_ms) +
                             " ms"};
    });
    return false;
  }

  // [K3]: the sequences of a replica are worth at most the dearest knapsack of its scheme.
  void check_configurations(const Strategy& strategy, std::size_t p) {
    const std::optional<std::vector<PricedLoad>> loads = loads_of(p);
    if (!loads) return;
    Real paid = 0;
    for (const PricedLoad& load : *loads) paid += load.price;
    Real spent = 0;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      if (strategy.replicas[g] == 0) continue;
      spent += work_.dearest(instance_.schemes[g], *loads) * strategy.replicas[g];
    }
    compare_prices(p, paid, spent);
  }

  // Walks over the tree. `open` holds the answers that are still to come.
  void check_bands(const Strategy& strategy, std::size_t p) {
    const std::vector<BandStep>& steps = certificate_.strategies[p].bands;
    const auto wrong = [&](std::size_t k, std::string have, std::string need) {
      found_.add(kBands, [&] {
        return Description{proof_at(p) + "/bands/" + text(k), std::move(have), std::move(need)};
      });
    };
    std::vector<std::vector<BandedReplica>> open{all_replicas(strategy)};
    if (open.back().size() > kMaxBanded) {
      return wrong(0, text(open.back().size()) + " replicas", "at most 64");
    }
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const BandStep& step = steps[k];
      if (open.empty()) return wrong(k, "one more", "an end: all questions have two answers");
      if (open.size() > kMaxOpen) return wrong(k, "too many open questions", "at most 1024");
      std::vector<BandedReplica> replicas = std::move(open.back());
      open.pop_back();
      if (step.scheme.empty()) {
        const auto count = replicas.size();
        if (step.work_prices.size() != count || step.token_prices.size() != count) {
          return wrong(k,
                       text(step.work_prices.size()) + " prices of work, " +
                           text(step.token_prices.size()) + " of tokens",
                       text(count) + " of each");
        }
        if (!check_leaf(replicas, step, p, k)) return;
        continue;
      }
      const auto asked = std::ranges::find_if(replicas, [&](const BandedReplica& each) {
        return instance_.schemes[each.scheme].name == step.scheme && each.number == step.replica;
      });
      if (asked == replicas.end()) {
        return wrong(k, '"' + step.scheme.substr(0, 40) + "\" " + text(step.replica),
                     "a replica of the strategy");
      }
      // Replicas before the asked replica have a longest sequence of at least its length; replicas
      // after it have none that is longer.
      std::vector<BandedReplica> longer = replicas;
      for (std::size_t r = 0; r < replicas.size(); ++r) {
        if (replicas[r].scheme != asked->scheme) continue;
        if (replicas[r].number <= step.replica) {
          longer[r].above = std::max(longer[r].above, step.above);
        }
      }
      const std::size_t scheme = asked->scheme;
      for (BandedReplica& each : replicas) {
        if (each.scheme == scheme && each.number >= step.replica) {
          each.most = std::min(each.most, step.above);
        }
      }
      open.push_back(std::move(longer));
      open.push_back(std::move(replicas));
    }
    if (!open.empty()) wrong(steps.size(), "an end", "two answers to each question");
  }

  std::vector<BandedReplica> all_replicas(const Strategy& strategy) const {
    std::vector<BandedReplica> all;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      for (int r = 0; r < strategy.replicas[g]; ++r) {
        all.push_back({g, r, 0, instance_.schemes[g].max_tokens});
      }
    }
    return all;
  }

  // [L1]: with such longest sequences, all sequences cost more than the replicas may spend.
  bool check_leaf(const std::vector<BandedReplica>& replicas, const BandStep& leaf, std::size_t p,
                  std::size_t k) {
    for (const std::vector<double>* prices : {&leaf.work_prices, &leaf.token_prices}) {
      for (const double price : *prices) {
        if (std::isfinite(price) && price >= 0) continue;
        number(proof_at(p) + "/bands/" + text(k), price);
        return false;
      }
    }
    Real spent = 0;
    for (std::size_t r = 0; r < replicas.size(); ++r) {
      const std::optional<Real> own =
          work_.spent_in_band(replicas[r], leaf.work_prices[r], leaf.token_prices[r]);
      if (!own) return true;  // no replica can have such a sequence in time
      spent += *own;
    }
    Real paid = 0;
    for (const LengthSort& sort : sorts_) {
      Real least = kCheckerForever;
      for (std::size_t r = 0; r < replicas.size(); ++r) {
        if (sort.tokens > replicas[r].most) continue;
        least = std::min(least, leaf.work_prices[r] * work_of(instance_.schemes[replicas[r].scheme],
                                                              sort.tokens) +
                                    leaf.token_prices[r] * static_cast<Real>(sort.tokens));
      }
      paid += least * static_cast<Real>(sort.count);
    }
    return compare_prices(p, paid, spent);
  }

  // Returns one load for each sequence that pays anything, shortest first.
  std::optional<std::vector<PricedLoad>> loads_of(std::size_t p) {
    const std::vector<LengthPrice>& prices = certificate_.strategies[p].prices;
    const auto where = [&](std::size_t k) { return proof_at(p) + "/prices/" + text(k); };
    bool good = true;
    const auto wrong = [&](std::size_t k, std::string have, std::string need) {
      good = false;
      found_.add(kLengths, [&] { return Description{where(k), std::move(have), std::move(need)}; });
    };
    std::vector<PricedLoad> loads;
    std::size_t next = 0;  // price
    for (const LengthSort& sort : sorts_) {
      if (next == prices.size() || prices[next].tokens != sort.tokens) continue;
      const double price = prices[next].price;
      if (!std::isfinite(price) || price < 0) {
        number(where(next), price);
        return std::nullopt;
      }
      loads.insert(loads.end(), static_cast<std::size_t>(sort.count),
                   PricedLoad{sort.tokens, price});
      ++next;
    }
    if (next != prices.size()) {
      wrong(next, text(prices[next].tokens) + " tokens",
            "a padded length of the instance, shorter than the one before");
    }
    if (truth_.sequences() > kMaxLoads) {
      wrong(0, text(truth_.sequences()) + " sequences", "at most 512");
    }
    if (!good) return std::nullopt;
    std::ranges::reverse(loads);
    return loads;
  }

  bool check_shape(const Scheme& scheme, const SchemePrices& prices, const std::string& at) {
    const std::vector<ShapeFault> faults = shape_faults(scheme, prices, sorts_);
    for (const ShapeFault& fault : faults) {
      const std::string where = at + "/patterns/" + text(fault.pattern);
      if (fault.number) {
        number(where, *fault.number);
      } else {
        found_.add(kPattern, [&] { return Description{where, fault.have, fault.need}; });
      }
    }
    return faults.empty();
  }

  // [R6]: if only this scheme holds the longest sequence, one of its replicas has it.
  bool alone_holds_longest(const Strategy& strategy, std::size_t scheme) const {
    if (sorts_.empty()) return false;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      const bool used = strategy.replicas[g] > 0;
      const bool has = used && holds(instance_.schemes[g], sorts_.front().tokens);
      if (has != (g == scheme)) return false;
    }
    return true;
  }

  const AssignInstance& instance_;
  const AssignCertificate& certificate_;
  const AssignReferenceModel truth_;
  const Real bound_;
  const std::vector<LengthSort> sorts_;  // longest first
  const AssignClosedReference closed_;
  const AssignWorkReference work_;
  ViolationList found_;
};

}  // namespace

AssignCertificateCheck check_certificate(const AssignInstance& instance,
                                         const AssignCertificate& certificate) {
  return AssignCertificateChecker(instance, certificate).run();
}

std::vector<std::string_view> assign_certificate_rules() {
  return {kRuleNames.begin(), kRuleNames.end()};
}

}  // namespace stowage
