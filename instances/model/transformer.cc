#include "instances/model/transformer.h"

#include <string>

#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"

namespace stowage {

std::vector<std::string_view> transformer_names() {
  std::vector<std::string_view> names;
  for (const TransformerShape& shape : kTransformerShapes) names.push_back(shape.name);
  return names;
}

InputError unknown_model(std::string_view name, const std::vector<std::string_view>& known) {
  std::string list;
  for (const std::string_view each : known) {
    list += (list.empty() ? "" : ", ") + std::string(each);
  }
  return {code::kPreset, "/model",
          "must be one of " + list + ", is " + in_quotes(name) + did_you_mean(name, known)};
}

}  // namespace stowage
