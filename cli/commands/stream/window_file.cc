#include "cli/commands/stream/window_file.h"

#include <cstddef>
#include <optional>

#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/units.h"

namespace stowage {
namespace {

// Reads a pair of step and index.
DrawnSequence read_drawn(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const std::vector<std::int64_t> pair = read_integers(value, path, {0, kMaxExact}, errors);
  if (pair.size() == 2) return {.step = pair[0], .index = pair[1]};
  if (value.array() != nullptr) add_wrong_type(value, path, "a step and an index", errors);
  return {};
}

std::vector<DrawnSequence> read_step(const JsonValue& value, const JsonPath& path,
                                     ErrorList& errors) {
  std::vector<DrawnSequence> step;
  if (value.array() == nullptr) {
    add_wrong_type(value, path, "an array", errors);
    return step;
  }
  std::int64_t index = 0;
  for (const JsonValue& element : *value.array()) {
    step.push_back(read_drawn(element, path.index(index++), errors));
  }
  return step;
}

}  // namespace

std::string write_window(const WindowFile& window) {
  JsonWriter json;
  json.begin_object();
  json.integer("first_step", window.first_step);
  json.key("drawn");
  json.begin_array();
  for (const std::vector<DrawnSequence>& step : window.drawn) {
    json.begin_array(JsonWriter::Layout::line);
    for (const auto& [from, index] : step) json.integers({from, index});
    json.end_array();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

Result<WindowFile> read_window(std::string_view text) {
  return read_document(text, [](const JsonValue& document, ErrorList& errors) {
    WindowFile window;
    const JsonPath root;
    const ObjectReader reader(document, root, errors, {"first_step", "drawn"});
    window.first_step = reader.integer("first_step", {0, kMaxExact});
    reader.each("drawn", [&](const JsonValue& step, const JsonPath& path) {
      window.drawn.push_back(read_step(step, path, errors));
    });
    return window;
  });
}

}  // namespace stowage
