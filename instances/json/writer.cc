#include "instances/json/writer.h"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <utility>

#include "instances/json/text.h"
#include "instances/json/value.h"

namespace stowage {

void JsonWriter::indent() {
  out_ += '\n';
  out_.append(2 * frames_.size(), ' ');
}

void JsonWriter::separate() {
  if (std::exchange(after_key_, false) || frames_.empty()) return;
  Frame& frame = frames_.back();
  if (!frame.empty) out_ += ',';
  if (frame.layout == Layout::lines) {
    indent();
  } else if (!frame.empty) {
    out_ += ' ';
  }
  frame.empty = false;
}

void JsonWriter::begin(char bracket, Layout layout) {
  separate();
  out_ += bracket;
  if (!frames_.empty() && frames_.back().layout == Layout::line) layout = Layout::line;
  frames_.push_back({.layout = layout});
}

void JsonWriter::end(char bracket) {
  assert(!frames_.empty() && !after_key_);
  const Frame closed = frames_.back();
  frames_.pop_back();
  if (closed.layout == Layout::lines && !closed.empty) indent();
  out_ += bracket;
}

void JsonWriter::key(std::string_view name) {
  text(name);
  out_ += ": ";
  after_key_ = true;
}

void JsonWriter::text(std::string_view value) {
  separate();
  out_ += '"';
  append_json_escaped(out_, value);
  out_ += '"';
}

template <class Number>
void JsonWriter::append_number(Number value) {
  std::array<char, 32> buffer{};
  out_.append(buffer.data(),
              std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr);
}

void JsonWriter::integer(std::int64_t value) {
  separate();
  append_number(value);
}

void JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();
  if (value == 0) value = 0;  // "-0" would be read as an integer, which drops the sign
  separate();
  append_number(value);
}

void JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
}

void JsonWriter::null() {
  separate();
  out_ += "null";
}

void JsonWriter::value(const JsonValue& any) {
  if (const bool* truth = any.boolean()) return boolean(*truth);
  if (const std::int64_t* whole = any.integer()) return integer(*whole);
  if (const double* fraction = any.fraction()) return number(*fraction);
  if (const std::string* words = any.string()) return text(*words);
  if (const JsonValue::Array* elements = any.array()) {
    begin_array();
    for (const JsonValue& element : *elements) value(element);
    return end_array();
  }
  if (const JsonValue::Object* members = any.object()) {
    begin_object();
    for (const JsonMember& member : *members) {
      key(member.key);
      value(member.value);
    }
    return end_object();
  }
  null();
}

void JsonWriter::integers(const std::vector<std::int64_t>& values) {
  separate();
  out_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out_ += ", ";
    append_number(values[i]);
  }
  out_ += ']';
}

std::string JsonWriter::take() {
  assert(frames_.empty());
  out_ += '\n';
  return std::exchange(out_, {});
}

void write_head(JsonWriter& json, std::string_view format, std::string_view problem,
                std::string_view name, std::int64_t version) {
  json.text("format", format);
  json.integer("version", version);
  json.text("problem", problem);
  json.text("name", name);
}

}  // namespace stowage
