#include "solvers/memory/arrangement.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "instances/check.h"
#include "instances/documents.h"
#include "instances/layout/plan_builder.h"
#include "instances/order/plan_builder.h"
#include "instances/order/planning_table.h"
#include "instances/verify.h"
#include "solvers/memory/counted_smoothing.h"
#include "solvers/memory/order_layout.h"
#include "solvers/memory/segment_layout.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

// The initial effort per order: nodes of the layout search, and levelling moves per operator.
// Together they take about one second. A node takes less time if there are fewer tensors.
constexpr std::int64_t kFirstNodes = 50'000;
constexpr std::int64_t kMaxFirstNodes = 400'000;
constexpr std::int64_t kNodesTimesTensors = 40'000'000;
// The first order gets one in this many of the remaining nodes.
constexpr std::int64_t kShares = 8;
constexpr std::int64_t kMovesOfAnOperator = 2500;
constexpr int kOrdersOfARound = 4;
// After a round, the best order gets this many times the nodes of each order. So does the first
// order if first_is_near().
constexpr int kOfTheBest = 16;
constexpr int kRounds = 6;  // each with twice the effort of the previous round
// Every second order is also laid out hill by hill, with the nodes of two orders.
constexpr int kOrdersOfHills = 2;

bool may_move(const OrderInstance& graph, const OrderPlan& plan) {
  return plan.rows.empty() && plan.transfers.empty() && plan.order.size() == graph.operators.size();
}

// An order with its buffers. They have no capacity, so that a layout above the capacity shows how
// much memory is missing.
struct Candidate {
  OrderPlan order;
  LayoutInstance buffers;
  std::optional<LayoutPlan> layout;  // the best known layout
  bool settled = false;              // no layout of this order has a smaller peak
};

class Arranging {
 public:
  Arranging(const OrderInstance& graph, const OrderPlan& plan, const ArrangeOptions& options,
            Budget& budget, const ArrangeProgress& progress)
      : graph_(graph),
        table_(graph),
        options_(options),
        budget_(budget),
        progress_(progress),
        first_(candidate(plan)) {
    tried_.insert(plan.order);
  }

  Arrangement run() && {
    if (const std::vector<InputError> errors = check(first_.buffers); !errors.empty()) {
      detail_ = "the tensors cannot be laid out: " + errors.front().message;
      return finish(StoppedBy::heuristic_end);
    }
    const bool moves = may_move(graph_, first_.order);
    lay_out(first_, moves ? first_nodes() : budget_.nodes_left());
    if (moves) run_rounds();
    if (reached_bound()) return finish(StoppedBy::proof);
    if (reached()) return finish(StoppedBy::gap);
    return finish(stowage::stopped_by(budget_.stop_reason(), StoppedBy::heuristic_end));
  }

 private:
  Candidate candidate(OrderPlan order) const {
    Candidate made{.order = std::move(order), .buffers = {}, .layout = {}};
    made.buffers = order_layout(graph_, made.order);
    made.buffers.capacity.reset();
    return made;
  }

  const Candidate& best() const {
    if (!better_) return first_;
    return *better_;
  }

  std::int64_t first_nodes() const {
    const std::int64_t tensors = std::max<std::int64_t>(1, std::ssize(first_.buffers.buffers));
    const std::int64_t most =
        std::clamp(budget_.nodes_left() / kShares, kFirstNodes, kMaxFirstNodes);
    return std::clamp(kNodesTimesTensors / tensors, kFirstNodes, most);
  }

  void run_rounds() {
    std::int64_t nodes = first_nodes();
    std::int64_t steps = kMovesOfAnOperator * std::ssize(graph_.operators);
    bool any = true;  // the last round found new orders
    // Hills move operators and keep the buffers. Tensors in place make other buffers in each order.
    const bool hills = !table_.reuses();
    for (int round = 0; round < kRounds && any && !ended(); ++round, nodes *= 2, steps *= 2) {
      any = false;
      for (int k = 0; k < kOrdersOfARound && !ended(); ++k) {
        std::optional<OrderPlan> order = levelled(steps);
        if (!order) continue;
        any = true;
        Candidate next = candidate(*std::move(order));
        lay_out(next, nodes);
        if (hills && !ended() && k % kOrdersOfHills == 0)
          lay_out_hills(next, kOrdersOfHills * nodes);
      }
      if (!ended() && better_) lay_out(*better_, kOfTheBest * nodes);
      if (!ended() && first_is_near()) lay_out(first_, kOfTheBest * nodes);
    }
    // If no new orders are found, the remaining nodes go to the layouts of the known ones.
    if (!ended()) lay_out(first_, any ? kOfTheBest * nodes : budget_.nodes_left());
    if (!ended() && better_ && !any) lay_out(*better_, budget_.nodes_left());
  }

  // Returns true if the first order is the best, or if its excess over the peak is at most twice
  // that of the best.
  bool first_is_near() const {
    const auto above = [&](const Candidate& its) {
      return its.layout ? its.layout->peak_bytes - first_.order.peak_bytes : kMaxExact;
    };
    return above(first_) <= 2 * above(best());
  }

  // Returns true if the best layout suffices: within the capacity if the objective is time,
  // otherwise no larger than the peak of the first order.
  bool reached() const {
    const auto& layout = best().layout;
    if (!layout) return false;
    if (capacity_is_enough()) return layout->peak_bytes <= *graph_.capacity;
    return round_up(layout->peak_bytes, graph_.alignment) <= first_.order.peak_bytes;
  }
  bool capacity_is_enough() const {
    return graph_.objective == OrderObjective::time && graph_.capacity;
  }
  bool reached_bound() const {
    const auto& layout = best().layout;
    return layout && graph_.objective == OrderObjective::peak &&
           round_up(layout->peak_bytes, graph_.alignment) <= first_.order.bound_bytes;
  }
  bool ended() const { return reached() || budget_.exhausted(); }

