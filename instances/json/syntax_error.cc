#include "instances/json/syntax_error.h"

#include <algorithm>
#include <string>

#include "instances/json/errors.h"
#include "instances/json/text.h"

namespace stowage {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Returns the first letter of the word that `offset` stands in or right behind.
std::size_t begin_of_word(std::string_view text, std::size_t offset) {
  std::size_t begin = std::min(offset, text.size());
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  return begin;
}

// Returns that word in lower case: "nan", "infinity", ...
std::string word_from(std::string_view text, std::size_t begin) {
  constexpr std::size_t kLongest = 10;
  std::string word;
  for (std::size_t at = begin; at < text.size() && word.size() < kLongest; ++at) {
    if (!is_letter(text[at])) break;
    word += static_cast<char>(text[at] | 0x20);
  }
  return word;
}

// Returns "unexpected ']'; expected '}'" out of the library's longer message.
std::string syntax_detail(std::string_view what) {
  const std::size_t dash = what.find(" - ");
  if (dash == std::string_view::npos) return std::string(what);
  std::string_view detail = what.substr(dash + 3);
  std::string expected;
  const std::size_t last_read = detail.find("; last read: '");
  if (last_read != std::string_view::npos) {
    const std::size_t tail = detail.rfind("'; expected ");
    if (tail != std::string_view::npos && tail > last_read) expected = detail.substr(tail + 1);
    detail = detail.substr(0, last_read);
  }
  return std::string(detail) + expected;
}

// Returns the end of the text that was read, where the error is.
std::string_view tail_of(std::string_view token) {
  constexpr std::size_t kShown = 24;
  if (token.size() <= kShown) return token;
  std::size_t begin = token.size() - kShown;
  while (begin < token.size() && is_continuation_byte(token[begin])) ++begin;
  return token.substr(begin);
}

}  // namespace

InputError json_syntax_error(std::string_view text, std::size_t offset, std::string_view token,
                             std::string_view what, bool overflow) {
  const std::size_t begin = begin_of_word(text, offset);
  const std::string word = word_from(text, begin);
  const bool in_string = what.find("invalid string") != std::string_view::npos;
  if (!in_string && (word == "nan" || word == "inf" || word == "infinity")) {
    return {code::kNotFinite, line_column(text, begin), "must be a finite number, is " + word};
  }
  const std::string where = line_column(text, offset);
  if (overflow) {
    return {code::kNotFinite, where, "must be a number a double can hold, is " + in_quotes(token)};
  }
  std::string message = "must be JSON, is not: " + syntax_detail(what);
  if (!token.empty()) message += ", after " + in_quotes(tail_of(token));
  return {code::kSyntax, where, message};
}

}  // namespace stowage
