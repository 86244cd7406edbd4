// Longer than 300 lines: the ways of a round share what they know of orders and bounds.
#include "solvers/order/solve.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "formulations/order/bounds.h"
#include "formulations/order/forced.h"
#include "heuristics/order/commit_search.h"
#include "heuristics/order/orders.h"
#include "heuristics/order/registry.h"
#include "heuristics/order/windows.h"
#include "instances/order/compose.h"
#include "instances/order/memory.h"
#include "instances/order/table.h"
#include "solvers/family_solve.h"
#include "solvers/order/length_solve.h"
#include "solvers/order/refutation.h"
#include "solvers/order/rerun_solve.h"

namespace stowage {
namespace {

const Method kAuto{"auto", MethodKind::ours,
                   "heuristics and cuts, then search of stretches and of the whole in turn", ""};
const Method kExact{"exact", MethodKind::ours,
                    "search over sets of operators with commits, until proof or limit",
                    "commit_search.h"};

constexpr std::int64_t kFirstStates = 1000;  // of a search; four times as many each round
constexpr std::int64_t kMostStates = std::int64_t{1} << 21;  // some hundred bytes each
constexpr int kFirstWidth = 64;                              // of stretches
// How many operators' cuts are made: fewer where a graph is large.
constexpr std::int64_t kMostCuts = 100;
constexpr std::int64_t kFewestCuts = 3;
constexpr std::int64_t kCutNodes = 500'000;  // of the networks of all cuts
// Of those that force precedences, at each peak that is tried; four times as many each round.
constexpr std::int64_t kForcedNodes = 200'000;
constexpr int kHalvings = 3;  // of what lies between bound and peak, each round

class OrderSolve : public FamilySolve<OrderInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  std::optional<Refutation> refute() override {
    table_.emplace(instance_);
    simple_ = operator_bound(*table_);
    if (!instance_.capacity || simple_.bytes <= *instance_.capacity) return std::nullopt;
    return refuted_by(simple_, simple_.bytes);
  }

  std::vector<NamedBound> bounds() override {
    return {{"operator", static_cast<double>(simple_.bytes)}};
  }

  void complete(Outcome& outcome) const override {
    if (certificate_) outcome.certificate.emplace(*certificate_);
  }

  StoppedBy search() override {
    if (options_.method != kAuto.name && options_.method != kExact.name) {
      run_heuristic();
      return StoppedBy::heuristic_end;
    }
    start();
    if (!ended()) raise_cut();
    if (!ended()) run_rounds();
    if (refuted_ || incumbent_.proven()) return StoppedBy::proof;
    if (incumbent_.within(options_.gap)) return StoppedBy::gap;
    return StoppedBy::heuristic_end;
  }

  void fall_back() override {
    if (table_) take(table_->program_order(), 'H', "program");
  }

  void run_heuristic() {
    for (const OrderHeuristic& heuristic : heuristics(instance_)) {
      if (heuristic.name != options_.method) continue;
      if (auto plan = heuristic.run(instance_, *table_, options_.seed, budget_)) {
        best_.assign(plan->order.begin(), plan->order.end());
        peak_ = plan->peak_bytes;
        incumbent_.offer(std::move(*plan), 'H', heuristic.name);
        know(best_);
        raise_cut();
      } else {
        incumbent_.remark(heuristic.name + " has no order within the capacity");
      }
    }
  }

  // The orders that take one pass.
  void start() {
    if (options_.start && incumbent_.plan()) {
      best_.assign(incumbent_.plan()->order.begin(), incumbent_.plan()->order.end());
      peak_ = incumbent_.plan()->peak_bytes;
      know(best_);
    }
    take(table_->program_order(), 'H', "program");
    if (ended()) return;
    take(commit_order(*table_, table_->program_order()), 'H', "commit");
    if (ended()) return;
    const std::vector<int> list = list_order(*table_);
    take(list, 'H', "list");
    take(commit_order(*table_, list), 'H', "commit");
    if (ended()) return;
    const std::vector<int> deep = depth_first_order(*table_);
    take(deep, 'H', "dfs");
    take(commit_order(*table_, deep), 'H', "commit");
  }

  bool ended() const {
    return refuted_ || budget_.exhausted() || incumbent_.proven() ||
           incumbent_.within(options_.gap);
  }

  // Keeps what the order is known to need at every operator: no bound of it can be more.
  void know(const std::vector<int>& order) {
    if (least_need_.empty()) least_need_.assign(order.size(), kMaxExact);
    const std::vector<Bytes> needs = needs_of(*table_, order);
    for (std::size_t k = 0; k < order.size(); ++k) {
      Bytes& least = least_need_[static_cast<std::size_t>(order[k])];
      least = std::min(least, needs[k]);
    }
  }

