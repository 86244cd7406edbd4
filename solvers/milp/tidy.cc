#include "solvers/milp/tidy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

using milp::Term;
using Verdict = TidyModel::Verdict;

constexpr double kSlack = 1e-9;  // bounds may cross by this much, relative to max(1, |bound|)
// Costs whose sum is at most this share of a lower bound on the objective are dropped. Proofs hold
// to 1e-9 of the objective, and so do a backend's tolerances.
constexpr double kNegligible = 1e-12;
constexpr int kMaxPasses = 100;  // longer chains of singleton rows stay rows

std::string label(const char* kind, const std::string& name, std::size_t index) {
  return std::string(kind) + ' ' + (name.empty() ? '#' + std::to_string(index) : name);
}

double slack(double a, double b) {
  const double large =
      std::max(std::isfinite(a) ? std::fabs(a) : 0, std::isfinite(b) ? std::fabs(b) : 0);
  return kSlack * std::max(1.0, large);
}

// A bound that misses an integer by the rounding of a division counts as that integer.
double round_up(double bound) { return std::ceil(bound - kSlack - 4e-16 * std::fabs(bound)) + 0.0; }
double round_down(double bound) {
  return std::floor(bound + kSlack + 4e-16 * std::fabs(bound)) + 0.0;
}

bool good_number(double number) { return std::fabs(number) < kLargestNumber; }
bool good_bounds(double lower, double upper) {
  return (lower == -kInfinity || good_number(lower)) && (upper == kInfinity || good_number(upper));
}

class Tidier {
 public:
  explicit Tidier(const milp::Model& model) : model_(model) {
    for (const milp::Variable& v : model.variables()) {
      lower_.push_back(v.lower);
      upper_.push_back(v.upper);
    }
    for (const milp::Row& row : model.rows()) terms_.push_back(milp::summed_terms(row.terms));
    row_done_.resize(model.rows().size());
    fixed_.resize(model.variables().size());
  }

  TidyModel run() {
    for (std::size_t j = 0; j < lower_.size() && open(); ++j) tighten(j, lower_[j], upper_[j]);
    bool changed = true;
    for (int pass = 0; pass < kMaxPasses && changed && open(); ++pass) {
      changed = false;
      for (std::size_t i = 0; i < terms_.size() && open(); ++i) changed |= shrink(i);
    }
    for (std::size_t i = 0; i < terms_.size() && open(); ++i) check_activity(i);
    if (open()) settle_lonely();
    if (open()) build();
    return std::move(out_);
  }

 private:
  bool open() const { return out_.verdict == Verdict::open; }
  void conclude(Verdict verdict, std::string detail) {
    out_.verdict = verdict;
    out_.detail = std::move(detail);
  }

  // Intersects the bounds of variable j, and fixes it if they meet.
  void tighten(std::size_t j, double lower, double upper) {
    const milp::Variable& v = model_.variables()[j];
    double& lo = lower_[j];
    double& hi = upper_[j];
    lo = std::max(lo, lower);
    hi = std::min(hi, upper);
    if (v.integer) {
      lo = round_up(lo);
      hi = round_down(hi);
    }
    if (lo > hi + (v.integer ? 0 : slack(lo, hi))) {
      conclude(Verdict::infeasible, label("variable", v.name, j) + " has no value left");
    } else if (lo >= hi) {
      lo = hi = v.integer || lo == hi ? lo : (lo + hi) / 2;
      fixed_[j] = true;
    }
  }

  // Returns the sides of row i after moving its fixed variables to the right-hand side.
  std::pair<long double, long double> sides(std::size_t i) const {
    long double moved = 0;
    for (const Term& term : terms_[i]) {
      if (fixed_[at(term.variable)]) {
        moved += static_cast<long double>(term.coefficient) * lower_[at(term.variable)];
      }
    }
    return {model_.rows()[i].lower - moved, model_.rows()[i].upper - moved};
  }

  // Removes row i if at most one of its variables is free. Returns true if it was removed.
  bool shrink(std::size_t i) {
    if (row_done_[i]) return false;
    const milp::Row& row = model_.rows()[i];
    const Term* only = nullptr;
    if (row.lower > -kInfinity || row.upper < kInfinity) {
      int free = 0;
      for (const Term& term : terms_[i]) {
        if (fixed_[at(term.variable)]) continue;
        only = &term;
        if (++free == 2) return false;
      }
    }
    row_done_[i] = true;
    const auto [lower, upper] = sides(i);
    if (only == nullptr) {
      const double tolerance = slack(row.lower, row.upper);
      if (lower > tolerance || upper < -tolerance || row.lower > row.upper + tolerance) {
        conclude(Verdict::infeasible, label("row", row.name, i) + " cannot be met");
      }
    } else {
      auto low = static_cast<double>(lower / only->coefficient);
      auto high = static_cast<double>(upper / only->coefficient);
      if (only->coefficient < 0) std::swap(low, high);
      tighten(at(only->variable), low, high);
    }
    return true;
  }

  void check_activity(std::size_t i) {
    if (row_done_[i]) return;
    const milp::Row& row = model_.rows()[i];
    long double least = 0;
    long double most = 0;
    for (const Term& term : terms_[i]) {
      const long double a = term.coefficient;
      least += a * (a > 0 ? lower_ : upper_)[at(term.variable)];
      most += a * (a > 0 ? upper_ : lower_)[at(term.variable)];
    }
    const auto miss = [](long double a, double b) {
      return a > b + slack(static_cast<double>(a), b);
    };
    if (miss(least, row.upper) || miss(-most, -row.lower) || miss(row.lower, row.upper)) {
      conclude(Verdict::infeasible, label("row", row.name, i) + " cannot be met within the bounds");
    }
  }

