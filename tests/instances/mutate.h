// Damages a text at random, as a careless editor or a broken disk would.
#pragma once

#include <random>
#include <string>
#include <string_view>

#include "instances/numeric/random.h"

namespace stowage {

// `text` with one to eight bytes changed, removed, inserted or repeated.
inline std::string mutate(std::string text, std::mt19937_64& random) {
  static constexpr std::string_view kFavourites = "{}[]\",:-+.0123456789eEntf\\/ \n\x80\xFF";
  for (std::uint64_t n = 1 + draw(random, 8); n > 0 && !text.empty(); --n) {
    const std::size_t at = draw(random, text.size());
    const char byte = draw(random, 4) == 0 ? static_cast<char>(draw(random, 256))
                                           : kFavourites[draw(random, kFavourites.size())];
    switch (draw(random, 5)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.erase(at, 1 + draw(random, 4));
        break;
      case 2:
        text.insert(at, 1, byte);
        break;
      case 3:
        text.insert(at, text.substr(draw(random, text.size()), draw(random, 40)));
        break;
      default:
        text.resize(text.size() - draw(random, 3));
        break;
    }
  }
  return text;
}

}  // namespace stowage
