// The JSON Schemas (draft-07) of the documents, compiled in so that they need no files.
//
//   if (const auto text = schema("scatter-instance")) std::cout << *text;
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace stowage {

// Returns "assign-instance", "assign-plan", "audit", "audited-work", "layout-instance",
// "layout-plan", "order-instance", "order-plan", "outcome", "partition", "scatter-instance",
// "scatter-plan", "strategy-instance", "strategy-plan", "trainer", in alphabetical order.
std::vector<std::string_view> schema_names();

// Returns the text of schema/NAME.schema.json, or nullopt for an unknown name. A document that its
// reader accepts is valid under the schema. The reverse does not hold: a schema cannot express
// every rule.
std::optional<std::string_view> schema(std::string_view name);

}  // namespace stowage