  // Fixes variables without a row at their better bound, if that is finite.
  void settle_lonely() {
    std::vector<bool> used(lower_.size());
    bool any_row = false;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      if (row_done_[i]) continue;
      any_row = true;
      for (const Term& term : terms_[i]) used[at(term.variable)] = true;
    }
    for (std::size_t j = 0; j < lower_.size(); ++j) {
      if (used[j] || fixed_[j]) continue;
      const double cost = model_.variables()[j].objective;
      const double best = cost > 0   ? lower_[j]
                          : cost < 0 ? upper_[j]
                                     : std::clamp(0.0, lower_[j], upper_[j]);
      if (std::isfinite(best)) {
        lower_[j] = upper_[j] = best;
        fixed_[j] = true;
      } else if (!any_row) {
        return conclude(Verdict::unbounded,
                        label("variable", model_.variables()[j].name, j) + " falls forever");
      }
    }
  }

  // Returns the objective of the settled variables.
  long double constant() const {
    long double sum = model_.offset();
    for (std::size_t j = 0; j < lower_.size(); ++j) {
      if (fixed_[j]) sum += static_cast<long double>(model_.variables()[j].objective) * lower_[j];
    }
    return sum;
  }

  // Returns the costs, with 0 for open variables whose contribution is negligible at every point.
  // Scaling would raise these costs, and the constant, beyond all ranges.
  std::vector<double> costs_that_matter(long double settled) const {
    std::vector<double> costs;
    for (const milp::Variable& v : model_.variables()) costs.push_back(v.objective);
    long double least = settled;  // lower bound on the objective
    std::vector<std::pair<long double, std::size_t>> parts;
    for (std::size_t j = 0; j < costs.size(); ++j) {
      if (fixed_[j] || costs[j] == 0) continue;
      const long double at_lower = static_cast<long double>(costs[j]) * lower_[j];
      const long double at_upper = static_cast<long double>(costs[j]) * upper_[j];
      least += std::min(at_lower, at_upper);
      parts.emplace_back(std::max(std::fabs(at_lower), std::fabs(at_upper)), j);
    }
    std::ranges::sort(parts);
    long double dropped = 0;
    for (const auto& [part, j] : parts) {
      dropped += part;
      if (!(dropped <= kNegligible * least)) break;
      costs[j] = 0;
    }
    return costs;
  }

  void build() {
    std::vector<int> place(lower_.size(), -1);
    const long double offset = constant();
    const std::vector<double> costs = costs_that_matter(offset);
    out_.settled.resize(lower_.size());
    for (std::size_t j = 0; j < lower_.size(); ++j) {
      const milp::Variable& v = model_.variables()[j];
      if (fixed_[j]) {
        out_.settled[j] = lower_[j];
      } else {
        place[j] = out_.model.add_variable(
            {.lower = lower_[j], .upper = upper_[j], .objective = costs[j], .integer = v.integer});
        out_.origin.push_back(static_cast<int>(j));
      }
    }
    out_.model.set_offset(static_cast<double>(offset));
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      if (row_done_[i]) continue;
      const auto [lower, upper] = sides(i);
      milp::Row row{.lower = static_cast<double>(lower), .upper = static_cast<double>(upper)};
      for (const Term& term : terms_[i]) {
        if (!fixed_[at(term.variable)]) {
          row.terms.push_back({place[at(term.variable)], term.coefficient});
        }
      }
      if (row.lower > row.upper) row.lower = row.upper;  // crossed within the slack
      if (!row.terms.empty()) out_.model.add_row(std::move(row));
    }
    if (out_.origin.empty()) out_.verdict = Verdict::solved;
  }

  const milp::Model& model_;
  std::vector<double> lower_, upper_;
  std::vector<std::vector<Term>> terms_;
  std::vector<bool> row_done_, fixed_;
  TidyModel out_;
};

}  // namespace

std::vector<double> TidyModel::expand(const std::vector<double>& reduced) const {
  std::vector<double> values = settled;
  for (std::size_t k = 0; k < origin.size(); ++k) values[at(origin[k])] = reduced[k];
  return values;
}

std::vector<double> TidyModel::reduce(const std::vector<double>& values) const {
  std::vector<double> reduced;
  for (std::size_t k = 0; k < origin.size(); ++k) {
    const milp::Variable& v = model.variables()[k];
    reduced.push_back(std::clamp(values[at(origin[k])], v.lower, v.upper));
  }
  return reduced;
}

std::string find_bad_number(const milp::Model& model) {
  if (!good_number(model.offset())) return "the objective offset is not a usable number";
  for (std::size_t j = 0; j < model.variables().size(); ++j) {
    const milp::Variable& v = model.variables()[j];
    if (!good_bounds(v.lower, v.upper)) {
      return label("a bound of variable", v.name, j) + " is not a usable number";
    }
    if (!good_number(v.objective)) {
      return label("the objective coefficient of variable", v.name, j) + " is not a usable number";
    }
  }
  for (std::size_t i = 0; i < model.rows().size(); ++i) {
    const milp::Row& row = model.rows()[i];
    if (!good_bounds(row.lower, row.upper)) {
      return label("a bound of row", row.name, i) + " is not a usable number";
    }
    for (const Term& term : row.terms) {
      if (!good_number(term.coefficient)) {
        return label("a coefficient of row", row.name, i) + " is not a usable number";
      }
    }
  }
  return {};
}

TidyModel tidy(const milp::Model& model) {
  TidyModel invalid{.verdict = Verdict::invalid, .detail = find_bad_number(model)};
  if (!invalid.detail.empty()) return invalid;
  return Tidier(model).run();
}

}  // namespace stowage
