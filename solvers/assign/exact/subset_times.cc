#include "solvers/assign/exact/subset_times.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "instances/assign/chunks/chunk_flow.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr Subset kBetweenLooks = 512;  // subsets between two reads of the clock

constexpr Subset bit(std::size_t k) { return Subset{1} << k; }
std::size_t lowest(Subset set) { return static_cast<std::size_t>(std::countr_zero(set)); }

}  // namespace

FewSequences::FewSequences(const AssignInstance& step) : instance(step), ids(step.lengths.size()) {
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  const auto length = [&](std::int64_t id) { return padded_length(step, step.lengths[at(id)]); };
  std::ranges::stable_sort(ids, std::greater<>{}, length);
  for (const std::int64_t id : ids) {
    lengths.push_back(length(id));
    cuts += step.constraints.chunks && lengths.back() > step.constraints.chunks->size;
  }
}

SubsetTimes::SubsetTimes(const FewSequences& few, int scheme, Ms limit, StepLimit& steps)
    : few_(few),
      scheme_(few.instance.schemes[at(scheme)]),
      index_(scheme),
      limit_(limit),
      cap_(row_cap(few.instance, scheme_)) {
  sum_up();
  if (scheme_.pp == 1) {
    fill_fewest_rows(steps);
  } else {
    fill_longest_rows(steps);
  }
}

void SubsetTimes::sum_up() {
  const std::size_t packed = few_.size() - few_.cuts;
  tokens_.assign(bit(packed), 0);
  work_.assign(bit(packed), 0);
  for (Subset set = 1; set < bit(packed); ++set) {
    const Tokens length = few_.lengths[few_.cuts + lowest(set)];
    const auto s = static_cast<double>(length);
    const Subset rest = set & (set - 1);
    tokens_[set] = tokens_[rest] + length;
    work_[set] = work_[rest] + scheme_.quadratic_ms * s * s + scheme_.linear_ms * s;
    if (length > cap_) work_[set] = kInfinity;
  }
  cut_sum_.assign(bit(few_.cuts), 0);
  cut_longest_.assign(bit(few_.cuts), 0);
  for (Subset set = 1; set < bit(few_.cuts); ++set) {
    const Tokens length = few_.lengths[lowest(set)];
    const Subset rest = set & (set - 1);
    const bool admitted = length <= longest_sequence(few_.instance, scheme_);
    const CutCost cost = admitted ? cut_cost(length, *few_.instance.constraints.chunks, scheme_)
                                  : CutCost{.sum = kInfinity};
    cut_sum_[set] = cut_sum_[rest] + cost.sum;
    cut_longest_[set] = std::max(cut_longest_[rest], cost.longest);
  }
}

// Computes for each subset the fewest rows, and among those the least tokens in the last row. The
// best filling of the other sequences is optimal for each choice of the sequence added last.
void SubsetTimes::fill_fewest_rows(StepLimit& steps) {
  fewest_.resize(work_.size());
  for (Subset set = 1; set < fewest_.size(); ++set) {
    if (set % kBetweenLooks == 0 && steps.over()) return;
    if (!(work_[set] < kInfinity)) continue;
    steps.spend(std::popcount(set));
    Fewest best{.rows = static_cast<int>(kRows) + 1};
    for (Subset rest = set; rest != 0; rest &= rest - 1) {
      const Tokens length = few_.lengths[few_.cuts + lowest(rest)];
      Fewest made = fewest_[set & ~bit(lowest(rest))];
      if (made.rows == 0 || made.last + length > cap_) {
        made = {made.rows + 1, length};
      } else {
        made.last += length;
      }
      if (std::pair(made.rows, made.last) < std::pair(best.rows, best.last)) best = made;
    }
    fewest_[set] = best;
  }
}

bool SubsetTimes::worth(Subset set) const {
  const Ms longest = work_[bit(lowest(set))] + scheme_.fixed_ms;
  return work_[set] + scheme_.fixed_ms + (scheme_.pp - 1) * longest < limit_;
}

// Computes for each number of rows the least work of the longest row. The row of the longest
// sequence is enumerated, and the rest uses the table.
void SubsetTimes::fill_longest_rows(StepLimit& steps) {
  longest_.assign(work_.size() * kRows, kInfinity);
  for (Subset set = 1; set < work_.size(); ++set) {
    if (set % kBetweenLooks == 0 && steps.over()) return;
    if (!worth(set)) continue;
    steps.spend(std::int64_t{1} << (std::popcount(set) - 1));
    split(set, &longest_[set * kRows]);
  }
}

