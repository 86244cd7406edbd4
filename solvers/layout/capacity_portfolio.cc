#include "solvers/layout/capacity_portfolio.h"

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "heuristics/layout/construct/buffer_orders.h"
#include "instances/numeric/random.h"
#include "solvers/layout/tree/luby.h"

namespace stowage {
namespace {

// Orders and restarts use both choices alternately, because each choice finds layouts that the
// other does not.
LayoutTree::Choice choice_of(std::size_t turn) {
  return turn % 2 == 0 ? LayoutTree::Choice::order : LayoutTree::Choice::flush;
}

// The best orders, measured on the MiniMalloc set and on guillotine cuts; each order solves some
// instance that the others do not. The last three are the orders that MiniMalloc publishes.
constexpr const char* kBest[] = {"TCA", "TLZ", "TOU", "UOZ", "WTZ", "ATW", "WAT", "TAW", "TWA"};
// orders of the second round, and turns before other capacities get theirs
constexpr std::size_t kFewOrders = std::size(kBest);

// Returns all triples of different keys: the best ones, then the others in a fixed random order.
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
                         LayoutPortfolio& portfolio, Bytes capacity, std::size_t favourite,
                         const LayoutSearchParams& params)
    : params_(params),
      table_(table),
      neighbours_(neighbours),
      portfolio_(portfolio),
      capacity_(capacity),
      favourite_(favourite),
      failed_(std::make_unique<FailedStates>()) {
  const auto parts =
      static_cast<std::size_t>(table.buffers()) + static_cast<std::size_t>(table.sections()) + 1;
  most_trees_ =
      std::max<std::size_t>(1, layout_fixed::kTreesBytes / (layout_fixed::kTreeBytes * parts));
  width_ = most_trees_;
  clock_nodes_ = std::clamp<std::int64_t>(
      layout_fixed::kNodeVisits / static_cast<std::int64_t>(parts), 1, params.turn);
  turn_nodes_ = std::max(params.turn, 2 * static_cast<std::int64_t>(table.buffers()));
  turn_left_ = turn_nodes_;
  buffer_failures_.assign(at(table.buffers()), 0);
  section_failures_.assign(at(table.sections()), 0);
}

bool LayoutProbe::has_tree(std::size_t turn) {
  if (turn < trees_.size()) return true;
  const std::vector<int>* order = portfolio_.order(number(turn));
  if (order == nullptr) return false;
  trees_.push_back(std::make_unique<LayoutTree>(table_, neighbours_, *order, capacity_, *failed_,
                                                choice_of(turn), params_));
  return true;
}

void LayoutProbe::next_round() {
  ++round_;
  if (round_ == 1) {
    width_ = std::min(kFewOrders, most_trees_);
  } else if (round_ % 2 == 1 && width_ < most_trees_) {
    width_ = std::min(2 * width_, most_trees_);
  } else {
    turn_nodes_ *= 2;
  }
  turn_ = 0;
  turn_left_ = turn_nodes_;
}

std::int64_t LayoutProbe::run(LayoutTree& tree, std::int64_t nodes, Budget& budget) {
  const std::int64_t before = tree.nodes();
  end_ = tree.run(std::min({clock_nodes_, nodes, budget.nodes_left()}));
  const std::int64_t spent = tree.nodes() - before;
  budget.count_nodes(spent);
  nodes_ += spent;
  return spent;
}

LayoutTree::End LayoutProbe::round(Budget& budget) {
  while (!budget.exhausted()) {
    if (2 * restart_nodes_ < nodes_) {
      run_restart(budget);
      if (end_ != LayoutTree::End::open) return end_;
      continue;
    }
    if (turn_ == width_ || !has_tree(turn_)) {
      next_round();
      return LayoutTree::End::open;
    }
    turn_left_ -= run(*trees_[turn_], turn_left_, budget);
    if (end_ != LayoutTree::End::open) return end_;
    if (turn_left_ > 0) continue;
    ++turn_;
    turn_left_ = turn_nodes_;
    // Other capacities get their turn after kFewOrders turns.
    if (turn_ % kFewOrders == 0 && turn_ < width_) return LayoutTree::End::open;
  }
  return LayoutTree::End::open;
}

void LayoutProbe::run_restart(Budget& budget) {
  if (!restart_) {
    restart_ =
        std::make_unique<LayoutTree>(table_, neighbours_, learnt_order(), capacity_, *failed_,
                                     choice_of(static_cast<std::size_t>(restarts_)), params_);
    restart_left_ = luby(++restarts_) * std::max(params_.turn, 2 * std::int64_t{table_.buffers()});
  }
  const std::int64_t spent = run(*restart_, restart_left_, budget);
  restart_left_ -= spent;
  restart_nodes_ += spent;
  if (end_ != LayoutTree::End::open) {
    learnt_ = true;
  } else if (restart_left_ <= 0) {
    learn();
    restart_.reset();
  }
}

std::vector<int> LayoutProbe::learnt_order() {
  restart_order_ = static_cast<std::size_t>(restarts_);
  const std::vector<int>* base = portfolio_.order(restart_order_);
  if (base == nullptr) {
    restart_order_ %= portfolio_.known();
    base = portfolio_.order(restart_order_);
  }
  std::vector<int> order = *base;
  std::vector<double> failures = buffer_failures_;
  for (const int b : order) {
    double most = 0;
    for (const SectionRange& range : table_.ranges(b)) {
      for (int s = range.first; s < range.last; ++s)
        most = std::max(most, section_failures_[at(s)]);
    }
    failures[at(b)] += most;
  }
  std::ranges::stable_sort(order, std::greater{}, [&](int b) { return failures[at(b)]; });
  return order;
}

void LayoutProbe::learn() {
  const LayoutState::Failures& failures = restart_->failures();
  double all = 1;
  for (const int count : failures.buffers) all += count;
  for (const int count : failures.sections) all += count;
  for (std::size_t b = 0; b < buffer_failures_.size(); ++b) {
    buffer_failures_[b] = params_.fading * buffer_failures_[b] + failures.buffers[b] / all;
  }
  for (std::size_t s = 0; s < section_failures_.size(); ++s) {
    section_failures_[s] = params_.fading * section_failures_[s] + failures.sections[s] / all;
  }
}

}  // namespace stowage
