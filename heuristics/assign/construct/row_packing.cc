#include "heuristics/assign/construct/row_packing.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "heuristics/packing.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Largest number of rows for which a scan of all rows is faster than a tree of rows.
constexpr std::size_t kFewRows = 32;

const Scheme& scheme_of(const AssignTable& table, int scheme) {
  return table.schemes()[static_cast<std::size_t>(scheme)];
}

Tokens rows_for(Tokens tokens, Tokens cap) { return tokens / cap + (tokens % cap != 0); }

// Returns the number of rows with the least even_time(), as a real number. One more row costs
// fixed_ms and shortens the bubble by (stages - 1) work / rows^2.
double best_row_count(const Scheme& scheme, const LoadSum& load) {
  if (scheme.pp == 1) return 1;
  if (!(scheme.fixed_ms > 0)) return load.sequences;
  return std::sqrt((scheme.pp - 1) * load.work / scheme.fixed_ms);
}

std::vector<WorkingRow> to_rows(const AssignTable& table, int scheme,
                                std::span<const int> positions, const Bins& bins) {
  std::vector<WorkingRow> rows(bins.size());
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    for (const int item : bins[bin]) {
      append(table, scheme, positions[static_cast<std::size_t>(item)], rows[bin]);
    }
  }
  return rows;
}

std::vector<Tokens> lengths_of(const AssignTable& table, std::span<const int> positions) {
  std::vector<Tokens> sizes;
  sizes.reserve(positions.size());
  for (const int position : positions) sizes.push_back(table.length(position));
  return sizes;
}

// Packs by best-fit-decreasing into at most `rows` rows. Returns nullopt if more rows are needed.
std::optional<std::vector<WorkingRow>> few_rows(const AssignTable& table, int scheme,
                                                std::span<const int> positions, int rows) {
  const Tokens cap = scheme_of(table, scheme).max_tokens;
  const auto count = static_cast<std::size_t>(rows);
  if (count > kFewRows) {
    const auto bins = best_fit_decreasing(lengths_of(table, positions), cap);
    if (!bins || bins->size() > count) return std::nullopt;
    return to_rows(table, scheme, positions, *bins);
  }
  std::vector<WorkingRow> packed;
  for (const int position : positions) {
    const Tokens room = cap - table.length(position);
    WorkingRow* target = nullptr;
    for (WorkingRow& row : packed) {
      if (row.tokens <= room && (target == nullptr || row.tokens > target->tokens)) target = &row;
    }
    if (target == nullptr) {
      if (packed.size() == count || room < 0) return std::nullopt;
      target = &packed.emplace_back();
    }
    append(table, scheme, position, *target);
  }
  return packed;
}

// Fills one row after another with the longest remaining sequence and the sequences that leave the
// least room. A short depth-first search chooses them (minimum bin slack, Gupta and Ho 1999). The
// search finds tight packings that best-fit-decreasing misses.
class RowFiller {
 public:
  RowFiller(const AssignTable& table, std::span<const int> positions)
      : table_(table), left_(positions.begin(), positions.end()) {}

  std::optional<std::vector<WorkingRow>> fill(int scheme, int rows) {
    const Tokens cap = scheme_of(table_, scheme).max_tokens;
    std::vector<WorkingRow> made;
    while (!left_.empty() && std::ssize(made) < rows) {
      chosen_ = {left_.front()};
      best_ = chosen_;
      least_room_ = cap - table_.length(left_.front());
      tries_ = kFillTries;
      search(1, least_room_);
      made.emplace_back();
      for (const int position : best_) append(table_, scheme, position, made.back());
      std::erase_if(left_, [&](int p) { return std::ranges::binary_search(best_, p); });
    }
    if (!left_.empty()) return std::nullopt;
    return made;
  }

 private:
  // Node limit of the search that fills one row; some microseconds.
  static constexpr int kFillTries = 400;

  void search(std::size_t next, Tokens room) {
    const auto fitting =
        std::ranges::partition_point(left_.begin() + static_cast<std::ptrdiff_t>(next), left_.end(),
                                     [&](int position) { return table_.length(position) > room; });
    next = static_cast<std::size_t>(fitting - left_.begin());
    for (; next < left_.size() && least_room_ > 0 && tries_-- > 0; ++next) {
      const Tokens length = table_.length(left_[next]);
      // If the previous sequence has the same length and was skipped, this one gives the same
      // packings.
      if (chosen_.back() != left_[next - 1] && table_.length(left_[next - 1]) == length) continue;
      chosen_.push_back(left_[next]);
      if (room - length < least_room_) {
        least_room_ = room - length;
        best_ = chosen_;
      }
      search(next + 1, room - length);
      chosen_.pop_back();
    }
  }

