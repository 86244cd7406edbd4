// As many ranks as a sequence fills: ByteScale's hybrid data parallelism (arXiv 2502.21231,
// sections 4 and 5).
//
// Published: a sequence longer than a rank's capacity is spread over ceil(length / capacity) ranks,
// shorter ones are packed whole onto single ranks; sequences of like work are put into the same
// time step, so that ranks finish together.
// Interpretation: where that many ranks are not an allowed degree, the next larger one is taken;
// work is this library's cost model; a time step is a micro-batch. Ranks that stand idle at the end
// of a time step are not refilled from later ones, as they could without a synchronisation.
#pragma once

#include <optional>

#include "heuristics/scatter/draft.h"

namespace stowage {

// Nothing if no level holds the longest sequence. O(K log K).
std::optional<StepDraft> bytescale(const ScatterTable& table);

}  // namespace stowage
