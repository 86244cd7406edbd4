#include "instances/scatter/json/padding.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {

template <class Visitor, Of<Padding> Own>
void fields(Visitor& v, Own& padding) {
  v.one_line();
  v.omit_if(padding.sequence_multiple == 1, "sequence_multiple", padding.sequence_multiple,
            {1, kMaxPadMultiple});
  v.omit_if(padding.row_multiple == 1, "row_multiple", padding.row_multiple, {1, kMaxPadMultiple});
  v.optional("per_degree", padding.per_degree);
  v.omit_if(padding.device_multiple == 1, "device_multiple", padding.device_multiple,
            {0, kMaxDevices});
}

namespace {

// Returns whether lcm(a, b) is at most kMaxPadMultiple. Requires both to be at most 2^31.
bool within_limit(Tokens a, Tokens b) { return a / std::gcd(a, b) <= kMaxPadMultiple / b; }

// Returns a degree whose groups would pad to more than kMaxPadMultiple, if there is one.
std::optional<int> excessive_degree(const Cluster& cluster, const Padding& padding) {
  const Tokens row = padding.row_multiple;
  for (const int degree : cluster.degrees) {
    if (!padding.per_degree) break;
    const Tokens share =
        std::lcm(Tokens{degree > 1 ? 2 : 1}, Tokens{std::max(padding.device_multiple, 1)});
    if (share > kMaxPadMultiple / degree) return degree;
    const Tokens own = share * degree;
    if (!within_limit(padding.sequence_multiple, own)) return degree;
    if (!within_limit(std::lcm(padding.sequence_multiple, own), row)) return degree;
  }
  return std::nullopt;
}

void check_multiples(const Cluster& cluster, const Padding& padding, const JsonPath& path,
                     ErrorList& errors) {
  const std::string limit = std::to_string(kMaxPadMultiple);
  if (!within_limit(padding.sequence_multiple, padding.row_multiple)) {
    errors.add(
        code::kPadding, path.key("row_multiple").pointer(),
        "must have a common multiple with sequence_multiple of at most " + limit + ", has none");
  } else if (const auto degree = excessive_degree(cluster, padding)) {
    errors.add(code::kPadding, path.pointer(),
               "must pad to multiples of at most " + limit + " tokens, pads groups of degree " +
                   std::to_string(*degree) + " to more");
  }
}

}  // namespace

void read_padding(const ObjectReader& reader, bool degrees_known, ScatterInstance& instance) {
  ErrorList& errors = reader.errors();
  instance.pad_multiple = reader.integer("pad_multiple", {1, kMaxPadMultiple}, 1);
  const JsonValue* const value = reader.find("padding");
  if (value == nullptr) return;
  const JsonPath path = reader.at("padding");
  const std::int64_t before = errors.found();
  Padding padding;
  read_fields(*value, path, errors, padding);
  if (reader.find("pad_multiple") != nullptr) {
    errors.add(code::kPadding, path.pointer(), "must stand in place of pad_multiple, is beside it");
  }
  if (errors.found() != before) return;
  if (padding.device_multiple != 1 && !padding.per_degree) {
    errors.add(
        code::kPadding, path.key("device_multiple").pointer(),
        "must be 1 where per_degree is false, is " + std::to_string(padding.device_multiple));
  }
  if (degrees_known) check_multiples(instance.cluster, padding, path, errors);
  if (errors.found() == before) instance.padding = padding;
}

void write_padding(JsonWriter& json, const ScatterInstance& instance) {
  if (!instance.padding) {
    json.integer("pad_multiple", instance.pad_multiple);
    return;
  }
  if (instance.pad_multiple != 1) json.integer("pad_multiple", instance.pad_multiple);
  json.key("padding");
  write_fields(json, *instance.padding);
}

Tokens largest_multiple(const ScatterInstance& instance) {
  Tokens largest = common_multiple(instance);
  if (!instance.padding) return largest;
  for (const GroupForm form : group_forms(instance)) {
    largest = std::max({largest, sequence_multiple(instance, form), row_multiple(instance, form)});
  }
  return largest;
}

}  // namespace stowage