  const AssignTable& table_;
  std::vector<int> left_;  // ascending positions
  std::vector<int> chosen_;
  std::vector<int> best_;
  Tokens least_room_ = 0;
  int tries_ = 0;
};

}  // namespace

int RowCounts::at_least(Tokens rows) const {
  rows = std::max<Tokens>(rows, 1);
  if (exact > 0) return rows <= exact ? exact : 0;
  const Tokens least = (rows + multiple - 1) / multiple * multiple;
  return least <= std::numeric_limits<int>::max() ? static_cast<int>(least) : 0;
}

RowCounts row_counts(const RowConstraints& constraints) {
  return {.multiple = constraints.rows_multiple_of};
}

void LoadSum::add(const AssignTable& table, int scheme, int position) {
  const Ms f = table.work(position, scheme);
  tokens += table.length(position);
  work += f;
  longest = std::max(longest, f);
  ++sequences;
}

Ms even_time(const Scheme& scheme, const LoadSum& load, int rows) {
  const Ms longest = std::max(load.work / rows, load.longest) + scheme.fixed_ms;
  return load.work + rows * scheme.fixed_ms + (scheme.pp - 1) * longest;
}

Ms even_time(const Scheme& scheme, const LoadSum& load, const RowCounts& counts) {
  if (load.sequences == 0) return 0;
  const int least = counts.at_least(rows_for(load.tokens, scheme.max_tokens));
  if (least == 0 || least > load.sequences) return kInfinity;
  Ms best = even_time(scheme, load, least);
  if (scheme.pp == 1 || counts.exact > 0) return best;
  const double ideal = std::min<double>(best_row_count(scheme, load), load.sequences);
  const int below = static_cast<int>(ideal) / counts.multiple * counts.multiple;
  for (const int rows : {below, below + counts.multiple}) {
    if (rows > least && rows <= load.sequences) {
      best = std::min(best, even_time(scheme, load, rows));
    }
  }
  return best;
}

std::optional<std::vector<WorkingRow>> even_rows(const AssignTable& table, int scheme,
                                                 std::span<const int> positions, int rows) {
  const Tokens cap = scheme_of(table, scheme).max_tokens;
  const auto count = static_cast<std::size_t>(rows);
  if (count > kFewRows) {
    std::vector<double> loads;
    loads.reserve(positions.size());
    for (const int position : positions) loads.push_back(table.work(position, scheme));
    const auto bins = longest_processing_time(loads, lengths_of(table, positions), rows, cap);
    if (!bins) return std::nullopt;
    return to_rows(table, scheme, positions, *bins);
  }
  std::vector<WorkingRow> packed(count);
  for (const int position : positions) {
    const Tokens room = cap - table.length(position);
    WorkingRow* target = nullptr;
    for (WorkingRow& row : packed) {
      if (row.tokens > room) continue;
      if (target == nullptr || row.positions.empty() > target->positions.empty() ||
          (row.positions.empty() == target->positions.empty() && row.work < target->work)) {
        target = &row;
      }
    }
    if (target == nullptr) return std::nullopt;
    append(table, scheme, position, *target);
  }
  return packed;
}

bool split_rows(const AssignTable& table, int scheme, int rows, std::vector<WorkingRow>& packed) {
  const auto heavier = [&](std::size_t a, std::size_t b) {  // of equal rows the first
    return std::pair(-packed[a].work, a) < std::pair(-packed[b].work, b);
  };
  std::set<std::size_t, decltype(heavier)> by_work(heavier);
  const auto enter = [&](std::size_t row) {
    if (packed[row].positions.size() > 1) by_work.insert(row);
  };
  if (packed.size() >= static_cast<std::size_t>(rows)) return true;
  for (std::size_t row = 0; row < packed.size(); ++row) enter(row);
  while (packed.size() < static_cast<std::size_t>(rows)) {
    if (by_work.empty()) return false;
    const std::size_t split = *by_work.begin();
    by_work.erase(by_work.begin());
    WorkingRow* heaviest = &packed[split];
    std::vector<int> positions = std::exchange(heaviest->positions, {});
    std::ranges::sort(positions);
    *heaviest = {};
    WorkingRow other;
    for (const int position : positions) {
      append(table, scheme, position, heaviest->work <= other.work ? *heaviest : other);
    }
    if (other.positions.empty()) {  // happens only if sequences take no time
      const int last = heaviest->positions.back();
      heaviest->positions.pop_back();
      heaviest->tokens -= table.length(last);
      append(table, scheme, last, other);
    }
    packed.push_back(std::move(other));
    enter(split);
    enter(packed.size() - 1);
  }
  return true;
}

