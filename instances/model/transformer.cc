#include "instances/model/transformer.h"

#include <string>

#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"

namespace stowage {
namespace {

std::int64_t with_experts(const TransformerShape& shape, std::int64_t experts) {
  const auto hidden = std::int64_t{shape.hidden};
  const std::int64_t attention =
      hidden * 2 * (std::int64_t{shape.query_width()} + shape.key_value_width());
  const std::int64_t expert = hidden * shape.feed_forward * (shape.gated ? 3 : 2);
  if (shape.experts == 0) return attention + expert;
  return attention + hidden * shape.experts + experts * expert;
}

std::int64_t with_edges(const TransformerShape& shape, std::int64_t layer) {
  return layer * shape.layers +
         std::int64_t{shape.hidden} * shape.vocabulary * (shape.tied ? 1 : 2);
}

}  // namespace

std::vector<std::string_view> transformer_names() {
  std::vector<std::string_view> names;
  for (const TransformerShape& shape : kTransformerShapes) names.push_back(shape.name);
  return names;
}

std::int64_t active_layer_parameters(const TransformerShape& shape) {
  return with_experts(shape, shape.active_experts);
}

std::int64_t layer_parameters(const TransformerShape& shape) {
  return with_experts(shape, shape.experts);
}

std::int64_t active_parameters(const TransformerShape& shape) {
  return with_edges(shape, active_layer_parameters(shape));
}

std::int64_t parameters(const TransformerShape& shape) {
  return with_edges(shape, layer_parameters(shape));
}

InputError unknown_model(std::string_view name, const std::vector<std::string_view>& known) {
  std::string list;
  for (const std::string_view each : known) {
    list += (list.empty() ? "" : ", ") + std::string(each);
  }
  return {code::kPreset, "/model",
          "must be one of " + list + ", is " + in_quotes(name) + did_you_mean(name, known)};
}

InputError experts_not_modelled(const TransformerShape& shape) {
  return {code::kPreset, "/model",
          "must be a model without experts, is " + in_quotes(shape.name) + " with " +
              std::to_string(shape.experts) +
              " experts a layer: what they exchange and hold depends on the routing, which is not "
              "modelled here; scatter presets count its active parameters"};
}

}  // namespace stowage
