// The strict parser: nlohmann's tokens with rules of our own.

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "instances/json/limits.h"
#include "instances/json/syntax_error.h"
#include "instances/json/text.h"
#include "instances/json/value.h"

namespace stowage {
namespace {

constexpr std::size_t kLinearKeys = 16;  // smaller objects are searched, larger hashed

// Receives the parser's events and builds the document. Only the innermost open container grows, so
// pointers to the open containers stay valid.
class Builder {
 public:
  Builder(std::string_view text, ErrorList& errors) : text_(text), errors_(errors) {}
  virtual ~Builder() = default;
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  bool null() {
    return scalar([] { return JsonValue(); });
  }
  bool boolean(bool value) {
    return scalar([&] { return JsonValue(value); });
  }
  bool number_integer(std::int64_t value) {
    return scalar([&] { return JsonValue(value); });
  }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return number_float(static_cast<double>(value), std::to_string(value));
    }
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& text) {
    const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
    return scalar(
        [&] {
          return whole ? JsonValue(WrittenInteger{value, text}) : JsonValue(value);
        },
        whole);
  }
  bool string(std::string& value) {
    return scalar([&] { return JsonValue(std::move(value)); }, /*is_text=*/true);
  }
  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }  // never in a text

  bool start_object(std::size_t /*size*/) { return open(JsonValue(JsonValue::Object())); }
  bool start_array(std::size_t /*size*/) { return open(JsonValue(JsonValue::Array())); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Frame& frame = frames_.back();
    frame.key = std::move(name);
    if (!count_text()) return false;
    if (repeats(frame)) {
      errors_.add(code::kDuplicateKey, pointer(), "must stand once in its object, is repeated");
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error);

  std::optional<JsonValue> take() { return std::move(root_); }

 protected:
  struct Frame {
    JsonValue* container = nullptr;  // null inside a part that is left out
    bool is_object = false;
    std::int64_t size = 0;                   // elements or members so far
    std::string key;                         // of the member being read
    std::unordered_set<std::string> hashed;  // keys so far, for large objects
  };

  // Returns whether the next value is kept.
  virtual bool keep() { return true; }
  virtual bool finished() { return false; }

  const std::vector<Frame>& frames() const { return frames_; }

 private:
  template <class Make>
  bool scalar(Make make, bool is_text = false) {
    if (!count() || (is_text && !count_text())) return false;
    if (keep()) place(make());
    return !finished();
  }

  bool open(JsonValue container) {
    if (!count()) return false;
    if (frames_.size() >= static_cast<std::size_t>(kMaxDepth)) {
      return refuse(code::kTooDeep, "must be nested at most " + std::to_string(kMaxDepth) +
                                        " levels deep, is nested deeper");
    }
    if (++containers_ > kMaxContainers) {
      return refuse(code::kTooManyValues, "must be among the first " +
                                              std::to_string(kMaxContainers) +
                                              " arrays and objects of the document, is beyond");
    }
    const bool is_object = container.object() != nullptr;
    JsonValue* placed = keep() ? place(std::move(container)) : nullptr;
    frames_.push_back({.container = placed, .is_object = is_object});
    return true;
  }

  bool close() {
    frames_.pop_back();
    return !finished();
  }

  bool count() {
    if (!frames_.empty() && ++frames_.back().size > kMaxSequences) {
      return refuse(code::kTooManyValues, "must be among the first " +
                                              std::to_string(kMaxSequences) +
                                              " elements of its array or object, is beyond");
    }
    if (++values_ > kMaxValues) {
      return refuse(code::kTooManyValues, "must be among the first " + std::to_string(kMaxValues) +
                                              " values of the document, is beyond");
    }
    return true;
  }

  bool count_text() {
    if (++texts_ <= kMaxTexts) return true;
    return refuse(code::kTooManyValues, "must be among the first " + std::to_string(kMaxTexts) +
                                            " keys and strings (or integers beyond 64 bits) of the "
                                            "document, is beyond");
  }

  JsonValue* place(JsonValue value) {
    if (frames_.empty()) return &root_.emplace(std::move(value));
    Frame& frame = frames_.back();
    if (frame.is_object) {
      JsonValue::Object& members = *frame.container->object();
      members.push_back({frame.key, std::move(value)});
      return &members.back().value;
    }
    JsonValue::Array& elements = *frame.container->array();
    elements.push_back(std::move(value));
    return &elements.back();
  }

  static bool repeats(Frame& frame) {
    if (frame.container == nullptr) return false;
    const JsonValue::Object& members = *frame.container->object();
    if (members.size() < kLinearKeys) return frame.container->find(frame.key) != nullptr;
    if (frame.hashed.empty()) {
      for (const JsonMember& member : members) frame.hashed.insert(member.key);
    }
    return !frame.hashed.insert(frame.key).second;
  }

  // Returns the pointer of the value that is being read.
  std::string pointer() const {
    std::string path;
    for (const Frame& frame : frames_) {
      path += frame.is_object ? json_pointer_step(frame.key) : '/' + std::to_string(frame.size - 1);
    }
    return path;
  }

  bool refuse(const char* error_code, std::string message) {
    errors_.add(error_code, pointer(), std::move(message));
    return false;
  }

  std::string_view text_;
  ErrorList& errors_;
  std::optional<JsonValue> root_;
  std::vector<Frame> frames_;
  std::int64_t values_ = 0;
  std::int64_t containers_ = 0;
  std::int64_t texts_ = 0;
};