void SubsetTimes::split(Subset set, Ms* longest) const {
  const Subset first = bit(lowest(set));
  const Subset others = set & ~first;
  // limit for the longest row, from its time in all stages
  const Ms most = limit_ / scheme_.pp - scheme_.fixed_ms;
  std::array<Ms, kRows> best;
  best.fill(kInfinity);
  for (Subset some = others;; some = (some - 1) & others) {
    const Subset row = some | first;
    const Ms work = work_[row];
    if (tokens_[row] <= cap_ && work < most) {
      const Subset rest = others & ~some;
      if (rest == 0) {
        best[0] = std::min(best[0], work);
      } else {
        const Ms* left = &longest_[rest * kRows];
        // The rest has at most as many rows as sequences. Two row counts are compared at a time.
        const std::size_t rows = (at(std::popcount(rest)) + 1) / 2 * 2;
        for (std::size_t k = 1; k <= rows; ++k) {
          const Ms longer = work < left[k - 1] ? left[k - 1] : work;
          best[k] = longer < best[k] ? longer : best[k];
        }
      }
    }
    if (some == 0) break;
  }
  std::ranges::copy(best, longest);
}

// Returns the best number of rows for the packed sequences of the share, and T of the share in
// `time`. Returns 0 if no permitted number fits. Requires at least one packed sequence.
int SubsetTimes::rows_of(Subset share, const RowCounts& counts, Ms& time) const {
  const Subset set = packed(share);
  const Subset cut = share & (bit(few_.cuts) - 1);
  const Ms base = cut_sum_[cut] + work_[set];
  const Ms cut_longest = cut_longest_[cut];
  time = kInfinity;
  if (!(base < limit_)) return 0;
  const int sequences = std::popcount(set);
  if (scheme_.pp == 1) {
    const int rows = counts.at_least(fewest_[set].rows);
    if (rows == 0 || rows > sequences) return 0;
    time = base + rows * scheme_.fixed_ms;
    return rows;
  }
  int best = 0;
  for (int rows = counts.at_least(1); rows > 0 && rows <= sequences; rows += counts.multiple) {
    const Ms row = longest_[set * kRows + at(rows) - 1] + scheme_.fixed_ms;
    const Ms made = base + rows * scheme_.fixed_ms + (scheme_.pp - 1) * std::max(cut_longest, row);
    if (made < time) {
      time = made;
      best = rows;
    }
    if (counts.exact > 0) break;
  }
  return best;
}

std::vector<Ms> SubsetTimes::times(const RowCounts& counts) const {
  std::vector<Ms> all(few_.all() + std::size_t{1}, kInfinity);
  for (Subset share = 0; share < all.size(); ++share) {
    if (packed(share) != 0) {
      rows_of(share, counts, all[share]);
    } else {
      const Ms cut = cut_sum_[share];
      all[share] = cut < limit_ ? cut + (scheme_.pp - 1) * cut_longest_[share] : kInfinity;
    }
    if (!(all[share] < limit_)) all[share] = kInfinity;
  }
  all[0] = 0;
  return all;
}

ReplicaChoice SubsetTimes::rows(Subset share, const RowCounts& counts) const {
  ReplicaChoice choice{.scheme = index_};
  for (std::size_t k = 0; k < few_.cuts; ++k) {
    if ((share & bit(k)) != 0) choice.rows.push_back({few_.ids[k]});
  }
  Subset set = packed(share);
  if (set == 0) return choice;
  Ms time = 0;
  int left = rows_of(share, counts, time);
  std::vector<Subset> made;
  if (scheme_.pp == 1) {
    // The rows are reconstructed backwards: some sequence was added last.
    made.push_back(0);
    for (; set != 0;) {
      const Fewest& here = fewest_[set];
      for (Subset rest = set; rest != 0; rest &= rest - 1) {
        const Tokens length = few_.lengths[few_.cuts + lowest(rest)];
        const Subset one = bit(lowest(rest));
        const Fewest& before = fewest_[set & ~one];
        const bool opens = before.rows == 0 || before.last + length > cap_;
        const bool fits = opens ? here.rows == before.rows + 1 && here.last == length
                                : here.rows == before.rows && here.last == before.last + length;
        if (!fits) continue;
        made.back() |= one;
        set &= ~one;
        if (opens && set != 0) made.push_back(0);
        break;
      }
    }
    // splits rows until the constraints hold
    for (std::size_t k = 0; std::ssize(made) < left; ++k) {
      while (std::popcount(made[k]) > 1 && std::ssize(made) < left) {
        const Subset one = bit(lowest(made[k]));
        made[k] &= ~one;
        made.push_back(one);
      }
    }
  } else {
    for (; left > 1; --left) {
      const Ms longest = longest_[set * kRows + at(left) - 1];
      const Subset first = bit(lowest(set));
      const Subset others = set & ~first;
      // Proper subsets only, because the other rows need at least one sequence.
      for (Subset some = (others - 1) & others;; some = (some - 1) & others) {
        const Subset row = some | first;
        const Subset rest = others & ~some;
        if (tokens_[row] <= cap_ && work_[row] <= longest &&
            longest_[rest * kRows + at(left) - 2] <= longest) {
          made.push_back(row);
          set = rest;
          break;
        }
        if (some == 0) break;
      }
    }
    made.push_back(set);
  }
  for (Subset row : made) {
    choice.rows.emplace_back();
    for (; row != 0; row &= row - 1) {
      choice.rows.back().push_back(few_.ids[few_.cuts + lowest(row)]);
    }
  }
  return choice;
}

}  // namespace stowage
