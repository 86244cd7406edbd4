// The rules of instances/verify.h for order plans.

#include "instances/order/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "instances/numeric/tolerances.h"
#include "instances/order/verify/in_place_reference.h"
#include "instances/order/verify/reference_model.h"
#include "instances/order/verify/transfer_reference.h"
#include "instances/proof/plan_claims.h"
#include "instances/proof/violation_list.h"
#include "instances/violation.h"

namespace stowage {
namespace {

enum Rule : std::size_t {
  kOnce,
  kPrecedence,
  kTransfers,
  kCapacity,
  kHost,
  kInPlace,
  kStalls,
  kPeak,
  kTimeMs,
  kBound,
  kRows,
  kInstanceHash,
  kRuleCount,
};

constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
    "once",   "precedence", "transfers", "capacity", "host", "in_place",
    "stalls", "peak",       "time_ms",   "bound",    "rows", "instance_hash"};

constexpr std::int64_t kNever = -1;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::string bytes(Bytes value) { return text(value) + " bytes"; }

class OrderVerifier {
 public:
  OrderVerifier(const OrderInstance& instance, const OrderPlan& plan)
      : instance_(instance),
        plan_(plan),
        operators_(static_cast<std::int64_t>(instance.operators.size())),
        found_(kRuleNames) {}

  std::vector<Violation> run() && {
    std::optional<Bytes> peak;
    std::optional<Ms> time;
    if (check_runs(plan_.order, "")) {
      const OrderReferenceModel truth(instance_);
      TransferReference transfers(instance_, truth, plan_.order, plan_.transfers);
      InPlaceReference in_place(instance_, truth, plan_.order, plan_.in_place);
      const bool reuses = in_place.check(found_, kInPlace);
      if (transfers.check(found_, {.transfers = kTransfers, .host = kHost}) && reuses) {
        peak = count(truth, &transfers, &in_place, true);
        check_peak("/peak_bytes", plan_.peak_bytes, *peak);
        check_stalls(transfers);
        if (!plan_.transfers.empty()) time = transfers.time_ms();
      }
    }
    check_time(time);
    check_bound(peak.value_or(plan_.peak_bytes));
    check_rows();
    return std::move(found_).take();
  }

 private:
  // Returns whether all operators stand in the order, which stands at `where` in the document.
  bool check_runs(std::span<const std::int64_t> order, std::string where) {
    order_ = order;
    where_ = std::move(where);
    step_of_.assign(instance_.operators.size(), kNever);
    last_step_of_.assign(instance_.operators.size(), kNever);
    const bool complete = check_once();
    check_tensors();
    check_after();
    return complete;
  }

  void check_peak(const std::string& where, Bytes stated, Bytes counted) {
    if (stated == counted) return;
    found_.add(kPeak, [&] { return Description{where, bytes(stated), bytes(counted)}; });
  }

  // Checks that rows follow each other from the first length to the last. If a rule holds at both
  // ends of a row, it holds in between: precedences do not depend on the length, and the memory of
  // a step is affine in it.
  void check_rows() {
    if (!instance_.tokens) {
      if (!plan_.rows.empty()) wrong_row("", "rows", "none where the instance has no `tokens`");
      return;
    }
    if (plan_.rows.empty()) {
      wrong_row("", "no rows", "an order for every length of `tokens`");
      return;
    }
    Tokens next = instance_.tokens->from;
    for (std::size_t k = 0; k < plan_.rows.size(); ++k) {
      const OrderRow& row = plan_.rows[k];
      const std::string where = "/rows/" + text(k);
      if (row.from != next) {
        wrong_row(where + "/from", text(row.from) + " tokens",
                  text(next) + ", where the lengths before it end");
      }
      const bool last = k + 1 == plan_.rows.size();
      if (row.to < row.from || row.to > instance_.tokens->to ||
          (last && row.to != instance_.tokens->to)) {
        wrong_row(where + "/to", text(row.to) + " tokens",
                  last ? text(instance_.tokens->to) + ", the longest length"
                       : "from " + text(row.from) + " to " + text(instance_.tokens->to));
        return;
      }
      next = row.to + 1;
      check_row(row, where);
    }
    if (plan_.rows.back().order != plan_.order) {
      wrong_row("/order", "another order than the last row's", "the one of the longest length");
    }
  }

  void check_row(const OrderRow& row, const std::string& where) {
    const bool complete = check_runs(row.order, where);
    const auto end = [&](Tokens length, const std::string& which, Bytes peak, Bytes bound) {
      if (complete && length >= instance_.tokens->from) {
        const OrderReferenceModel truth(instance_, length);
        const Bytes counted = count(truth, nullptr, nullptr, length == row.to);
        check_peak(where + "/peak_bytes_at_" + which, peak, counted);
        peak = counted;
      }
      if (bound >= 0 && bound <= peak) return;
      found_.add(kBound, [&] {
        return Description{where + "/bound_bytes_at_" + which, bytes(bound),
                           "from 0 to the peak, " + bytes(peak)};
      });
    };
    end(row.from, "from", row.peak_at_from, row.bound_at_from);
    end(row.to, "to", row.peak_at_to, row.bound_at_to);
    if (row.bound_operator >= OrderRow::kLeft && row.bound_operator < operators_) return;
    found_.add(kBound, [&] {
      return Description{where + "/bound_operator", text(row.bound_operator),
                         "the index of an operator, or -1 or -2"};
    });
  }

