#include "heuristics/order/profile_smoothing.h"

#include <algorithm>
#include <bit>

#include "heuristics/order/params.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/order/memory/running_memory.h"

namespace stowage {
namespace {

using order_fixed::kHottest;
using order_fixed::kPeakCost;

class Annealing {
 public:
  Annealing(const OrderTable& table, std::vector<int> order, const ProfileSmoothing& effort)
      : table_(table),
        order_(std::move(order)),
        from_(effort.from),
        to_(static_cast<int>(std::min<std::int64_t>(effort.to, std::ssize(order_)))),
        place_(order_.size()),
        last_(at(table.tensors()), OrderTable::kNobody),
        growth_(order_.size()),
        live_(order_.size()),
        cost_(order_.size()),
        new_live_(order_.size()),
        new_cost_(order_.size()),
        random_(effort.seed) {
    for (std::size_t k = 0; k < order_.size(); ++k) place_[at(order_[k])] = static_cast<int>(k);
    for (int op = 0; op < table.operators(); ++op) growth_[at(op)] = table.keeps(op);
    for (int t = 0; t < table.tensors(); ++t) {
      if (table.stays(t)) continue;
      for (const int op : table.touchers(t)) {
        int& last = last_[at(t)];
        if (last == OrderTable::kNobody || place_[at(op)] > place_[at(last)]) last = op;
      }
      if (last_[at(t)] != OrderTable::kNobody) growth_[at(last_[at(t)])] -= table.size(t);
    }
    peak_ = peak_of(table, order_);
    scale_ = static_cast<double>(kPeakCost) / static_cast<double>(std::max<Bytes>(peak_, 1));
    Bytes live = table.at_start();
    for (std::size_t k = 0; k < order_.size(); ++k) {
      live_[k] = live;
      cost_[k] = cost_of(live + table.need(order_[k]));
      live += growth_[at(order_[k])];
    }
  }

  std::vector<int> run(std::int64_t moves, const Budget& budget) && {
    if (to_ - from_ < 2) return std::move(order_);
    for (std::int64_t done = 0; done < moves; ++done) {
      if (done % order_fixed::kClockMoves == 0 && budget.exhausted()) break;
      // The temperature falls linearly to zero, and is zero for the last tenth of the moves.
      const double share = 1 - static_cast<double>(done) / (0.9 * static_cast<double>(moves));
      move(static_cast<std::int64_t>(std::max(0.0, share) * static_cast<double>(kHottest)));
    }
    return std::move(order_);
  }

 private:
  // Returns the fourth power of need / peak, scaled so that a need equal to the peak costs
  // kPeakCost.
  std::int64_t cost_of(Bytes need) const {
    const auto share = static_cast<std::int64_t>(static_cast<double>(need) * scale_);
    const std::int64_t square = share * share / kPeakCost;
    return square * square / kPeakCost;
  }

  // Moves a random operator if the cost rises by at most a random number in [0, heat].
  void move(std::int64_t heat) {
    const int from =
        from_ + static_cast<int>(random_.below(static_cast<std::uint32_t>(to_ - from_)));
    const int op = order_[at(from)];
    int first = from_;
    int last = to_ - 1;
    for (const int other : table_.before(op)) first = std::max(first, place_[at(other)] + 1);
    for (const int other : table_.behind(op)) last = std::min(last, place_[at(other)] - 1);
    if (first == last) return;
    const bool back = first < from && (last == from || random_.below(2) == 0);
    // The distance is drawn log-uniformly: near and far moves are equally frequent on a logarithmic
    // scale.
    const auto most = static_cast<std::uint32_t>(back ? from - first : last - from);
    const std::uint32_t reach =
        std::min(most, std::uint32_t{1}
                           << random_.below(static_cast<std::uint32_t>(std::bit_width(most)) + 1));
    const int by = 1 + static_cast<int>(random_.below(reach));
    const int to = back ? from - by : from + by;
    list_ends(op, to, back);
    exchange_ends(1);
    const std::int64_t allowed = random_.below(static_cast<std::uint32_t>(heat) + 1);
    if (costs_at_most(allowed, from, to)) {
      take(from, to);
    } else {
      exchange_ends(-1);
    }
  }

  // Lists the tensors whose last toucher changes if `op` moves to place `to`.
  void list_ends(int op, int to, bool back) {
    ends_.clear();
    for (const int t : table_.touched(op)) {
      const int last = last_[at(t)];
      if (last == OrderTable::kNobody) continue;
      if (!back) {
        if (last != op && place_[at(last)] <= to) ends_.push_back({t, last, op});
      } else if (last == op) {
        int next = OrderTable::kNobody;
        for (const int other : table_.touchers(t)) {
          if (other == op) continue;
          if (next == OrderTable::kNobody || place_[at(other)] > place_[at(next)]) next = other;
        }
        if (next != OrderTable::kNobody && place_[at(next)] >= to) ends_.push_back({t, op, next});
      }
    }
  }

  void exchange_ends(int sign) {
    for (const End& end : ends_) {
      growth_[at(end.before)] += sign * table_.size(end.tensor);
      growth_[at(end.after)] -= sign * table_.size(end.tensor);
    }
  }

  // Recomputes the steps between the two places with the operator moved. Returns false if a step
  // exceeds the peak or the cost rises by more than `allowed`.
  bool costs_at_most(std::int64_t allowed, int from, int to) {
    const int begin = std::min(from, to);
    const int end = std::max(from, to);
    const int shift = from < to ? 1 : -1;
    Bytes live = live_[at(begin)];
    std::int64_t more = 0;
    for (int k = begin; k <= end; ++k) {
      const int op = k == to ? order_[at(from)] : order_[at(k + shift)];
      const Bytes need = live + table_.need(op);
      if (need > peak_) return false;
      new_live_[at(k)] = live;
      new_cost_[at(k)] = cost_of(need);
      more += new_cost_[at(k)] - cost_[at(k)];
      live += growth_[at(op)];
    }
    return more <= allowed;
  }

  void take(int from, int to) {
    for (const End& end : ends_) last_[at(end.tensor)] = end.after;
    const auto begin = order_.begin();
    if (from < to) {
      std::rotate(begin + from, begin + from + 1, begin + to + 1);
    } else {
      std::rotate(begin + to, begin + from, begin + from + 1);
    }
    for (int k = std::min(from, to); k <= std::max(from, to); ++k) {
      place_[at(order_[at(k)])] = k;
      live_[at(k)] = new_live_[at(k)];
      cost_[at(k)] = new_cost_[at(k)];
    }
  }

  const OrderTable& table_;
  std::vector<int> order_;
  int from_;                // first place of the range in which operators move
  int to_;                  // end of the range, exclusive
  std::vector<int> place_;  // place of each operator
  std::vector<int> last_;   // last operator that touches each tensor; the tensor is free afterwards
  std::vector<Bytes> growth_;  // change of the live bytes by each operator
  std::vector<Bytes> live_;    // live bytes before each step
  std::vector<std::int64_t> cost_;
  Bytes peak_ = 0;
  double scale_ = 1;
  struct End {
    int tensor = 0;
    int before = 0;
    int after = 0;
  };
  std::vector<End> ends_;  // changes of last_ by the current move
  std::vector<Bytes> new_live_;
  std::vector<std::int64_t> new_cost_;
  QuickRandom random_;
};

}  // namespace

std::vector<int> level_order(const OrderTable& table, std::vector<int> order,
                             const ProfileSmoothing& effort, const Budget& budget) {
  return Annealing(table, std::move(order), effort).run(effort.moves, budget);
}

}  // namespace stowage
