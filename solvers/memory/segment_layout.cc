#include "solvers/memory/segment_layout.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "instances/layout/instance.h"
#include "instances/layout/load.h"
#include "instances/numeric/numbers.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "solvers/memory/counted_smoothing.h"
#include "solvers/memory/order_layout.h"
#include "solvers/memory/segments.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

constexpr std::int64_t kNodesOfATry = 3000;  // usually enough for hills that can be laid out
constexpr int kTries = 5;                    // tries until the nodes are doubled
constexpr int kMaxDoublings = 4;
constexpr int kMaxIdle = 20;  // consecutive tries without a new order, after which the search ends
constexpr std::int64_t kMovesOfATry = 1000;  // per operator
constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();
constexpr Bytes kNowhere = -1;

// Returns the hills in the order of layout: the highest first, then always the higher neighbour of
// those listed.
std::vector<std::size_t> highest_first(const std::vector<Segment>& hills) {
  const auto top = std::ranges::max_element(hills, {}, &Segment::highest);
  auto first = static_cast<std::size_t>(top - hills.begin());
  std::size_t last = first;
  std::vector<std::size_t> sequence = {first};
  while (sequence.size() < hills.size()) {
    const bool left = first > 0 && (last + 1 == hills.size() ||
                                    hills[first - 1].highest > hills[last + 1].highest);
    sequence.push_back(left ? --first : ++last);
  }
  return sequence;
}

class Stretching {
 public:
  Stretching(const OrderInstance& graph, const OrderTable& table, const OrderPlan& plan,
             const SegmentOptions& options, Budget& budget)
      : graph_(graph),
        table_(table),
        options_(options),
        budget_(budget),
        order_(plan.order.begin(), plan.order.end()),
        hills_(stretches(needs_of(table, order_), options.limit)),
        buffers_(buffers_of(order_)),
        seed_(options.seed) {
    for (const Buffer& buffer : buffers_) {
      const int number = static_cast<int>(number_.size());
      number_.emplace(buffer.id, number);
    }
    placed_.resize(buffers_.size());
  }

  std::optional<SegmentLayout> run() && {
    if (hills_.size() < 2) return std::nullopt;
    sequence_ = highest_first(hills_);
    failed_.resize(hills_.size());
    refused_.resize(hills_.size());
    for (done_ = 0; done_ < sequence_.size();) {
      if (budget_.exhausted() || idle_ == kMaxIdle) return std::nullopt;
      if (lay_out()) {
        ++done_;
      } else if (++failed_[done_] % kTries == 0) {
        if (done_ == 0 && failed_[0] >= 2 * kTries) return std::nullopt;
        if (done_ > 0) take_back();
      }
    }
    SegmentLayout found{.order = std::move(order_), .offsets = {}};
    for (const Buffer& buffer : buffers_) found.offsets.push_back(placed(buffer).offset);
    return found;
  }

 private:
  struct Placed {
    Bytes offset = kNowhere;
    std::size_t turn = 0;  // turn in which it was placed
  };

  std::vector<Buffer> buffers_of(const std::vector<int>& order) const {
    return order_layout(graph_, compose_order(graph_, table_, order)).buffers;
  }
  // A buffer has the same number in every order.
  Placed& placed(const Buffer& buffer) { return placed_[at(number_.at(buffer.id))]; }

  // Returns true if this hill is laid out.
  bool is_done(std::size_t hill) const {
    const auto end = sequence_.begin() + static_cast<std::ptrdiff_t>(done_);
    return std::find(sequence_.begin(), end, hill) != end;
  }

  // Returns the steps that a turn lays out: from the neighbour's hill, or from the hill's own first
  // step.
  Lifetime window_of(std::size_t hill) const {
    Lifetime window{.lower = hills_[hill].first, .upper = hills_[hill].last};
    if (hill == 0) {
      window.lower = 0;
    } else if (options_.with_valleys || is_done(hill - 1)) {
      window.lower = hills_[hill - 1].last;
    }
    if (hill + 1 == hills_.size()) {
      window.upper = std::ssize(order_);
    } else if (options_.with_valleys || is_done(hill + 1)) {
      window.upper = hills_[hill + 1].first;
    }
    return window;
  }

  static std::vector<int> within(const Lifetime& window, const std::vector<int>& order) {
    return {order.begin() + window.lower, order.begin() + window.upper};
  }

