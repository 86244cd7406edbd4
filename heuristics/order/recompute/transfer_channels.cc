#include "heuristics/order/recompute/transfer_channels.h"

#include <algorithm>

#include "heuristics/order/params.h"
#include "instances/numeric/numbers.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/memory/transfer_times.h"

namespace stowage {
namespace {

// Two sums of the same times in different orders differ by rounding.
using order_fixed::kRounding;

}  // namespace

// An offload interval with the steps of its transfers.
struct TransferChannels::Move {
  OffloadInterval away;
  // step of the use before which the tensor must be back; the number of steps: the end
  std::int64_t before = 0;
  std::int64_t out = 0;
  std::int64_t freed = 0;
  std::int64_t in = 0;
  Ms out_end = 0;
  bool copied = false;  // the host still has the copy of an earlier transfer

  std::int64_t last_in(std::int64_t steps) const { return std::min(before, steps - 1); }
};

TransferChannels::TransferChannels(const OrderInstance& instance, const OrderTable& table)
    : table_(table), updates_(at(table.operators())), uses_(at(table.tensors())) {
  for (int op = 0; op < table.operators(); ++op) {
    const std::vector<std::int64_t>& list = instance.operators[at(op)].updates;
    for (const int t : table.touched(op)) {
      updates_[at(op)].push_back(std::ranges::find(list, t) != list.end() ? 1 : 0);
    }
  }
}

void TransferChannels::look_at(std::span<const int> steps) {
  order_.assign(steps.begin(), steps.end());
  for (std::vector<Use>& uses : uses_) uses.clear();
  begins_.assign(1, 0);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const int op = steps[k];
    const auto step = static_cast<std::int64_t>(k);
    for (const int t : table_.written(op)) uses_[at(t)].push_back({step, true, true});
    const auto touched = table_.touched(op);
    for (std::size_t i = 0; i < touched.size(); ++i) {
      uses_[at(touched[i])].push_back({step, false, updates_[at(op)][i] != 0});
    }
    begins_.push_back(begins_.back() + table_.ms(op));
  }
}

std::int64_t TransferChannels::back_before(const OffloadInterval& away) const {
  const std::vector<Use>& uses = uses_[at(away.tensor)];
  const auto next = std::ranges::upper_bound(uses, away.behind, {}, &Use::step);
  if (next == uses.end()) return table_.stays(away.tensor) ? steps() : kNone;
  return next->writes ? kNone : next->step;
}

std::int64_t TransferChannels::last_use_before(int tensor, std::int64_t step) const {
  const std::vector<Use>& uses = uses_[at(tensor)];
  const auto next = std::ranges::lower_bound(uses, step, {}, &Use::step);
  if (next != uses.end() && next->step == step) return kNone;
  const bool first = next == uses.begin();
  if (first && table_.producer(tensor) != OrderTable::kNobody) return kNone;
  const OffloadInterval away{tensor, first ? -1 : std::prev(next)->step};
  const std::int64_t before = back_before(away);
  if (before < 0 || step == 0 || step >= std::min(before, steps() - 1)) return kNone;
  return away.behind;
}

// The tensor leaves at step 1 or later, and is away for at least one step before it is back.
bool TransferChannels::possible(const OffloadInterval& away) const {
  const std::int64_t before = back_before(away);
  return before >= 0 && std::max<std::int64_t>(1, away.behind + 1) < std::min(before, steps() - 1);
}

// Marks the intervals whose tensor the host holds already. Sets the first step at which each other
// tensor can leave: after its last change, and not before the intervals listed before it.
void TransferChannels::find_copies(std::vector<Move>& moves) const {
  std::int64_t last = 0;
  for (std::size_t k = 0; k < moves.size(); ++k) {
    Move& move = moves[k];
    for (std::size_t j = 0; j < k && !move.copied; ++j) move.copied = same_copy(moves[j], move);
    for (const Use& use : uses_[at(move.away.tensor)]) {
      if (use.step > move.away.behind) break;
      if (use.changes) move.out = use.step + 1;
    }
    if (!move.copied) last = move.out = std::max(last, move.out);
  }
}

