// Planes below the measured times of groups (TimeGrid of instance.h).
//
// Each cell of a grid is cut in two, and on each half the time is a plane. So a plane lies below
// the grid in a region if it does at the corners of the pieces.
#pragma once

#include <span>
#include <vector>

#include "instances/scatter/instance.h"

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

// The region of a grid in which groups can be: their sequences have `shortest` to `longest` tokens
// each, so that shortest T <= Q <= longest T.
struct RowShapes {
  double shortest = 0;
  double longest = 0;
};

// A time of the grid and its place.
struct GridPoint {
  double tokens = 0;
  double squares = 0;
  Ms ms = 0;
};

// Returns the points that a plane must not exceed to lie below the grid wherever its groups can be:
// the corners of all pieces of the region, by ascending tokens.
std::vector<GridPoint> corners(const TimeGrid& grid, RowShapes shapes);

// Returns a plane below the corners, with three numbers of at least 0, that is as high as possible
// at one place. To stay below in spite of rounding, it is lowered by 1e-11 of the highest corner.
AffineTime highest_below(std::span<const GridPoint> corners, double tokens, double squares);

// Returns the plane through the first entry that is nearest to the corners in relative terms.
AffineTime nearest(const TimeGrid& grid, std::span<const GridPoint> corners, double most_tokens);

}  // namespace stowage