  // Lays out the next hill of the sequence. Every try but the first uses another order. Returns
  // false if the order is known or has no layout.
  bool lay_out() {
    const std::size_t hill = sequence_[done_];
    const Lifetime window = window_of(hill);
    const std::int64_t nodes = kNodesOfATry << std::min(kMaxDoublings, failed_[done_] / kTries);
    std::vector<int> order = order_;
    if (failed_[done_] > 0) {
      order = level_within(table_, std::move(order),
                           {.moves = kMovesOfATry * (window.upper - window.lower),
                            .seed = ++seed_,
                            .from = static_cast<int>(window.lower),
                            .to = static_cast<int>(window.upper)},
                           budget_);
    }
    const std::vector<int> own = within(window, order);
    if (const auto known = refused_[done_].find(own);
        known != refused_[done_].end() && known->second >= nodes) {
      ++idle_;
      return false;
    }
    idle_ = 0;
    std::vector<Buffer> buffers = buffers_of(order);
    LayoutInstance part{.capacity = options_.limit, .alignment = graph_.alignment};
    for (Buffer buffer : buffers) {
      buffer.lower = std::max(buffer.lower, window.lower);
      buffer.upper = std::min(buffer.upper, window.upper);
      if (buffer.lower >= buffer.upper) continue;
      if (const Bytes offset = placed(buffer).offset; offset != kNowhere) buffer.offset = offset;
      part.buffers.push_back(std::move(buffer));
    }
    Budget its = budget_.part(budget_.seconds_left(), nodes);
    // Any layout within the limit suffices.
    const double load = static_cast<double>(peak_load(part).load);
    const double enough = std::max(0.0, 1 - load / static_cast<double>(options_.limit));
    const Outcome found = solve(part, {.gap = enough, .seed = ++seed_}, its);
    if (!found.plan) {
      const bool never = found.status == Status::infeasible;
      refused_[done_][own] = never ? kAlways : nodes;
      return false;
    }
    const auto& offsets = std::get<LayoutPlan>(*found.plan).offsets;
    order_ = std::move(order);
    buffers_ = std::move(buffers);
    std::vector<bool> stays(buffers_.size());
    for (const Buffer& buffer : buffers_) stays[at(number_.at(buffer.id))] = settled(buffer);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      Placed& its_place = placed(part.buffers[i]);
      if (its_place.offset != kNowhere || !stays[at(number_.at(part.buffers[i].id))]) continue;
      its_place = {.offset = offsets[i], .turn = done_};
    }
    return true;
  }

  // Returns true if no later turn lays out the buffer again: it is live on a hill that is done, or
  // between two of them, or before the first hill or after the last one.
  bool settled(const Buffer& buffer) const {
    const auto [first, last] =
        std::minmax_element(sequence_.begin(), sequence_.begin() + static_cast<int>(done_) + 1);
    const std::int64_t from = *first == 0 ? 0 : hills_[*first].first;
    const std::int64_t to =
        *last + 1 == hills_.size() ? std::ssize(order_) : std::int64_t{hills_[*last].last};
    return buffer.lower < to && buffer.upper > from;
  }

  // Undoes the turn that laid out the neighbour, and all later turns.
  void take_back() {
    const std::size_t hill = sequence_[done_];
    std::size_t turn = 0;
    while (sequence_[turn] + 1 != hill && sequence_[turn] != hill + 1) ++turn;
    for (Placed& its : placed_) {
      if (its.offset != kNowhere && its.turn >= turn) its = {};
    }
    // The later turns will have other pinned buffers.
    for (std::size_t later = turn + 1; later < refused_.size(); ++later) refused_[later].clear();
    done_ = turn;
    // Do not repeat this layout.
    refused_[turn][within(window_of(sequence_[turn]), order_)] = kAlways;
    failed_[turn] = std::max(failed_[turn], 1);
  }

  const OrderInstance& graph_;
  const OrderTable& table_;
  const SegmentOptions& options_;
  Budget& budget_;
  std::vector<int> order_;
  std::vector<Segment> hills_;
  std::vector<Buffer> buffers_;  // of the present order
  std::map<std::string, int> number_;
  std::vector<Placed> placed_;         // by number
  std::vector<std::size_t> sequence_;  // hills in the order of layout
  std::vector<int> failed_;            // number of failed tries of each turn
  // The operator orders of each turn's steps that had no layout with the present pins, and the
  // nodes spent on each.
  std::vector<std::map<std::vector<int>, std::int64_t>> refused_;
  int idle_ = 0;          // consecutive tries whose order was known
  std::size_t done_ = 0;  // number of turns done
  std::uint64_t seed_;
};

}  // namespace

std::optional<SegmentLayout> lay_out_stretches(const OrderInstance& graph, const OrderTable& table,
                                               const OrderPlan& plan, const SegmentOptions& options,
                                               Budget& budget) {
  return Stretching(graph, table, plan, options, budget).run();
}

}  // namespace stowage
