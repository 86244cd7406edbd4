// Text as JSON sees it: what is allowed, how it is escaped, where a byte stands.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stowage {

// Is this a second, third or fourth byte of a UTF-8 character?
inline bool is_continuation_byte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Byte offset of the first byte that is not UTF-8 or is a control character JSON forbids, if any.
std::optional<std::size_t> first_bad_byte(std::string_view text);

// A character that steers a terminal instead of showing.
struct ControlCharacter {
  char32_t code = 0;
  std::size_t bytes = 0;
};

// The one that `text` begins with, if it does: C0, DEL and C1, separators of lines and paragraphs,
// and whatever changes the direction of what follows.
std::optional<ControlCharacter> control_character(std::string_view text);

// "LINE:COLUMN" of a byte offset, both from 1, columns counted in characters.
std::string line_column(std::string_view text, std::size_t offset);

// Appends `text` as it stands between the quotes of a JSON string, without any control character;
// bytes that are not UTF-8 become question marks.
void append_json_escaped(std::string& out, std::string_view text);

// `text` in double quotes, escaped and cut after 40 bytes: for messages.
std::string in_quotes(std::string_view text);

// How many insertions, deletions, substitutions and swaps of neighbours turn one word into the
// other (the restricted Damerau-Levenshtein distance). O(|a| |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

// "/key" with ~ and / escaped as RFC 6901 asks for; "..." stands for all beyond 200 bytes of it.
std::string json_pointer_step(std::string_view key);

}  // namespace stowage
