#include "solvers/configure/assignment.h"

#include <algorithm>
#include <cstddef>

#include "instances/numeric/numbers.h"

namespace stowage {

// Column 0 and row 0 mean "unassigned". The prices of rows and columns are those of the dual
// programme.
Assignment least_assignment(const std::vector<std::vector<double>>& costs) {
  const std::size_t rows = costs.size();
  const std::size_t columns = rows == 0 ? 0 : costs.front().size();
  std::vector<double> row_price(rows + 1, 0);
  std::vector<double> column_price(columns + 1, 0);
  std::vector<std::size_t> row_of(columns + 1, 0);
  for (std::size_t row = 1; row <= rows; ++row) {
    std::vector<double> distance(columns + 1, kInfinity);
    std::vector<std::size_t> before(columns + 1, 0);  // previous column on the shortest path
    std::vector<bool> done(columns + 1, false);
    row_of[0] = row;
    std::size_t column = 0;
    while (row_of[column] != 0) {
      done[column] = true;
      const std::size_t from = row_of[column];
      std::size_t nearest = 0;
      double step = kInfinity;
      for (std::size_t next = 1; next <= columns; ++next) {
        if (done[next]) continue;
        const double way = costs[from - 1][next - 1] - row_price[from] - column_price[next];
        if (way < distance[next]) {
          distance[next] = way;
          before[next] = column;
        }
        if (distance[next] < step) {
          step = distance[next];
          nearest = next;
        }
      }
      for (std::size_t next = 0; next <= columns; ++next) {
        if (done[next]) {
          row_price[row_of[next]] += step;
          column_price[next] -= step;
        } else {
          distance[next] -= step;
        }
      }
      column = nearest;
    }
    for (; column != 0; column = before[column]) row_of[column] = row_of[before[column]];
  }
  Assignment least{.columns = std::vector<std::int64_t>(rows, 0)};
  for (std::size_t column = 1; column <= columns; ++column) {
    if (row_of[column] == 0) continue;
    const std::size_t row = row_of[column] - 1;
    least.columns[row] = static_cast<std::int64_t>(column) - 1;
    least.cost += costs[row][column - 1];
  }
  return least;
}

}  // namespace stowage
