// Text in JSON: the allowed bytes, their escapes, and the place of a byte.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stowage {

// Returns whether this is a second, third or fourth byte of a UTF-8 character.
inline bool is_continuation_byte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Returns whether every byte of the text belongs to a UTF-8 character.
bool is_utf8(std::string_view text);

// Returns the offset of the first byte that is not UTF-8 or is a control character that JSON
// forbids; nullopt if there is none.
std::optional<std::size_t> first_bad_byte(std::string_view text);

// Returns whether a code point changes a terminal or the text beside it instead of showing as a
// character:
//
// - C0, DEL and C1,
// - separators of lines and paragraphs (U+2028, U+2029),
// - marks, embeddings, overrides and isolates of direction (U+061C, U+200E, U+200F, U+202A to
//   U+202E, U+2066 to U+2069),
// - invisible characters of format: U+00AD, U+180E, U+200B to U+200D, U+2060 to U+206F, U+FEFF,
//   U+FFF9 to U+FFFB, U+1BCA0 to U+1BCA3, U+1D173 to U+1D17A, and tags (U+E0000 to U+E007F).
bool is_control(char32_t code);

// Returns whether a document can certainly hold `text` as a string: it is UTF-8 without control
// characters, and no longer than kMaxTextBytes even if every byte is escaped.
bool surely_readable(std::string_view text);

// A character that changes a terminal instead of showing.
struct ControlCharacter {
  char32_t code = 0;
  std::size_t bytes = 0;
};

// Returns the control character that `text` begins with; nullopt if it begins with another
// character.
std::optional<ControlCharacter> control_character(std::string_view text);

// Returns `text` with a question mark in the place of each control character, line ends included,
// and of each byte that is not UTF-8.
std::string printable(std::string_view text);

// Returns "LINE:COLUMN" of a byte offset, both from 1. Columns count characters.
std::string line_column(std::string_view text, std::size_t offset);

// Appends `text` with the escapes of a JSON string and without any control character. Bytes that
// are not UTF-8 become question marks.
void append_json_escaped(std::string& out, std::string_view text);

// Returns `text` in double quotes, escaped and cut after 40 bytes: for messages.
std::string in_quotes(std::string_view text);

// Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn one
// word into the other (the restricted Damerau-Levenshtein distance). O(|a| |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns "/key" with ~ and / escaped as in RFC 6901. All bytes beyond 200 are replaced by "...".
std::string json_pointer_step(std::string_view key);

}  // namespace stowage
