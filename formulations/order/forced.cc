#include "formulations/order/forced.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/order/memory/least_live_cut.h"
#include "instances/order/planning_table.h"

namespace stowage {
namespace {

// Operators are tried in rounds. An operator whose need is below `below` by more than a share is
// tried only when the others force nothing more. The last share includes all operators.
constexpr double kShares[] = {0.02, 0.1, 1};

// The transitive closure of the precedences, in rows of bits.
class Closure {
 public:
  explicit Closure(const OrderTable& table)
      : n_(at(table.operators())), words_((n_ + 63) / 64), before_(n_ * words_), behind_(before_) {
    const std::vector<int>& order = table.program_order();
    for (const int op : order) {
      for (const int first : table.before(op)) join(before_, at(op), with(before_, at(first)));
    }
    for (auto op = order.rbegin(); op != order.rend(); ++op) {
      for (const int next : table.behind(*op)) join(behind_, at(*op), with(behind_, at(next)));
    }
  }

  bool has(int first, int second) const { return bit(before_, at(second), at(first)); }

  void add(int first, int second) {
    if (has(first, second)) return;
    // All operators up to `first` come before `second` and all operators after it.
    const Rows up = with(before_, at(first));
    const Rows down = with(behind_, at(second));
    for_each(up, [&](std::size_t op) { join(behind_, op, down); });
    for_each(down, [&](std::size_t op) { join(before_, op, up); });
  }

  // Returns the side of each operator just before `op` runs: in if it must have run, out if it
  // cannot have run.
  std::vector<OrderSide> sides(int op) const {
    std::vector<OrderSide> side(n_, OrderSide::open);
    for_each(row(before_, at(op)), [&](std::size_t other) { side[other] = OrderSide::in; });
    for_each(row(behind_, at(op)), [&](std::size_t other) { side[other] = OrderSide::out; });
    side[at(op)] = OrderSide::out;
    return side;
  }
  // Returns `op` and the open operators that must be on the same side as `op`.
  std::vector<int> drawn(int op, OrderSide to, const std::vector<OrderSide>& side) const {
    std::vector<int> ops = {op};
    for_each(row(to == OrderSide::in ? before_ : behind_, at(op)), [&](std::size_t other) {
      if (side[other] == OrderSide::open) ops.push_back(static_cast<int>(other));
    });
    return ops;
  }

 private:
  using Rows = std::vector<std::uint64_t>;

  bool bit(const Rows& rows, std::size_t i, std::size_t j) const {
    return (rows[i * words_ + j / 64] >> j % 64 & 1U) != 0;
  }
  Rows row(const Rows& rows, std::size_t i) const {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(i * words_);
    return {begin, begin + static_cast<std::ptrdiff_t>(words_)};
  }
  Rows with(const Rows& rows, std::size_t i) const {
    Rows its = row(rows, i);
    its[i / 64] |= std::uint64_t{1} << i % 64;
    return its;
  }
  void join(Rows& rows, std::size_t i, const Rows& more) {
    for (std::size_t w = 0; w < words_; ++w) rows[i * words_ + w] |= more[w];
  }
  template <class Visit>
  void for_each(const Rows& bits, Visit visit) const {
    for (std::size_t i = 0; i < n_; ++i) {
      if ((bits[i / 64] >> i % 64 & 1U) != 0) visit(i);
    }
  }

  std::size_t n_;
  std::size_t words_;
  Rows before_;
  Rows behind_;
};

class Forcing {
 public:
  Forcing(const OrderInstance& instance, Bytes below, const std::vector<ForcedStep>& known,
          std::int64_t cuts, const Budget& budget)
      : instance_(instance),
        below_(below),
        most_cuts_(cuts),
        most_steps_(most_forced_of(instance)),
        budget_(budget),
        found_{.steps = known},
        table_(with_precedences(instance, known)),
        least_(std::in_place, *table_),
        closure_(*table_) {
    need_.assign(at(table_->operators()), kMaxExact);
  }

  ForcedOrder run() && {
    std::vector<int> ops(need_.size());
    std::iota(ops.begin(), ops.end(), 0);
    for (std::size_t share = 0; share < std::size(kShares) && !ended();) {
      const auto slack = static_cast<Bytes>(kShares[share] * static_cast<double>(below_));
      const std::size_t steps = found_.steps.size();
      std::ranges::stable_sort(ops, std::greater(), [&](int op) { return need_[at(op)]; });
      for (const int op : ops) {
        if (need_[at(op)] < below_ - slack || ended()) break;
        look_at(op, slack);
      }
      if (found_.steps.size() > steps) {
        share = 0;
        learn();
      } else {
        ++share;
      }
    }
    found_.complete = !found_.proof && !ended();
    return std::move(found_);
  }

