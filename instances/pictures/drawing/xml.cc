#include "instances/pictures/drawing/xml.h"

#include <cstddef>

#include "instances/json/text.h"

namespace stowage {
namespace {

constexpr char32_t kInvalid = 0xFFFD;

struct Decoded {
  char32_t point = kInvalid;
  std::size_t bytes = 1;
};

// Decodes by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
Decoded decode(std::string_view text) {
  const auto at = [text](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  const char32_t first = at(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  char32_t point = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xC0) != 0x80) return {};
    point = point << 6 | (at(i) & 0x3F);
  }
  const bool overlong = (bytes == 3 && point < 0x800) || (bytes == 4 && point < 0x10000);
  if (overlong || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return {};
  return {point, bytes};
}

bool allowed(char32_t point) {
  return !is_control(point) && point != kInvalid && point != 0xFFFE && point != 0xFFFF;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded decoded = decode(text);
    const std::string_view bytes = text.substr(0, decoded.bytes);
    text.remove_prefix(decoded.bytes);
    switch (decoded.point) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += allowed(decoded.point) ? bytes : "?";
    }
  }
  return out;
}

std::u32string code_points(std::string_view text) {
  std::u32string points;
  while (!text.empty()) {
    const Decoded decoded = decode(text);
    points += decoded.point;
    text.remove_prefix(decoded.bytes);
  }
  return points;
}

}  // namespace stowage