// Schedules each outbound transfer as soon as the channel is free, in the order of the uses.
void TransferChannels::lay_out(std::vector<Move>& moves, std::span<const Ms> begins) const {
  Ms channel = 0;
  for (Move& move : moves) {
    const std::int64_t behind = move.away.behind + 1;
    if (!move.copied) {
      channel =
          std::max(channel, begins[at(move.out)]) +
          static_cast<double>(table_.size(move.away.tensor)) / table_.host()->out_bytes_per_ms;
      move.out_end = channel;
    }
    const auto free = std::lower_bound(begins.begin() + behind, begins.end(), move.out_end);
    move.freed = std::clamp<std::int64_t>(free - begins.begin(), std::max<std::int64_t>(1, behind),
                                          move.last_in(steps()) - 1);
  }
}

// Schedules inbound transfers from the last use back: each ends before its use and before the next
// transfer begins.
void TransferChannels::lay_in(std::vector<Move>& moves, std::span<const Ms> begins) const {
  std::vector<Move*> by_use;
  for (Move& move : moves) by_use.push_back(&move);
  std::ranges::stable_sort(by_use,
                           [](const Move* a, const Move* b) { return a->before > b->before; });
  Ms channel = begins.back();
  for (Move* move : by_use) {
    channel = std::min(channel, begins[at(move->before)]) -
              static_cast<double>(table_.size(move->away.tensor)) / table_.host()->in_bytes_per_ms;
    const Ms begin = channel - kRounding * begins.back();
    const auto after = std::upper_bound(begins.begin(), begins.end(), begin);
    move->in = std::clamp<std::int64_t>(after - begins.begin() - 1, move->freed + 1,
                                        move->last_in(steps()));
  }
}

// Moves outbound transfers earlier or inbound transfers later at the steps that need more bytes
// than the capacity.
void TransferChannels::squeeze(std::vector<Move>& moves, std::vector<Bytes>& needs, Bytes capacity,
                               bool stalls, std::span<const Ms> begins) const {
  for (std::int64_t k = 1; k < steps(); ++k) {
    while (needs[at(k)] > capacity) {
      Move* best = nullptr;
      double least = 0;
      bool leaves = false;
      for (Move& move : moves) {
        const bool early = move.away.behind < k && k < move.freed;
        const bool late = move.in <= k && k < move.last_in(steps());
        if (!early && !late) continue;
        const auto size = static_cast<double>(table_.size(move.away.tensor));
        const Ms wait = early ? move.out_end - begins[at(k)]
                              : begins[at(k + 1)] + size / table_.host()->in_bytes_per_ms -
                                    begins[at(move.before)];
        const double cost = std::max(0.0, wait) / size;
        if ((best != nullptr && cost >= least) || (cost > 0 && !stalls)) continue;
        best = &move;
        least = cost;
        leaves = early;
      }
      if (best == nullptr) break;
      const Bytes size = table_.size(best->away.tensor);
      if (leaves) {
        for (std::int64_t step = k; step < best->freed; ++step) needs[at(step)] -= size;
        best->freed = k;
      } else {
        for (std::int64_t step = best->in; step <= k; ++step) needs[at(step)] -= size;
        best->in = k + 1;
      }
    }
  }
}

// Returns true if no step changes the tensor between the two intervals.
bool TransferChannels::same_copy(const Move& before, const Move& next) const {
  if (before.away.tensor != next.away.tensor) return false;
  return std::ranges::none_of(uses_[at(next.away.tensor)], [&](const Use& use) {
    return use.changes && use.step > before.away.behind && use.step <= next.away.behind;
  });
}

