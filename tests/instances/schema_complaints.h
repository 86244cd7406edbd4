// What the schema of a document says of it.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "instances/schema/schema.h"
#include "tests/instances/json_fixture.h"

namespace stowage::schema_test {

// Returns the violations of a schema by a document; empty if it is valid.
inline std::string complaints(std::string_view name, const std::string& document) {
  const auto text = schema(name);
  EXPECT_TRUE(text) << name;
  const nlohmann::json schema_json = nlohmann::json::parse(*text);
  valijson::Schema compiled;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json),
                                          compiled);
  const nlohmann::json target = nlohmann::json::parse(document, nullptr, false);
  if (target.is_discarded()) return "not JSON";
  valijson::ValidationResults results;
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  if (validator.validate(compiled, valijson::adapters::NlohmannJsonAdapter(target), &results)) {
    return "";
  }
  std::string all;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const std::string& step : error.context) all += step;
    all += ": " + error.description + '\n';
  }
  return all;
}

struct Break {
  const char* name;
  const char* from;
  const char* to;
};

}  // namespace stowage::schema_test