  // Returns a levelled order. Returns nullopt if the order is known or fails verification.
  std::optional<OrderPlan> levelled(std::int64_t most) {
    const std::vector<int> order = level_within(
        table_, {first_.order.order.begin(), first_.order.order.end()},
        {.moves = most, .seed = options_.seed + static_cast<std::uint64_t>(++levellings_)},
        budget_);
    OrderPlan plan = compose_order(graph_, table_, order);
    if (!tried_.insert(plan.order).second) return std::nullopt;
    return verified(std::move(plan));
  }

  // Copies hash, time and bound from the given plan. Returns nullopt if the result fails
  // verification.
  std::optional<OrderPlan> verified(OrderPlan plan) {
    plan.instance_hash = first_.order.instance_hash;
    // The runs are the same; a sum in another order may round differently.
    plan.time_ms = first_.order.time_ms;
    plan.bound_bytes = first_.order.bound_bytes;
    plan.bound_ms = first_.order.bound_ms;
    plan.bound_by = first_.order.bound_by;
    if (const std::vector<Violation> violations = verify(graph_, plan); !violations.empty()) {
      detail_ = "an order fails its verification: " + to_string(violations.front());
      return std::nullopt;
    }
    return plan;
  }

  void lay_out(Candidate& its, std::int64_t nodes) {
    if (its.settled) return;
    // The heuristics of a layout need no nodes, but they need a budget that is not exhausted.
    Budget part = budget_.part(budget_.seconds_left(),
                               std::max<std::int64_t>(1, std::min(nodes, budget_.nodes_left())));
    SolveOptions options{.seed = options_.seed + static_cast<std::uint64_t>(layouts_++)};
    if (its.layout) options.start = *its.layout;
    Outcome found = solve(its.buffers, options, part);
    if (!found.plan) return;
    if (!its.layout) ++orders_;
    its.settled = found.status == Status::optimal;
    its.layout = std::get<LayoutPlan>(*std::move(found.plan));
    keep_if_better(its);
  }

  // Lays out the candidate's order hill by hill. The result needs at most the peak of the order, or
  // at most the capacity if that suffices.
  void lay_out_hills(const Candidate& its, std::int64_t nodes) {
    Budget part = budget_.part(budget_.seconds_left(), std::min(nodes, budget_.nodes_left()));
    const auto number = static_cast<std::uint64_t>(++hillings_);
    std::optional<SegmentLayout> found =
        lay_out_stretches(graph_, table_, its.order,
                          {.limit = capacity_is_enough() ? *graph_.capacity : its.order.peak_bytes,
                           .with_valleys = number % 2 == 1,
                           .seed = options_.seed + (number << 32)},
                          part);
    if (!found) return;
    std::optional<OrderPlan> plan = verified(compose_order(graph_, table_, found->order));
    if (!plan) return;
    if (tried_.insert(plan->order).second) ++orders_;
    Candidate next = candidate(*std::move(plan));
    next.layout = compose_layout(next.buffers, std::move(found->offsets));
    next.layout->instance_hash = instance_hash(next.buffers);
    lay_out(next, 1);  // verifies the layout and computes its bound
  }

  void keep_if_better(Candidate& its) {
    if (least_ && its.layout->peak_bytes >= *least_) return;
    least_ = its.layout->peak_bytes;
    if (&its == &first_) {
      better_.reset();
    } else if (!better_ || &its != &*better_) {
      better_ = its;
    }
    if (progress_) progress_(*least_, orders_);
  }

  Arrangement finish(StoppedBy stopped_by) {
    Arrangement done{.orders = orders_, .stopped_by = stopped_by};
    Candidate& its = better_ ? *better_ : first_;
    done.order = std::move(its.order);
    done.buffers = std::move(its.buffers);
    done.buffers.capacity = graph_.capacity;
    done.detail = std::move(detail_);
    if (!its.layout) return done;
    done.needed_bytes = its.layout->peak_bytes;
    if (graph_.capacity && *done.needed_bytes > *graph_.capacity) return done;
    its.layout->instance_hash = instance_hash(done.buffers);
    const std::vector<Violation> violations = verify(done.buffers, *its.layout);
    if (violations.empty()) {
      done.layout = std::move(its.layout);
    } else {
      done.detail = "the layout fails its verification: " + to_string(violations.front());
    }
    return done;
  }

  const OrderInstance& graph_;
  const OrderTable table_;
  const ArrangeOptions& options_;
  Budget& budget_;
  const ArrangeProgress& progress_;
  Candidate first_;                  // the given plan
  std::optional<Candidate> better_;  // another order with a smaller layout
  std::optional<Bytes> least_;       // bytes needed by the best layout
  std::set<std::vector<std::int64_t>> tried_;
  std::int64_t layouts_ = 0;
  std::int64_t levellings_ = 0;
  std::int64_t hillings_ = 0;
  std::int64_t orders_ = 0;
  std::string detail_;
};

}  // namespace

Arrangement arrange(const OrderInstance& graph, const OrderPlan& plan,
                    const ArrangeOptions& options, Budget& budget,
                    const ArrangeProgress& progress) {
  return Arranging(graph, plan, options, budget, progress).run();
}

}  // namespace stowage
