#include "formulations/order/mip.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

using milp::Row;

// Returns for each operator the number of operators that it reaches by next(op), without itself.
// O(n E).
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
    for (int op = 0; op < n_; ++op) unit = std::gcd(unit, table.added(op));
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
    live_.assign(at(table_.tensors()), std::vector<int>(at(n_ + 1), kNever));
    for (std::int64_t k = 1; k <= n_; ++k) add_memory(k);
    for (const Reused& its : reused_) add_reuse(its);
    if (options_.addresses) add_addresses();
    return std::move(out_);
  }

 private:
  // A linear expression: terms and a constant.
  struct Sum {
    std::vector<milp::Term> terms;
    double constant = 0;
  };

  double units(Bytes bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(out_.unit);
  }

  // y_v_k exists for k from the number of ancestors + 1 to n - descendants - 1 [O4].
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

  // Adds factor * (1 if v is among the first k).
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

  // Adds the row sum <= 0, unless it has no terms.
  void add_row(std::string name, Sum sum) {
    if (sum.terms.empty()) return;
    out_.model.add_row(
        {.name = std::move(name), .upper = -sum.constant, .terms = std::move(sum.terms)});
  }

  // O1: an operator among the first k is among the first k + 1, and only after its predecessors.
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

  // O1: exactly k operators are among the first k.
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

  // O3: the need of step k is at most P: tensors, workspace, and outputs that no operator touches.
  void add_memory(std::int64_t k) {
    Sum sum;
    for (int t = 0; t < table_.tensors(); ++t) add_tensor(sum, t, k);
    for (int op = 0; op < n_; ++op) {
      Bytes alone = table_.added(op);
      for (const int t : table_.written(op)) alone -= counted(t) ? table_.size(t) : 0;
      if (alone == 0) continue;
      add_done(sum, op, k, units(alone));
      add_done(sum, op, k - 1, -units(alone));
    }
    for (int op = 0; op < n_; ++op) add_reused(sum, op, k);
    sum.terms.push_back({out_.peak, -1});
    add_row("O3_" + std::to_string(k), std::move(sum));
  }

  // The bytes of outputs of one size that take the memory of other tensors, if the operator runs at
  // step k.
  struct Reused {
    int op = 0;
    std::int64_t k = 0;
    Bytes size = 0;
    int variable = 0;
  };

  // Takes off what the outputs of `op` save at step k, one variable for each of their sizes.
  void add_reused(Sum& sum, int op, std::int64_t k) {
    std::vector<Bytes> sizes;
    for (const int t : table_.in_place(op)) sizes.push_back(table_.size(t));
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    for (const Bytes size : sizes) {
      Sum runs;
      add_done(runs, op, k, 1);
      add_done(runs, op, k - 1, -1);
      if (runs.terms.empty() && runs.constant <= 0) continue;
      const double most = units(size) * static_cast<double>(made_of(op, size));
      const int variable = out_.model.add_variable(
          {.name = "r_" + std::to_string(op) + "_" + std::to_string(size) + "_" + std::to_string(k),
           .upper = most});
      reused_.push_back({op, k, size, variable});
      sum.terms.push_back({variable, -1});
    }
  }

  std::int64_t made_of(int op, Bytes size) const {
    return std::ranges::count_if(table_.written(op), [&](int t) { return table_.size(t) == size; });
  }

  // O7: outputs save bytes only at their operator's step, and only those of tensors that no later
  // operator needs.
  void add_reuse(const Reused& its) {
    const std::string name =
        std::to_string(its.op) + "_" + std::to_string(its.size) + "_" + std::to_string(its.k);
    const double size = units(its.size);
    const double most = size * static_cast<double>(made_of(its.op, its.size));
    Sum runs;
    runs.terms.push_back({its.variable, 1});
    add_done(runs, its.op, its.k, -most);
    add_done(runs, its.op, its.k - 1, most);
    add_row("O7_" + name + "_runs", std::move(runs));
    Sum ends;
    ends.terms.push_back({its.variable, 1});
    for (const int t : table_.in_place(its.op)) {
      if (table_.size(t) != its.size) continue;
      ends.constant -= size;
      if (its.k == n_) continue;
      const int live = live_[at(t)][at(its.k + 1)];
      if (live != kNever) ends.terms.push_back({live, size});
    }
    add_row("O7_" + name + "_ends", std::move(ends));
  }

  bool counted(int t) const { return table_.stays(t) || !table_.touchers(t).empty(); }

  // Adds the tensor's bytes at step k, if it is written by then and an operator that touches it has
  // not run before [O2].
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
        live_[at(t)][at(k)] = live;
        sum.terms.push_back({live, size});
      }
      row.terms.push_back({live, -1});
      add_row("O2_" + name + "_" + std::to_string(toucher), std::move(row));
    }
  }

  // An object with an address: a tensor, or the memory of an operator during its run.
  struct Part {
    Bytes size = 0;
    int tensor = -1;
    int op = -1;
    int address = 0;  // variable
  };

  std::vector<Part> parts() const {
    std::vector<Part> all;
    for (int t = 0; t < table_.tensors(); ++t) {
      if (counted(t) && table_.size(t) > 0) all.push_back({.size = table_.size(t), .tensor = t});
    }
    for (int op = 0; op < n_; ++op) {
      Bytes workspace = table_.added(op);
      for (const int t : table_.written(op)) {
        workspace -= table_.size(t);
        if (!counted(t) && table_.size(t) > 0) all.push_back({.size = table_.size(t), .op = op});
      }
      if (workspace > 0) all.push_back({.size = workspace, .op = op});
    }
    return all;
  }

  // Returns 1 if the part needs memory at step k, else 0.
  Sum live(const Part& part, std::int64_t k) const {
    Sum sum;
    if (part.op >= 0) {
      add_done(sum, part.op, k, 1);
      add_done(sum, part.op, k - 1, -1);
    } else if (!table_.stays(part.tensor)) {
      const int variable = live_[at(part.tensor)][at(k)];
      if (variable != kNever) sum.terms.push_back({variable, 1});
    } else if (table_.producer(part.tensor) == OrderTable::kNobody) {
      sum.constant = 1;
    } else {
      add_done(sum, table_.producer(part.tensor), k, 1);
    }
    return sum;
  }

  // O6: every part ends at most at P. If two parts need memory at the same step, one lies below the
  // other.
  void add_addresses() {
    std::vector<Part> all = parts();
    const Bytes whole_units = options_.most / out_.unit;
    const auto most = static_cast<double>(whole_units);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double size = units(all[i].size);
      all[i].address = out_.model.add_variable(
          {.name = "a_" + std::to_string(i), .upper = std::max(0.0, most - size)});
      out_.model.add_row({.name = "O6_" + std::to_string(i),
                          .upper = -size,
                          .terms = {{all[i].address, 1}, {out_.peak, -1}}});
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) add_pair(all[j], all[i], j, i, most);
    }
  }

  void add_pair(const Part& one, const Part& other, std::size_t i, std::size_t j, double most) {
    const std::string name = std::to_string(i) + "_" + std::to_string(j);
    int below = kNever;
    int above = kNever;
    for (std::int64_t k = 1; k <= n_; ++k) {
      Sum both = live(one, k);
      const Sum its = live(other, k);
      if (both.terms.empty() && both.constant == 0) continue;
      if (its.terms.empty() && its.constant == 0) continue;
      both.constant += its.constant - 1;
      both.terms.insert(both.terms.end(), its.terms.begin(), its.terms.end());
      if (below == kNever) {
        below = out_.model.add_variable({.name = "z_" + name, .upper = 1, .integer = true});
        above = out_.model.add_variable({.name = "w_" + name, .upper = 1, .integer = true});
      }
      both.terms.push_back({below, -1});
      both.terms.push_back({above, -1});
      add_row("O6_" + name + "_" + std::to_string(k), std::move(both));
    }
    if (below == kNever) return;
    add_below("O6_below_" + name, one, other, below, most);
    add_below("O6_above_" + name, other, one, above, most);
  }

  // If `below` is 1, `one` ends at or below the start of `other`.
  void add_below(std::string name, const Part& one, const Part& other, int below, double most) {
    out_.model.add_row({.name = std::move(name),
                        .upper = most - units(one.size),
                        .terms = {{one.address, 1}, {other.address, -1}, {below, most}}});
  }

  static constexpr int kNever = -1;

  const OrderTable& table_;
  const OrderMipOptions& options_;
  const int n_;
  // L_t_k of a tensor at a step, or kNever if the tensor is not live then.
  std::vector<std::vector<int>> live_;
  std::vector<Reused> reused_;
  OrderMip out_;
};

}  // namespace

std::int64_t order_mip_binaries(const OrderTable& table, bool addresses) {
  const std::vector<std::int64_t> before = ancestors(table);
  const std::vector<std::int64_t> after = descendants(table);
  std::int64_t count = 0;
  for (std::size_t op = 0; op < before.size(); ++op) {
    count += std::max<std::int64_t>(0, table.operators() - 1 - before[op] - after[op]);
  }
  if (addresses) {
    const std::int64_t parts = table.tensors() + table.operators();
    count += parts * (parts - 1);
  }
  return count;
}

OrderMip build_order_mip(const OrderTable& table, const OrderMipOptions& options) {
  return OrderBuilder(table, options).build();
}

}  // namespace stowage
