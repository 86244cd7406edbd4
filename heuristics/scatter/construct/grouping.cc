#include "heuristics/scatter/construct/grouping.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/equal_counts/equal_count_grouping.h"
#include "heuristics/scatter/construct/heterogeneous_cluster_grouping.h"
#include "heuristics/scatter/construct/lpt.h"
#include "heuristics/scatter/construct/multifit/multifit.h"
#include "heuristics/scatter/improve/local_search.h"
#include "heuristics/scatter/uniform_recomputation.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// LPT results up to this ratio to the best makespan are polished.
constexpr double kPromisingGroups = 1.03;
// A partition is tried only if it can improve the makespan by more than this share.
constexpr double kWorthwhile = 1e-4;
// Without enumeration, a makespan up to this ratio to the estimate is accepted.
constexpr double kNearGroups = 1.02;
// Partial partitions visited per partition tried. Thousands of devices have too many partial
// partitions to visit all.
constexpr int kNodesPerMix = 50;

class MixSearch {
 public:
  MixSearch(const ScatterTable& table, std::span<const int> positions, const GroupingEffort& effort)
      : table_(table), positions_(positions), effort_(effort), mix_(table.configs().size(), 0) {
    tokens_.push_back(0);
    for (const int position : positions) tokens_.push_back(tokens_.back() + table.length(position));
    if (effort.mixes == 0) return;  // only the enumeration uses the areas
    // area_[p][i]: least device-ms of the first i sequences at configurations p and above.
    const std::size_t configs = table.configs().size();
    area_.assign(configs, std::vector<double>{0});
    for (const int position : positions) {
      double least = kInfinity;
      for (std::size_t p = configs; p-- > 0;) {
        const GroupConfig& config = table.configs()[p];
        if (table.holds(static_cast<int>(p), position)) {
          const int kind = table.kind(position);
          least = std::min(least, config.degree * table.kind_least_cost(kind, static_cast<int>(p)));
        }
        area_[p].push_back(area_[p].back() + least);
      }
    }
  }

  std::optional<WorkingMicroBatch> run(Ms estimate) {
    estimate_ = estimate;
    const Ms worst = longest_chain();
    offer(multifit(table_, positions_, estimate, worst, 10));
    // The packing of multifit is usually close to the estimate, unless memory was the limit.
    if (effort_.mixes > 0 || !best_ || best_->makespan > estimate * kNearGroups)
      offer_homogeneous();
    if (effort_.mixes == 0) return std::move(best_);
    mixes_left_ = effort_.mixes;
    nodes_left_ = std::int64_t{kNodesPerMix} * effort_.mixes;
    descend(static_cast<int>(mix_.size()) - 1, {.devices = table_.devices()});
    return std::move(best_);
  }

 private:
  // Totals of the groups chosen so far (configurations above the current one), and the remaining
  // devices.
  struct Chosen {
    int devices = 0;
    Tokens capacity = 0;
    double weight = 0;    // sum of degrees
    double overhead = 0;  // sum of degree * overhead
  };

  // Returns the time of all sequences in one group of the worst configuration: no makespan is
  // larger.
  Ms longest_chain() const {
    Ms worst = 0;
    for (std::size_t p = 0; p < table_.configs().size(); ++p) {
      Ms chain = table_.configs()[p].overhead;
      for (const int position : positions_) chain += table_.cost(position, static_cast<int>(p));
      if (table_.offloads()) {
        Load load = table_.empty_load(static_cast<int>(p));
        for (const int position : positions_) load += table_.load(position, static_cast<int>(p));
        chain = std::max(chain, table_.time(static_cast<int>(p), load));
      }
      worst = std::max(worst, chain);
    }
    return worst;
  }

  Ms limit() const { return best_ ? best_->makespan * (1 - kWorthwhile) : kInfinity; }

  // Returns how many of the longest sequences no configuration below `p` can take before `limit()`.
  std::size_t bound_to(int p) const {
    std::size_t bound = positions_.size();
    for (int q = 0; q < p; ++q) {
      const Ms overhead = table_.configs()[static_cast<std::size_t>(q)].overhead;
      const auto fits = [&](int position) {
        return table_.holds(q, position) && overhead + table_.cost(position, q) < limit();
      };
      const auto first = std::partition_point(positions_.begin(), positions_.end(),
                                              [&](int position) { return !fits(position); });
      bound = std::min(bound, static_cast<std::size_t>(first - positions_.begin()));
    }
    return bound;
  }

  // Returns false if groups at configurations p and above, with the remaining devices, cannot beat
  // the best.
  bool hopeful(int p, const Chosen& chosen) const {
    const double offered = best_ ? chosen.weight * limit() - chosen.overhead : kInfinity;
    const std::size_t bound = bound_to(p);
    if (tokens_[bound] > chosen.capacity && bound > 0) return false;
    if (bound > 0 && area_[static_cast<std::size_t>(p)][bound] > offered) return false;
    if (!best_) return true;
    const double rest = chosen.devices * (limit() - table_.least_overhead());
    return area_[0][positions_.size()] <= offered + rest;
  }

