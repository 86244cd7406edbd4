#include "formulations/order/checkmate.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

class CheckmateBuilder {
 public:
  CheckmateBuilder(const OrderTable& table, std::span<const int> order,
                   const CheckmateOptions& options)
      : table_(table),
        options_(options),
        n_(table.operators()),
        place_(at(table.operators())),
        kept_(at(table.operators() + 1)) {
    out_.order.assign(order.begin(), order.end());
    for (int k = 0; k < n_; ++k) place_[at(order[at(k)])] = k;
    Bytes unit = 0;
    for (int t = 0; t < table.tensors(); ++t) unit = std::gcd(unit, table.size(t));
    for (int op = 0; op < n_; ++op) unit = std::gcd(unit, table.need(op));
    out_.unit = std::max<Bytes>(1, unit);
  }

  Checkmate build() {
    const Bytes most = options_.most / out_.unit;
    const Bytes least = (options_.least + out_.unit - 1) / out_.unit;
    out_.empty = least > most;
    if (out_.empty) return std::move(out_);
    if (!options_.time) {
      out_.peak = out_.model.add_variable({.name = "P",
                                           .lower = static_cast<double>(least),  // OK6
                                           .upper = static_cast<double>(most),
                                           .objective = static_cast<double>(out_.unit),
                                           .integer = true});
    } else {
      out_.model.set_offset(table_.work_ms());  // the first runs [OK1]
    }
    for (int stage = 0; stage < n_; ++stage) add_runs(stage);
    for (int stage = 0; stage <= n_; ++stage) add_kept(stage);
    for (int stage = 0; stage < n_; ++stage) {
      for (int k = 0; k <= stage; ++k) add_inputs(stage, k);
      add_memory(stage);
    }
    for (int stage = 1; stage <= n_; ++stage) add_keeping(stage);
    return std::move(out_);
  }

 private:
  // A variable, or a constant if `variable` is kNone.
  struct Value {
    int variable = Checkmate::kNone;
    double number = 0;
  };
  struct Sum {
    std::vector<milp::Term> terms;
    double constant = 0;

    void add(const Value& value, double factor) {
      if (value.variable == Checkmate::kNone) {
        constant += factor * value.number;
      } else {
        terms.push_back({value.variable, factor});
      }
    }
  };

  double units(Bytes bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(out_.unit);
  }
  int op_at(int k) const { return out_.order[at(k)]; }
  static std::string name(const char* what, int a, int b) {
    return what + ('_' + std::to_string(a)) + '_' + std::to_string(b);
  }

  // Adds the row sum <= 0, unless it always holds.
  void add_row(std::string row, Sum sum) {
    if (sum.terms.empty() && sum.constant <= 0) return;
    if (sum.terms.empty()) {
      out_.empty = true;
      return;
    }
    out_.model.add_row(
        {.name = std::move(row), .upper = -sum.constant, .terms = std::move(sum.terms)});
  }

  // Returns true if the k-th operator may run again in this stage: no update that forbids it had
  // its first run.
  bool may_rerun(int stage, int k) const {
    const int op = op_at(k);
    return table_.may_rerun(op) && std::ranges::none_of(table_.closed_by(op), [&](int update) {
             return place_[at(update)] < stage;
           });
  }

  // R_t_k: the k-th operator runs in stage t. It always runs in its own stage [OK1].
  void add_runs(int stage) {
    std::vector<int>& runs = out_.runs.emplace_back(at(stage), Checkmate::kNone);
    for (int k = 0; k < stage; ++k) {
      if (!may_rerun(stage, k)) continue;
      runs[at(k)] = out_.model.add_variable({.name = name("R", stage, k),
                                             .upper = 1,
                                             .objective = options_.time ? table_.ms(op_at(k)) : 0,
                                             .integer = true});
    }
  }

  // k is at most n - 1. Operators after the stage's own operator do not run in it.
  Value runs(int stage, int k) const {
    if (k > stage) return {};
    if (k == stage) return {.number = 1};
    const int variable = out_.runs[at(stage)][at(k)];
    return {.variable = variable};
  }

  // S_t_a: tensor a is present when stage t begins. Before the first stage all inputs are present,
  // after the last stage the tensors that must stay [OK4].
  void add_kept(int stage) {
    for (int a = 0; a < table_.tensors(); ++a) {
      const int writer = table_.producer(a);
      const bool made = writer == OrderTable::kNobody || place_[at(writer)] < stage;
      Value value;
      if (stage == 0) {
        value.number = made ? 1 : 0;
      } else if (stage == n_) {
        value.number = made && table_.stays(a) ? 1 : 0;
      } else if (made) {
        value.variable =
            out_.model.add_variable({.name = name("S", stage, a), .upper = 1, .integer = true});
      }
      kept_[at(stage)].push_back(value);
    }
  }
  const Value& kept(int stage, int tensor) const { return kept_[at(stage)][at(tensor)]; }

  Value writer_runs(int stage, int tensor) const {
    const int writer = table_.producer(tensor);
    return writer == OrderTable::kNobody ? Value{} : runs(stage, place_[at(writer)]);
  }