  void wrong_row(std::string where, std::string have, std::string need) {
    found_.add(kRows, [&] {
      return Description{where.empty() ? "/rows" : std::move(where), std::move(have),
                         std::move(need)};
    });
  }

  std::string name(std::int64_t op) const {
    const std::string& id = instance_.operators[index(op)].id;
    return "operator " + (id.empty() ? text(op) : id);
  }

  bool check_once() {
    bool complete = true;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const std::int64_t op = order_[k];
      const bool known = op >= 0 && op < operators_;
      if (known) {
        last_step_of_[index(op)] = static_cast<std::int64_t>(k);
        if (step_of_[index(op)] == kNever) {
          step_of_[index(op)] = static_cast<std::int64_t>(k);
          continue;
        }
        if (instance_.operators[index(op)].recompute) continue;
      }
      complete = false;
      found_.add(kOnce, [&] {
        return known ? Description{where_ + "/order/" + text(k), name(op) + " again",
                                   "each operator once"}
                     : Description{where_ + "/order/" + text(k), text(op),
                                   "the index of an operator, below " + text(operators_)};
      });
    }
    for (std::int64_t op = 0; op < operators_; ++op) {
      if (step_of_[index(op)] != kNever) continue;
      complete = false;
      found_.add(kOnce, [&] {
        return Description{where_ + "/order", "no " + name(op), "each operator once"};
      });
    }
    return complete;
  }

  // Requires the first run of `first` before the first run of `second`.
  void must_precede(std::int64_t first, std::int64_t second, const std::string& why) {
    must_precede(step_of_[index(first)], first, second, why);
  }
  // Requires all runs of `first` before `second`, which updates a tensor.
  void must_end_before(std::int64_t first, std::int64_t second, const std::string& why) {
    must_precede(last_step_of_[index(first)], first, second, why);
  }
  void must_precede(std::int64_t a, std::int64_t first, std::int64_t second,
                    const std::string& why) {
    const std::int64_t b = step_of_[index(second)];
    if (a == kNever || b == kNever || a < b) return;
    found_.add(kPrecedence, [&] {
      return Description{where_ + "/order/" + text(b), name(second) + " before " + name(first),
                         "it after that one, " + why};
    });
  }

  std::string tensor(std::int64_t t) const {
    const std::string& id = instance_.tensors[index(t)].id;
    return "tensor " + (id.empty() ? text(t) : id);
  }

  // Checks writers before all other operators. For each tensor, updates keep their order, and the
  // operators between two updates in the list run between them. Readers are dropped at an update:
  // all their runs stand before it.
  void check_tensors() {
    const std::size_t tensors = instance_.tensors.size();
    std::vector<std::int64_t> writer(tensors, kNever);
    for (std::int64_t op = 0; op < operators_; ++op) {
      for (const std::int64_t t : instance_.operators[index(op)].writes) writer[index(t)] = op;
    }
    std::vector<std::int64_t> last_update(tensors, kNever);
    std::vector<std::vector<std::int64_t>> readers(tensors);  // since the last update
    for (std::int64_t op = 0; op < operators_; ++op) {
      const OrderOperator& its = instance_.operators[index(op)];
      for (const std::int64_t t : OrderReferenceModel::touched(its)) {
        const bool updates = std::ranges::find(its.updates, t) != its.updates.end();
        if (writer[index(t)] != kNever) {
          if (updates) {
            must_end_before(writer[index(t)], op, "which writes " + tensor(t));
          } else {
            must_precede(writer[index(t)], op, "which writes " + tensor(t));
          }
        }
        if (last_update[index(t)] != kNever) {
          must_precede(last_update[index(t)], op, "which updates " + tensor(t) + " for it");
        }
        if (!updates) {
          readers[index(t)].push_back(op);
          continue;
        }
        for (const std::int64_t reader : readers[index(t)]) {
          must_end_before(reader, op, "which needs " + tensor(t) + " as it was");
        }
        readers[index(t)].clear();
        last_update[index(t)] = op;
      }
    }
  }

  void check_after() {
    for (std::int64_t op = 0; op < operators_; ++op) {
      for (const std::int64_t first : instance_.operators[index(op)].after) {
        must_precede(first, op, "as `after` asks for");
      }
    }
  }