  // Returns true if the effort is spent, or if the best makespan reaches the estimate.
  bool finished() const { return mixes_left_ == 0 || nodes_left_ == 0 || finished_by_estimate(); }
  bool finished_by_estimate() const { return best_ && best_->makespan <= estimate_; }

  void descend(int p, const Chosen& chosen) {
    const GroupConfig& config = table_.configs()[static_cast<std::size_t>(p)];
    const int most = chosen.devices / config.degree;
    // The smallest groups take all remaining devices: an unused group costs nothing.
    for (int n = p == 0 ? most : 0; n <= most && !finished(); ++n) {
      --nodes_left_;
      mix_[static_cast<std::size_t>(p)] = n;
      Chosen with = chosen;
      with.devices -= n * config.degree;
      with.capacity += std::min(checked_mul(n, config.capacity).value_or(kMaxExact), kMaxExact);
      with.weight += static_cast<double>(n) * config.degree;
      with.overhead += static_cast<double>(n) * config.degree * config.least_overhead;
      if (!hopeful(p, with)) continue;
      if (p > 0) {
        descend(p - 1, with);
      } else {
        --mixes_left_;
        offer(lpt_groups(table_, mix_, positions_, best_ ? limit() * kPromisingGroups : kInfinity));
      }
    }
    mix_[static_cast<std::size_t>(p)] = 0;
  }

  // Tries groups of one degree, if there are many degrees of few of them. Chunks that nearly fill
  // memory need them, and multifit runs out of memory there. The enumeration may end before it
  // reaches them.
  void offer_homogeneous() {
    const bool many = table_.has_many_degrees();
    const std::vector<std::size_t> few = many ? table_.few_degrees() : std::vector<std::size_t>();
    for (std::size_t p = 0; p < mix_.size() && !finished_by_estimate(); ++p) {
      if (many && !std::ranges::binary_search(few, p)) continue;
      mix_[p] = table_.devices() / table_.configs()[p].degree;
      offer(lpt_groups(table_, mix_, positions_, best_ ? limit() * kPromisingGroups : kInfinity));
      mix_[p] = 0;
    }
  }

  void offer(std::optional<WorkingMicroBatch> batch) {
    if (!batch) return;
    polish(table_, *batch, effort_.polish_rounds);
    if (!best_ || batch->makespan < best_->makespan) best_ = std::move(batch);
  }

  const ScatterTable& table_;
  std::span<const int> positions_;
  const GroupingEffort& effort_;
  std::vector<int> mix_;
  std::vector<Tokens> tokens_;
  std::vector<std::vector<double>> area_;
  std::optional<WorkingMicroBatch> best_;
  Ms estimate_ = 0;
  int mixes_left_ = 0;
  std::int64_t nodes_left_ = 0;
};

}  // namespace

// Groups the micro-batch in each recomputation mode and returns the fastest.
static std::optional<WorkingMicroBatch> group_in_best_mode(const ScatterTable& table,
                                                           std::span<const int> positions,
                                                           const GroupingEffort& effort) {
  std::optional<WorkingMicroBatch> best;
  for (int mode = 0; mode < table.recomputations(); ++mode) {
    const ScatterTable& own = table.recomputing(mode);
    if (best && grouping_estimate(own, positions) >= best->makespan) continue;
    std::optional<WorkingMicroBatch> batch = group_micro_batch(own, positions, effort);
    if (!batch || (best && batch->makespan >= best->makespan)) continue;
    for (WorkingGroup& group : batch->groups) group.config = config_in(table, own, group.config);
    best = std::move(batch);
  }
  return best;
}

Ms grouping_estimate(const ScatterTable& table, std::span<const int> positions) {
  if (positions.empty()) return 0;
  double area = 0;
  Tokens tokens = 0;
  for (const int position : positions) {
    area += table.area(position);
    tokens += table.length(position);
  }
  if (tokens > table.batch_capacity()) return kInfinity;
  const Ms work = table.least_overhead() + area / table.devices();
  return std::max(table.alone(table.kind(positions.front())),
                  work + table.least_stall(tokens, 1, work));
}

std::optional<WorkingMicroBatch> group_micro_batch(const ScatterTable& table,
                                                   std::span<const int> positions,
                                                   const GroupingEffort& effort) {
  if (positions.empty()) return WorkingMicroBatch{};
  if (table.recomputations() > 1) return group_in_best_mode(table, positions, effort);
  const Ms estimate = grouping_estimate(table, positions);
  if (estimate == kInfinity) return std::nullopt;
  if (table.several_kinds()) return heterogeneous_grouping(table, positions, effort.polish_rounds);
  if (table.equal_sequences()) return equal_count_grouping(table, positions, effort.polish_rounds);
  return MixSearch(table, positions, effort).run(estimate);
}

}  // namespace stowage