  // An order may be the best so far and still exceed the capacity: then it is no plan yet.
  void take(const std::vector<int>& order, char source, const char* by) {
    const Bytes peak = peak_of(*table_, order);
    know(order);
    if (!best_.empty() && peak >= peak_) return;
    best_ = order;
    peak_ = peak;
    if (instance_.capacity && peak > *instance_.capacity) return;
    incumbent_.offer(compose_order(instance_, *table_, order), source, by);
  }

  void raise(const char* name, Bytes bound) {
    incumbent_.raise_bound({name, static_cast<double>(bound)});
    if (!instance_.capacity || bound <= *instance_.capacity || incumbent_.plan()) return;
    refuted_ = refuted_below("order", bound);
    if (certificate_ && certificate_->bound_bytes > *instance_.capacity) {
      refuted_->proof.by = kByCertificate;
    }
  }

  Bytes bound() const { return static_cast<Bytes>(incumbent_.bound()); }

  // Cuts of the operators whose steps need most in every order that is known. Only what the checker
  // confirms becomes a bound.
  void raise_cut() {
    std::vector<int> ops;
    cut_.resize(least_need_.size(), 0);
    for (int op = 0; op < table_->operators(); ++op) {
      if (cut_[static_cast<std::size_t>(op)] == 0) ops.push_back(op);
    }
    const auto need = [this](int op) { return least_need_[static_cast<std::size_t>(op)]; };
    std::ranges::stable_sort(ops, [&](int a, int b) { return need(a) > need(b); });
    LeastLive least(*table_);
    OrderCertificate best;
    const std::int64_t nodes = std::max(1, table_->operators() + table_->tensors());
    const std::int64_t most = std::clamp(kCutNodes / nodes, kFewestCuts, kMostCuts);
    std::int64_t tried = 0;
    for (const int op : ops) {
      const Bytes known = std::max(bound(), best.bound_bytes);
      if (need(op) <= known || tried++ == most || budget_.exhausted()) break;
      cut_[static_cast<std::size_t>(op)] = 1;
      OrderCertificate cut = cut_bound(*table_, least, op);
      if (cut.bound_bytes > known) best = std::move(cut);
      if (best.bound_bytes >= peak_) break;
    }
    if (best.bound_bytes > bound()) confirm(std::move(best), "cut");
  }

  bool confirm(OrderCertificate certificate, const char* name) {
    const OrderCertificateCheck check = check_certificate(instance_, certificate);
    if (!check.violations.empty()) {
      incumbent_.remark("a certificate fails its check: " + to_string(check.violations.front()));
      return false;
    }
    certificate_ = std::move(certificate);
    raise(name, check.bound_bytes);
    return true;
  }

  // An order is news if its peak is below this.
  Bytes wanted() const {
    return instance_.capacity ? std::min(peak_, *instance_.capacity + 1) : peak_;
  }

  // Whether an order can be better than the best, and if so, whether it can be better by half of
  // what is open, and so on.
  void raise_forced(std::int64_t nodes) {
    if (most_forced_of(instance_) == 0) return;
    const std::int64_t cuts = nodes / std::max(1, table_->operators() + table_->tensors());
    std::vector<ForcedStep> steps = forced_;
    Bytes open = wanted();  // for all that is known, some order is below
    if (!refuted_by_force(open, steps, cuts) && steps.size() > forced_.size()) {
      forced_ = steps;
      narrow_.emplace(with_precedences(instance_, forced_));
    }
    for (int halved = 0; halved < kHalvings && !ended(); ++halved) {
      const Bytes below = bound() + (open - bound()) / 2;
      if (below <= bound()) return;
      if (!refuted_by_force(below, steps, cuts)) open = below;
    }
  }

  // Whether no order is below. If it cannot be told, `steps` are what such an order keeps.
  bool refuted_by_force(Bytes below, std::vector<ForcedStep>& steps, std::int64_t cuts) {
    if (below >= stuck_) return false;
    ForcedOrder found =
        force_order(instance_, below, steps, std::min(cuts, budget_.nodes_left()), budget_);
    budget_.count_nodes(found.cuts);
    if (found.complete) stuck_ = below;
    if (found.proof) return confirm(*std::move(found.proof), "forced");
    steps = std::move(found.steps);
    return false;
  }

  // An order that keeps what all better ones keep, improved; each time from another one.
  void order_narrow(std::int64_t states, int width) {
    if (!narrow_) return;
    const int turn = narrow_orders_++ % 3;
    std::vector<int> order = turn == 0   ? list_order(*narrow_)
                             : turn == 1 ? depth_first_order(*narrow_)
                                         : narrow_->program_order();
    order = commit_order(*narrow_, order);
    Windows windows(*narrow_);
    budget_.count_nodes(windows.improve(order, effort(states, width), budget_));
    take(order, 'L', "lns");
  }

