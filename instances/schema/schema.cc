#include "instances/schema/schema.h"

#include <iterator>

namespace stowage {
namespace {

struct NamedSchema {
  std::string_view name;
  std::string_view text;
};

constexpr NamedSchema kSchemas[] = {
#include "schema_texts.inc"  // made by schema/embed.cmake out of schema/*.schema.json
};

}  // namespace

std::vector<std::string_view> schema_names() {
  std::vector<std::string_view> names;
  for (const NamedSchema& schema : kSchemas) names.push_back(schema.name);
  return names;
}

std::optional<std::string_view> schema(std::string_view name) {
  for (const NamedSchema& candidate : kSchemas) {
    if (candidate.name == name) return candidate.text;
  }
  return std::nullopt;
}

}  // namespace stowage