std::optional<std::vector<WorkingRow>> fit_rows(const AssignTable& table, int scheme,
                                                std::span<const int> positions, int rows) {
  if (positions.size() < static_cast<std::size_t>(rows)) return std::nullopt;
  // If pp is 1, there is no bubble, so only the number of rows counts, and full rows leave the free
  // tokens in one row.
  if (scheme_of(table, scheme).pp > 1) {
    if (auto packed = even_rows(table, scheme, positions, rows)) return packed;
  }
  auto packed = few_rows(table, scheme, positions, rows);
  if (!packed && static_cast<std::size_t>(rows) <= kFewRows) {
    if (scheme_of(table, scheme).pp == 1) packed = even_rows(table, scheme, positions, rows);
    if (!packed) packed = RowFiller(table, positions).fill(scheme, rows);
  }
  if (packed && split_rows(table, scheme, rows, *packed)) return packed;
  return std::nullopt;
}

int count_after_failure(const AssignTable& table, int scheme, std::span<const int> positions,
                        const RowCounts& counts, int rows) {
  // With more sequences, one packing takes longer than counting the rows of best-fit-decreasing.
  constexpr std::size_t kMany = 20000;
  const Scheme& s = scheme_of(table, scheme);
  const int next = rows + counts.multiple;
  if (static_cast<std::size_t>(rows) <= kFewRows) return next;
  if (s.pp > 1 && positions.size() <= kMany) return next;
  const auto bins = best_fit_decreasing(lengths_of(table, positions), s.max_tokens);
  return bins ? std::max(next, counts.at_least(static_cast<Tokens>(bins->size()))) : next;
}

std::optional<WorkingReplica> best_rows(const AssignTable& table, int scheme,
                                        std::span<const int> positions, const RowCounts& counts,
                                        const Budget& budget, bool give_up) {
  if (positions.empty()) return WorkingReplica{.scheme = scheme};
  const Scheme& s = scheme_of(table, scheme);
  LoadSum load;
  for (const int position : positions) load.add(table, scheme, position);
  if (!table.holds(scheme, positions.front())) return std::nullopt;
  std::optional<WorkingReplica> best;
  const int least = counts.at_least(rows_for(load.tokens, s.max_tokens));
  const auto attempt = [&](int rows) {
    auto packed = fit_rows(table, scheme, positions, rows);
    if (!packed) return false;
    const Ms time = time_of(table, scheme, *packed);
    if (!best || time < best->time) best = {scheme, std::move(*packed), time};
    return true;
  };
  const auto worth = [&](int rows) {
    if (best && s.pp == 1) return false;  // without a bubble, more rows only take more time
    if ((best || give_up) && budget.exhausted()) return false;
    return rows <= load.sequences && (!best || even_time(s, load, rows) < best->time);
  };
  if (least == 0) return std::nullopt;
  if (counts.exact > 0) {
    attempt(least);
    return best;
  }
  const int ideal = s.pp == 1
                        ? least
                        : std::max(least, counts.at_least(static_cast<Tokens>(std::min<double>(
                                              best_row_count(s, load), load.sequences))));
  // even_time() is convex in the rows, so row counts are tried outwards from its minimum until it
  // exceeds the best time.
  for (int rows = ideal; worth(rows);) {
    const bool made = attempt(rows) || best;
    rows =
        made ? rows + counts.multiple : count_after_failure(table, scheme, positions, counts, rows);
  }
  for (int rows = ideal - counts.multiple; rows >= least && worth(rows); rows -= counts.multiple) {
    if (!attempt(rows)) break;  // fewer rows are even tighter
  }
  return best;
}

std::optional<WorkingReplica> fewest_rows(const AssignTable& table, int scheme,
                                          std::span<const int> positions, const RowCounts& counts) {
  if (positions.empty()) return WorkingReplica{.scheme = scheme};
  if (!table.holds(scheme, positions.front())) return std::nullopt;
  Tokens tokens = 0;
  for (const int position : positions) tokens += table.length(position);
  const auto most = static_cast<int>(positions.size());
  for (int rows = counts.at_least(rows_for(tokens, scheme_of(table, scheme).max_tokens));
       rows > 0 && rows <= most;
       rows = count_after_failure(table, scheme, positions, counts, rows)) {
    if (auto packed = fit_rows(table, scheme, positions, rows)) {
      const Ms time = time_of(table, scheme, *packed);
      return WorkingReplica{scheme, std::move(*packed), time};
    }
    if (counts.exact > 0) break;
  }
  return std::nullopt;
}

}  // namespace stowage
