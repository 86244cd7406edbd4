#include "instances/json/text.h"

#include <algorithm>
#include <vector>

namespace stowage {
namespace {

constexpr std::size_t kShownBytes = 40;
// A hundred errors inside an object with a name of megabytes must not take gigabytes.
constexpr std::size_t kPointedBytes = 200;

// At most `most` bytes of the text, without cutting a character in two.
std::size_t shown_bytes(std::string_view text, std::size_t most) {
  std::size_t shown = std::min(text.size(), most);
  while (shown < text.size() && shown > 0 && is_continuation_byte(text[shown])) --shown;
  return shown;
}

// "\u" and four digits. Requires a code below 2^16.
void append_escape(std::string& out, char32_t code) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(code >> shift) & 15U];
}

}  // namespace

std::optional<ControlCharacter> control_character(std::string_view text) {
  const auto byte = [&](std::size_t at) -> unsigned {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const unsigned lead = byte(0);
  if (text.empty()) return std::nullopt;
  if (lead < 0x20 || lead == 0x7f) return ControlCharacter{lead, 1};
  if (lead == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return ControlCharacter{byte(1), 2};
  if (lead != 0xe2 || (byte(1) & 0xc0U) != 0x80U || (byte(2) & 0xc0U) != 0x80U) return std::nullopt;
  const char32_t code = 0x2000U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU);
  const bool steers = code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                      (code >= 0x2066 && code <= 0x2069);
  if (!steers) return std::nullopt;
  return ControlCharacter{code, 3};
}

std::string line_column(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::string_view row =
      newline == std::string_view::npos ? before : before.substr(newline + 1);
  const auto column =
      1 + std::count_if(row.begin(), row.end(), [](char c) { return !is_continuation_byte(c); });
  return std::to_string(line) + ':' + std::to_string(column);
}

void append_json_escaped(std::string& out, std::string_view text) {
  // Nearly every text is of such characters alone.
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  const auto end = std::ranges::find_if_not(text, plain);
  out.append(text.begin(), end);
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  std::size_t good = first_bad_byte(text).value_or(text.size());  // so many bytes are UTF-8
  while (!text.empty()) {
    const char c = text.front();
    std::size_t bytes = 1;
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (const auto control = control_character(text)) {
      append_escape(out, control->code);
      bytes = control->bytes;
    } else {
      out += good > 0 ? c : '?';
    }
    text.remove_prefix(bytes);
    good = good >= bytes ? good - bytes : first_bad_byte(text).value_or(text.size());
  }
}

std::string json_pointer_step(std::string_view key) {
  std::string step = "/";
  const std::string_view shown = key.substr(0, shown_bytes(key, kPointedBytes));
  for (const char c : shown) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return shown.size() < key.size() ? step + "..." : step;
}

std::string in_quotes(std::string_view text) {
  const std::size_t shown = shown_bytes(text, kShownBytes);
  std::string out = "\"";
  append_json_escaped(out, text.substr(0, shown));
  return out + (shown < text.size() ? "...\"" : "\"");
}

std::optional<std::size_t> first_bad_byte(std::string_view text) {
  const auto byte = [&](std::size_t at) -> unsigned {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const unsigned lead = byte(at);
    if (lead < 0x80) {
      if (lead < 0x20 && lead != '\n' && lead != '\r' && lead != '\t') return at;
      ++at;
      continue;
    }
    // Table 3-7 of the Unicode standard: the second byte's range excludes overlong forms,
    // surrogates and anything above U+10FFFF.
    std::size_t size = 0;
    unsigned low = 0x80;
    unsigned high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
      size = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      size = 3;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      size = 4;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return at;
    }
    if (byte(at + 1) < low || byte(at + 1) > high) return at;
    for (std::size_t k = 2; k < size; ++k) {
      if ((byte(at + k) & 0xC0U) != 0x80U) return at;
    }
    at += size;
  }
  return std::nullopt;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the dynamic programme; the row two above is there for swapped neighbours.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace stowage