  // Returns the peak, counted from the last step to the first. Before a run of its writer, or
  // before it comes back from the host, a tensor needs memory only for steps after the run before
  // or before it is freed. Requires a complete order.
  Bytes count(const OrderReferenceModel& truth, const TransferReference* transfers,
              const InPlaceReference* in_place, bool capacity) {
    std::vector<bool> needed(instance_.tensors.size());  // behind the step
    Bytes live = 0;
    for (std::size_t t = 0; t < needed.size(); ++t) {
      needed[t] = truth.stays(static_cast<std::int64_t>(t));
      if (needed[t]) live += truth.size(static_cast<std::int64_t>(t));
    }
    const auto set = [&](std::int64_t t, bool need) {
      if (needed[index(t)] != need) live += need ? truth.size(t) : -truth.size(t);
      needed[index(t)] = need;
    };
    std::vector<Bytes> needs(order_.size());
    for (std::size_t k = order_.size(); k-- > 0;) {
      const OrderOperator& op = instance_.operators[index(order_[k])];
      if (transfers != nullptr) {
        for (const std::int64_t t : transfers->freed_after(k)) set(t, true);
      }
      for (const std::int64_t t : OrderReferenceModel::written(op)) set(t, false);
      for (const std::int64_t t : OrderReferenceModel::touched(op)) set(t, true);
      needs[k] = live + truth.added(op);
      if (in_place != nullptr) needs[k] -= in_place->saved_by(order_[k]);
      if (transfers == nullptr) continue;
      for (const std::int64_t t : transfers->back_at(k)) set(t, false);
    }
    Bytes peak = truth.at_start();
    if (operators_ == 0 && capacity) check_capacity(0, peak);
    for (std::size_t k = 0; k < needs.size(); ++k) {
      if (capacity) check_capacity(k, needs[k]);
      peak = std::max(peak, needs[k]);
    }
    return peak;
  }

  // If the objective is the peak, transfers may not add time to that of the runs.
  void check_stalls(const TransferReference& transfers) {
    const Ms stall = transfers.stall_ms();
    if (instance_.objective == OrderObjective::time ||
        stall <= kVerifierDiffers * transfers.time_ms()) {
      return;
    }
    found_.add(kStalls, [&] {
      return Description{"/transfers", "runs and the end wait for " + text(stall) + " ms",
                         "no run that waits, where the objective is the peak"};
    });
  }

  // Without transfers, the time is the sum of all runs, and is checked for any order.
  void check_time(std::optional<Ms> counted) {
    const bool timed = instance_.objective == OrderObjective::time;
    if (!timed && !plan_.time_ms) return;
    Ms sum = 0;
    for (const std::int64_t op : plan_.order) {
      if (op >= 0 && op < operators_) sum += instance_.operators[index(op)].ms;
    }
    // The time of impossible transfers is not checked.
    if (timed && !counted && !plan_.transfers.empty() && plan_.time_ms) return;
    sum = counted.value_or(sum);
    if (timed && plan_.time_ms && std::abs(*plan_.time_ms - sum) <= kVerifierDiffers * sum) return;
    found_.add(kTimeMs, [&] {
      return Description{"/time_ms", plan_.time_ms ? text(*plan_.time_ms) + " ms" : "no time",
                         timed ? text(sum) + " ms" : "none where the objective is the peak"};
    });
  }

  void check_capacity(std::size_t step, Bytes need) {
    if (!instance_.capacity || need <= *instance_.capacity) return;
    found_.add(kCapacity, [&] {
      return Description{where_ + "/order/" + text(step), "a step of " + bytes(need),
                         "at most the capacity, " + bytes(*instance_.capacity)};
    });
  }

  void check_bound(Bytes peak) {
    const bool timed = instance_.objective == OrderObjective::time;
    const Bytes bound = plan_.bound_bytes;
    if (bound < 0 || bound > (timed ? 0 : peak)) {
      found_.add(kBound, [&] {
        return Description{
            "/bound_bytes", bytes(bound),
            timed ? "none where the objective is the time" : "from 0 to the peak, " + bytes(peak)};
      });
    }
    if (timed) {
      check_bound_ms(found_, {.number = kBound, .bound = kBound}, plan_.bound_ms, plan_.bound_by,
                     plan_.time_ms.value_or(0));
      return;
    }
    if (plan_.bound_ms != 0) {
      found_.add(kBound, [&] {
        return Description{"/bound_ms", text(plan_.bound_ms) + " ms",
                           "none where the objective is the peak"};
      });
    }
    check_bound_name(found_, kBound, bound > 0, plan_.bound_by);
  }

  const OrderInstance& instance_;
  const OrderPlan& plan_;
  const std::int64_t operators_;
  std::span<const std::int64_t> order_;     // the order that is checked
  std::string where_;                       // its place in the document
  std::vector<std::int64_t> step_of_;       // first step of an operator
  std::vector<std::int64_t> last_step_of_;  // last step of an operator
  ViolationList found_;
};

}  // namespace

std::vector<std::string_view> order_verify_rules() {
  return {kRuleNames.begin(), kRuleNames.end()};
}

std::vector<Violation> verify(const OrderInstance& instance, const OrderPlan& plan) {
  return OrderVerifier(instance, plan).run();
}

std::vector<Violation> verify_instance_hash(const OrderPlan& plan, std::string_view instance_hash) {
  return check_instance_hash(kRuleNames, kInstanceHash, plan.instance_hash, instance_hash);
}

}  // namespace stowage
