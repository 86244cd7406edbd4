#include "solvers/layout/core_first.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "heuristics/layout/improve/reinsertion.h"
#include "instances/layout/instance.h"
#include "instances/numeric/numbers.h"
#include "solvers/layout/exact/search.h"
#include "solvers/layout/tree/luby.h"

namespace stowage {
namespace {

// Multiplier of the attempt's number in its seed. The value is odd and differs from the generator's
// own increment; otherwise attempts would use equal random numbers.
constexpr std::uint64_t kOfADraw = 0xd1b54a32d192ed03;

// Returns the instance of the sections with at least this load. All buffers keep their index.
LayoutInstance busy_sections(const LayoutTable& table, Bytes least) {
  std::vector<int> place{0};  // index of each section among the kept sections
  for (int s = 0; s < table.sections(); ++s) {
    place.push_back(place.back() + (table.load(s) >= least ? 1 : 0));
  }
  LayoutInstance part;
  for (int b = 0; b < table.buffers(); ++b) {
    Buffer buffer{.lower = -1, .upper = 0, .size = table.size(b), .alignment = table.alignment(b)};
    for (const SectionRange& range : table.ranges(b)) {
      const int first = place[at(range.first)];
      const int last = place[at(range.last)];
      if (first == last) continue;
      if (buffer.lower < 0) buffer.lower = first;
      if (buffer.upper > 0 && buffer.upper < first) buffer.gaps.push_back({buffer.upper, first});
      buffer.upper = last;
    }
    if (buffer.lower < 0) buffer = {.upper = 1};
    part.buffers.push_back(std::move(buffer));
  }
  return part;
}

}  // namespace

bool CoreFirst::fits(const LayoutTable& table, const ReinsertionParams& params) {
  return table.buffers() <= params.buffers && table.sections() <= params.buffers &&
         !table.any_pins();
}

CoreFirst::CoreFirst(const LayoutTable& table, std::uint64_t seed, const LayoutParams& params)
    : table_(table), seed_(seed), params_(params) {
  cut_parts();
}

void CoreFirst::cut_parts() {
  std::vector<Bytes> loads;  // largest load of a section of each buffer, in descending order
  std::vector<int> alive(at(table_.sections()), 0);
  int most_alive = 0;
  for (int b = 0; b < table_.buffers(); ++b) {
    if (table_.idle(b)) continue;
    Bytes load = 0;
    for (const SectionRange& range : table_.ranges(b)) {
      for (int s = range.first; s < range.last; ++s) {
        load = std::max(load, table_.load(s));
        most_alive = std::max(most_alive, ++alive[at(s)]);
      }
    }
    loads.push_back(load);
  }
  std::ranges::sort(loads, std::greater());
  Bytes last = -1;
  const double growth = params_.core.growth;
  // The first part has more buffers than are alive at once, by the growth factor.
  for (double count = std::max<double>(params_.core.buffers, growth * most_alive); last != 0;
       count *= growth) {
    const bool all = count >= static_cast<double>(loads.size());
    Bytes least = all ? 0 : loads[static_cast<std::size_t>(count)];
    if (!all && least == loads.back()) least = 0;
    if (least == last) continue;
    last = least;
    Part part{.table = LayoutTable(busy_sections(table_, least)), .buffers = 0};
    for (int b = 0; b < table_.buffers(); ++b) part.buffers += part.table.idle(b) ? 0 : 1;
    parts_.push_back(std::move(part));
  }
}

void CoreFirst::search_parts(Bytes enough, Budget& budget) {
  searched_ = true;
  for (const Part& part : parts_) {
    if (part.buffers == parts_.back().buffers || !can_be_searched(part.table, params_.search))
      break;
    Budget its =
        budget.part(budget.seconds_left(), std::min(params_.core.nodes, budget.nodes_left()));
    LayoutMinimum found =
        minimise_layout(part.table, {.bound = part.table.max_load()}, its, {}, params_.search);
    if (!found.offsets || found.peak > enough) break;
    found_.push_back(*std::move(found.offsets));
  }
}

void CoreFirst::begin(Bytes enough) {
  ++attempt_;
  aim_ = enough;
  tries_.clear();
  offsets_.assign(at(table_.buffers()), -1);
  part_ = found_.size() - static_cast<std::size_t>(attempt_) % (found_.size() + 1);
  if (part_ == 0) return;
  for (int b = 0; b < table_.buffers(); ++b) {
    if (!parts_[part_ - 1].table.idle(b)) offsets_[at(b)] = found_[part_ - 1][at(b)];
  }
}

// Adds one more layout of the part, and advances to the next part after the last try. Returns false
// if the budget ends before all buffers have an offset. A layout that the budget cuts short still
// counts.
bool CoreFirst::extend(Budget& budget) {
  constexpr std::int64_t kShort = layout_fixed::kShortAttempts;
  const Part& part = parts_[part_];
  const std::int64_t usual = params_.core.visits;
  const std::size_t most = at(params_.core.tries);
  // The first attempts are shorter: each has half the visits of the next one.
  const std::int64_t visits =
      part.buffers *
      (attempt_ < kShort ? usual >> (kShort - attempt_) : usual * luby(attempt_ - kShort + 1));
  const std::uint64_t draw =
      (static_cast<std::uint64_t>(attempt_) * parts_.size() + part_) * most + tries_.size();
  Reinsertion reinsertion(part.table, seed_ + draw * kOfADraw, params_.heuristics.reinsertion);
  std::optional<std::vector<Bytes>> all = reinsertion.complete(offsets_, aim_, budget);
  if (!all) return false;
  tries_.push_back(reinsertion.lower(*std::move(all), aim_, visits, budget));
  const auto peak = [&](const std::vector<Bytes>& offsets) { return part.table.peak(offsets); };
  const auto best = std::ranges::min_element(tries_, {}, peak);
  if (peak(*best) > aim_ && tries_.size() < most) return true;
  aim_ = std::max(aim_, peak(*best));
  for (int b = 0; b < table_.buffers(); ++b) {
    if (!part.table.idle(b)) offsets_[at(b)] = (*best)[at(b)];
  }
  tries_.clear();
  ++part_;
  return true;
}

std::vector<Bytes> CoreFirst::lower(std::vector<Bytes> best, Bytes enough, Budget& budget,
                                    const BetterLayout& tell) {
  enough = std::max(enough, table_.max_load());
  Bytes peak = table_.peak(best);
  if (peak <= enough || budget.exhausted()) return best;
  if (!searched_) search_parts(enough, budget);
  if (attempt_ < 0) begin(enough);
  while (peak > enough && !budget.exhausted() && extend(budget)) {
    if (aim_ < peak && part_ < parts_.size()) continue;
    if (aim_ < peak) {
      best = offsets_;
      // idle buffers have the offset -1
      for (Bytes& offset : best) offset = std::max<Bytes>(0, offset);
      peak = aim_;
      tell(best);
    }
    begin(enough);
  }
  return best;
}

}  // namespace stowage
