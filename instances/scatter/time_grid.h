// How long groups of one degree take, measured: times by their tokens and the sum of the squares of
// their sequences' padded lengths, and what lies between.
//
//   TimeGrid grid{.tokens = {0, 1024}, .squares = {0, 1048576}, .ms = {3, 9, 8, 20}};
//   grid.at(512, 262144);  // between 3, 8 and 20: a row of 512 tokens
//
// Each cell of the grid is cut in two by the diagonal from its least to its greatest corner, and on
// each half the time is the plane through its three corners. So it is continuous, grows wherever
// the entries do, and a plane lies below it in a region if it does at the corners of the pieces.
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "instances/units.h"

namespace stowage {

// ms + token_ms T + square_ms Q, for T tokens and a sum of squares Q.
struct AffineTime {
  Ms ms = 0;
  double token_ms = 0;
  double square_ms = 0;

  Ms at(double tokens, double squares) const {
    return ms + token_ms * tokens + square_ms * squares;
  }
  bool operator==(const AffineTime&) const = default;
};

struct TimeGrid {
  // Ascending from 0, two entries at least.
  std::vector<double> tokens;
  std::vector<double> squares;
  // By tokens, then squares; not decreasing in either, none below 0.
  std::vector<Ms> ms;

  Ms entry(std::size_t token, std::size_t square) const {
    return ms[token * squares.size() + square];
  }
  // Beyond the last entries the last cell goes on.
  Ms at(double token, double square) const {
    const std::size_t i = cell(tokens, token);
    const std::size_t j = cell(squares, square);
    const double u = (token - tokens[i]) / (tokens[i + 1] - tokens[i]);
    const double v = (square - squares[j]) / (squares[j + 1] - squares[j]);
    const Ms* const low = ms.data() + i * squares.size() + j;
    const Ms* const high = low + squares.size();
    return u >= v ? low[0] + u * (high[0] - low[0]) + v * (high[1] - high[0])
                  : low[0] + v * (low[1] - low[0]) + u * (high[1] - low[1]);
  }

  bool operator==(const TimeGrid&) const = default;

 private:
  // The index of the last entry that is at most `value`, but not of the last of all.
  static std::size_t cell(const std::vector<double>& axis, double value) {
    std::size_t first = 0;
    for (std::size_t left = axis.size() - 2; left > 0;) {
      const std::size_t step = (left + 1) / 2;
      const bool beyond = axis[first + step] <= value;
      first = beyond ? first + step : first;
      left = beyond ? left - step : step - 1;
    }
    return first;
  }
};

// Where groups of a grid can be: their sequences have `shortest` to `longest` tokens each, so that
// shortest T <= Q <= longest T.
struct RowShapes {
  double shortest = 0;
  double longest = 0;
};

// A time of the grid with its place.
struct GridPoint {
  double tokens = 0;
  double squares = 0;
  Ms ms = 0;
};

// What a plane must not exceed to lie below the grid wherever its groups can be: the corners of all
// pieces of the region, by ascending tokens.
std::vector<GridPoint> corners(const TimeGrid& grid, RowShapes shapes);

// Of the planes below the corners with three numbers of at least 0, one that is as high as possible
// at a place. Rounding leaves it below: it is lower by 1e-11 of the highest corner.
AffineTime highest_below(std::span<const GridPoint> corners, double tokens, double squares);

// The plane through the first entry that is nearest to the corners in relative terms.
AffineTime nearest(const TimeGrid& grid, std::span<const GridPoint> corners, double most_tokens);

}  // namespace stowage
