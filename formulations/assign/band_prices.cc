#include "formulations/assign/band_prices.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"

namespace stowage {
namespace {

// First token price, per fixed_ms / max_tokens. Rows are rarely full.
constexpr double kFirstTokens = 0.25;
constexpr double kMaxTokens = 0.98;  // largest token price, likewise; above it, unlimited rows pay
constexpr double kMaxOff = 10;       // largest ratio of used to free room that counts
constexpr std::size_t kPerClass = 20;  // operations per class, without those per sequence
constexpr double kStep = 0.5;          // exponent of the first step
constexpr double kShorter = 0.93;      // ratio of successive steps
constexpr int kMaxSteps = 80;
constexpr double kClose = 1e-10;

double bubble_of(const Scheme& scheme) { return scheme.pp - 1; }

}  // namespace

BandPrices::BandPrices(const AssignTable& table, int strategy) : table_(&table) {
  for (const SchemeGroup& group : table.groups(strategy)) {
    const Scheme& scheme = table.schemes()[at(group.scheme)];
    const double full = scheme.fixed_ms / static_cast<double>(scheme.max_tokens);
    Tokens most = 0;
    for (const AssignKind& kind : table.kinds()) {
      if (kind.length <= scheme.max_tokens) most = std::max(most, kind.length);
    }
    classes_.push_back({.scheme = group.scheme,
                        .count = group.count,
                        .most = most,
                        .tokens = scheme.pp == 1 ? full : kFirstTokens * full});
  }
  best_ = classes_;
  start();
}

// Computes the least work of each class. Sets an infinite bound if no replica can hold the longest
// sequence, or if a band is empty.
void BandPrices::start() {
  Tokens most = 0;
  for (Class& each : classes_) {
    each.least = least_work(each);
    if (each.above >= each.most && each.above > 0) proven_ = kInfinity;
    most = std::max(most, each.most);
  }
  if (most < table_->kinds().front().length) proven_ = kInfinity;
}

// Kinds are sorted by descending length.
std::size_t BandPrices::first_within(Tokens tokens) const {
  const auto& kinds = table_->kinds();
  const auto first = std::ranges::partition_point(
      kinds, [&](const AssignKind& kind) { return kind.length > tokens; });
  return static_cast<std::size_t>(first - kinds.begin());
}

Ms BandPrices::least_work(const Class& each) const {
  if (each.above == 0) return 0;
  const std::size_t within = first_within(each.above);
  return within == 0 ? 0 : table_->kind_work(static_cast<int>(within) - 1, each.scheme);
}

Ms BandPrices::work_of(Tokens longest, int scheme) const {
  const std::size_t k = first_within(longest);
  return k == table_->kinds().size() ? 0 : table_->kind_work(static_cast<int>(k), scheme);
}

BandPrices::Offer BandPrices::offer(const Class& each, Ms time) const {
  const Scheme& scheme = table_->schemes()[at(each.scheme)];
  const double bubble = bubble_of(scheme);
  const double fixed = scheme.fixed_ms;
  const auto row = static_cast<double>(scheme.max_tokens) * each.tokens;
  double last = table_->size();
  // A larger number of rows leaves no time for the longest sequence.
  if (fixed > 0) {
    last = std::min(last,
                    std::floor((time - (bubble + (each.least > 0)) * each.least) / fixed - bubble));
  }
  Offer best{.spent = each.above == 0 ? 0 : -kInfinity};
  if (last < 1) return best;
  // Up to `crossing` rows, the mean row limits the work. With more rows, the longest sequence does.
  const double crossing = time / (fixed + each.least) - bubble;
  const double cost = each.work * fixed - row;  // cost of one more row
  const double peak = cost > 0 ? std::sqrt(each.work * time * bubble / cost) - bubble : last;
  const double near = std::floor(std::clamp(std::min(cost > 0 ? crossing : peak, peak), 1.0, last));
  for (const double rows : {near, std::min(near + 1, last)}) {
    const double left = time - fixed * (rows + bubble);
    const double even = left * rows / (rows + bubble);
    const double uneven = left - bubble * each.least;
    const double work = std::min(even, uneven);
    if (work < each.least * kBoundShort) continue;
    const double spent = each.work * work + row * rows;
    if (spent > best.spent) {
      best = {spent, each.work * (even < uneven ? rows / (rows + bubble) : 1),
              static_cast<std::int64_t>(rows), work};
    }
  }
  return best;
}

// Newton's method: the spending is convex and increasing in the time. Below the time at which the
// replicas can hold their longest sequences, bisection.
Ms BandPrices::refuted(double paid) const {
  Ms low = 0;
  Ms high = kInfinity;
  Ms time = proven_ > 0 ? proven_ : 1;
  for (int k = 0; k < kMaxSteps && low < high * (1 - kClose); ++k) {
    double spent = 0;
    double slope = 0;
    for (const Class& each : classes_) {
      const Offer most = offer(each, time);
      spent += each.count * most.spent;
      slope += each.count * most.slope;
    }
    (spent < paid ? low : high) = time;
    const Ms next = slope > 0 && spent > -kInfinity ? time + (paid - spent) / slope : 0;
    if (std::abs(next - time) < kClose * time) return next;
    if (next > low && next < high) {
      time = next;
    } else {
      time = high < kInfinity ? low + (high - low) / 2 : 2 * time;
    }
  }
  return low;
}

// Gives each sequence to the class where it pays least. Returns the sum of all payments.
double BandPrices::deal(std::vector<Load>& loads) const {
  loads.assign(classes_.size(), {});
  double paid = 0;
  const auto& kinds = table_->kinds();
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const AssignKind& kind = kinds[k];
    const auto length = static_cast<double>(kind.length);
    double least = kInfinity;
    std::size_t home = 0;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const Class& each = classes_[c];
      if (kind.length > each.most) continue;
      const double price =
          each.work * table_->kind_work(static_cast<int>(k), each.scheme) + each.tokens * length;
      if (price < least) {
        least = price;
        home = c;
      }
    }
    paid += least * kind.count;
    Load& load = loads[home];
    load.work += table_->kind_work(static_cast<int>(k), classes_[home].scheme) * kind.count;
    load.tokens += length * kind.count;
    load.longest = std::max(load.longest, kind.length);
  }
  return paid;
}

