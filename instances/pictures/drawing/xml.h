// Escapes text for XML: names come from files and may contain anything.
//
//   xml_text("a<b & \"c\"") == "a&lt;b &amp; &quot;c&quot;"
#pragma once

#include <string>
#include <string_view>

namespace stowage {

// Returns `text` for an element's content or an attribute in double quotes: the five characters of
// XML 1.0 (section 2.4) are escaped. A control character of instances/json/text.h, line ends
// included, becomes "?". So does every character that XML documents exclude (section 2.2: U+FFFE,
// U+FFFF, bytes that are not UTF-8).
std::string xml_text(std::string_view text);

// Returns the code points of a text; a byte that begins no valid code point becomes one U+FFFD.
std::u32string code_points(std::string_view text);

}  // namespace stowage
