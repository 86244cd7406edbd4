// Writes JSON in a layout for people: objects one member per line, short containers on one line.
//
//   JsonWriter json;
//   json.begin_object();
//   json.key("lengths");
//   json.integers({64, 80});
//   json.end_object();
//   std::cout << json.take();
//
// Doubles are written as the shortest text that reads back as the same double. Doubles that are not
// finite, which JSON cannot express, become null. Bytes that are not UTF-8 become "?". The same
// calls give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stowage {

class JsonValue;

class JsonWriter {
 public:
  enum class Layout { lines, line };  // `line` holds for nested containers too

  void begin_object(Layout layout = Layout::lines) { begin('{', layout); }
  void end_object() { end('}'); }
  void begin_array(Layout layout = Layout::lines) { begin('[', layout); }
  void end_array() { end(']'); }
  void one_line() { frames_.back().layout = Layout::line; }  // of the container just begun
  void key(std::string_view name);

  void text(std::string_view value);
  void integer(std::int64_t value);
  void number(double value);
  void boolean(bool value);
  void null();
  void integers(const std::vector<std::int64_t>& values);  // an array on one line
  void value(const JsonValue& any);                        // any parsed value

  // Write key and value in one call.
  void text(std::string_view name, std::string_view value) { key(name), text(value); }
  void integer(std::string_view name, std::int64_t value) { key(name), integer(value); }
  void number(std::string_view name, double value) { key(name), number(value); }
  void boolean(std::string_view name, bool value) { key(name), boolean(value); }

  // Returns the document with a newline at its end. Every container must be closed.
  std::string take();

 private:
  struct Frame {
    Layout layout;
    bool empty = true;
  };
  void begin(char bracket, Layout layout);
  void end(char bracket);
  void separate();  // the text between the last value and the next
  void indent();
  template <class Number>
  void append_number(Number value);

  std::string out_;
  std::vector<Frame> frames_;
  bool after_key_ = false;
};

// Writes the members that open every document: format, version, problem and name.
void write_head(JsonWriter& json, std::string_view format, std::string_view problem,
                std::string_view name, std::int64_t version = 1);

}  // namespace stowage
