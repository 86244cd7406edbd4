// Lowering the peak of a layout of many buffers for as long as there is time.
//
// Rounds of two kinds of work that take about as long. A dive is made anew, with more bytes
// pretended where layouts before were too high (fullest_dive): of many such layouts some are
// better. What is highest in the best layout is ejected and put in below (ejection.h): that helps
// where few buffers are alive together, and few are too high. The first kind has fewer turns where
// it is far behind.
//
//   offsets = improve_layout(table, offsets, seed, budget, [&](const auto& better) { ... });
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/table.h"

namespace stowage {

using BetterLayout = std::function<void(const std::vector<Bytes>& offsets)>;

// The best layout met, never worse than `offsets`; each better one is told. Ends at the max load,
// with the budget, or after a few rounds that have found nothing better. Requires table.stackable()
// and pins that do not clash.
std::vector<Bytes> improve_layout(const LayoutTable& table, std::vector<Bytes> offsets,
                                  std::uint64_t seed, Budget& budget, const BetterLayout& tell);

}  // namespace stowage
