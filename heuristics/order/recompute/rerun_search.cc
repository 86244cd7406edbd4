#include "heuristics/order/recompute/rerun_search.h"

#include <algorithm>
#include <numeric>

#include "heuristics/order/params.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr Ms kNever = std::numeric_limits<Ms>::infinity();
constexpr int kEmpty = -1;
using order_fixed::kRounding;

bool less(Ms a, Ms b) { return a < b * (1 - kRounding); }

}  // namespace

RerunSearch::RerunSearch(const OrderTable& table)
    : table_(table),
      shift_((table.operators() + 63) / 64 * 64),
      width_(at(shift_ / 64 + (table.tensors() + 63) / 64)),
      needed_(at(table.tensors())),
      useful_(at(table.tensors())) {
  width_ = std::max<std::size_t>(1, width_);
  by_size_.resize(at(table.tensors()));
  std::iota(by_size_.begin(), by_size_.end(), 0);
  std::ranges::stable_sort(by_size_, [&](int a, int b) { return table.size(a) > table.size(b); });
}

// Returns true if an update has run after which the operator may not run again.
bool RerunSearch::closed(const Word* set, int op) const {
  return std::ranges::any_of(table_.closed_by(op), [&](int update) { return has(set, update); });
}

// Returns a lower bound on the remaining time, or infinity if a needed tensor cannot be made again.
// Marks in useful_ the tensors that a later run may use.
Ms RerunSearch::sweep(const Word* set) {
  Ms left = 0;
  for (int t = 0; t < table_.tensors(); ++t) needed_[at(t)] = useful_[at(t)] = table_.stays(t);
  const std::vector<int>& order = table_.program_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const int op = *it;
    bool must = !has(set, op);
    bool may = must;
    if (!must) {
      const bool again = table_.may_rerun(op) && !closed(set, op);
      for (const int t : table_.written(op)) {
        may = may || (again && useful_[at(t)] != 0);
        if (needed_[at(t)] == 0 || has(set, place(t))) continue;
        if (!again) return kNever;
        must = true;
      }
    }
    if (must) left += table_.ms(op);
    for (const int t : table_.touched(op)) {
      if (must) needed_[at(t)] = 1;
      if (may || must) useful_[at(t)] = 1;
    }
  }
  for (int t = 0; t < table_.tensors(); ++t) {
    const bool lost =
        needed_[at(t)] != 0 && table_.producer(t) == OrderTable::kNobody && !has(set, place(t));
    if (lost) return kNever;
  }
  return left;
}

// Returns true if all operators have run and all tensors that must stay are in memory.
bool RerunSearch::complete(const Word* set) const {
  for (int op = 0; op < table_.operators(); ++op) {
    if (!has(set, op)) return false;
  }
  for (int t = 0; t < table_.tensors(); ++t) {
    const bool made = table_.producer(t) != OrderTable::kNobody;
    if (made && table_.stays(t) && !has(set, place(t))) return false;
  }
  return true;
}

Bytes RerunSearch::memory_of(const Word* set) const {
  Bytes bytes = 0;
  for (int t = 0; t < table_.tensors(); ++t) {
    if (has(set, place(t))) bytes += table_.size(t);
  }
  return bytes;
}

std::size_t RerunSearch::slot_of(const Word* set) const {
  Word hash = 0x9E3779B97F4A7C15U;
  for (std::size_t k = 0; k < width_; ++k) {
    hash = (hash ^ set[k]) * 0xFF51AFD7ED558CCDU;
    hash ^= hash >> 32U;
  }
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != kEmpty && !std::equal(set, set + width_, set_of(slots_[slot]))) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void RerunSearch::grow_slots() {
  const std::vector<int> before = std::move(slots_);
  slots_.assign(before.size() * 2, kEmpty);
  for (const int node : before) {
    if (node != kEmpty) slots_[slot_of(set_of(node))] = node;
  }
}

// Adds a state unless the same set is known with no more elapsed time.
void RerunSearch::keep(const std::vector<Word>& set, Node node) {
  const int number = static_cast<int>(nodes_.size());
  if (!node.yields) {
    const std::size_t slot = slot_of(set.data());
    const int known = slots_[slot];
    if (known != kEmpty && nodes_[at(known)].spent <= node.spent) return;
    if (known == kEmpty && ++states_ * 2 > slots_.size()) {
      grow_slots();
      slots_[slot_of(set.data())] = number;
    } else {
      slots_[slot] = number;
    }
  }
  words_.insert(words_.end(), set.begin(), set.end());
  queue_.push_back({node.least, node.runs, number});
  std::push_heap(queue_.begin(), queue_.end());
  nodes_.push_back(node);
}

void RerunSearch::begin() {
  nodes_.clear();
  words_.clear();
  queue_.clear();
  states_ = 0;
  slots_.assign(1024, kEmpty);
  least_overflow_ = kMaxExact;
  std::vector<Word> start(width_, 0);
  for (int t = 0; t < table_.tensors(); ++t) {
    if (table_.producer(t) == OrderTable::kNobody) put(start.data(), place(t), true);
  }
  const Bytes all = table_.at_start();
  if (all > capacity_) {
    least_overflow_ = all;
    return;
  }
  const Ms left = sweep(start.data());
  if (less(left, below_ms_)) keep(start, {.least = left});
}

