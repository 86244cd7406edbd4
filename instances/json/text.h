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

// Whether every byte of it belongs to a UTF-8 character.
bool is_utf8(std::string_view text);

// Byte offset of the first byte that is not UTF-8 or is a control character JSON forbids, if any.
std::optional<std::size_t> first_bad_byte(std::string_view text);

// Whether a code point steers a terminal or the text beside it instead of showing as a character:
//
// - C0, DEL and C1,
// - separators of lines and paragraphs (U+2028, U+2029),
// - marks, embeddings, overrides and isolates of direction (U+061C, U+200E, U+200F, U+202A to
//   U+202E, U+2066 to U+2069),
// - invisible characters of format: U+00AD, U+180E, U+200B to U+200D, U+2060 to U+206F, U+FEFF,
//   U+FFF9 to U+FFFB, U+1BCA0 to U+1BCA3, U+1D173 to U+1D17A, and tags (U+E0000 to U+E007F).
bool is_control(char32_t code);

struct ControlCharacter {
  char32_t code = 0;
  std::size_t bytes = 0;
};

// The control character that `text` begins with; nullopt if it begins with another character.
std::optional<ControlCharacter> control_character(std::string_view text);

// `text` with a question mark in the place of each control character, line ends included, and of
// each byte that is not UTF-8.
std::string printable(std::string_view text);

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
