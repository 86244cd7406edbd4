// Draws the lengths of a step's sequences, and the kind of group or replica of each.
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
  std::size_t kind = 0;  // index of its kind
};

// Draws stacked bars over bins that are half an octave wide, [2^(k/2), 2^((k+1)/2)) tokens.
// Tooltips state the sequences and tokens of a bar.
Picture length_histogram(const std::string& heading, const std::vector<PlacedLength>& lengths,
                         const std::vector<std::string>& kinds, const Hues& hues);

}  // namespace stowage