bool TransferChannels::held(std::span<const Move> moves) const {
  if (!table_.host()->capacity) return true;
  std::vector<Bytes> change(order_.size() + 1, 0);
  for (const Move& move : moves) {
    // The host holds an earlier transfer's copy up to the last use before this interval.
    const std::int64_t from = move.copied ? move.away.behind + 1 : move.out;
    change[at(from)] += table_.size(move.away.tensor);
    change[at(move.last_in(steps())) + 1] -= table_.size(move.away.tensor);
    const Move* copy = nullptr;  // the last earlier interval with the same copy
    for (const Move& other : moves) {
      const bool before = other.away.behind < move.away.behind && same_copy(other, move);
      if (before && (copy == nullptr || copy->away.behind < other.away.behind)) copy = &other;
    }
    if (copy == nullptr) continue;
    change[at(copy->last_in(steps())) + 1] += table_.size(move.away.tensor);
    change[at(from)] -= table_.size(move.away.tensor);
  }
  Bytes now = 0;
  return std::ranges::all_of(
      change, [&](Bytes bytes) { return (now += bytes) <= *table_.host()->capacity; });
}

TransferChannels::Layout TransferChannels::lay_by(
    std::span<const OffloadInterval> offload_intervals, Bytes capacity, bool stalls,
    std::span<const Ms> begins) const {
  std::vector<Move> moves;
  for (const OffloadInterval& away : offload_intervals)
    moves.push_back({.away = away, .before = back_before(away)});
  std::ranges::stable_sort(moves, [](const Move& a, const Move& b) {
    return a.away.behind != b.away.behind ? a.away.behind < b.away.behind : a.before < b.before;
  });
  find_copies(moves);
  // Sorts the intervals by their outbound transfers. Intervals of one step are sorted by the use to
  // come.
  std::ranges::stable_sort(moves, [](const Move& a, const Move& b) {
    return a.out != b.out ? a.out < b.out : a.before < b.before;
  });
  Layout layout;
  layout.held = held(moves);
  lay_out(moves, begins);
  lay_in(moves, begins);
  const auto list = [&] {
    std::vector<const Move*> by_use;
    for (const Move& move : moves) by_use.push_back(&move);
    std::ranges::stable_sort(by_use,
                             [](const Move* a, const Move* b) { return a->before < b->before; });
    layout.transfers.clear();
    for (const Move* move : by_use) {
      OrderTransfer transfer{.tensor = move->away.tensor, .freed = move->freed, .in = move->in};
      if (!move->copied) transfer.out = move->out;
      layout.transfers.push_back(transfer);
    }
  };
  list();
  layout.needs = needs_of(table_, order_, layout.transfers);
  squeeze(moves, layout.needs, capacity, stalls, begins);
  list();
  for (const Bytes need : layout.needs) {
    if (need > capacity) layout.excess += static_cast<double>(need - capacity);
  }
  const TransferTimes times = transfer_times(table_, order_, layout.transfers);
  layout.time_ms = times.time_ms;
  layout.stall_ms = times.stall_ms;
  return layout;
}

TransferChannels::Layout TransferChannels::lay(std::span<const OffloadInterval> offload_intervals,
                                               Bytes capacity, bool stalls) const {
  Layout best = lay_by(offload_intervals, capacity, stalls, begins_);
  if (best.stall_ms <= 0 || !stalls) return best;
  // Schedules the transfers a second time, with the begins of the runs that include their waiting.
  const TransferTimes times = transfer_times(table_, order_, best.transfers);
  std::vector<Ms> begins;
  for (const TransferTimes::Span& run : times.runs) begins.push_back(run.begin);
  begins.push_back(times.time_ms);
  Layout other = lay_by(offload_intervals, capacity, stalls, begins);
  if (other.excess < best.excess || (other.excess == best.excess && other.time_ms < best.time_ms)) {
    return other;
  }
  return best;
}

}  // namespace stowage
