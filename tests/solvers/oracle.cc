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
  const int n = draw(random, 1, 7);
  const int large = chance(50) ? 6 : 30;  // coefficients; models with large ones need branching
  out.line = chance(50) ? draw(random, 0, n - 1) : -1;
  // most rows are built to hold at this point, because otherwise nearly all models were infeasible
  std::vector<int> point;
  for (int j = 0; j < n; ++j) {
    const int lower = draw(random, -3, 1);
    const int upper = lower + (chance(10) ? 0 : draw(random, 1, 4));
    milp::Variable v{.name = std::string(1, 'x') + std::to_string(j),
                     .lower = static_cast<double>(lower),
                     .upper = static_cast<double>(upper),
                     .objective = static_cast<double>(draw(random, -large, large)),
                     .integer = true};
    if (chance(15)) v.lower -= 0.5;
    if (chance(15)) v.upper += 0.25;
    if (j == out.line) {
      v.integer = chance(40);
      if (chance(30)) v.lower = -kInfinity;
      if (chance(50)) v.upper = kInfinity;
    }
    point.push_back(draw(random, lower, upper));
    out.model.add_variable(v);
  }
  if (chance(50)) out.model.set_offset(draw(random, -40, 40) / 4.0);
  const int m = chance(8) ? 0 : draw(random, 2, 7);
  for (int i = 0; i < m; ++i) {
    milp::Row row{.name = std::string(1, 'R') + std::to_string(i)};
    const int terms = chance(5) ? 0 : chance(15) ? 1 : draw(random, 2, n + 1);
    int activity = 0;
    for (int k = 0; k < terms; ++k) {
      const int j = draw(random, 0, n - 1);
      const int a = draw(random, -large, large);
      row.terms.push_back({j, static_cast<double>(a)});
      activity += a * point[static_cast<std::size_t>(j)];
    }
    const double low = activity - (chance(92) ? draw(random, 0, 8) / 2.0 : -1);
    const double high = activity + (chance(92) ? draw(random, 0, 8) / 2.0 : -1);
    const int kind = draw(random, 0, 10);
    if (kind == 0) {
      row.lower = row.upper = activity;
    } else if (kind <= 4) {
      row.lower = std::min(low, high);
      row.upper = std::max(low, high);
    } else if (kind <= 7) {
      row.lower = low;
    } else if (kind <= 9) {
      row.upper = high;
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

namespace {

std::vector<std::vector<int>> draw_table(int agents, int jobs, std::uint64_t seed, int low,
                                         int high) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<int>> table(static_cast<std::size_t>(agents));
  for (std::vector<int>& row : table) {
    for (int j = 0; j < jobs; ++j) row.push_back(draw(random, low, high));
  }
  return table;
}

// x[i * jobs + j]: agent i takes job j; every job is taken once.
void add_assignment(milp::Model& model, const std::vector<std::vector<int>>& cost, bool priced) {
  const std::size_t jobs = cost[0].size();
  for (const std::vector<int>& row : cost) {
    for (const int c : row) {
      model.add_variable({.upper = 1, .objective = priced ? c : 0.0, .integer = true});
    }
  }
  for (std::size_t j = 0; j < jobs; ++j) {
    milp::Row once{.lower = 1, .upper = 1};
    for (std::size_t i = 0; i < cost.size(); ++i) {
      once.terms.push_back({static_cast<int>(i * jobs + j), 1});
    }
    model.add_row(std::move(once));
  }
}

int best_makespan(const std::vector<std::vector<int>>& time, std::size_t job,
                  std::vector<int>& load, int best) {
  if (job == time[0].size()) return std::min(best, *std::max_element(load.begin(), load.end()));
  for (std::size_t i = 0; i < time.size(); ++i) {
    load[i] += time[i][job];
    if (load[i] < best) best = best_makespan(time, job + 1, load, best);
    load[i] -= time[i][job];
  }
  return best;
}

}  // namespace

milp::Model makespan_model(int agents, int jobs, std::uint64_t seed, double factor) {
  const auto time = draw_table(agents, jobs, seed, 10, 999);
  milp::Model model;
  add_assignment(model, time, false);
  const int makespan = model.add_variable({.name = "makespan", .objective = 1});
  for (int i = 0; i < agents; ++i) {
    milp::Row row{.upper = 0, .terms = {{makespan, -1}}};
    for (int j = 0; j < jobs; ++j) {
      const int p = time[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      row.terms.push_back({i * jobs + j, p * factor});
    }
    model.add_row(std::move(row));
  }
  return model;
}

double makespan_optimum(int agents, int jobs, std::uint64_t seed) {
  std::vector<int> load(static_cast<std::size_t>(agents));
  return best_makespan(draw_table(agents, jobs, seed, 10, 999), 0, load, 1 << 30);
}

milp::Model market_split_model(int rows, std::uint64_t seed) {
  const int products = 10 * (rows - 1);
  const auto demand = draw_table(rows, products, seed, 0, 99);
  milp::Model model;
  model.set_offset(1);
  for (int j = 0; j < products; ++j) model.add_variable({.upper = 1, .integer = true});
  for (const std::vector<int>& of_row : demand) {
    milp::Row row;
    int total = 0;
    for (int j = 0; j < products; ++j) {
      const int units = of_row[static_cast<std::size_t>(j)];
      if (units > 0) row.terms.push_back({j, static_cast<double>(units)});
      total += units;
    }
    for (const double side : {1.0, -1.0}) {
      row.terms.push_back({static_cast<int>(model.variables().size()), side});
      model.add_variable({.upper = 1.0 * total, .objective = 1});
    }
    row.lower = row.upper = std::floor(total / 2.0);
    model.add_row(std::move(row));
  }
  return model;
}

milp::Model assignment_model(int agents, int jobs, std::uint64_t seed) {
  const auto cost = draw_table(agents, jobs, seed, 10, 50);
  const auto size = draw_table(agents, jobs, seed + 1, 5, 25);
  milp::Model model;
  add_assignment(model, cost, true);
  for (int i = 0; i < agents; ++i) {
    milp::Row row{.upper = std::floor(0.8 * 15.0 * jobs / agents)};
    for (int j = 0; j < jobs; ++j) {
      const int s = size[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      row.terms.push_back({i * jobs + j, static_cast<double>(s)});
    }
    model.add_row(std::move(row));
  }
  return model;
}

}  // namespace stowage
