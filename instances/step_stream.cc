#include "instances/step_stream.h"

#include <algorithm>
#include <utility>

#include "instances/json.h"
#include "instances/json_errors.h"
#include "instances/json_lengths.h"
#include "instances/json_reader.h"
#include "instances/length_list.h"

namespace stowage {
namespace {

void read_json_step(std::string_view text, ScatterInstance& step, ErrorList& errors) {
  const std::optional<JsonValue> document = parse_json(text, errors);
  if (!document) return;
  const JsonPath root;
  if (document->array() != nullptr) {
    step.lengths = read_lengths(*document, root, step.pad_multiple, errors);
  } else if (document->object() != nullptr) {
    const ObjectReader reader(*document, root, errors, {"lengths"});
    if (const JsonValue* lengths = reader.require("lengths")) {
      step.lengths = read_lengths(*lengths, reader.at("lengths"), step.pad_multiple, errors);
    }
  } else {
    add_wrong_type(*document, root, "an array of lengths or {\"lengths\": [...]}", errors);
  }
}

}  // namespace

StepStream::StepStream(std::istream& stream, std::string name, ScatterInstance cluster,
                       const StepStreamOptions& options)
    : stream_(stream), name_(std::move(name)), cluster_(std::move(cluster)), options_(options) {}

std::string StepStream::place() const { return name_ + ':' + std::to_string(line_); }

// Up to `count` lines, appended to `text` unless it is null. False if there was none. A line that
// is no step of its own (the empty rest behind the last newline) is none.
bool StepStream::read_lines(std::int64_t count, std::string* text) {
  std::string line;
  std::int64_t got = 0;
  while (got < count && std::getline(stream_, line)) {
    ++got;
    ++line_;
    if (text == nullptr) continue;
    *text += line;
    *text += '\n';
  }
  return got == count || (got > 0 && !(options_.batch_size && options_.drop_last));
}

bool StepStream::read_step(std::string* text) {
  return read_lines(options_.batch_size.value_or(1), text);
}

bool StepStream::skip() {
  if (!read_step(nullptr)) return false;
  ++index_;
  return true;
}

Result<std::optional<ScatterInstance>> StepStream::next() {
  std::string text;
  const std::int64_t first_line = line_ + 1;
  if (!read_step(&text)) return std::optional<ScatterInstance>();
  ScatterInstance step = cluster_;
  step.name += '-' + std::to_string(index_++);
  ErrorList errors;
  if (options_.batch_size) {
    Result<std::vector<Tokens>> lengths = read_length_list(text, name_, {.line = first_line});
    if (!lengths) return lengths.errors();
    step.lengths = *std::move(lengths);
    check_padded_sum(step.lengths, step.pad_multiple, JsonPath(), errors);
  } else {
    read_json_step(text, step, errors);
  }
  if (!errors.empty()) return std::move(errors).take();
  for (Tokens& length : step.lengths) {
    if (!options_.clip || length <= *options_.clip) continue;
    length = *options_.clip;
    ++clipped_;
  }
  return std::optional<ScatterInstance>(std::move(step));
}

}  // namespace stowage
