// How wide a text will be, without a font at hand.
//
// The viewer chooses the font. The widths are those of DejaVu Sans, the widest of the common ones,
// rounded up, so that what fits by this estimate fits in Verdana, Helvetica and Arial as well.
//
//   text_width("ranks", 12) < 40
//   shortened("a very long name", 12, 60) == "a very…"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stowage {

// In pixels for a font size in pixels; at least the true width in the fonts of style.h.
double text_width(std::string_view text, double font_size);

// `text`, or its beginning with an ellipsis where it would be wider than `width`.
std::string shortened(const std::string& text, double font_size, double width);

// `text` cut at blanks into lines of at most `width`; a word that is wider is shortened.
std::vector<std::string> wrapped(const std::string& text, double font_size, double width);

}  // namespace stowage
