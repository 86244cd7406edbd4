#include "heuristics/layout/improve/improvement_rounds.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "heuristics/layout/construct/buffer_orders.h"
#include "heuristics/layout/construct/dive.h"
#include "heuristics/layout/improve/ejection.h"
#include "heuristics/layout/improve/reinsertion.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Returns the height of the layout in each section. Buffers are visited by descending end, so that
// each section is set once.
std::vector<Bytes> heights_of(const LayoutTable& table, const std::vector<Bytes>& offsets) {
  std::vector<int> order;
  for (int b = 0; b < table.buffers(); ++b) {
    if (!table.idle(b)) order.push_back(b);
  }
  std::ranges::sort(order, {},
                    [&](int b) { return std::pair(-offsets[at(b)] - table.size(b), b); });
  std::vector<Bytes> height(at(table.sections()), 0);
  // first section from here on that has no height yet
  std::vector<int> next(at(table.sections()) + 1);
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

// Decides in which rounds one kind of work takes part. After each round without success, the number
// of skipped rounds doubles up to a limit.
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
    pretend_more(best_);  // the first layout usually comes from a dive without added bytes
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

  // Adds bytes to the sections in which the layout ends above the midpoint of the load and the best
  // peak.
  void pretend_more(const std::vector<Bytes>& offsets) {
    const Bytes middle = std::midpoint(table_.max_load(), std::min(peak_, table_.peak(offsets)));
    const std::vector<Bytes> height = heights_of(table_, offsets);
    for (std::size_t s = 0; s < height.size(); ++s) {
      more_[s] = std::min(more_[s] + std::max<Bytes>(0, height[s] - middle), table_.max_load());
    }
  }

  // Returns the visits of buffers for a turn that is `ratio` times as long as the first turn of
  // ejections. Layouts of fewer than 100 buffers get the visits of 100 buffers.
  std::int64_t visits(std::int64_t ratio) const {
    const double usual =
        static_cast<double>(params_.lowering.visits) * std::max(100, table_.buffers());
    return static_cast<std::int64_t>(std::min(static_cast<double>(layout_fixed::kMaxVisits),
                                              static_cast<double>(ratio) * usual));
  }

  // Runs one turn of ejections. If the turn gains nothing, the next turn is twice as long. Returns
  // true if the peak fell.
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

  // Runs one turn of reinsertions. Its length may double two times less often than the length of
  // ejections, because the first turn of reinsertions is longer already. Returns true if the peak
  // fell.
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
  std::vector<Bytes> more_;  // bytes added to the load of each section in dives
  Ejection ejection_;
  std::optional<Reinsertion> reinsertion_;
  const Bytes enough_;
  std::vector<Bytes> best_;
  Bytes peak_;
  double step_ = params_.ejection.first_step;
  std::int64_t effort_ = 1;    // length of the next turn of ejections, as a ratio to the first
  std::int64_t patience_ = 1;  // length of the next turn of reinsertions, as a ratio to the first
  // the last dive exceeded the load by more than twice the excess of the best layout
  bool far_behind_ = false;
};

}  // namespace

std::vector<Bytes> improve_layout(const LayoutTable& table, std::vector<Bytes> offsets,
                                  const ImproveOptions& options, Budget& budget,
                                  const BetterLayout& tell) {
  return Improvement(table, std::move(offsets), options, budget, tell).run();
}

}  // namespace stowage
