#include "tests/solvers/oracle.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace stowage {
namespace {

using milp::kInfinity;

constexpr double kTiny = 1e-9;

struct Interval {
  double low = -kInfinity;
  double high = kInfinity;
  // Intersects with low <= a z <= high.
  void cut(double a, double from, double to) {
    if (a == 0) {
      if (from > kTiny || to < -kTiny) low = kInfinity;
      return;
    }
    from /= a;
    to /= a;
    if (a < 0) std::swap(from, to);
    low = std::max(low, from);
    high = std::min(high, to);
  }
};

struct Enumerator {
  const milp::Model& model;
  int line;
  std::vector<double> values;
  Truth truth;

  double line_cost() const {
    return line < 0 ? 0 : model.variables()[static_cast<std::size_t>(line)].objective;
  }

  void leaf() {
    Interval z;
    bool whole = true;
    if (line >= 0) {
      const milp::Variable& v = model.variables()[static_cast<std::size_t>(line)];
      z = {v.lower, v.upper};
      whole = v.integer;
      values[static_cast<std::size_t>(line)] = 0;
    } else {
      z = {0, 0};
    }
    for (const milp::Row& row : model.rows()) {
      double rest = 0;
      double a = 0;
      for (const milp::Term& term : row.terms) {
        if (term.variable == line) {
          a += term.coefficient;
        } else {
          rest += term.coefficient * values[static_cast<std::size_t>(term.variable)];
        }
      }
      z.cut(a, row.lower - rest, row.upper - rest);
    }
    if (whole) {
      z.low = std::ceil(z.low - kTiny);
      z.high = std::floor(z.high + kTiny);
    }
    if (z.low > z.high + kTiny || z.low == kInfinity || z.high == -kInfinity) return;
    const double cost = line_cost();
    const double best = cost > 0   ? z.low
                        : cost < 0 ? z.high
                                   : (std::isfinite(z.low)    ? z.low
                                      : std::isfinite(z.high) ? z.high
                                                              : 0);
    if (!std::isfinite(best)) {
      truth.status = MilpStatus::unbounded;
      return;
    }
    double objective = model.offset() + cost * best;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (static_cast<int>(j) != line) objective += model.variables()[j].objective * values[j];
    }
    if (truth.status == MilpStatus::unbounded) return;
    truth.status = MilpStatus::optimal;
    truth.objective = std::min(truth.objective, objective);
  }

  void descend(std::size_t j) {
    if (j == values.size()) return leaf();
    if (static_cast<int>(j) == line) return descend(j + 1);
    const milp::Variable& v = model.variables()[j];
    for (double x = std::ceil(v.lower); x <= v.upper; ++x) {
      values[j] = x;
      descend(j + 1);
    }
  }
};

}  // namespace

int draw(std::mt19937_64& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

RandomModel random_model(std::mt19937_64& random) {
  RandomModel out;
  const auto chance = [&](int percent) { return draw(random, 1, 100) <= percent; };
  const int n = draw(random, 1, 5);
  out.line = chance(60) ? draw(random, 0, n - 1) : -1;
  for (int j = 0; j < n; ++j) {
    const double lower = draw(random, -3, 1);
    milp::Variable v{.name = std::string(1, 'x') + std::to_string(j),
                     .lower = lower,
                     .upper = lower + draw(random, 0, 4),
                     .objective = static_cast<double>(draw(random, -5, 5)),
                     .integer = true};
    if (chance(15)) v.lower -= 0.5;
    if (chance(15)) v.upper += 0.25;
    if (j == out.line) {
      v.integer = chance(40);
      if (chance(40)) v.lower = -kInfinity;
      if (chance(60)) v.upper = kInfinity;
    }
    out.model.add_variable(v);
  }
  if (chance(50)) out.model.set_offset(draw(random, -40, 40) / 4.0);
  const int m = draw(random, 0, 5);
  for (int i = 0; i < m; ++i) {
    milp::Row row{.name = std::string(1, 'R') + std::to_string(i)};
    const int terms = chance(7) ? 0 : draw(random, 1, n + 1);
    for (int k = 0; k < terms; ++k) {
      row.terms.push_back({draw(random, 0, n - 1), static_cast<double>(draw(random, -6, 6))});
    }
    const double side = draw(random, -16, 24) / 2.0;
    switch (draw(random, 0, 9)) {
      case 0:
        break;  // free
      case 1:
      case 2:
        row.lower = row.upper = std::floor(side);
        break;
      case 3:
      case 4:
      case 5:
        row.lower = side - draw(random, 1, 8);
        row.upper = side;
        break;
      case 6:
      case 7:
        row.lower = side - 6;
        break;
      default:
        row.upper = side;
    }
    out.model.add_row(row);
  }
  return out;
}

Truth enumerate(const RandomModel& random) {
  Enumerator all{.model = random.model,
                 .line = random.line,
                 .values = std::vector<double>(random.model.variables().size())};
  all.descend(0);
  return all.truth;
}

}  // namespace stowage