  // An operator that runs has the tensors that it touches [OK2].
  void add_inputs(int stage, int k) {
    const Value run = runs(stage, k);
    if (run.variable == Checkmate::kNone && run.number == 0) return;
    for (const int a : table_.touched(op_at(k))) {
      Sum sum;
      sum.add(run, 1);
      sum.add(writer_runs(stage, a), -1);
      sum.add(kept(stage, a), -1);
      add_row(name("OK2", stage, k) + '_' + std::to_string(a), std::move(sum));
    }
  }

  // A kept tensor was present before [OK3].
  void add_keeping(int stage) {
    for (int a = 0; a < table_.tensors(); ++a) {
      Sum sum;
      sum.add(kept(stage, a), 1);
      sum.add(writer_runs(stage - 1, a), -1);
      sum.add(kept(stage - 1, a), -1);
      add_row(name("OK3", stage, a), std::move(sum));
    }
  }

  // F_t_k_a: tensor a is freed after the k-th operator: the operator has run, a is not kept for the
  // next stage, and no later operator of this stage touches a [OK7]. Otherwise 0.
  int freed(int stage, int k, int a) {
    const Value run = runs(stage, k);
    const Value next = kept(stage + 1, a);
    if (next.variable == Checkmate::kNone && next.number == 1) return Checkmate::kNone;
    std::vector<Value> hazards = {next};
    for (const int toucher : table_.touchers(a)) {
      const int place = place_[at(toucher)];
      if (place > k && place <= stage) hazards.push_back(runs(stage, place));
    }
    for (const Value& hazard : hazards) {
      if (hazard.variable == Checkmate::kNone && hazard.number == 1) return Checkmate::kNone;
    }
    const std::string its = name("F", stage, k) + '_' + std::to_string(a);
    const int variable = out_.model.add_variable({.name = its, .upper = 1});
    int count = 0;
    const auto exclude = [&](const Value& value, double factor, double most) {
      if (value.variable == Checkmate::kNone) return;
      out_.model.add_row({.name = "OK7_" + its + '_' + std::to_string(++count),
                          .upper = most,
                          .terms = {{variable, 1}, {value.variable, factor}}});
    };
    exclude(run, -1, 0);
    for (const Value& hazard : hazards) exclude(hazard, 1, 1);
    return variable;
  }

  // Adds the live bytes at the beginning of the stage and after each run [OK5], within U [OK6]. A
  // tensor that is made again is not kept until then as well [OK8].
  void add_memory(int stage) {
    Sum live;  // minus U
    for (int a = 0; a < table_.tensors(); ++a) {
      live.add(kept(stage, a), units(table_.size(a)));
      const Value run = writer_runs(stage, a);
      if (run.variable == Checkmate::kNone || kept(stage, a).variable == Checkmate::kNone) continue;
      out_.model.add_row({.name = name("OK8", stage, a),
                          .upper = 1,
                          .terms = {{run.variable, 1}, {kept(stage, a).variable, 1}}});
    }
    for (int k = 0; k <= stage; ++k) {
      const Value run = runs(stage, k);
      if (run.variable == Checkmate::kNone && run.number == 0) continue;
      const int op = op_at(k);
      Bytes made = 0;
      for (const int a : table_.written(op)) made += table_.size(a);
      Sum now = live;
      now.add(run, units(made));
      const std::string its = name("U", stage, k);
      const int used = out_.model.add_variable({.name = its});
      Sum defined = now;
      defined.terms.push_back({used, -1});
      out_.model.add_row({.name = "OK5_" + its,
                          .lower = -defined.constant,
                          .upper = -defined.constant,
                          .terms = std::move(defined.terms)});
      Sum need{.terms = {{used, 1}}};
      need.add(run, units(table_.need(op) - made));
      if (out_.peak == Checkmate::kNone) {
        const Bytes most = options_.most / out_.unit;  // whole units
        need.constant -= static_cast<double>(most);
      } else {
        need.terms.push_back({out_.peak, -1});
      }
      add_row("OK6_" + its, std::move(need));
      live = {.terms = {{used, 1}}};
      const auto free = [&](int a) {
        if (table_.size(a) == 0) return;
        const int variable = freed(stage, k, a);
        if (variable != Checkmate::kNone) live.terms.push_back({variable, -units(table_.size(a))});
      };
      for (const int a : table_.touched(op)) free(a);
      for (const int a : table_.written(op)) free(a);
    }
  }

  const OrderTable& table_;
  const CheckmateOptions& options_;
  const int n_;
  std::vector<int> place_;                // position of an operator in the order
  std::vector<std::vector<Value>> kept_;  // by stage and tensor
  Checkmate out_;
};

}  // namespace

std::int64_t checkmate_binaries(const OrderTable& table) {
  const std::int64_t n = table.operators();
  return n * (n - 1) / 2 + n * table.tensors();
}

Checkmate build_checkmate(const OrderTable& table, std::span<const int> order,
                          const CheckmateOptions& options) {
  return CheckmateBuilder(table, order, options).build();
}

std::vector<int> decode(const Checkmate& milp, const std::vector<double>& values) {
  std::vector<int> steps;
  for (std::size_t stage = 0; stage < milp.order.size(); ++stage) {
    for (std::size_t k = 0; k < stage; ++k) {
      const int variable = milp.runs[stage][k];
      if (variable != Checkmate::kNone && values[at(variable)] > 0.5) {
        steps.push_back(milp.order[k]);
      }
    }
    steps.push_back(milp.order[stage]);
  }
  return steps;
}

}  // namespace stowage
