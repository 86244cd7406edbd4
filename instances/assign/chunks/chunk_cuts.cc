#include "instances/assign/chunks/chunk_cuts.h"

#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr std::int64_t kMaxCutParts = 1024;  // of one sequence with parts of several sizes
constexpr std::int64_t kFewUnits = 24;       // up to this length all thresholds are tried
constexpr std::int64_t kTriedCounts = 8;     // numbers of parts tried for longer sequences
constexpr std::int64_t kTriedCuts = 4096;    // of all lengths of a replica together
// Steps of a bisection, which ends earlier at a relative width of kSharp.
constexpr int kBisections = 60;
constexpr double kSharp = 1e-12;

}  // namespace

ChunkCuts::ChunkCuts(const ChunkRule& rule, Tokens pad_multiple, const Scheme& scheme)
    : rule_(rule), scheme_(scheme), unit_(rule.size % pad_multiple == 0 ? pad_multiple : 1) {}

Ms ChunkCuts::once(Tokens begin, Tokens end) const {
  return scheme_.fixed_ms + piece_ms({0, begin, end}, scheme_);
}

Ms ChunkCuts::twice(Tokens begin, Tokens end) const { return twice_ms(once(begin, end)); }

Tokens ChunkCuts::earliest(Tokens end, Ms most) const {
  Tokens fits = 0;  // units before the end
  Tokens more = std::min(end, rule_.size) / unit_ + 1;
  while (more - fits > 1) {
    const Tokens middle = (fits + more) / 2;
    (once(end - middle * unit_, end) <= most ? fits : more) = middle;
  }
  return end - fits * unit_;
}

Tokens ChunkCuts::latest(Tokens begin, Tokens end, Ms most) const {
  Tokens fits = 0;
  Tokens more = std::min(end - begin, rule_.size) / unit_ + 1;
  while (more - fits > 1) {
    const Tokens middle = (fits + more) / 2;
    (twice(begin, begin + middle * unit_) <= most ? fits : more) = middle;
  }
  return begin + fits * unit_;
}

SequenceCut ChunkCuts::priced(std::vector<Tokens> ends) const {
  SequenceCut cut{.ends = std::move(ends), .cost = {}};
  cut.cost.chunks = std::ssize(cut.ends);
  Tokens begin = 0;
  for (std::size_t k = 0; k < cut.ends.size(); ++k) {
    const bool again = k + at(rule_.retained) < cut.ends.size();
    const Ms ms = again ? twice(begin, cut.ends[k]) : once(begin, cut.ends[k]);
    cut.cost.sum += ms;
    cut.cost.longest = std::max(cut.cost.longest, ms);
    begin = cut.ends[k];
  }
  return cut;
}

SequenceCut ChunkCuts::fixed(Tokens length) const {
  std::vector<Tokens> ends;
  for (Tokens begin = 0; begin < length; begin += rule_.size) {
    ends.push_back(std::min(begin + rule_.size, length));
  }
  SequenceCut cut{.ends = std::move(ends), .cost = cut_cost(length, rule_, scheme_)};
  return cut;
}

std::optional<SequenceCut> ChunkCuts::within(Tokens length, Ms most,
                                             std::int64_t most_parts) const {
  std::vector<Tokens> last;  // ends of the retained parts, the last part first
  Tokens end = length;
  while (end > 0 && std::ssize(last) < std::min<std::int64_t>(rule_.retained, most_parts)) {
    const Tokens begin = earliest(end, most);
    if (begin == end) return std::nullopt;
    last.push_back(end);
    end = begin;
  }
  std::vector<Tokens> ends;
  for (Tokens begin = 0; begin < end;) {
    if (std::ssize(ends) + std::ssize(last) >= most_parts) return std::nullopt;
    const Tokens its = latest(begin, end, most);
    if (its == begin) return std::nullopt;
    ends.push_back(its);
    begin = its;
  }
  ends.insert(ends.end(), last.rbegin(), last.rend());
  return priced(std::move(ends));
}

std::optional<SequenceCut> ChunkCuts::level(Tokens length, std::int64_t most_parts) const {
  std::optional<SequenceCut> best = within(length, kInfinity, most_parts);
  if (!best) return std::nullopt;
  Ms low = best->cost.sum / static_cast<double>(most_parts);  // no cut has a smaller sum
  Ms high = best->cost.longest;
  for (int k = 0; k < kBisections && high - low > kSharp * high; ++k) {
    const Ms middle = (low + high) / 2;
    if (auto cut = within(length, middle, most_parts)) {
      high = std::min(middle, cut->cost.longest);
      best = std::move(cut);
    } else {
      low = middle;
    }
  }
  return best;
}

