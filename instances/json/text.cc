#include "instances/json/text.h"

#include <algorithm>
#include <array>
#include <vector>

#include "instances/json/limits.h"

namespace stowage {
namespace {

constexpr std::size_t kShownBytes = 40;
// Limit of a step of a pointer: a hundred errors inside an object with a name of megabytes must not
// take gigabytes.
constexpr std::size_t kPointedBytes = 200;

// Returns the length of the text, at most `most` bytes, without cutting a character in two.
std::size_t shown_bytes(std::string_view text, std::size_t most) {
  std::size_t shown = std::min(text.size(), most);
  while (shown < text.size() && shown > 0 && is_continuation_byte(text[shown])) --shown;
  return shown;
}

// Returns the number of bytes of the UTF-8 character that the text begins with; 0 if it begins with
// none. Requires a text that is not empty.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) -> unsigned {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  // Table 3-7 of the Unicode standard: the second byte's range excludes overlong forms, surrogates
  // and anything above U+10FFFF.
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
    return 0;
  }
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t k = 2; k < size; ++k) {
    if ((byte(k) & 0xC0U) != 0x80U) return 0;
  }
  return size;
}

// Appends "\u" and four digits; two of them, a surrogate pair, for a code from 2^16.
void append_escape(std::string& out, char32_t code) {
  if (code >= 0x10000) {
    append_escape(out, 0xd800U + ((code - 0x10000U) >> 10U));
    code = 0xdc00U + (code & 0x3ffU);
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(code >> shift) & 15U];
}

}  // namespace

bool is_control(char32_t code) {
  struct Block {
    char32_t first;
    char32_t last;
  };
  constexpr std::array<Block, 13> kBlocks = {{{0, 0x1f},
                                              {0x7f, 0x9f},
                                              {0xad, 0xad},
                                              {0x61c, 0x61c},
                                              {0x180e, 0x180e},
                                              {0x200b, 0x200f},
                                              {0x2028, 0x202e},
                                              {0x2060, 0x206f},
                                              {0xfeff, 0xfeff},
                                              {0xfff9, 0xfffb},
                                              {0x1bca0, 0x1bca3},
                                              {0x1d173, 0x1d17a},
                                              {0xe0000, 0xe007f}}};
  return std::ranges::any_of(
      kBlocks, [code](const Block& block) { return code >= block.first && code <= block.last; });
}

std::optional<ControlCharacter> control_character(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto byte = [&](std::size_t at) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[at]));
  };
  char32_t code = byte(0);
  std::size_t bytes = 1;
  if (code >= 0x80) {
    bytes = character_bytes(text);
    if (bytes == 0) return std::nullopt;
    code &= 0x7fU >> bytes;
    for (std::size_t k = 1; k < bytes; ++k) code = code << 6U | (byte(k) & 0x3fU);
  }
  if (!is_control(code)) return std::nullopt;
  return ControlCharacter{code, bytes};
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto control = control_character(text);
    const std::size_t bytes = control ? control->bytes : character_bytes(text);
    shown += control || bytes == 0 ? "?" : text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown;
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
  // Nearly every text consists of such characters only.
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  const auto end = std::ranges::find_if_not(text, plain);
  out.append(text.begin(), end);
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  std::size_t good = first_bad_byte(text).value_or(text.size());  // bytes up to here are UTF-8
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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

bool surely_readable(std::string_view text) {
  constexpr std::size_t kEscapedBytes = 6;  // most bytes of one escaped byte
  return text.size() < kMaxTextBytes / kEscapedBytes && !first_bad_byte(text);
}

std::optional<std::size_t> first_bad_byte(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    const bool forbidden = c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t';
    const std::size_t bytes = forbidden ? 0 : character_bytes(text.substr(at));
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::nullopt;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the dynamic programme; `before` is two rows above `row`, for swapped neighbours.
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
