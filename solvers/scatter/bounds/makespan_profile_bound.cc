#include "solvers/scatter/bounds/makespan_profile_bound.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "formulations/scatter/lp/certificate_levels.h"

namespace stowage {
namespace {

constexpr int kMaxMicroBatches = 5;  // larger counts have too many boxes
// A makespan refuted up to this share suffices for a proof.
constexpr double kJustBelow = 1 - 5e-8;
constexpr double kWidth = 0.05;
constexpr double kWideBox = 1 + 1e-7;   // relative width; narrower boxes are not split
constexpr double kEdge = 0.1;           // least width of a part, as a share of its box
constexpr double kClaimed = 1 - 1e-11;  // margin for the rounding of sums

}  // namespace

ScatterProfileBound::ScatterProfileBound(const ScatterInstance& instance, MilpBackend backend,
                                         Ms upper, CertificateSink sink, std::size_t most_lengths)
    : table_(ScatterTable(instance).relaxed()),
      fewest_(least_micro_batches(table_)),
      lowered_(fewest_ <= kMaxMicroBatches ? table_.lowered(most_lengths) : table_),
      alone_(table_.longest_weight() > 0 ? longest_alone(table_) : 0),
      lp_(lowered_, backend),
      upper_(upper),
      sink_(std::move(sink)) {}

bool ScatterProfileBound::promising() const {
  return fewest_ >= 1 && fewest_ <= kMaxMicroBatches && beyond(kMaxMicroBatches + 1) >= upper_;
}

int ScatterProfileBound::most_micro_batches() const {
  const Ms left =
      upper_ - table_.total_area() / table_.devices() - table_.longest_weight() * alone_;
  const Ms overhead = table_.least_overhead();
  if (!(overhead > 0) || left / overhead >= table_.size()) return table_.size();
  return static_cast<int>(left / overhead * (1 + 1e-9));
}

void ScatterProfileBound::begin() {
  const int multiple = static_cast<int>(table_.multiple());
  int count = fewest_;
  for (; beyond(count) < upper_ * kClaimed && count <= kMaxMicroBatches; count += multiple) {
    const auto size = static_cast<std::size_t>(count);
    trees_.push_back({ProfileNode{}});
    leaves_.push_back({.tree = trees_.size() - 1,
                       .low = std::vector<Ms>(size, table_.least_overhead()),
                       .high = std::vector<Ms>(size, upper_)});
    Leaf& leaf = leaves_.back();
    leaf.low[0] = std::max(leaf.low[0], alone_);
    close(leaf);
  }
  beyond_ = beyond(count);
}

// Tightens a box by the order of the makespans and by their sum.
void ScatterProfileBound::close(Leaf& leaf) const {
  const std::size_t count = leaf.low.size();
  for (std::size_t b = count - 1; b-- > 0;) leaf.low[b] = std::max(leaf.low[b], leaf.low[b + 1]);
  const Ms sum = std::accumulate(leaf.low.begin(), leaf.low.end(), 0.0) +
                 table_.longest_weight() * leaf.low[0];
  leaf.bound = std::max(leaf.bound, sum);
  for (std::size_t b = 0; b < count; ++b) {
    const double times = b == 0 ? 1 + table_.longest_weight() : 1;
    leaf.high[b] =
        std::min(leaf.high[b], (upper_ * kJustBelow - (sum - times * leaf.low[b])) / times);
    if (b > 0) leaf.high[b] = std::min(leaf.high[b], leaf.high[b - 1]);
    leaf.high[b] = std::max(leaf.high[b], leaf.low[b]);
  }
}

// Raises the bound of a box by its LP. Returns false if the LP was not solved.
bool ScatterProfileBound::solve(Leaf& leaf, Budget& budget) {
  close(leaf);
  ScatterProfileLp::Answer answer = lp_.solve(leaf.low, leaf.high, upper_, budget);
  if (!answer.solved) return false;
  leaf.solved = true;
  leaf.makespans = std::move(answer.makespans);
  if (answer.proven > leaf.bound) {
    leaf.bound = answer.proven;
    trees_[leaf.tree][leaf.node] = std::move(answer.node);
  }
  return true;
}

// Splits the box at the makespan where the LP mixes the two ends most.
void ScatterProfileBound::split(const Leaf& leaf) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t b = 0; b < leaf.low.size(); ++b) {
    const Ms low = leaf.low[b];
    const Ms high = leaf.high[b];
    // A mix in the middle of the range counts most, but wide ranges are split too.
    const double mixed = std::min(leaf.makespans[b] - low, high - leaf.makespans[b]);
    const double score = mixed + kWidth * (high - low);
    if (score <= most) continue;
    most = score;
    best = b;
  }
  const Ms low = leaf.low[best];
  const Ms high = leaf.high[best];
  const Ms at =
      std::clamp(leaf.makespans[best], low + kEdge * (high - low), high - kEdge * (high - low));
  ProfileTree& tree = trees_[leaf.tree];
  const std::size_t below = tree.size();
  ProfileNode parent = std::move(tree[leaf.node]);
  tree[leaf.node] = {.kind = ProfileNode::Kind::split,
                     .batch = best,
                     .at = at,
                     .below = below,
                     .above = below + 1};
  // The bound of the box holds for its parts.
  tree.push_back(parent);
  tree.push_back(std::move(parent));
  for (const bool upper : {false, true}) {
    Leaf part = leaf;
    part.node = below + (upper ? 1 : 0);
    (upper ? part.low : part.high)[best] = at;
    part.solved = false;
    close(part);
    leaves_.push_back(std::move(part));
  }
}