// Raises prices if more is dealt than fits, and lowers them if less is.
void BandPrices::adjust(Class& each, const Load& load, Ms time, double step) const {
  const Offer most = offer(each, time);
  const Scheme& scheme = table_->schemes()[at(each.scheme)];
  const auto factor = [&](double used, double room) {
    return std::pow(std::clamp(room > 0 ? used / room : kMaxOff, 1 / kMaxOff, kMaxOff), step);
  };
  const double dearer = factor(load.work, each.count * most.work);
  each.work *= dearer;
  each.tokens *= dearer;
  if (scheme.pp == 1 || most.rows == 0) return;
  const auto row = static_cast<double>(scheme.max_tokens);
  const double rows = each.count * static_cast<double>(most.rows);
  each.tokens = std::min(kMaxTokens * each.work * scheme.fixed_ms / row,
                         each.tokens * factor(load.tokens, rows * row));
}

std::int64_t BandPrices::improve(int rounds) {
  if (proven_ == kInfinity) return 1;
  std::int64_t operations = 0;
  double step = kStep;
  std::vector<Load> loads;
  for (int round = 0; round < rounds; ++round, step *= kShorter) {
    const Ms time = refuted(deal(loads));
    operations += static_cast<std::int64_t>((table_->kinds().size() + kPerClass) * classes_.size());
    if (time > proven_) {
      proven_ = time;
      best_ = classes_;
      longest_.clear();
      for (const Load& load : loads) longest_.push_back(load.longest);
    }
    if (classes_.size() == 1 || !(time > 0)) break;
    for (std::size_t c = 0; c < classes_.size(); ++c) adjust(classes_[c], loads[c], time, step);
  }
  return operations;
}

// Returns the length whose work is halfway between the least longest sequence of the class and
// `longest`.
Tokens BandPrices::halfway(const Class& each, Tokens longest) const {
  const auto& kinds = table_->kinds();
  const std::size_t first = first_within(longest);
  std::size_t k = first;
  if (k == kinds.size()) return 0;
  const Ms high = table_->kind_work(static_cast<int>(k), each.scheme);
  const Ms middle = each.least + (high - each.least) / 2;
  ++k;
  while (k < kinds.size() && table_->kind_work(static_cast<int>(k), each.scheme) > middle) ++k;
  if ((k == kinds.size() || kinds[k].length <= each.above) && k > first + 1) --k;
  return k < kinds.size() && kinds[k].length > each.above ? kinds[k].length : 0;
}

std::optional<BandSplit> BandPrices::split() const {
  std::optional<BandSplit> best;
  double most = 0;
  // First tries replicas where the prices deal longer sequences than the band's lower end. If no
  // such replica exists, tries every replica with a choice.
  for (const bool wanted : {true, false}) {
    int replica = 0;
    for (std::size_t c = 0; c < best_.size() && !longest_.empty(); ++c) {
      const Class& each = best_[c];
      const int first = std::exchange(replica, replica + each.count);
      const double bubble = bubble_of(table_->schemes()[at(each.scheme)]);
      const Tokens longest = wanted ? longest_[c] : each.most;
      const Tokens cut = halfway(each, longest);
      if (!(bubble > 0) || cut == 0) continue;
      const double gain = each.work * bubble * (work_of(longest, each.scheme) - each.least);
      if (gain > most) {
        most = gain;
        best = BandSplit{first, cut};
      }
    }
    if (best) break;
  }
  return best;
}

BandPrices BandPrices::child(const BandSplit& split, bool longer) const {
  BandPrices made = *this;
  made.classes_.clear();
  int first = 0;
  int scheme = -1;
  for (const Class& each : best_) {
    if (first <= split.replica && split.replica < first + each.count) scheme = each.scheme;
    first += each.count;
  }
  first = 0;
  for (const Class& each : best_) {
    const int last = first + each.count;
    Class rest = each;
    if (each.scheme == scheme && longer) {
      // This replica and all earlier ones.
      const int inside = std::clamp(split.replica + 1 - first, 0, each.count);
      if (inside > 0 && each.above < split.tokens) {
        Class part = each;
        part.count = inside;
        part.above = split.tokens;
        made.classes_.push_back(part);
        rest.count -= inside;
      }
    } else if (each.scheme == scheme) {
      const int before = std::clamp(split.replica - first, 0, each.count);
      if (before < each.count && each.most > split.tokens) {
        if (before > 0) {
          Class part = each;
          part.count = before;
          made.classes_.push_back(part);
          rest.count -= before;
        }
        rest.most = split.tokens;
      }
    }
    if (rest.count > 0) made.classes_.push_back(rest);
    first = last;
  }
  made.best_ = made.classes_;
  made.longest_.clear();
  made.proven_ = 0;
  made.start();
  return made;
}

BandStep BandPrices::leaf() const {
  BandStep leaf;
  for (const Class& each : best_) {
    leaf.work_prices.insert(leaf.work_prices.end(), at(each.count), each.work);
    leaf.token_prices.insert(leaf.token_prices.end(), at(each.count), each.tokens);
  }
  return leaf;
}

}  // namespace stowage