// Keeps the wanted members of the outermost object only, arrays and objects among them empty, and
// ends the parsing once it has all of them.
class HeadBuilder : public Builder {
 public:
  HeadBuilder(std::string_view text, const std::vector<std::string_view>& keys, ErrorList& errors)
      : Builder(text, errors), keys_(keys) {}

  bool complete() const { return complete_; }

 protected:
  bool keep() override {
    if (frames().empty()) return true;
    const Frame& frame = frames().back();
    if (frames().size() > 1 || !frame.is_object) return false;
    const auto wanted = std::find(keys_.begin(), keys_.end(), frame.key);
    if (wanted != keys_.end() && frame.container->find(frame.key) == nullptr) ++seen_;
    return wanted != keys_.end();
  }
  bool finished() override {
    complete_ = seen_ == keys_.size();
    return complete_;
  }

 private:
  const std::vector<std::string_view>& keys_;
  std::size_t seen_ = 0;
  bool complete_ = false;
};

bool Builder::parse_error(std::size_t position, const std::string& token,
                          const nlohmann::detail::exception& error) {
  constexpr int kNumberOverflow = 406;  // of nlohmann's out_of_range
  errors_.append({json_syntax_error(text_, position == 0 ? 0 : position - 1, token, error.what(),
                                    error.id == kNumberOverflow)});
  return false;
}

// A number or text above its limit of bytes, and its offset. The library would copy such a token
// several times before it reads its value.
struct LongToken {
  std::size_t offset = 0;
  bool number = false;
};

// Returns the first such token, or nullopt. A text ends at a line end too, which no text may hold.
std::optional<LongToken> first_long_token(std::string_view text) {
  const auto in_number = [](char c) {
    return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = at;
    const char first = text[at++];
    if (first == '"') {
      while (at < text.size() && text[at] != '"' && text[at] != '\n') {
        at += text[at] == '\\' ? 2 : 1;
      }
      if (at - begin > kMaxTextBytes) return LongToken{begin, false};
      ++at;  // the quote at its end
    } else if (in_number(first)) {
      while (at < text.size() && in_number(text[at])) ++at;
      if (at - begin > kMaxNumberBytes) return LongToken{begin, true};
    }
  }
  return std::nullopt;
}

// Checks rules that the library does not. Returns true if parsing may start.
bool check_text(std::string_view text, ErrorList& errors) {
  if (text.size() > kMaxDocumentBytes) {
    errors.add(code::kTooManyBytes, "",
               "must be at most " + std::to_string(kMaxDocumentBytes) + " bytes, is " +
                   std::to_string(text.size()) + " bytes");
    return false;
  }
  if (text.substr(0, 3) == "\xEF\xBB\xBF") {
    errors.add(code::kByteOrderMark, "1:1",
               "must be JSON from the first byte on, is a byte order mark");
    return false;
  }
  if (const std::optional<std::size_t> bad = first_bad_byte(text)) {
    errors.add(
        code::kEncoding, line_column(text, *bad),
        "must be UTF-8 text, is byte " + std::to_string(static_cast<unsigned char>(text[*bad])));
    return false;
  }
  if (const std::optional<LongToken> token = first_long_token(text)) {
    errors.add(code::kTokenTooLong, line_column(text, token->offset),
               token->number ? "must be a number of at most " + std::to_string(kMaxNumberBytes) +
                                   " characters, is longer"
                             : "must be a text of at most " + std::to_string(kMaxTextBytes) +
                                   " bytes, is longer");
    return false;
  }
  return true;
}

}  // namespace

std::optional<JsonValue> parse_json(std::string_view text, ErrorList& errors) {
  if (!check_text(text, errors)) return std::nullopt;
  Builder builder(text, errors);
  if (!nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &builder)) {
    return std::nullopt;
  }
  return builder.take();
}

std::optional<JsonValue> parse_json_head(std::string_view text,
                                         const std::vector<std::string_view>& keys,
                                         ErrorList& errors) {
  if (!check_text(text, errors)) return std::nullopt;
  HeadBuilder builder(text, keys, errors);
  const bool whole = nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &builder);
  if (!whole && !builder.complete()) return std::nullopt;
  return builder.take();
}

}  // namespace stowage