bool ScatterProfileBound::improve(Budget& budget) {
  if (trees_.empty()) begin();
  bool more = !leaves_.empty();
  while (!budget.exhausted() && more) {
    const auto weakest = std::ranges::min_element(leaves_, {}, &Leaf::bound);
    more = weakest->bound < std::min(upper_ * kJustBelow, beyond_);
    if (!more) break;
    if (!weakest->solved) {
      more = solve(*weakest, budget);
    } else {
      more = !weakest->makespans.empty() && weakest->high.front() > weakest->low.front() * kWideBox;
      if (!more) break;
      const Leaf leaf = std::move(*weakest);
      leaves_.erase(weakest);
      split(leaf);
    }
  }
  publish();
  return more || budget.exhausted();
}

std::vector<Ms> ScatterProfileBound::weakest() const {
  const Leaf* weakest = nullptr;
  for (const Leaf& leaf : leaves_) {
    if (leaf.makespans.empty() || leaf.bound >= upper_ * kJustBelow) continue;
    if (weakest == nullptr || leaf.bound < weakest->bound) weakest = &leaf;
  }
  return weakest == nullptr ? std::vector<Ms>() : weakest->makespans;
}

void ScatterProfileBound::publish() {
  Ms bound = std::min(upper_ * kJustBelow, beyond_);
  for (const Leaf& leaf : leaves_) bound = std::min(bound, leaf.bound);
  bound *= kClaimed;
  if (trees_.empty() || bound <= best_) return;  // without trees the bound is B2
  best_ = bound;
  // A set of sequences is worth no more than with the lowered lengths: its values are the same, and
  // its costs and lengths are no less.
  std::vector<ProfileTree> trees = trees_;
  for (ProfileTree& tree : trees) {
    for (ProfileNode& node : tree) {
      if (node.kind != ProfileNode::Kind::priced) continue;
      std::vector<double> values;
      for (const DistinctLength& kind : table_.kinds()) {
        values.push_back(node.values[at(lowered_.kind(kind.first))]);
      }
      node.values = std::move(values);
    }
  }
  sink_({.bound_ms = bound,
         .levels = certificate_levels(table_),
         .kind_weights = table_.kind_weights(),
         .profiles = std::move(trees)});
}

}  // namespace stowage