// Runs `op` with the tensors `during`, which fit the capacity, and adds the state after the run.
void RerunSearch::settle(int from, int op, const std::vector<Word>& during, Ms spent) {
  std::vector<Word> behind = during;
  put(behind.data(), op, true);
  for (const int t : table_.written(op)) put(behind.data(), place(t), true);
  const Ms left = sweep(behind.data());
  if (!less(spent + left, below_ms_)) return;
  for (int t = 0; t < table_.tensors(); ++t) {
    if (useful_[at(t)] == 0) put(behind.data(), place(t), false);
  }
  keep(behind, {.spent = spent,
                .least = spent + left,
                .before = from,
                .op = op,
                .runs = nodes_[at(from)].runs + 1});
}

void RerunSearch::try_run(int node, int op) {
  std::vector<Word> during(set_of(node), set_of(node) + width_);
  // Tensors that no later run can use are dropped before `op` runs.
  put(during.data(), op, true);
  const Ms spent = nodes_[at(node)].spent + table_.ms(op);
  for (const int t : table_.written(op)) put(during.data(), place(t), true);
  const Ms left = sweep(during.data());
  if (!less(spent + left, below_ms_)) return;
  for (int t = 0; t < table_.tensors(); ++t) {
    if (useful_[at(t)] == 0) put(during.data(), place(t), false);
  }
  for (const int t : table_.touched(op)) put(during.data(), place(t), true);
  for (const int t : table_.written(op)) put(during.data(), place(t), false);
  const Bytes need = memory_of(during.data()) + table_.need(op);
  if (need <= capacity_) return settle(node, op, during, spent);
  least_overflow_ = std::min(least_overflow_, need);
  keep(during, {.spent = spent,
                .least = spent + left,
                .before = node,
                .op = op,
                .yields = true,
                .runs = nodes_[at(node)].runs});
}

// Drops each tensor in turn for the pending run, the largest tensors first. Each set that makes
// room is then minimal: without its last, smallest tensor the run would not fit.
void RerunSearch::give_up(int node) {
  const Node from = nodes_[at(node)];
  const std::vector<Word> all(set_of(node), set_of(node) + width_);
  const Bytes need = memory_of(all.data()) + table_.need(from.op);
  const auto touched = table_.touched(from.op);
  std::vector<int> left;  // indices in by_size_ of the tensors that may be dropped
  Bytes at_most = 0;      // bytes of all tensors in `left`
  for (int place_of = from.next; place_of < std::ssize(by_size_); ++place_of) {
    const int t = by_size_[at(place_of)];
    const bool goes = has(all.data(), place(t)) && table_.size(t) > 0 &&
                      std::ranges::find(touched, t) == touched.end();
    if (!goes) continue;
    left.push_back(place_of);
    at_most += table_.size(t);
  }
  for (const int place_of : left) {
    const int t = by_size_[at(place_of)];
    if (need - at_most > capacity_) {
      least_overflow_ = std::min(least_overflow_, need - at_most);
      return;
    }
    at_most -= table_.size(t);
    std::vector<Word> during = all;
    put(during.data(), place(t), false);
    if (need - table_.size(t) <= capacity_) {
      settle(from.before, from.op, during, from.spent);
      continue;
    }
    std::vector<Word> behind = during;
    for (const int made : table_.written(from.op)) put(behind.data(), place(made), true);
    const Ms ms = sweep(behind.data());
    if (!less(from.spent + ms, below_ms_)) continue;
    least_overflow_ = std::min(least_overflow_, need - table_.size(t));
    Node fewer = from;
    fewer.least = from.spent + ms;
    fewer.next = place_of + 1;
    keep(during, fewer);
  }
}

void RerunSearch::expand(int node) {
  const std::vector<Word> set(set_of(node), set_of(node) + width_);
  sweep(set.data());
  const std::vector<char> useful = useful_;
  for (const int op : table_.program_order()) {
    const bool there =
        std::ranges::all_of(table_.touched(op), [&](int t) { return has(set.data(), place(t)); });
    if (!there) continue;
    if (!has(set.data(), op)) {
      const bool ready =
          std::ranges::all_of(table_.before(op), [&](int first) { return has(set.data(), first); });
      if (ready) try_run(node, op);
      continue;
    }
    const bool of_use = std::ranges::any_of(table_.written(op), [&](int t) {
      return useful[at(t)] != 0 && !has(set.data(), place(t));
    });
    if (of_use && table_.may_rerun(op) && !closed(set.data(), op)) try_run(node, op);
  }
}

std::vector<int> RerunSearch::steps_to(int node) const {
  std::vector<int> steps;
  for (; node >= 0; node = nodes_[at(node)].before) {
    if (nodes_[at(node)].op >= 0) steps.push_back(nodes_[at(node)].op);
  }
  std::ranges::reverse(steps);
  return steps;
}

RerunSearch::Found RerunSearch::run(Bytes capacity, Ms below_ms, std::int64_t most_states,
                                    const Budget& budget) {
  capacity_ = capacity;
  below_ms_ = below_ms;
  begin();
  Found found;
  while (!queue_.empty()) {
    const Entry entry = queue_.front();
    found.bound_ms = std::max(found.bound_ms, entry.least * (1 - kRounding));
    if (found.states >= most_states || budget.exhausted()) return found;
    std::pop_heap(queue_.begin(), queue_.end());
    queue_.pop_back();
    const Node node = nodes_[at(entry.node)];
    if (!node.yields && slots_[slot_of(set_of(entry.node))] != entry.node) continue;
    ++found.states;
    if (node.yields) {
      give_up(entry.node);
      continue;
    }
    if (complete(set_of(entry.node))) {
      found.end = End::found;
      found.steps = steps_to(entry.node);
      return found;
    }
    expand(entry.node);
  }
  found.end = End::none;
  found.bound_ms = below_ms;
  if (below_ms == kNoLimitMs) found.least_overflow = least_overflow_;
  return found;
}

}  // namespace stowage
