// How long the sequences of a step are, and where each length went.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "instances/pictures/drawing/hues.h"
#include "instances/pictures/drawing/panel.h"
#include "instances/units.h"

namespace stowage {

struct PlacedLength {
  Tokens length = 0;
  std::size_t kind = 0;  // of the hues
};

// Stacked bars over bins that are half an octave wide, [2^(k/2), 2^((k+1)/2)) tokens. Tooltips say
// how many sequences and tokens a bar stands for.
Picture length_histogram(const std::string& heading, const std::vector<PlacedLength>& lengths,
                         const std::vector<std::string>& kinds, const Hues& hues);

}  // namespace stowage
