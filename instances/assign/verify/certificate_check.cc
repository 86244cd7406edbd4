// The rules of instances/assign/certificate.h. It shares no code with the searches that find
// certificates or with the closed bounds: it has its own time model, below. Longer than 300 lines
// because the proof is one walk from the prices to an inequality.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "instances/assign/certificate.h"
#include "instances/assign/verify/reference_model.h"
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

constexpr Real kForever = std::numeric_limits<Real>::infinity();
// Most steps of a part price.
constexpr std::int64_t kMaxSteps = 1'000'000;
// Row counts up to here are bounded one by one, larger ones together.
constexpr std::int64_t kScannedRows = 10'000;
constexpr int kMaxShared = 64;  // sequences per replica that the pigeonhole bound considers
// Limits of knapsacks.
constexpr std::int64_t kMaxLoads = 512;
// Parts of the room of a knapsack. More: a tighter bound and more time.
constexpr std::size_t kParts = 2048;
// Row counts below this have a knapsack each, larger ones share one.
constexpr std::int64_t kRowsApart = 8;
// Limits of trees.
constexpr std::size_t kMaxBanded = 64;  // replicas
constexpr std::size_t kMaxOpen = 1024;  // questions with an answer still to come

// A distinct padded length and its number of sequences.
struct Sort {
  Tokens tokens = 0;
  std::int64_t count = 0;
};

// Returns the work of one sequence, f of instance.h.
Real work_of(const Scheme& scheme, Tokens tokens) {
  const auto s = static_cast<Real>(tokens);
  return s * (scheme.linear_ms + scheme.quadratic_ms * s);
}

Real ceil_div(Real a, Real b) { return std::ceil(a / b * kCheckerLowered); }

// A sequence in a knapsack.
struct Load {
  Tokens tokens = 0;
  Real price = 0;
};

// The work that a replica can do within the bound if its rows match this pattern.
struct Room {
  const RowPattern* pattern;
  const Scheme* scheme;
  Real work;
};

// The most that one replica of a scheme spends.
struct Spent {
  Real any = 0;
  Real with_longest = 0;  // if it may hold the longest sequence of the step
};

// A replica, with the range of lengths of its longest sequence.
struct Banded {
  std::size_t scheme = 0;
  std::int64_t number = 0;  // among those of its scheme
  Tokens above = 0;         // more than this; 0: the replica may be empty
  Tokens most = 0;          // no more than this
};

class AssignCertificateChecker {
 public:
  AssignCertificateChecker(const AssignInstance& instance, const AssignCertificate& certificate)
      : instance_(instance),
        certificate_(certificate),
        truth_(instance),
        bound_(certificate.bound_ms),
        found_(kRuleNames) {
    std::map<Tokens, std::int64_t, std::greater<>> counts;
    for (std::int64_t id = 0; id < truth_.sequences(); ++id) {
      ++counts[truth_.length(id).value_or(kMaxExact)];
    }
    for (const auto& [tokens, count] : counts) sorts_.push_back({tokens, count});
  }

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

  static bool holds(const Scheme& scheme, Tokens tokens) { return tokens <= scheme.max_tokens; }

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
    if (proof.by == "longest") closed = longest(strategy);
    if (proof.by == "pigeonhole") closed = pigeonhole(strategy);
    if (proof.by == "rows") closed = captives(strategy);
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