std::vector<Ms> ChunkCuts::thresholds(Tokens length) const {
  std::vector<Ms> all{kInfinity};  // for the least sum
  if (scheme_.pp == 1) return all;
  if (length <= kFewUnits * unit_) {
    for (Tokens begin = 0; begin < length; begin += unit_) {
      for (Tokens end = begin; end < length;) {
        end = std::min(end + unit_, length);
        if (end - begin > rule_.size) break;
        all.push_back(once(begin, end));
        all.push_back(twice(begin, end));
      }
    }
  } else {
    const std::int64_t most = most_parts(rule_, length);
    const std::int64_t fewest = most / kMaxPartsPerSize;
    for (std::int64_t k = 0; k < kTriedCounts; ++k) {
      const std::int64_t parts = fewest + k * (most - fewest) / (kTriedCounts - 1);
      if (const auto cut = level(length, parts)) all.push_back(cut->cost.longest);
    }
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

SequenceCut ChunkCuts::alone(Tokens length) const {
  SequenceCut best = fixed(length);
  const std::int64_t most = most_parts(rule_, length);
  if (most > kMaxCutParts) return best;
  const auto take = [&](std::optional<SequenceCut> cut) {
    if (cut && cut->alone(scheme_.pp) < best.alone(scheme_.pp)) best = *std::move(cut);
  };
  switch (rule_.boundaries) {
    case ChunkBoundaries::fixed:
      break;
    case ChunkBoundaries::equal_time:
      take(level(length, best.cost.chunks));
      break;
    case ChunkBoundaries::least_bubble:
      for (const Ms longest : thresholds(length)) take(within(length, longest, most));
      break;
  }
  return best;
}

ReplicaCuts::ReplicaCuts(const ChunkRule& rule, Tokens pad_multiple, const Scheme& scheme)
    : rule_(rule), scheme_(scheme), cuts_(rule, pad_multiple, scheme) {}

const ReplicaCuts::Known& ReplicaCuts::known(Tokens length) {
  const auto [its, is_new] = known_.try_emplace(length);
  if (!is_new) return its->second;
  its->second.fixed = cuts_.fixed(length);
  its->second.alone = cuts_.alone(length);
  if (rule_.boundaries == ChunkBoundaries::least_bubble &&
      most_parts(rule_, length) <= kMaxCutParts) {
    its->second.thresholds = cuts_.thresholds(length);
  }
  return its->second;
}

std::map<Tokens, SequenceCut> ReplicaCuts::of(const std::map<Tokens, std::int64_t>& counts,
                                              Ms longest) {
  std::map<Tokens, SequenceCut> best;
  Ms least = kInfinity;
  // cut(length, known(length)) returns the cut of a length, or nullopt if it has none.
  const auto attempt = [&](auto cut) {
    std::map<Tokens, SequenceCut> all;
    Ms sum = 0;
    Ms most = longest;
    for (const auto& [length, count] : counts) {
      std::optional<SequenceCut> its = cut(length, known(length));
      if (!its) return;
      sum += static_cast<double>(count) * its->cost.sum;
      most = std::max(most, its->cost.longest);
      all.emplace(length, *std::move(its));
    }
    const Ms time = sum + (scheme_.pp - 1) * most;
    if (time >= least) return;
    least = time;
    best = std::move(all);
  };
  attempt([](Tokens, const Known& its) { return std::optional(its.fixed); });
  attempt([](Tokens, const Known& its) { return std::optional(its.alone); });
  std::vector<Ms> thresholds;
  for (const auto& [length, count] : counts) {
    const std::vector<Ms>& its = known(length).thresholds;
    thresholds.insert(thresholds.end(), its.begin(), its.end());
  }
  std::ranges::sort(thresholds);
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  const std::int64_t tried = std::min<std::int64_t>(
      std::ssize(thresholds), std::max<std::int64_t>(2, kTriedCuts / std::ssize(counts)));
  for (std::int64_t k = 0; k < tried; ++k) {
    const std::int64_t place = tried == 1 ? 0 : k * (std::ssize(thresholds) - 1) / (tried - 1);
    const Ms most = thresholds[at(place)];
    attempt([&](Tokens length, const Known& its) {
      if (its.thresholds.empty()) return std::optional(its.alone);
      return cuts_.within(length, most, most_parts(rule_, length));
    });
  }
  return best;
}

}  // namespace stowage
