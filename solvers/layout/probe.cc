#include "solvers/layout/probe.h"

#include <algorithm>
#include <random>
#include <string>

#include "heuristics/layout/orders.h"
#include "instances/random.h"

namespace stowage {
namespace {

constexpr std::int64_t kClockNodes = 256;         // between two looks at the clock,
constexpr std::int64_t kClockVisits = 1'000'000;  // fewer if a node visits many buffers
constexpr std::size_t kFirstWidth = 6;
constexpr std::size_t kTreeBytes = 200;  // of one tree per buffer and section, roughly
constexpr std::size_t kProbeBytes = std::size_t{1} << 26;

// Measured on the MiniMalloc set and on guillotine cuts; each solves something the others do not.
constexpr const char* kBest[] = {"TCA", "TLZ", "TOU", "UOZ", "WTZ", "ATW"};

// All triples of different keys: the best, then the others shuffled once and for all.
std::vector<std::string> all_keys() {
  std::vector<std::string> keys(std::begin(kBest), std::end(kBest));
  const std::string letters = "ACLOTUWZ";
  for (const char a : letters) {
    for (const char b : letters) {
      for (const char c : letters) {
        const std::string triple = {a, b, c};
        const bool known = std::ranges::find(kBest, triple) != std::end(kBest);
        if (a != b && b != c && a != c && !known) keys.push_back(triple);
      }
    }
  }
  std::mt19937_64 random(1);
  for (std::size_t i = keys.size(); i > std::size(kBest) + 1; --i) {
    std::swap(keys[i - 1], keys[std::size(kBest) + draw(random, i - std::size(kBest))]);
  }
  return keys;
}

}  // namespace

const std::vector<int>* LayoutPortfolio::order(std::size_t i) {
  static const std::vector<std::string> keys = all_keys();
  while (orders_.size() <= i && next_key_ < keys.size()) {
    const auto [order, is_new] = known_.insert(static_order(table_, keys[next_key_++]));
    if (is_new) orders_.push_back(&*order);
  }
  return i < orders_.size() ? orders_[i] : nullptr;
}

LayoutProbe::LayoutProbe(const LayoutTable& table, const LayoutNeighbours& neighbours,
                         LayoutPortfolio& portfolio, Bytes capacity, std::size_t favourite)
    : table_(table),
      neighbours_(neighbours),
      portfolio_(portfolio),
      capacity_(capacity),
      favourite_(favourite) {
  const auto parts =
      static_cast<std::size_t>(table.buffers()) + static_cast<std::size_t>(table.sections()) + 1;
  most_trees_ = std::max<std::size_t>(1, kProbeBytes / (kTreeBytes * parts));
  width_ = std::min(kFirstWidth, most_trees_);
  clock_nodes_ =
      std::clamp<std::int64_t>(kClockVisits / static_cast<std::int64_t>(parts), 1, kClockNodes);
  turn_nodes_ = std::max(kClockNodes, 2 * static_cast<std::int64_t>(table.buffers()));
  turn_left_ = turn_nodes_;
}

bool LayoutProbe::has_tree(std::size_t turn) {
  if (turn < trees_.size()) return true;
  const std::vector<int>* order = portfolio_.order(number(turn));
  if (order == nullptr) return false;
  trees_.push_back(std::make_unique<LayoutTree>(table_, neighbours_, *order, capacity_));
  return true;
}

void LayoutProbe::next_round() {
  ++round_;
  if (round_ % 2 == 1 && width_ < most_trees_) {
    width_ = std::min(2 * width_, most_trees_);
  } else {
    turn_nodes_ *= 2;
  }
  turn_ = 0;
  turn_left_ = turn_nodes_;
}

LayoutTree::End LayoutProbe::round(Budget& budget) {
  while (!budget.exhausted()) {
    if (turn_ == width_ || !has_tree(turn_)) {
      next_round();
      return LayoutTree::End::open;
    }
    LayoutTree& tree = *trees_[turn_];
    const std::int64_t before = tree.nodes();
    const LayoutTree::End end = tree.run(std::min({clock_nodes_, turn_left_, budget.nodes_left()}));
    const std::int64_t spent = tree.nodes() - before;
    budget.count_nodes(spent);
    nodes_ += spent;
    turn_left_ -= spent;
    if (end != LayoutTree::End::open) return end;
    if (turn_left_ > 0) continue;
    ++turn_;
    turn_left_ = turn_nodes_;
  }
  return LayoutTree::End::open;
}

}  // namespace stowage
