#include "instances/scatter/cost/time_grid.h"

#include <algorithm>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr int kSearchSteps = 40;  // most steps; about six are usual
// Relative rounding error of values on planes, and the share by which a plane is lowered for it.
constexpr double kRounding = 1e-12;
constexpr double kBelow = 1e-11;
constexpr Ms kLeastWeighed = 1e-9;  // shorter times have its weight, so that weights stay finite

// Adds the corners of the region on the ray of rows of equal sequences of `length` tokens: its
// crossings with the lines of the grid and the diagonals of its cells.
void add_ray(const TimeGrid& grid, double length, std::vector<GridPoint>& corners) {
  const auto add = [&](double tokens, double squares) {
    if (tokens > grid.tokens.back() || squares > grid.squares.back()) return;
    corners.push_back({tokens, squares, grid.at(tokens, squares)});
  };
  for (const double tokens : grid.tokens) add(tokens, length * tokens);
  if (!(length > 0)) return;
  for (const double squares : grid.squares) add(squares / length, squares);
  for (std::size_t i = 0; i + 1 < grid.tokens.size(); ++i) {
    const double wide = grid.tokens[i + 1] - grid.tokens[i];
    for (std::size_t j = 0; j + 1 < grid.squares.size(); ++j) {
      const double high = grid.squares[j + 1] - grid.squares[j];
      // squares_j + (T - tokens_i) high / wide = length T
      const double slope = high / wide;
      const double at = (grid.squares[j] - grid.tokens[i] * slope) / (length - slope);
      if (at > grid.tokens[i] && at < grid.tokens[i + 1]) add(at, length * at);
    }
  }
}

// The highest plane at a place among those of a given price per square, and its value there. The
// value is a concave function of the price, with this slope; -infinity if the price is too high for
// any plane.
struct Highest {
  double value = -kInfinity;
  double slope = 0;
  AffineTime plane;
};

// Returns the highest of the lines below all (T_i, ms_i - square_ms Q_i) with two numbers of at
// least 0: one along the lower hull, a configuration one, or one from the origin. `hull` is a
// buffer.
Highest highest_of_price(std::span<const GridPoint> corners, double square_ms, double tokens,
                         double squares, std::vector<GridPoint>& hull) {
  hull.clear();
  const auto turns = [](const GridPoint& a, const GridPoint& b, const GridPoint& c) {
    return (b.ms - a.ms) * (c.tokens - a.tokens) >= (c.ms - a.ms) * (b.tokens - a.tokens);
  };
  GridPoint least{.ms = kInfinity};
  GridPoint flattest{.tokens = 1, .ms = kInfinity};  // seen from the origin
  for (const GridPoint& corner : corners) {
    GridPoint point = corner;
    point.ms -= square_ms * corner.squares;
    if (point.ms < -kRounding * corner.ms) return {};
    point.ms = std::max(0.0, point.ms);
    if (point.ms < least.ms) least = point;
    if (point.tokens > 0 && point.ms * flattest.tokens < flattest.ms * point.tokens) {
      flattest = point;
    }
    if (!hull.empty() && hull.back().tokens == point.tokens) {
      if (hull.back().ms <= point.ms) continue;
      hull.pop_back();
    }
    while (hull.size() > 1 && turns(hull[hull.size() - 2], hull.back(), point)) hull.pop_back();
    hull.push_back(point);
  }
  Highest best;
  const auto offer = [&](double constant, double token_ms, double touched) {
    if (!(constant >= 0) || !(token_ms >= 0)) return;
    const double value = constant + token_ms * tokens + square_ms * squares;
    if (value <= best.value) return;
    best = {value, squares - touched, {constant, token_ms, square_ms}};
  };
  offer(least.ms, 0, least.squares);
  if (flattest.ms < kInfinity) {
    const double share = tokens / flattest.tokens;
    offer(0, flattest.ms / flattest.tokens, share * flattest.squares);
  }
  const auto right = std::ranges::lower_bound(hull, tokens, {}, &GridPoint::tokens);
  if (right != hull.begin() && right != hull.end()) {
    const GridPoint& high = *right;
    const GridPoint& low = *(right - 1);
    const double share = (tokens - low.tokens) / (high.tokens - low.tokens);
    const double token_ms = (high.ms - low.ms) / (high.tokens - low.tokens);
    offer(low.ms - token_ms * low.tokens, token_ms,
          low.squares + share * (high.squares - low.squares));
  }
  return best;
}

}  // namespace

