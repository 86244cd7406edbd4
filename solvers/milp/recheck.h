// Checks of a solution before it is accepted.
//
//   if (!round_integers(model, values)) return lie("x is not integral");
//   if (model.violation(values) > kFeasibilityTolerance) return lie(worst_break(model, values));
#pragma once

#include <string>
#include <vector>

#include "formulations/milp/model.h"

namespace stowage {

inline constexpr double kFeasibilityTolerance = 1e-6;  // largest accepted Model::violation()
inline constexpr double kIntegralityTolerance = 1e-5;  // largest distance from an integer
inline constexpr double kObjectiveTolerance = 1e-6;    // relative to max(1, |objective|)
inline constexpr double kOptimalityTolerance = 1e-9;   // relative to max(1, |objective|)

// Returns true if a and b differ by at most `tolerance` times max(1, |a|), and false for NaN.
bool close(double a, double b, double tolerance);

// Rounds integer variables exactly, and moves values beyond their bounds by at most the feasibility
// tolerance onto the bounds. Returns false, with `values` in any state, if a value is not finite or
// an integer variable is farther than the integrality tolerance from every integer.
bool round_integers(const milp::Model& model, std::vector<double>& values);

// Returns the most violated constraint of the model at `values`, for example "row C1 by 0.5".
std::string worst_break(const milp::Model& model, const std::vector<double>& values);

// Returns the model with its integer variables fixed at `values`: a linear programme that
// recomputes the continuous variables after rounding.
milp::Model with_integers_fixed(const milp::Model& model, const std::vector<double>& values);

// Returns a linear programme whose optimum is negative exactly if the relaxation of `model` has a
// direction along which the objective falls without end. Its optimal solution is that direction.
milp::Model recession_model(const milp::Model& model);

}  // namespace stowage
