#include "cli/answers/search_record.h"

#include <utility>

#include "cli/families/answer_reader.h"

namespace stowage {

Result<std::optional<SearchRecord>> read_search_record(std::string_view text, const Unit& unit) {
  ErrorList errors;
  const std::optional<JsonValue> document = parse_json(text, errors);
  if (!document) return std::move(errors).take();
  const JsonPath root;
  const AnswerReader outcome(*document, root, errors);
  if (outcome.text("format") != "stowage/outcome") return std::optional<SearchRecord>();
  SearchRecord record{.status = outcome.text("status"),
                      .stopped_by = outcome.text("stopped_by"),
                      .method = outcome.text("method"),
                      .found_by = outcome.text("found_by")};
  record.progress.end_seconds = outcome.number("seconds");
  const std::string in_unit = '_' + std::string(unit.name);
  outcome.each("improvements", [&](const AnswerReader& step) {
    record.progress.points.push_back({.seconds = step.number("seconds"),
                                      .bound = step.number("bound" + in_unit).value_or(0),
                                      .objective = step.number("objective" + in_unit),
                                      .by = step.text("by")});
  });
  if (!errors.empty()) return std::move(errors).take();
  return std::optional(std::move(record));
}

}  // namespace stowage
