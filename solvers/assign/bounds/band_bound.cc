#include "solvers/assign/bounds/band_bound.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "formulations/assign/band_prices.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// The root starts from even prices, so that it needs more rounds than a child.
constexpr int kRoundsOfRoot = 3;
// Largest number of cases of one strategy. The checker reads longer certificates slowly.
constexpr std::size_t kMaxNodes = 1000;
// Largest number of replicas that the checker accepts.
constexpr int kMaxReplicas = 64;
// Largest number of distinct lengths. Instances with more gain less than their rounds cost.
constexpr std::size_t kMaxKinds = 2000;

// The tree of cases of one strategy.
class Tree {
 public:
  Tree(const AssignTable& table, int strategy, int rounds) : rounds_(rounds) {
    BandPrices root(table, strategy);
    operations_ = root.improve(kRoundsOfRoot * rounds);
    enter(std::move(root));
  }

  Ms proven() const { return open_.top().first; }
  std::int64_t operations() const { return operations_; }

  // Splits the weakest leaf. Returns false if the leaf cannot be split or the tree has kMaxNodes
  // nodes.
  bool grow() {
    const std::size_t weakest = open_.top().second;
    const std::optional<BandSplit> split = nodes_[weakest].prices.split();
    if (!split || nodes_.size() >= kMaxNodes) return false;
    open_.pop();
    for (const bool longer : {false, true}) {
      BandPrices child = nodes_[weakest].prices.child(*split, longer);
      operations_ += child.improve(rounds_);
      nodes_[weakest].children[longer ? 1 : 0] = nodes_.size();
      enter(std::move(child));
    }
    nodes_[weakest].split = split;
    return true;
  }

  // Returns the splits of the tree, and the prices of its leaves.
  StrategyProof proof(const AssignTable& table, int strategy, const std::string& name) const {
    StrategyProof made{.strategy = name, .by = "bands"};
    std::vector<std::size_t> next{0};
    while (!next.empty()) {
      const Node& node = nodes_[next.back()];
      next.pop_back();
      if (!node.split) {
        made.bands.push_back(node.prices.leaf());
        continue;
      }
      made.bands.push_back(asked(table, strategy, *node.split));
      next.push_back(node.children[1]);
      next.push_back(node.children[0]);
    }
    return made;
  }

 private:
  struct Node {
    BandPrices prices;
    std::optional<BandSplit> split;
    std::size_t children[2] = {0, 0};
  };

  static BandStep asked(const AssignTable& table, int strategy, const BandSplit& split) {
    int first = 0;
    for (const SchemeGroup& group : table.groups(strategy)) {
      if (split.replica < first + group.count) {
        return {.scheme = table.schemes()[at(group.scheme)].name,
                .replica = split.replica - first,
                .above = split.tokens};
      }
      first += group.count;
    }
    return {};
  }

  void enter(BandPrices prices) {
    open_.emplace(prices.proven(), nodes_.size());
    nodes_.push_back({std::move(prices), std::nullopt});
  }

  int rounds_;
  std::vector<Node> nodes_;
  std::priority_queue<std::pair<Ms, std::size_t>, std::vector<std::pair<Ms, std::size_t>>,
                      std::greater<>>
      open_;
  std::int64_t operations_ = 0;
};

}  // namespace

BandBound band_bound(const AssignInstance& instance, const AssignTable& table, Ms upper,
                     KnownProofs known, const BandBoundOptions& options, Budget& budget) {
  BandBound out;
  if (table.size() == 0 || table.kinds().size() > kMaxKinds) return {.known = std::move(known)};
  std::map<int, Tree> trees;
  const std::vector<Ms> before = known.times;
  std::int64_t operations = 0;
  while (!known.times.empty() && operations < options.operations && !budget.exhausted()) {
    const auto weakest = std::ranges::min_element(known.times);
    const auto s = static_cast<int>(weakest - known.times.begin());
    if (*weakest >= upper * (1 - options.near) || table.replicas(s) > kMaxReplicas) break;
    auto found = trees.find(s);
    if (found == trees.end()) {
      found = trees.emplace(s, Tree(table, s, options.rounds)).first;
      operations += found->second.operations();
    } else {
      operations -= found->second.operations();
      const bool grown = found->second.grow();
      operations += found->second.operations();
      if (!grown) break;
    }
    known.times[at(s)] = std::max(*weakest, found->second.proven());
  }
  for (const auto& [s, tree] : trees) {
    if (!(tree.proven() > before[at(s)])) continue;
    const std::string& name = instance.strategies[at(s)].name;
    const auto old = std::ranges::find(known.proofs, name, &StrategyProof::strategy);
    if (old != known.proofs.end()) *old = tree.proof(table, s, name);
  }
  const Ms bound = known.times.empty() ? 0 : *std::ranges::min_element(known.times);
  if (!before.empty() && bound > *std::ranges::min_element(before)) {
    out.certificate = AssignCertificate{.bound_ms = std::min(bound, upper) * kCertain};
    out.certificate->strategies = known.proofs;
  }
  out.known = std::move(known);
  return out;
}

}  // namespace stowage
