#include "solvers/order/length_solve.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formulations/order/bounds.h"
#include "instances/order/compose.h"
#include "instances/order/json.h"
#include "instances/order/lengths.h"
#include "instances/order/table.h"
#include "solvers/family_solve.h"
#include "solvers/order/length_rows.h"
#include "solvers/order/refutation.h"

namespace stowage {
namespace {

constexpr std::size_t kMostRows = 32;         // more only where so many orders are the best
constexpr std::int64_t kFirstNodes = 20'000;  // of the solve of one length; ten times as many later
constexpr int kMostSolves = 64;               // of so many nodes
constexpr std::int64_t kMostNodes = 2'000'000;
constexpr std::int64_t kMostOfLongest = 20'000'000;  // its peak is the objective
// Operators that are tried for the bounds at the end of a row: fewer where a graph is large.
constexpr std::int64_t kMostEndCuts = 30;
constexpr std::int64_t kEndCutNodes = 100'000;

class LengthSolve : public FamilySolve<OrderInstance> {
 public:
  LengthSolve(const OrderInstance& instance, const SolveOptions& options, Budget& budget,
              const Progress& progress, const FixedSolve& fixed)
      : FamilySolve(instance, options, budget, progress), fixed_(fixed), rows_(instance) {}

 private:
  bool searches() const { return options_.method == "auto" || options_.method == "exact"; }
  Tokens longest() const { return instance_.tokens->to; }

  // Where the longest length has no plan, the range has none: sizes grow with the length.
  std::optional<Refutation> refute() override {
    const OrderTable table(instance_);
    const OperatorBound simple = operator_bound(table);
    program_ = table.program_order();
    const std::int64_t nodes = std::max(1, table.operators() + table.tensors());
    cuts_ = static_cast<int>(std::clamp<std::int64_t>(kEndCutNodes / nodes, 1, kMostEndCuts));
    simple_ = static_cast<double>(simple.bytes);
    if (!instance_.capacity || simple.bytes <= *instance_.capacity) return std::nullopt;
    return refuted_by(simple, simple.bytes);
  }

  std::vector<NamedBound> bounds() override { return {{"operator", simple_}}; }

  void complete(Outcome& outcome) const override {
    if (certificate_) outcome.certificate.emplace(*certificate_);
  }

  StoppedBy search() override {
    begin();
    solve_at(longest(), kFirstNodes);
    if (refuted_) return StoppedBy::proof;
    if (!budget_.exhausted()) solve_at(instance_.tokens->from, kFirstNodes);
    for (std::int64_t nodes = kFirstNodes; nodes <= kMostNodes; nodes *= 10) {
      for (int solves = 0; solves < kMostSolves && !budget_.exhausted(); ++solves) {
        if (!improve(nodes)) break;
      }
      if (refuted_) return StoppedBy::proof;
      if (!searches() || budget_.exhausted()) break;
    }
    if (searches() && !budget_.exhausted() && solved_[longest()] < kMostOfLongest) {
      solve_at(longest(), kMostOfLongest);
      if (refuted_) return StoppedBy::proof;
    }
    offer();
    if (incumbent_.proven()) return StoppedBy::proof;
    return StoppedBy::heuristic_end;
  }

  // What is known before any solve. A baseline is held to its own orders.
  void begin() {
    if (options_.start) {
      const OrderPlan& start = std::get<OrderPlan>(*options_.start);
      if (incumbent_.plan()) {
        for (const OrderRow& row : start.rows) {
          rows_.add({row.order.begin(), row.order.end()}, "start");
        }
      }
    }
    if (searches()) rows_.add(program_, "program");
  }

  void fall_back() override {
    if (rows_.empty()) rows_.add(program_, "program");
    offer();
  }

  // The graph of one length. The best order that is known there is where its solve begins.
  void solve_at(Tokens length, std::int64_t nodes) {
    solved_[length] = nodes;
    const OrderInstance graph = at_length(instance_, length);
    SolveOptions options = options_;
    options.start.reset();
    if (searches() && !rows_.empty()) {
      OrderPlan start = compose_order(graph, OrderTable(graph), rows_.order_at(length));
      start.instance_hash = instance_hash(graph);
      if (!graph.capacity || start.peak_bytes <= *graph.capacity) options.start = std::move(start);
    }
    Budget part = budget_.part(std::numeric_limits<double>::infinity(), nodes);
    Outcome outcome = fixed_(graph, options, part, {});
    if (outcome.status == Status::optimal) solved_[length] = kMostOfLongest;  // none is better
    if (outcome.plan) {
      const auto& plan = std::get<OrderPlan>(*outcome.plan);
      const std::string by =
          outcome.found_by == "start" ? rows_.found_by(length) : outcome.found_by;
      rows_.add({plan.order.begin(), plan.order.end()}, by);
    } else if (outcome.status == Status::error) {
      incumbent_.remark(outcome.detail);
    }
    if (length != longest()) return;
    for (const NamedBound& bound : outcome.bounds) incumbent_.raise_bound(bound);
    if (outcome.certificate) {
      const auto& found = std::get<OrderCertificate>(outcome.certificate->any());
      if (!certificate_ || certificate_->bound_bytes < found.bound_bytes) certificate_ = found;
    }
    if (outcome.status != Status::infeasible) return;
    refuted_ = {.detail = outcome.detail,
                .remedy = outcome.remedy,
                .proof = outcome.infeasibility.value_or(InfeasibilityProof())};
  }

  // Whether there was a length worth a solve of so many nodes: an end of a row, of the worst first,
  // where the order may need more than it must.
  bool improve(std::int64_t nodes) {
    if (rows_.empty()) return false;
    std::vector<OrderRow> rows = rows_.make({.cuts = cuts_, .most = kMostRows});
    std::ranges::stable_sort(rows, std::greater(), worst_gap);
    for (const OrderRow& row : rows) {
      for (const Tokens end : {row.to, row.from}) {
        if (solved_[end] >= nodes || rows_.gap_at(end, cuts_) <= options_.gap) continue;
        solve_at(end, nodes);
        return true;
      }
    }
    return false;
  }

  void offer() {
    if (rows_.empty()) return;
    if (instance_.capacity && rows_.peak_at(longest()) > *instance_.capacity) return;
    const StopReason reason = budget_.stop_reason();
    const bool hurry = reason == StopReason::time_limit || reason == StopReason::interrupted;
    std::vector<OrderRow> rows = rows_.make({.cuts = hurry ? 0 : cuts_, .most = kMostRows});
    const std::vector<std::int64_t>& last = rows.back().order;
    OrderPlan plan =
        compose_order(instance_, OrderTable(instance_), std::vector<int>(last.begin(), last.end()));
    plan.rows = std::move(rows);
    incumbent_.offer(std::move(plan), searches() ? 'L' : 'H', rows_.found_by(longest()));
  }

  const FixedSolve& fixed_;
  LengthRows rows_;
  std::vector<int> program_;
  int cuts_ = 1;
  double simple_ = 0;
  std::map<Tokens, std::int64_t> solved_;  // nodes of the last solve of a length, or all if proven
  std::optional<OrderCertificate> certificate_;  // of the longest length, the best of all solves
};

}  // namespace

Outcome solve_lengths(const OrderInstance& instance, const SolveOptions& options, Budget& budget,
                      const Progress& progress, const FixedSolve& fixed) {
  return LengthSolve(instance, options, budget, progress, fixed).run();
}

}  // namespace stowage
