// What is done to a point before anybody believes it.
//
//   if (!round_integers(model, values)) return lie("x is not integral");
//   if (model.violation(values) > kFeasibilityTolerance) return lie(worst_break(model, values));
#pragma once

#include <string>
#include <vector>

#include "formulations/milp/model.h"

namespace stowage {

inline constexpr double kFeasibilityTolerance = 1e-6;  // of Model::violation
inline constexpr double kIntegralityTolerance = 1e-5;  // of a value a backend calls integral
inline constexpr double kObjectiveTolerance = 1e-6;    // relative to max(1, |objective|)
inline constexpr double kOptimalityTolerance = 1e-9;   // relative to max(1, |objective|)

// True when a and b are within `tolerance` times max(1, |a|) of each other; never for NaN.
bool close(double a, double b, double tolerance);

// Makes integer variables exactly integral and moves values that leave their bounds by no more than
// the feasibility tolerance back onto them. False, with `values` in any state, if a value is not
// finite or an integer variable is farther than the integrality tolerance from every integer.
bool round_integers(const milp::Model& model, std::vector<double>& values);

// The worst of the model's constraints at `values`, in words: "row C1 by 0.5".
std::string worst_break(const milp::Model& model, const std::vector<double>& values);

// The model with its integer variables fixed at `values`: a linear programme that recomputes the
// continuous variables after rounding.
milp::Model with_integers_fixed(const milp::Model& model, const std::vector<double>& values);

// A linear programme whose optimum is negative exactly if the relaxation of `model` has a direction
// along which the objective falls forever; its optimal point is that direction.
milp::Model recession_model(const milp::Model& model);

}  // namespace stowage
