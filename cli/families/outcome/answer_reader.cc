#include "cli/families/outcome/answer_reader.h"

namespace stowage {
namespace {

bool absent(const JsonValue* value) { return value == nullptr || value->is_null(); }

}  // namespace

std::string AnswerReader::text(std::string_view key) const {
  const JsonValue* value = value_.find(key);
  if (absent(value)) return "";
  if (value->string() != nullptr) return *value->string();
  add_wrong_type(*value, path_.key(key), "a string", errors_);
  return "";
}

std::optional<double> AnswerReader::number(std::string_view key) const {
  const JsonValue* value = value_.find(key);
  if (absent(value)) return std::nullopt;
  return read_number(*value, path_.key(key), {}, errors_);
}

bool AnswerReader::flag(std::string_view key) const {
  const JsonValue* value = value_.find(key);
  if (absent(value)) return false;
  if (value->boolean() != nullptr) return *value->boolean();
  add_wrong_type(*value, path_.key(key), "true or false", errors_);
  return false;
}

void AnswerReader::each(std::string_view key,
                        const std::function<void(const AnswerReader&)>& read) const {
  const JsonValue* value = value_.find(key);
  if (absent(value)) return;
  const JsonPath path = path_.key(key);
  if (value->array() == nullptr) return add_wrong_type(*value, path, "an array", errors_);
  std::int64_t index = 0;
  for (const JsonValue& element : *value->array()) {
    const JsonPath place = path.index(index++);
    read(AnswerReader(element, place, errors_));
  }
}

void AnswerReader::expect(std::string_view format, std::string_view problem) const {
  const auto must_be = [&](const char* code, std::string_view key, std::string_view wanted) {
    const std::string given = text(key);
    if (given == wanted) return;
    errors_.add(code, path_.key(key).pointer(),
                "must be \"" + std::string(wanted) + "\", is \"" + given + '"');
  };
  must_be(code::kFormat, "format", format);
  must_be(code::kProblem, "problem", problem);
}

}  // namespace stowage
