// The verifier of a window of steps whose sequences were dealt out anew. It has code of its own and
// compares the steps with those that were drawn.
//
// rule             steps of a window keep it if
//   window_steps     there are as many as were drawn, each with as many sequences as it was drawn
//                    with
//   window_sequence  each sequence is one that was drawn, with its length and its targets
//   window_once      every sequence that was drawn is in one place
//   window_delay     no sequence is more than `delay` steps behind the step that it was drawn in
//   window_tokens    no step has more tokens than the largest drawn step times `token_spread`, or
//                    fewer than the smallest drawn step divided by it
//
// Thread safety: a function of its arguments alone.
#pragma once

#include <vector>

#include "instances/scatter/drawn.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/window_rule.h"
#include "instances/violation.h"

namespace stowage {

// Checks the steps of a window. `deal` has, for each of `steps` and each of its sequences, the step
// of the window and the index that it was drawn with. Returns the violations, none if there are
// none.
std::vector<Violation> check_window(const std::vector<ScatterInstance>& drawn,
                                    const std::vector<ScatterInstance>& steps,
                                    const std::vector<std::vector<DrawnSequence>>& deal,
                                    const WindowRule& rule);

}  // namespace stowage