 private:
  bool ended() const {
    return found_.proof || found_.cuts >= most_cuts_ || std::ssize(found_.steps) >= most_steps_ ||
           budget_.exhausted();
  }

  // Rebuilds the table, so that later cuts use the new precedences.
  void learn() {
    least_.reset();
    table_.emplace(with_precedences(instance_, found_.steps));
    least_.emplace(*table_);
  }

  LeastLive::Cut cut(const std::vector<OrderSide>& side) {
    ++found_.cuts;
    return least_->between(side);
  }

  void look_at(int op, Bytes slack) {
    std::vector<OrderSide> side = closure_.sides(op);
    const LeastLive::Cut first = cut(side);
    need_[at(op)] = first.live + table_->need(op);
    if (need_[at(op)] >= below_) {
      prove(op, first);
      return;
    }
    if (need_[at(op)] < below_ - slack) return;
    // Flags of each operator: some set with a need below `below` contains it, and some set does
    // not.
    std::vector<char> may_be_in(side.size(), 0);
    std::vector<char> may_be_out(side.size(), 0);
    std::vector<char> member(side.size(), 0);
    const auto allow = [&](const std::vector<int>& members) {
      std::ranges::fill(member, 0);
      for (const int its : members) member[at(its)] = 1;
      for (std::size_t i = 0; i < side.size(); ++i)
        (member[i] != 0 ? may_be_in : may_be_out)[i] = 1;
    };
    allow(first.open);
    const Bytes enough = below_ - table_->need(op);
    for (int other = 0; other < table_->operators() && !ended(); ++other) {
      if (side[at(other)] != OrderSide::open) continue;
      if (may_be_in[at(other)] != 0 && may_be_out[at(other)] != 0) continue;
      const OrderSide tried = may_be_in[at(other)] == 0 ? OrderSide::in : OrderSide::out;
      ++found_.cuts;
      const LeastLive::Narrowed least =
          least_->narrowed(closure_.drawn(other, tried, side), tried, enough);
      if (least.live < enough) {
        allow(least.open);
        continue;
      }
      const int early = tried == OrderSide::in ? op : other;
      const int late = tried == OrderSide::in ? other : op;
      found_.steps.push_back(
          {{.first = early, .second = late, .op = op}, least.live + table_->need(op)});
      closure_.add(early, late);
      side = closure_.sides(op);
      const LeastLive::Cut now = cut(side);
      if (now.live < enough) continue;
      need_[at(op)] = now.live + table_->need(op);
      prove(op, now);
    }
  }

  void prove(int op, const LeastLive::Cut& cut) {
    OrderCertificate proof{.bound_bytes = need_[at(op)], .op = op};
    for (const ForcedStep& step : found_.steps) {
      proof.forced.push_back(step.precedence);
      proof.bound_bytes = std::min(proof.bound_bytes, step.need);
    }
    for (const auto& arc : cut.tensors) proof.tensors.emplace_back(arc.begin(), arc.end());
    for (const auto& arc : cut.precedences) proof.precedences.emplace_back(arc.begin(), arc.end());
    found_.proof = std::move(proof);
  }

  const OrderInstance& instance_;
  const Bytes below_;
  const std::int64_t most_cuts_;
  const std::int64_t most_steps_;  // limit on the precedences of a certificate
  const Budget& budget_;
  ForcedOrder found_;
  std::optional<OrderTable> table_;  // contains the precedences that the cuts use
  std::optional<LeastLive> least_;
  Closure closure_;          // of all precedences
  std::vector<Bytes> need_;  // bound on the need of each operator's step, by its last cut
};

}  // namespace

OrderInstance with_precedences(OrderInstance instance, const std::vector<ForcedStep>& steps) {
  for (const ForcedStep& step : steps) {
    instance.operators[at(step.precedence.second)].after.push_back(step.precedence.first);
  }
  return instance;
}

ForcedOrder force_order(const OrderInstance& instance, Bytes below,
                        const std::vector<ForcedStep>& known, std::int64_t cuts,
                        const Budget& budget) {
  return Forcing(instance, below, known, cuts, budget).run();
}

}  // namespace stowage