std::vector<GridPoint> corners(const TimeGrid& grid, RowShapes shapes) {
  std::vector<GridPoint> all;
  for (std::size_t i = 0; i < grid.tokens.size(); ++i) {
    for (std::size_t j = 0; j < grid.squares.size(); ++j) {
      const double tokens = grid.tokens[i];
      const double squares = grid.squares[j];
      if (squares < shapes.shortest * tokens || squares > shapes.longest * tokens) continue;
      all.push_back({tokens, squares, grid.entry(i, j)});
    }
  }
  add_ray(grid, shapes.shortest, all);
  if (shapes.longest > shapes.shortest) add_ray(grid, shapes.longest, all);
  std::ranges::stable_sort(all, {}, &GridPoint::tokens);
  return all;
}

AffineTime highest_below(std::span<const GridPoint> corners, double tokens, double squares) {
  // The largest price of a square: a higher price alone would exceed a corner.
  double most = kInfinity;
  Ms highest = 0;
  for (const GridPoint& corner : corners) {
    if (corner.squares > 0) most = std::min(most, corner.ms / corner.squares);
    highest = std::max(highest, corner.ms);
  }
  if (most == kInfinity) most = 0;
  std::vector<GridPoint> hull;
  const auto at = [&](double square_ms) {
    return highest_of_price(corners, square_ms, tokens, squares, hull);
  };
  // The value is concave in the price. The best price lies between a rising and a falling tangent,
  // and the price at which these meet is tried next.
  Highest low = at(0);
  Highest high = at(most);
  for (int step = 0; step < kSearchSteps && low.slope > 0 && high.slope < 0; ++step) {
    const double width = high.plane.square_ms - low.plane.square_ms;
    const double share =
        (high.value - low.value - high.slope * width) / ((low.slope - high.slope) * width);
    if (!(share > 0 && share < 1)) break;
    const double promised = low.value + low.slope * share * width;
    const Highest next = at(low.plane.square_ms + share * width);
    (next.slope > 0 ? low : high) = next;
    if (next.value >= promised * (1 - kRounding)) break;
  }
  AffineTime plane = low.value >= high.value ? low.plane : high.plane;
  // Lowered by more than the rounding; the constant stays at least 0.
  plane.ms = std::max(0.0, plane.ms - kBelow * highest);
  plane.token_ms *= 1 - kBelow;
  plane.square_ms *= 1 - kBelow;
  return plane;
}

AffineTime nearest(const TimeGrid& grid, std::span<const GridPoint> corners, double most_tokens) {
  const Ms fixed = grid.ms.front();
  // Minimises the squares of (t - fixed - a T - b Q) / t.
  double tt = 0;
  double tq = 0;
  double qq = 0;
  double ty = 0;
  double qy = 0;
  for (const GridPoint& corner : corners) {
    if (corner.tokens > most_tokens || !(corner.ms > 0)) continue;
    const Ms weighed = std::max(corner.ms, kLeastWeighed);
    const double t = corner.tokens / weighed;
    const double q = corner.squares / weighed;
    const double y = (corner.ms - fixed) / weighed;
    tt += t * t;
    tq += t * q;
    qq += q * q;
    ty += t * y;
    qy += q * y;
  }
  const double determinant = tt * qq - tq * tq;
  double token_ms = determinant > 1e-12 * tt * qq ? (ty * qq - qy * tq) / determinant : -1;
  double square_ms = determinant > 1e-12 * tt * qq ? (qy * tt - ty * tq) / determinant : -1;
  if (token_ms < 0 || square_ms < 0) {
    // With only one of the two, takes the one that explains more.
    const double by_tokens = tt > 0 ? ty * ty / tt : 0;
    const double by_squares = qq > 0 ? qy * qy / qq : 0;
    token_ms = by_tokens >= by_squares && tt > 0 ? std::max(0.0, ty / tt) : 0;
    square_ms = by_tokens < by_squares ? std::max(0.0, qy / qq) : 0;
  }
  return {fixed, token_ms, square_ms};
}

}  // namespace stowage
