// Estimates the width of a text without its font.
//
// The viewer chooses the font. The widths are those of DejaVu Sans, the widest of the common fonts,
// rounded up. A text that fits by this estimate fits in Verdana, Helvetica and Arial as well.
//
//   text_width("ranks", 12) < 40
//   shortened("a very long name", 12, 60) == "a very…"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stowage {

// Returns the width in pixels for a font size in pixels; at least the true width in the fonts of
// style.h.
double text_width(std::string_view text, double font_size);

// Returns `text`, or its beginning with an ellipsis if `text` would be wider than `width`.
std::string shortened(const std::string& text, double font_size, double width);

// Returns `text` cut at blanks into lines of at most `width`; a wider word is shortened.
std::vector<std::string> wrapped(const std::string& text, double font_size, double width);

}  // namespace stowage
