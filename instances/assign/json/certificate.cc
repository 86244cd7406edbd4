// Certificates inside outcomes. Prices of zero are left out, because most prices are zero.
#include <string>

#include "instances/assign/json/embedded_documents.h"
#include "instances/assign/json/json.h"
#include "instances/json/answer.h"

namespace stowage {
namespace {

constexpr NumberRange kPrice = {.least = 0};
constexpr IntegerRange kCount = {0, kMaxExact};

bool read_of_rows(const ObjectReader& reader, std::string_view key) {
  return read_either(reader, key, "rows", "time");
}

void write_of_rows(JsonWriter& json, std::string_view key, bool of_rows) {
  json.text(key, of_rows ? "rows" : "time");
}

}  // namespace

template <class Visitor, Of<PartPrice> Part>
void fields(Visitor& v, Part& part) {
  v.one_line();
  v.special("of", part.of_rows, read_of_rows, write_of_rows);
  v.required("steps", part.steps, kCount);
  v.required("price", part.price, kPrice);
}

template <class Visitor, Of<RowPattern> Pattern>
void fields(Visitor& v, Pattern& pattern) {
  v.one_line();
  v.required("least_rows", pattern.least_rows, kCount);
  v.omit_if(pattern.most_rows == 0, "most_rows", pattern.most_rows, kCount);
  v.required("longest_tokens", pattern.longest, kCount);
  v.omit_if(pattern.time == 0, "time", pattern.time, kPrice);
  v.omit_if(pattern.tokens == 0, "tokens", pattern.tokens, kPrice);
  v.omit_if(pattern.parts.empty(), "parts", pattern.parts);
}

template <class Visitor, Of<SchemePrices> Prices>
void fields(Visitor& v, Prices& prices) {
  v.required("scheme", prices.scheme);
  v.required("patterns", prices.patterns);
}

template <class Visitor, Of<LengthPrice> Price>
void fields(Visitor& v, Price& price) {
  v.one_line();
  v.required("tokens", price.tokens, kCount);
  v.required("price", price.price, kPrice);
}

template <class Visitor, Of<BandStep> Step>
void fields(Visitor& v, Step& step) {
  v.one_line();
  v.omit_if(step.scheme.empty(), "scheme", step.scheme);
  v.omit_if(step.scheme.empty(), "replica", step.replica, kCount);
  v.omit_if(step.scheme.empty(), "above_tokens", step.above, kCount);
  v.omit_if(step.work_prices.empty(), "work_prices", step.work_prices, kPrice);
  v.omit_if(step.token_prices.empty(), "token_prices", step.token_prices, kPrice);
}

template <class Visitor, Of<StrategyProof> Proof>
void fields(Visitor& v, Proof& proof) {
  if (proof.schemes.empty() && proof.prices.empty() && proof.bands.empty()) v.one_line();
  v.required("strategy", proof.strategy);
  v.required("by", proof.by);
  v.omit_if(proof.schemes.empty(), "schemes", proof.schemes);
  v.omit_if(proof.prices.empty(), "prices", proof.prices);
  v.omit_if(proof.bands.empty(), "bands", proof.bands);
}

template <class Visitor, Of<AssignCertificate> Certificate>
void fields(Visitor& v, Certificate& certificate) {
  v.required("bound_ms", certificate.bound_ms, kPrice);
  v.required("strategies", certificate.strategies);
}

void write_json(JsonWriter& json, const AssignCertificate& certificate) {
  write_fields(json, certificate);
}

Result<std::optional<AssignCertificate>> read_assign_certificate(std::string_view text) {
  return read_certificate(text, read_fields<AssignCertificate>);
}

}  // namespace stowage
