#include "cli/answers/page/comparison.h"

#include <utility>

#include "cli/families/families.h"
#include "cli/families/outcome/answer_reader.h"
#include "instances/families.h"

namespace stowage {

Result<Comparison> read_comparison(std::string_view text, const Instance& instance) {
  ErrorList errors;
  const std::optional<JsonValue> document = parse_json(text, errors);
  if (!document) return std::move(errors).take();
  const JsonPath root;
  const AnswerReader answer(*document, root, errors);
  answer.expect("stowage/comparison", family_name(instance));
  if (!errors.empty()) return std::move(errors).take();
  if (const std::string hash = answer.text("instance_hash"); hash != hash_of(instance)) {
    errors.add(code::kProblem, "/instance_hash",
               "must be \"" + hash_of(instance) + "\", the instance's, is \"" + hash +
                   "\": compare the methods on this instance");
  }
  const std::string in_unit = '_' + std::string(objective_unit(instance).name);
  Comparison comparison{.bound = answer.number("bound" + in_unit).value_or(0),
                        .bound_by = answer.text("bound_by")};
  answer.each("methods", [&](const AnswerReader& method) {
    comparison.methods.push_back({.method = method.text("method"),
                                  .kind = method.text("kind"),
                                  .status = method.text("status"),
                                  .objective = method.number("objective" + in_unit),
                                  .seconds = method.number("seconds"),
                                  .best = method.flag("best")});
  });
  if (!errors.empty()) return std::move(errors).take();
  return comparison;
}

}  // namespace stowage