  // [AB1]: T is at least pp times the time of the longest row.
  Real longest(const Strategy& strategy) const {
    Real most = 0;
    for (const Sort& sort : sorts_) {
      Real least = kForever;
      for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
        const Scheme& scheme = instance_.schemes[g];
        if (strategy.replicas[g] == 0 || !holds(scheme, sort.tokens)) continue;
        least = std::min(least, scheme.pp * (scheme.fixed_ms + work_of(scheme, sort.tokens)));
      }
      most = std::max(most, least);
    }
    return most;
  }

  // Martello and Toth's L2 bound for the sorts up to `cap`. Sequences above cap - alpha and those
  // above half the cap take a row each. The rows of the latter have room for other sequences of
  // alpha tokens or more.
  static Real fewest_rows(const std::vector<Sort>& sorts, Tokens cap) {
    const auto room = static_cast<Real>(cap);
    std::vector<Real> number{0};  // running sums of sequences, and of tokens
    std::vector<Real> tokens{0};
    for (const Sort& sort : sorts) {
      number.push_back(number.back() + static_cast<Real>(sort.count));
      tokens.push_back(tokens.back() +
                       static_cast<Real>(sort.tokens) * static_cast<Real>(sort.count));
    }
    const auto longer_than = [&](Tokens limit) {
      const auto first = std::ranges::partition_point(
          sorts, [&](const Sort& sort) { return sort.tokens > limit; });
      return static_cast<std::size_t>(first - sorts.begin());
    };
    Real best = ceil_div(tokens.back(), room);
    const std::size_t half = longer_than(cap / 2);
    best = std::max(best, number[half]);
    for (std::size_t k = half; k < sorts.size(); ++k) {
      const std::size_t alone = longer_than(cap - sorts[k].tokens);
      const Real left = (number[half] - number[alone]) * room - (tokens[half] - tokens[alone]);
      const Real rest = tokens[k + 1] - tokens[half] - left;
      best = std::max(best, number[half] + (rest > 0 ? ceil_div(rest, room) : 0));
    }
    return best;
  }

  // Returns the least T of any replica of the strategy that has these sequences, longest first.
  Real together(const Strategy& strategy, const std::vector<Sort>& sorts) const {
    Real least = kForever;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      const Scheme& scheme = instance_.schemes[g];
      if (strategy.replicas[g] == 0 || !holds(scheme, sorts.front().tokens)) continue;
      Real work = 0;
      Real number = 0;
      for (const Sort& sort : sorts) {
        work += work_of(scheme, sort.tokens) * static_cast<Real>(sort.count);
        number += static_cast<Real>(sort.count);
      }
      for (Real rows = fewest_rows(sorts, scheme.max_tokens); rows <= number; ++rows) {
        const Real row = std::max(work / rows, work_of(scheme, sorts.front().tokens));
        least = std::min(least,
                         work + rows * scheme.fixed_ms + (scheme.pp - 1) * (row + scheme.fixed_ms));
      }
    }
    return least;
  }

  // [AB2] for the longest sequences.
  Real pigeonhole(const Strategy& strategy) const {
    std::int64_t replicas = 0;
    for (const int count : strategy.replicas) replicas += count;
    std::vector<Tokens> longest;  // the longest of all sequences, up to the limit
    for (const Sort& sort : sorts_) {
      for (std::int64_t k = 0; k < sort.count; ++k) {
        if (static_cast<std::int64_t>(longest.size()) > kMaxShared * replicas) break;
        longest.push_back(sort.tokens);
      }
    }
    const auto set_of = [&](std::initializer_list<std::int64_t> places) {
      std::vector<Sort> sorts;
      for (const std::int64_t place : places) {
        add(longest[static_cast<std::size_t>(place)], sorts);
      }
      return sorts;
    };
    const auto known = static_cast<std::int64_t>(longest.size());
    Real most = 0;
    for (std::int64_t m = 1; m < kMaxShared && m * replicas < known; ++m) {
      std::vector<Sort> sorts;
      for (std::int64_t k = m * replicas - m; k <= m * replicas; ++k) {
        add(longest[static_cast<std::size_t>(k)], sorts);
      }
      most = std::max(most, together(strategy, sorts));
    }
    for (std::int64_t i = 0; i < replicas; ++i) {
      const std::int64_t j = 2 * replicas - 1 - i;
      if (j < 2 || j >= known || j <= i) continue;
      const Real pair = together(strategy, set_of({i, j}));
      if (pair <= most) continue;
      most = std::max(most, std::min(pair, together(strategy, set_of({j - 2, j - 1, j}))));
    }
    return most;
  }

  static void add(Tokens tokens, std::vector<Sort>& sorts) {
    if (sorts.empty() || sorts.back().tokens != tokens) sorts.push_back({tokens, 0});
    ++sorts.back().count;
  }

  // [AB3]: the sequences that only one scheme holds, on all replicas of that scheme.
  Real captives(const Strategy& strategy) const {
    const RowConstraints& rule = instance_.constraints;
    Real most = 0;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      if (strategy.replicas[g] == 0) continue;
      const Scheme& scheme = instance_.schemes[g];
      Tokens others = 0;  // longest sequence that other schemes hold
      for (std::size_t h = 0; h < strategy.replicas.size(); ++h) {
        if (h == g || strategy.replicas[h] == 0) continue;
        others = std::max(others, instance_.schemes[h].max_tokens);
      }
      std::vector<Sort> own;
      Real work = 0;
      for (const Sort& sort : sorts_) {
        if (!holds(scheme, sort.tokens) || sort.tokens <= others) continue;
        own.push_back(sort);
        work += work_of(scheme, sort.tokens) * static_cast<Real>(sort.count);
      }
      if (own.empty()) continue;
      const Real multiple = rule.rows_multiple_of;
      Real rows = std::ceil(fewest_rows(own, scheme.max_tokens) / multiple) * multiple;
      if (!rule.allow_empty) rows = std::max(rows, multiple * strategy.replicas[g]);
      const Real bubble = (scheme.pp - 1) * (scheme.fixed_ms + work_of(scheme, own.front().tokens));
      most = std::max(most, (work + rows * scheme.fixed_ms + bubble) / strategy.replicas[g]);
    }
    return most;
  }

  void check_patterns(const Strategy& strategy, std::size_t p) {
    const StrategyProof& proof = certificate_.strategies[p];
    std::map<std::string_view, std::size_t> prices;
    bool good = true;
    for (std::size_t k = 0; k < proof.schemes.size(); ++k) {
      if (!prices.emplace(proof.schemes[k].scheme, k).second) good = false;
    }
    std::size_t used = 0;
    std::vector<Room> rooms;
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
      const Spent most = budget(instance_.schemes[g], own, rooms);
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
    for (const Sort& sort : sorts_) {
      Real least = kForever;
      for (const Room& room : rooms) least = std::min(least, price(room, sort.tokens));
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
    const std::optional<std::vector<Load>> loads = loads_of(p);
    if (!loads) return;
    Real paid = 0;
    for (const Load& load : *loads) paid += load.price;
    Real spent = 0;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      if (strategy.replicas[g] == 0) continue;
      spent += dearest(instance_.schemes[g], *loads) * strategy.replicas[g];
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
    std::vector<std::vector<Banded>> open{all_replicas(strategy)};
    if (open.back().size() > kMaxBanded) {
      return wrong(0, text(open.back().size()) + " replicas", "at most 64");
    }
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const BandStep& step = steps[k];
      if (open.empty()) return wrong(k, "one more", "an end: all questions have two answers");
      if (open.size() > kMaxOpen) return wrong(k, "too many open questions", "at most 1024");
      std::vector<Banded> replicas = std::move(open.back());
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
      const auto asked = std::ranges::find_if(replicas, [&](const Banded& each) {
        return instance_.schemes[each.scheme].name == step.scheme && each.number == step.replica;
      });
      if (asked == replicas.end()) {
        return wrong(k, '"' + step.scheme.substr(0, 40) + "\" " + text(step.replica),
                     "a replica of the strategy");
      }
      // Replicas before the asked replica have a longest sequence of at least its length; replicas
      // after it have none that is longer.
      std::vector<Banded> longer = replicas;
      for (std::size_t r = 0; r < replicas.size(); ++r) {
        if (replicas[r].scheme != asked->scheme) continue;
        if (replicas[r].number <= step.replica) {
          longer[r].above = std::max(longer[r].above, step.above);
        }
      }
      const std::size_t scheme = asked->scheme;
      for (Banded& each : replicas) {
        if (each.scheme == scheme && each.number >= step.replica) {
          each.most = std::min(each.most, step.above);
        }
      }
      open.push_back(std::move(longer));
      open.push_back(std::move(replicas));
    }
    if (!open.empty()) wrong(steps.size(), "an end", "two answers to each question");
  }

  std::vector<Banded> all_replicas(const Strategy& strategy) const {
    std::vector<Banded> all;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      for (int r = 0; r < strategy.replicas[g]; ++r) {
        all.push_back({g, r, 0, instance_.schemes[g].max_tokens});
      }
    }
    return all;
  }

  // [L1]: with such longest sequences, all sequences cost more than the replicas may spend.
  bool check_leaf(const std::vector<Banded>& replicas, const BandStep& leaf, std::size_t p,
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
          spent_in_band(replicas[r], leaf.work_prices[r], leaf.token_prices[r]);
      if (!own) return true;  // no replica can have such a sequence in time
      spent += *own;
    }
    Real paid = 0;
    for (const Sort& sort : sorts_) {
      Real least = kForever;
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

  // Returns the most that the replica spends over all numbers of rows, or nullopt if it cannot end
  // in time. With more rows the amount rises by less and less, then falls by more and more.
  std::optional<Real> spent_in_band(const Banded& replica, Real work_price,
                                    Real token_price) const {
    const Scheme& scheme = instance_.schemes[replica.scheme];
    Real longest = 0;
    std::optional<Real> most;
    if (replica.above == 0) {
      most = 0;
    } else {
      Tokens least = 0;
      for (const Sort& sort : sorts_) {
        if (sort.tokens > replica.above && sort.tokens <= replica.most) least = sort.tokens;
      }
      if (least == 0) return std::nullopt;
      longest = work_of(scheme, least);
    }
    const auto tokens = static_cast<Real>(scheme.max_tokens);
    for (std::int64_t rows = 1; rows <= truth_.sequences(); ++rows) {
      const RowPattern one{.least_rows = rows, .most_rows = rows};
      const Real work = most_work(scheme, one, longest) * kCheckerRaised;
      if (work < longest * kCheckerShort) break;
      const Real spent = work_price * work + token_price * tokens * static_cast<Real>(rows);
      if (most && spent < *most * kCheckerLowered && rows > 1) break;
      most = std::max(most.value_or(0), spent);
      if (rows == kScannedRows) {
        const Real work_of_more = most_work(scheme, {.least_rows = rows}, longest) * kCheckerRaised;
        return std::max(*most, work_price * work_of_more +
                                   token_price * tokens * static_cast<Real>(truth_.sequences()));
      }
    }
    return most;
  }

  // Returns one load for each sequence that pays anything, shortest first.
  std::optional<std::vector<Load>> loads_of(std::size_t p) {
    const std::vector<LengthPrice>& prices = certificate_.strategies[p].prices;
    const auto where = [&](std::size_t k) { return proof_at(p) + "/prices/" + text(k); };
    bool good = true;
    const auto wrong = [&](std::size_t k, std::string have, std::string need) {
      good = false;
      found_.add(kLengths, [&] { return Description{where(k), std::move(have), std::move(need)}; });
    };
    std::vector<Load> loads;
    std::size_t next = 0;  // price
    for (const Sort& sort : sorts_) {
      if (next == prices.size() || prices[next].tokens != sort.tokens) continue;
      const double price = prices[next].price;
      if (!std::isfinite(price) || price < 0) {
        number(where(next), price);
        return std::nullopt;
      }
      loads.insert(loads.end(), static_cast<std::size_t>(sort.count), Load{sort.tokens, price});
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

  // Takes the most over all numbers of rows: one number at a time while their tokens may be a
  // limit, then all larger numbers together.
  Real dearest(const Scheme& scheme, const std::vector<Load>& loads) const {
    Real most = 0;
    for (std::int64_t rows = 1;; ++rows) {
      const RowPattern one{.least_rows = rows, .most_rows = rows};
      const Real tokens = static_cast<Real>(rows) * static_cast<Real>(scheme.max_tokens);
      if (rows == kRowsApart || !(most_work(scheme, one, 0) > scheme.linear_ms * tokens)) {
        return std::max(most, by_work(scheme, {.least_rows = rows}, loads));
      }
      const Real value = by_work(scheme, one, loads);
      if (value > most) most = std::max(most, std::min(value, by_tokens(scheme, rows, loads)));
    }
  }

  // Solves knapsacks over kParts parts of the room. Amounts are rounded down and the room is
  // rounded up.
  Real by_work(const Scheme& scheme, const RowPattern& rows, const std::vector<Load>& loads) const {
    const Real room = most_work(scheme, rows, 0) * kCheckerRaised;
    if (!(room > 0)) return 0;
    const Real part = room / kParts;
    std::vector<Real> best(kParts + 1, 0);
    Real most = 0;
    for (const Load& load : loads) {
      if (!holds(scheme, load.tokens)) break;
      const Real work = work_of(scheme, load.tokens);
      const Real own = most_work(scheme, rows, work) * kCheckerRaised;  // if this is the longest
      if (work > own * kCheckerFits) break;
      put(load, static_cast<std::size_t>(work / part * kCheckerShort), best);
      const auto reach =
          static_cast<std::size_t>(std::min<Real>(kParts, own / part * kCheckerFits));
      most = std::max(most, best[reach]);
    }
    return most;
  }

  static Real by_tokens(const Scheme& scheme, std::int64_t rows, const std::vector<Load>& loads) {
    const Real part = static_cast<Real>(rows) * static_cast<Real>(scheme.max_tokens) / kParts;
    std::vector<Real> best(kParts + 1, 0);
    for (const Load& load : loads) {
      if (!holds(scheme, load.tokens)) break;
      put(load, static_cast<std::size_t>(static_cast<Real>(load.tokens) / part * kCheckerShort),
          best);
    }
    return best.back();
  }

  static void put(const Load& load, std::size_t weight, std::vector<Real>& best) {
    for (std::size_t room = best.size(); room-- > weight;) {
      best[room] = std::max(best[room], best[room - weight] + load.price);
    }
  }

  bool check_shape(const Scheme& scheme, const SchemePrices& prices, const std::string& at) {
    const auto& patterns = prices.patterns;
    bool good = true;
    const auto wrong = [&](std::size_t k, std::string have, std::string need) {
      good = false;
      found_.add(kPattern, [&] {
        return Description{at + "/patterns/" + text(k), std::move(have), std::move(need)};
      });
    };
    Tokens top = 0;  // the longest sequence that the scheme holds
    for (const Sort& sort : sorts_) {
      if (holds(scheme, sort.tokens)) top = std::max(top, sort.tokens);
    }
    if (patterns.empty()) wrong(0, "no pattern", "patterns");
    for (std::size_t k = 0; k < patterns.size(); ++k) {
      const RowPattern& each = patterns[k];
      const auto where = [&] { return at + "/patterns/" + text(k); };
      for (const double price : {each.time, each.tokens}) {
        if (std::isfinite(price) && price >= 0) continue;
        number(where(), price);
        good = false;
      }
      for (const PartPrice& part : each.parts) {
        if (!std::isfinite(part.price) || part.price < 0) {
          number(where(), part.price);
          good = false;
        }
        if (part.steps < 1 || part.steps > kMaxSteps) {
          wrong(k, text(part.steps) + " steps", "1 to 1000000");
        }
      }
      if (each.most_rows != 0 && each.most_rows < each.least_rows) {
        wrong(k, text(each.least_rows) + " to " + text(each.most_rows) + " rows", "a range");
      }
      const bool same = k > 0 && patterns[k - 1].least_rows == each.least_rows;
      if (same) {
        if (patterns[k - 1].most_rows != each.most_rows ||
            each.longest <= patterns[k - 1].longest) {
          wrong(k, "sequences up to " + text(each.longest) + " tokens",
                "longer ones than before, in as many rows");
        }
        continue;
      }
      const std::int64_t next = k == 0 ? 0 : patterns[k - 1].most_rows;
      if ((k > 0 && next == 0) || each.least_rows != next + 1) {
        wrong(k, "rows from " + text(each.least_rows), "from " + text(next + 1));
      }
      if (k > 0 && patterns[k - 1].longest < top) {
        wrong(k - 1, "sequences up to " + text(patterns[k - 1].longest) + " tokens",
              "up to " + text(top));
      }
    }
    if (good && (patterns.back().most_rows != 0 || patterns.back().longest < top)) {
      wrong(patterns.size() - 1, "an end", "any number of rows, sequences up to " + text(top));
    }
    return good;
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

  // Returns the most that a replica of the scheme spends; appends the rooms of the patterns it may
  // have.
  Spent budget(const Scheme& scheme, const SchemePrices& prices, std::vector<Room>& rooms) const {
    Spent most;
    for (std::size_t k = 0; k < prices.patterns.size(); ++k) {
      const RowPattern& each = prices.patterns[k];
      // `least` is the least length that the longest sequence may have.
      Tokens least = sorts_.empty() ? 0 : sorts_.back().tokens;
      if (k > 0 && prices.patterns[k - 1].least_rows == each.least_rows) {
        for (const Sort& sort : sorts_) {
          if (sort.tokens > prices.patterns[k - 1].longest) least = sort.tokens;
        }
      }
      const Real work = most_work(scheme, each, work_of(scheme, least));
      if (work < -1e-9L * bound_) continue;  // such rows alone take longer
      Real all = static_cast<Real>(each.time) + each.tokens;
      for (const PartPrice& part : each.parts) all += part.price;
      most.any = std::max(most.any, all);
      if (!sorts_.empty() && each.longest >= sorts_.front().tokens) {
        most.with_longest = std::max(most.with_longest, all);
      }
      rooms.push_back({&each, &scheme, std::max<Real>(work, 0) * kCheckerRaised});
    }
    return most;
  }

  // Returns the most work within the bound. T = work + rows c + (pp - 1) (c + the longest row's
  // work). That row has at least the mean, and at least the longest sequence.
  Real most_work(const Scheme& scheme, const RowPattern& pattern, Real longest) const {
    const Real bubble = scheme.pp - 1;
    Real most = -kForever;
    for (std::int64_t rows = pattern.least_rows;
         pattern.most_rows == 0 || rows <= pattern.most_rows; ++rows) {
      const auto v = static_cast<Real>(rows);
      const Real left = bound_ - (v + bubble) * scheme.fixed_ms;
      // A bound on the work with this many rows or more.
      const Real ever = left - bubble * longest;
      if (ever <= most) break;
      if (rows - pattern.least_rows >= kScannedRows) return std::max(most, ever);
      most = std::max(most, std::min(ever, left / (1 + bubble / v)));
    }
    return most;
  }

  // Returns the least price of a sequence in rows of the pattern; infinite if it does not fit them.
  static Real price(const Room& room, Tokens tokens) {
    const RowPattern& pattern = *room.pattern;
    if (tokens > pattern.longest || !holds(*room.scheme, tokens)) return kForever;
    const Real work = work_of(*room.scheme, tokens);
    if (work > room.work * kCheckerFits) return kForever;
    const Real of_work = work > 0 ? work / room.work : 0;
    const Real of_row = static_cast<Real>(tokens) / static_cast<Real>(room.scheme->max_tokens);
    const auto rows = static_cast<Real>(pattern.most_rows);
    Real price = pattern.time * of_work;
    if (rows > 0) price += pattern.tokens * of_row / rows;
    for (const PartPrice& part : pattern.parts) {
      if (part.of_rows && !(rows > 0)) continue;
      const auto steps = static_cast<Real>(part.steps);
      const Real share = (part.of_rows ? of_row : of_work) * kCheckerShort;
      const Real parts = std::max<Real>(0, std::ceil((steps + 1) * share) - 1) / steps;
      price += part.price * (part.of_rows ? parts / rows : parts);
    }
    return price;
  }

  const AssignInstance& instance_;
  const AssignCertificate& certificate_;
  const AssignReferenceModel truth_;
  const Real bound_;
  std::vector<Sort> sorts_;  // longest first
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
