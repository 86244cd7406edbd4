#include "instances/pictures/drawing/text_width.h"

#include <string_view>

#include "instances/pictures/drawing/xml.h"

namespace stowage {
namespace {

// Returns the width in ems.
double width_of(char32_t point) {
  constexpr std::u32string_view kNarrow = U" .,:;'|!()[]/\\-iljtfrI";
  constexpr std::u32string_view kWide = U"mwMWOQGDHNU@%+=<>~#&…→";
  if (point >= 0x2E80) return 1.4;  // East Asian, symbols: full width and more
  if (kNarrow.find(point) != std::u32string_view::npos) return 0.42;
  if (kWide.find(point) != std::u32string_view::npos) return 1.0;
  if (point >= 'A' && point <= 'Z') return 0.74;
  return point < 0x80 ? 0.64 : 0.9;
}

// Returns the longest beginning of `text` of at most `width` ems, in whole code points.
std::string prefix(const std::string& text, double width) {
  double used = 0;
  std::size_t bytes = 0;
  for (const char32_t point : code_points(text)) {
    used += width_of(point);
    if (used > width) break;
    // Goes on to the next byte that begins a code point.
    do ++bytes;
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80);
  }
  return text.substr(0, bytes);
}

}  // namespace

double text_width(std::string_view text, double font_size) {
  double ems = 0;
  for (const char32_t point : code_points(text)) ems += width_of(point);
  return ems * font_size;
}

std::string shortened(const std::string& text, double font_size, double width) {
  if (text_width(text, font_size) <= width) return text;
  return prefix(text, width / font_size - width_of(U'…')) + "…";
}

std::vector<std::string> wrapped(const std::string& text, double font_size, double width) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t blank = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, blank - at);
    at = blank + 1;
    const std::string longer = line.empty() ? word : line + ' ' + word;
    if (!line.empty() && text_width(longer, font_size) > width) {
      lines.push_back(shortened(line, font_size, width));
      line = word;
    } else {
      line = longer;
    }
  }
  if (!line.empty()) lines.push_back(shortened(line, font_size, width));
  return lines;
}

}  // namespace stowage
