#include "formulations/order/mip.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "instances/numbers.h"

namespace stowage {
namespace {

using milp::Row;

// How many operators each of them reaches by next(op), itself excluded. O(n E).
template <class Next>
std::vector<std::int64_t> reached(const OrderTable& table, Next next) {
  std::vector<std::int64_t> counts;
  for (int from = 0; from < table.operators(); ++from) {
    std::vector<char> seen(at(table.operators()), 0);
    std::vector<int> todo = {from};
    std::int64_t count = 0;
    while (!todo.empty()) {
      const int op = todo.back();
      todo.pop_back();
      for (const int other : next(op)) {
        if (seen[at(other)] != 0) continue;
        seen[at(other)] = 1;
        ++count;
        todo.push_back(other);
      }
    }
    counts.push_back(count);
  }
  return counts;
}

std::vector<std::int64_t> ancestors(const OrderTable& table) {
  return reached(table, [&](int op) { return table.before(op); });
}
std::vector<std::int64_t> descendants(const OrderTable& table) {
  return reached(table, [&](int op) { return table.behind(op); });
}

class OrderBuilder {
 public:
  OrderBuilder(const OrderTable& table, const OrderMipOptions& options)
      : table_(table), options_(options), n_(table.operators()) {
    Bytes unit = 0;
    for (int t = 0; t < table.tensors(); ++t) unit = std::gcd(unit, table.size(t));
    for (int op = 0; op < n_; ++op) unit = std::gcd(unit, table.need(op));
    out_.unit = std::max<Bytes>(1, unit);
  }

  OrderMip build() {
    const Bytes most = options_.most / out_.unit;
    const Bytes least = (options_.least + out_.unit - 1) / out_.unit;
    out_.empty = least > most;
    if (out_.empty) return std::move(out_);
    out_.peak = out_.model.add_variable({.name = "P",
                                         .lower = static_cast<double>(least),  // O5
                                         .upper = static_cast<double>(most),
                                         .objective = static_cast<double>(out_.unit),
                                         .integer = true});
    add_operators();
    for (int op = 0; op < n_; ++op) add_sequence(op);
    for (std::int64_t k = 1; k < n_; ++k) add_count(k);
    for (std::int64_t k = 1; k <= n_; ++k) add_memory(k);
    return std::move(out_);
  }

 private:
  // A sum of variables and a number.
  struct Sum {
    std::vector<milp::Term> terms;
    double constant = 0;
  };

  double units(Bytes bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(out_.unit);
  }

  // y_v_k exists for k from the number of ancestors + 1 up to n - descendants - 1 [O4].
  void add_operators() {
    out_.first = ancestors(table_);
    const std::vector<std::int64_t> after = descendants(table_);
    out_.done.resize(at(n_));
    for (int op = 0; op < n_; ++op) {
      ++out_.first[at(op)];
      for (std::int64_t k = out_.first[at(op)]; k < n_ - after[at(op)]; ++k) {
        out_.done[at(op)].push_back(
            out_.model.add_variable({.name = "y_" + std::to_string(op) + "_" + std::to_string(k),
                                     .upper = 1,
                                     .integer = true}));
      }
    }
  }

  // Adds factor * (v is among the first k).
  void add_done(Sum& sum, int op, std::int64_t k, double factor) const {
    const std::int64_t place = k - out_.first[at(op)];
    if (place < 0) return;
    const std::vector<int>& its = out_.done[at(op)];
    if (place >= std::ssize(its)) {
      sum.constant += factor;
    } else {
      sum.terms.push_back({its[at(place)], factor});
    }
  }

  // sum <= 0, if that says anything.
  void add_row(std::string name, Sum sum) {
    if (sum.terms.empty()) return;
    out_.model.add_row(
        {.name = std::move(name), .upper = -sum.constant, .terms = std::move(sum.terms)});
  }

  // O1: once among the first, always; and only behind those that must run before.
  void add_sequence(int op) {
    const std::int64_t first = out_.first[at(op)];
    const std::int64_t last = first + std::ssize(out_.done[at(op)]);
    const std::string name = "O1_" + std::to_string(op) + "_";
    for (std::int64_t k = first; k < last; ++k) {
      if (k + 1 < last) {
        Sum sum;
        add_done(sum, op, k, 1);
        add_done(sum, op, k + 1, -1);
        add_row(name + std::to_string(k), std::move(sum));
      }
    }
    for (std::int64_t k = first; k <= last; ++k) {
      for (const int before : table_.before(op)) {
        Sum sum;
        add_done(sum, op, k, 1);
        add_done(sum, before, k - 1, -1);
        if (sum.constant <= -1) continue;
        add_row(name + std::to_string(k) + "_" + std::to_string(before), std::move(sum));
      }
    }
  }

