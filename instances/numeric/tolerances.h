// The relative tolerances that decide which plans are valid, which bounds are proven, and which
// plans a planner tries.
//
// The first word of each name is the user of the number. A checker reads certificates and decides
// their bounds, so it rounds towards the weaker proof. A bound search makes the proofs that a
// checker must accept, so its tolerance is a little wider than the checker's. A verifier compares
// the values that a plan states with the values that it computes anew. A planner fills groups and
// rows up to a limit that a verifier must still accept. The static assertions at the end hold the
// order of these numbers. Not installed.
#pragma once

namespace stowage {

// Checkers compute in long double, with more digits than the numbers that they check.
using Real = long double;

// A checker multiplies sums by these factors if rounding could otherwise help a proof.
inline constexpr Real kCheckerRaised = 1 + 1e-12L;
inline constexpr Real kCheckerLowered = 1 - 1e-12L;

// If the time of a group or sequence exceeds the room by at most the first factor, a checker counts
// it as one that fits. A time shortened by the second factor is surely no longer than the true
// time.
inline constexpr Real kCheckerFits = 1 + 1e-9L;
inline constexpr Real kCheckerShort = 1 - 1e-9L;

// Up to the first factor, a bound search counts a group or sequence as one that fits. It leaves a
// number of rows out only if the longest sequence, shortened by the second factor, exceeds their
// room.
inline constexpr double kBoundFits = 1 + 2e-9;
inline constexpr double kBoundShort = 1 - 4e-9;

// A bound search lowers its bound by this share, because the checker's sums round.
inline constexpr double kBoundMargin = 1e-9;

// A bound that is below the objective of a known plan by at most this share is equal to it, apart
// from rounding.
inline constexpr double kBoundMeets = 4e-10;

// A verifier accepts a stated time or size that differs from the recomputed value by at most this
// share.
inline constexpr double kVerifierDiffers = 1e-9;

// A planner fills at most this part of a limit, since sums round differently in the finished plan.
inline constexpr double kPlannerFill = 1 - 1e-12;

// A planner counts a plan as faster only if its time is below this part of the old time.
inline constexpr double kPlannerFaster = 1 - 1e-9;

// A bound search excludes less than the checker does.
static_assert(kBoundFits > kCheckerFits && kBoundShort < kCheckerShort);
// A claim that was lowered by the margin holds in the checker's rounded sums.
static_assert(1 - kBoundMargin < kCheckerLowered / kCheckerRaised);
// A bound that was raised to an objective stays within the tolerance of a verifier.
static_assert(2 * kBoundMeets < kVerifierDiffers);
// A group that is filled up to the planner's limit is within the verifier's.
static_assert(kPlannerFill < 1 && 1 - kPlannerFill < kVerifierDiffers);
// The rounding margin of a checker is far smaller than the excess that it accepts.
static_assert(kCheckerRaised < kCheckerFits && kCheckerLowered > kCheckerShort);

}  // namespace stowage
