// Random graphs in layers, for generate.h.
//
// Thread safety: functions of their arguments alone.
#pragma once

#include <cstdint>

#include "instances/order/instance.h"

namespace stowage {

// Layers of half the square root of the operators; each reads one to four tensors, each of any
// operator of the three layers before. Requires operators >= 1.
OrderInstance layered_graph(std::int64_t operators, std::uint64_t seed);

// Layers as published: about 1.8 times as many as a layer has operators, which are read at about
// the same place of the next layer, a fifth of it wide, and one time in seven further on.
// Requires operators >= 1.
OrderInstance local_layers_graph(std::int64_t operators, std::uint64_t seed);

}  // namespace stowage
