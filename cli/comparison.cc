#include "cli/comparison.h"

#include <utility>

#include "cli/family.h"
#include "instances/json_reader.h"

namespace stowage {
namespace {

std::optional<double> number_or_null(const ObjectReader& reader, std::string_view key) {
  const JsonValue* value = reader.find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return reader.number(key, {});
}

ComparedMethod method_from(const JsonValue& value, const JsonPath& path, const std::string& unit,
                           std::string_view parts, ErrorList& errors) {
  const std::string objective = "objective_" + unit;
  const std::string bound = "bound_" + unit;
  const ObjectReader reader(
      value, path, errors,
      {"method", "kind", "source", "status", "stopped_by", objective, bound, "bound_by", "gap",
       "found_by", "seconds", "nodes", "best", "detail", parts});
  return {.method = reader.text("method"),
          .kind = reader.text("kind"),
          .status = reader.text("status"),
          .objective = number_or_null(reader, objective),
          .seconds = number_or_null(reader, "seconds"),
          .best = reader.boolean("best", false)};
}

}  // namespace

Result<Comparison> read_comparison(std::string_view text, const Instance& instance) {
  ErrorList errors;
  const std::optional<JsonValue> document = parse_json(text, errors);
  if (!document) return std::move(errors).take();
  const std::string unit(objective_unit(instance).name);
  const std::string bound = "bound_" + unit;
  const JsonPath root;
  const ObjectReader reader(
      *document, root, errors,
      {"format", "version", "problem", "name", "exit_code", "seed", bound, "bound_by", "methods"});
  if (!check_head(reader, "stowage/comparison", problem_name(instance))) {
    return std::move(errors).take();
  }
  if (const std::string name = reader.text("name"); name != instance_name(instance)) {
    errors.add(
        code::kProblem, "/name",
        "must be \"" + instance_name(instance) + "\" like the instance's, is \"" + name + '"');
  }
  Comparison comparison{.bound = number_or_null(reader, bound).value_or(0),
                        .bound_by = reader.text("bound_by")};
  if (const JsonValue::Array* methods = reader.array("methods")) {
    const JsonPath path = root.key("methods");
    std::int64_t index = 0;
    for (const JsonValue& value : *methods) {
      comparison.methods.push_back(
          method_from(value, path.index(index++), unit, plan_parts(instance), errors));
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return comparison;
}

}  // namespace stowage
