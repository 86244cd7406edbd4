#include "heuristics/layout/improve.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "heuristics/layout/dive.h"
#include "heuristics/layout/ejection.h"
#include "heuristics/layout/orders.h"
#include "heuristics/layout/reinsertion.h"
#include "instances/numbers.h"

namespace stowage {
namespace {

// How high the layout reaches in each section: the highest end first, each section once.
std::vector<Bytes> heights_of(const LayoutTable& table, const std::vector<Bytes>& offsets) {
  std::vector<int> order;
  for (int b = 0; b < table.buffers(); ++b) {
    if (!table.idle(b)) order.push_back(b);
  }
  std::ranges::sort(order, {},
                    [&](int b) { return std::pair(-offsets[at(b)] - table.size(b), b); });
  std::vector<Bytes> height(at(table.sections()), 0);
  std::vector<int> next(at(table.sections()) + 1);  // the first section from here on not reached
  std::iota(next.begin(), next.end(), 0);
  const auto find = [&](int s) {
    while (next[at(s)] != s) s = next[at(s)] = next[at(next[at(s)])];
    return s;
  };
  for (const int b : order) {
    const SectionRange hull = table.hull(b);
    for (int s = find(hull.first); s < hull.last; s = find(s)) {
      height[at(s)] = offsets[at(b)] + table.size(b);
      next[at(s)] = s + 1;
    }
  }
  return height;
}

// Decides in which rounds one kind of work takes part: fewer and fewer while it is of no use.
class Turns {
 public:
  explicit Turns(int most_skipped) : most_skipped_(most_skipped) {}

  bool due() { return skipped_++ >= skip_; }

  void done(bool of_use) {
    skip_ = of_use ? 0 : std::min(most_skipped_, 2 * skip_ + 1);
    skipped_ = 0;
  }

 private:
  const int most_skipped_;
  int skip_ = 0;
  int skipped_ = 0;
};

class Improvement {
 public:
  Improvement(const LayoutTable& table, std::vector<Bytes> offsets, const ImproveOptions& options,
              Budget& budget, const BetterLayout& tell)
      : table_(table),
        params_(options.params),
        budget_(budget),
        tell_(tell),
        order_(static_order(table, "W")),
        more_(at(table.sections()), 0),
        ejection_(table, options.seed, params_.ejection),
        enough_(std::max(options.enough, table.max_load())),
        best_(std::move(offsets)),
        peak_(table.peak(best_)) {
    if (table.buffers() > params_.reinsertion.buffers) return;
    reinsertion_.emplace(table, options.seed, params_.reinsertion);
  }

  std::vector<Bytes> run() {
    if (over()) return std::move(best_);
    pretend_more(best_);  // the first layout is mostly of a dive that pretended nothing
    const LoweringParams& lowering = params_.lowering;
    Turns dives(lowering.skipped);
    Turns ejections(lowering.skipped);
    Turns reinsertions(lowering.skipped);
    for (int in_vain = 0; in_vain < lowering.in_vain && !over();) {
      const Bytes before = peak_;
      const bool diving = dives.due();
      if (diving) dives.done(dive() || !far_behind_);
      const bool ejecting = ejections.due();
      if (ejecting) ejections.done(eject());
      const bool reinserting = reinsertion_ && reinsertions.due();
      if (reinserting) reinsertions.done(reinsert());
      if (peak_ < before) {
        in_vain = 0;
      } else if (diving || ejecting || reinserting) {
        ++in_vain;
      }
    }
    return std::move(best_);
  }

 private:
  bool over() const { return peak_ <= enough_ || budget_.exhausted(); }

  bool keep_if_better(std::vector<Bytes> offsets) {
    const Bytes peak = table_.peak(offsets);
    if (peak >= peak_) return false;
    peak_ = peak;
    best_ = std::move(offsets);
    tell_(best_);
    return true;
  }

  bool dive() {
    std::optional<std::vector<Bytes>> offsets =
        fullest_dive(table_, order_, more_, budget_, params_.dive);
    if (!offsets) return false;
    far_behind_ = table_.peak(*offsets) - table_.max_load() > 2 * (peak_ - table_.max_load());
    pretend_more(*offsets);
    return keep_if_better(*std::move(offsets));
  }

  // Of sections in which the layout ends above the middle between load and best peak.
  void pretend_more(const std::vector<Bytes>& offsets) {
    const Bytes middle = std::midpoint(table_.max_load(), std::min(peak_, table_.peak(offsets)));
    const std::vector<Bytes> height = heights_of(table_, offsets);
    for (std::size_t s = 0; s < height.size(); ++s) {
      more_[s] = std::min(more_[s] + std::max<Bytes>(0, height[s] - middle), table_.max_load());
    }
  }

  // Visits of buffers in a turn that is longer than a first turn of ejections by this ratio. Few
  // buffers have as many visits as a hundred.
  std::int64_t visits(std::int64_t ratio) const {
    const double usual =
        static_cast<double>(params_.lowering.visits) * std::max(100, table_.buffers());
    return static_cast<std::int64_t>(std::min(static_cast<double>(layout_fixed::kMostVisits),
                                              static_cast<double>(ratio) * usual));
  }

  // A turn of ejections that gains nothing makes the next one longer.
  bool eject() {
    const EjectionParams& ejection = params_.ejection;
    const Bytes before = peak_;
    const std::int64_t last_visit = ejection_.visits() + visits(effort_);
    while (!over() && ejection_.visits() < last_visit) {
      const auto above = static_cast<double>(peak_ - table_.max_load());
      const Bytes lower = std::max<Bytes>(1, static_cast<Bytes>(step_ * above));
      auto offsets =
          ejection_.fit_below(best_, peak_ - lower, last_visit - ejection_.visits(), budget_);
      if (offsets) {
        keep_if_better(*std::move(offsets));
        step_ = std::min(layout_fixed::kLargestStep, 1.5 * step_);
      } else {
        step_ = step_ / 2 < ejection.least_step ? ejection.first_step : step_ / 2;
      }
    }
    effort_ = peak_ < before ? 1 : std::min(params_.lowering.longest, 2 * effort_);
    return peak_ < before;
  }

  // As many doublings as ejections have but two: turns of reinsertions are longer from the first.
  bool reinsert() {
    const Bytes before = peak_;
    const std::int64_t most = visits(patience_ * params_.lowering.reinsertions);
    if (!over()) keep_if_better(reinsertion_->lower(best_, enough_, most, budget_));
    if (peak_ == before) patience_ = std::min(params_.lowering.longest / 4, 2 * patience_);
    return peak_ < before;
  }

  const LayoutTable& table_;
  const LayoutHeuristicParams params_;
  Budget& budget_;
  const BetterLayout& tell_;
  const std::vector<int> order_;
  std::vector<Bytes> more_;  // by section
  Ejection ejection_;
  std::optional<Reinsertion> reinsertion_;
  const Bytes enough_;
  std::vector<Bytes> best_;
  Bytes peak_;
  double step_ = params_.ejection.first_step;
  std::int64_t effort_ = 1;    // of ejection
  std::int64_t patience_ = 1;  // of reinsertion
  bool far_behind_ = false;    // the last dive
};

}  // namespace

std::vector<Bytes> improve_layout(const LayoutTable& table, std::vector<Bytes> offsets,
                                  const ImproveOptions& options, Budget& budget,
                                  const BetterLayout& tell) {
  return Improvement(table, std::move(offsets), options, budget, tell).run();
}

}  // namespace stowage
