// Random graphs in layers, for generate.h.
//
// Thread safety: functions of their arguments alone.
#pragma once

#include <cstdint>

#include "instances/order/instance.h"

namespace stowage {

// Returns a graph whose layers hold half the square root of the operators. Each operator reads one
// to four tensors of any operators of the three layers before. Requires operators >= 1.
OrderInstance layered_graph(std::int64_t operators, std::uint64_t seed);

// Returns a graph with layers as published. There are about 1.8 times as many layers as operators
// in a layer. An operator is read at about the same place of the next layer, in a window of a fifth
// of that layer, and one time in seven in a later layer. Requires operators >= 1.
OrderInstance local_layers_graph(std::int64_t operators, std::uint64_t seed);

}  // namespace stowage