  Windows::Effort effort(std::int64_t states, int width) const {
    const std::int64_t left = budget_.nodes_left();
    return {.goal = bound(), .states = std::min(states, left), .widest = width, .all_states = left};
  }

  void run_rounds() {
    std::int64_t states = kFirstStates;
    std::int64_t boost = 1;
    for (int width = kFirstWidth; states <= kMostStates && !ended(); states *= 4, width *= 2) {
      if (options_.method == kAuto.name) {
        improve_stretches(states, width);
        if (!ended()) raise_cut();
        if (ended()) return;
      }
      while (probe(wanted() - 1, states) && !ended()) {
      }
      if (ended()) return;
      raise_from_below(states);
      const Bytes before = bound();
      if (!ended()) raise_forced(boost * (states / kFirstStates * kForcedNodes));
      if (bound() > before) boost *= 2;  // it goes on as it began
      if (!ended() && options_.method == kAuto.name) order_narrow(states, width);
    }
    if (!ended()) incumbent_.remark("the search ended with the states that it may remember");
  }

  void improve_stretches(std::int64_t states, int width) {
    std::vector<int> order = best_;
    Windows windows(*table_);
    budget_.count_nodes(windows.improve(order, effort(states, width), budget_));
    if (peak_of(*table_, order) < peak_) take(order, 'L', "lns");
  }

  // Whether a better order was found within the capacity. A capacity that has none is a bound.
  bool probe(Bytes capacity, std::int64_t states) {
    const CommitSearch::Found found = searched(capacity, states);
    if (found.end == CommitSearch::End::none) raise_search(found);
    if (found.end == CommitSearch::End::found) take(found.steps, 'L', "search");
    return found.end == CommitSearch::End::found;
  }

  // From the bound on up, as long as no capacity has an order. The last one is the bound.
  void raise_from_below(std::int64_t states) {
    std::optional<CommitSearch::Found> none;
    for (Bytes capacity = bound(); !ended() && capacity < peak_;) {
      CommitSearch::Found found = searched(capacity, states);
      if (found.end == CommitSearch::End::found) take(found.steps, 'L', "search");
      if (found.end != CommitSearch::End::none) break;
      capacity = found.least_overflow;
      none = std::move(found);
    }
    if (none) raise_search(*none);
  }

  CommitSearch::Found searched(Bytes capacity, std::int64_t states) {
    OrderMemory memory(*table_);
    if (!search_) search_.emplace(*table_);
    CommitSearch::Found found = search_->run(memory, table_->program_order(), capacity,
                                             std::min(states, budget_.nodes_left()), budget_);
    budget_.count_nodes(found.states);
    return found;
  }

  // With its proof, if that is not too long to be checked.
  void raise_search(const CommitSearch::Found& found) {
    if (found.between > most_states_of(instance_)) {
      raise("search", found.least_overflow);
      return;
    }
    OrderCertificate proof{.bound_bytes = found.least_overflow, .searched = SearchedSets{}};
    proof.searched->first.assign(found.steps.begin(), found.steps.end());
    proof.searched->last.assign(found.last.begin(), found.last.end());
    proof.searched->from_end = found.from_end;
    proof.searched->states = found.between;
    if (!confirm(std::move(proof), "search")) raise("search", found.least_overflow);
  }

  std::optional<OrderTable> table_;
  OperatorBound simple_;
  std::optional<OrderTable> narrow_;  // with forced_, if there are any
  int narrow_orders_ = 0;
  std::optional<CommitSearch> search_;
  std::vector<int> best_;           // the best order that is known, within the capacity or not
  Bytes peak_ = 0;                  // of it
  std::vector<Bytes> least_need_;   // of an operator's step, in any order that is known
  std::vector<char> cut_;           // of an operator: whether its cut is known
  std::vector<ForcedStep> forced_;  // precedences that every order below what is wanted keeps
  Bytes stuck_ = kMaxExact + 1;     // cuts do not prove that no order is below this
  std::optional<OrderCertificate> certificate_;  // confirmed
};

}  // namespace

std::vector<Method> methods_of(const OrderInstance& instance) {
  if (is_for_reruns(instance)) return rerun_methods_of(instance);
  std::vector<Method> all = method_list(kAuto, heuristics(instance), {kExact});
  return all;
}

static Outcome solve_fixed(const OrderInstance& instance, const SolveOptions& options,
                           Budget& budget, const Progress& progress) {
  if (is_for_reruns(instance)) return solve_with_reruns(instance, options, budget, progress);
  return OrderSolve(instance, options, budget, progress).run();
}

Outcome solve_family(const OrderInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress) {
  if (!instance.tokens) return solve_fixed(instance, options, budget, progress);
  return solve_lengths(instance, options, budget, progress, solve_fixed);
}

}  // namespace stowage
