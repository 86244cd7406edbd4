// Plans and certificates as JSON: the parts that all families share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "instances/json/fields.h"

namespace stowage {

// Returns the plan that a document is, or that a stowage/outcome holds.
template <class Plan>
Result<Plan> read_plan(std::string_view text) {
  return read_document(text, [](const JsonValue& document, ErrorList& errors) {
    Plan plan;
    const JsonPath root;
    const PlanPlace place = plan_in(document, root, errors);
    if (place.plan != nullptr) read_fields(*place.plan, place.path, errors, plan);
    return plan;
  });
}

// Returns whether the text under a required key is `yes`. Adds an error if it is neither `yes` nor
// `no`.
inline bool read_either(const ObjectReader& reader, std::string_view key, std::string_view yes,
                        std::string_view no) {
  const std::string text = reader.text(key);
  if (text != yes && text != no && reader.errors().room()) {
    reader.errors().add(
        code::kWrongType, reader.at(key).pointer(),
        "must be \"" + std::string(yes) + "\" or \"" + std::string(no) + "\", is \"" + text + '"');
  }
  return text == yes;
}

// Returns the certificate inside a stowage/outcome, read by read(value, path, errors, certificate);
// nullopt for a document without one.
template <class Certificate>
Result<std::optional<Certificate>> read_certificate(std::string_view text,
                                                    void (*read)(const JsonValue&, const JsonPath&,
                                                                 ErrorList&, Certificate&)) {
  return read_document(text, [&](const JsonValue& document, ErrorList& errors) {
    std::optional<Certificate> certificate;
    const JsonValue* inner = document.find("certificate");
    const JsonPath root;
    if (inner != nullptr && !inner->is_null()) {
      read(*inner, root.key("certificate"), errors, certificate.emplace());
    }
    return certificate;
  });
}

}  // namespace stowage