  // O1: k operators are among the first k.
  void add_count(std::int64_t k) {
    Sum sum;
    for (int op = 0; op < n_; ++op) add_done(sum, op, k, 1);
    if (sum.terms.empty()) return;
    const double rest = static_cast<double>(k) - sum.constant;
    out_.model.add_row({.name = "O1_" + std::to_string(k),
                        .lower = rest,
                        .upper = rest,
                        .terms = std::move(sum.terms)});
  }

  // O3: what step k needs is at most P: tensors, workspace, and outputs that nobody touches.
  void add_memory(std::int64_t k) {
    Sum sum;
    for (int t = 0; t < table_.tensors(); ++t) add_tensor(sum, t, k);
    for (int op = 0; op < n_; ++op) {
      Bytes alone = table_.need(op);
      for (const int t : table_.written(op)) alone -= counted(t) ? table_.size(t) : 0;
      if (alone == 0) continue;
      add_done(sum, op, k, units(alone));
      add_done(sum, op, k - 1, -units(alone));
    }
    sum.terms.push_back({out_.peak, -1});
    add_row("O3_" + std::to_string(k), std::move(sum));
  }

  bool counted(int t) const { return table_.stays(t) || !table_.touchers(t).empty(); }

  // Adds the tensor's bytes at step k: it is written by then, and one who touches it has not run
  // before [O2].
  void add_tensor(Sum& sum, int t, std::int64_t k) {
    if (!counted(t) || table_.size(t) == 0) return;
    const int producer = table_.producer(t);
    Sum made;
    if (producer == OrderTable::kNobody) {
      made.constant = 1;
    } else {
      add_done(made, producer, k, 1);
    }
    if (made.terms.empty() && made.constant == 0) return;
    const double size = units(table_.size(t));
    if (table_.stays(t)) {
      sum.constant += size * made.constant;
      for (const milp::Term& term : made.terms) sum.terms.push_back({term.variable, size});
      return;
    }
    int live = -1;
    for (const int toucher : table_.touchers(t)) {
      Sum row = made;
      add_done(row, toucher, k - 1, -1);
      if (row.terms.empty() && row.constant <= 0) continue;
      const std::string name = std::to_string(t) + "_" + std::to_string(k);
      if (live < 0) {
        live = out_.model.add_variable({.name = "l_" + name, .upper = 1});
        sum.terms.push_back({live, size});
      }
      row.terms.push_back({live, -1});
      add_row("O2_" + name + "_" + std::to_string(toucher), std::move(row));
    }
  }

  const OrderTable& table_;
  const OrderMipOptions& options_;
  const int n_;
  OrderMip out_;
};

}  // namespace

std::int64_t order_mip_binaries(const OrderTable& table) {
  const std::vector<std::int64_t> before = ancestors(table);
  const std::vector<std::int64_t> after = descendants(table);
  std::int64_t count = 0;
  for (std::size_t op = 0; op < before.size(); ++op) {
    count += std::max<std::int64_t>(0, table.operators() - 1 - before[op] - after[op]);
  }
  return count;
}

OrderMip build_order_mip(const OrderTable& table, const OrderMipOptions& options) {
  return OrderBuilder(table, options).build();
}

std::vector<int> decode(const OrderMip& mip, const OrderTable& table,
                        const std::vector<double>& values) {
  // The earlier an operator is among the first, the larger is its sum.
  std::vector<std::pair<double, int>> by_step;
  for (int op = 0; op < table.operators(); ++op) {
    double step =
        static_cast<double>(mip.first[at(op)]) + static_cast<double>(mip.done[at(op)].size());
    for (const int variable : mip.done[at(op)]) step -= values[at(variable)];
    by_step.emplace_back(step, op);
  }
  std::sort(by_step.begin(), by_step.end());
  // Ties by tolerance may break a precedence: whoever is next and may run.
  std::vector<int> order;
  std::vector<char> done(by_step.size(), 0);
  while (order.size() < by_step.size()) {
    const auto next = std::ranges::find_if(by_step, [&](const auto& entry) {
      return done[at(entry.second)] == 0 &&
             std::ranges::all_of(table.before(entry.second),
                                 [&](int first) { return done[at(first)] != 0; });
    });
    done[at(next->second)] = 1;
    order.push_back(next->second);
  }
  return order;
}

}  // namespace stowage
