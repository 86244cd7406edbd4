// Reads and writes the exchanges of a scatter cost.
#include "instances/scatter/json/exchange.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/scatter/json/degree_members.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

// Reads ["ring", "all_to_all"], in any order. Returns the kinds in the order of ExchangeKind; empty
// after an error.
std::vector<ExchangeKind> read_kinds(const JsonValue& value, const JsonPath& path,
                                     ErrorList& errors) {
  const std::int64_t before = errors.found();
  std::vector<ExchangeKind> kinds;
  const JsonValue::Array* names = value.array();
  if (names == nullptr) {
    add_wrong_type(value, path, "an array of kinds of exchange", errors);
    return kinds;
  }
  const auto known = exchange_names().subspan(1);
  std::vector<bool> named(known.size(), false);
  for (std::size_t i = 0; i < names->size(); ++i) {
    const std::string* const name = (*names)[i].string();
    const auto found = name == nullptr ? known.end() : std::ranges::find(known, *name);
    const auto kind = static_cast<std::size_t>(found - known.begin());
    if (found == known.end() || named[kind]) {
      errors.add(code::kExchange, path.index(static_cast<std::int64_t>(i)).pointer(),
                 "must be all_to_all, ring, all_gather or two_level, each once, is " +
                     describe((*names)[i]));
      continue;
    }
    named[kind] = true;
  }
  if (errors.found() != before) return kinds;
  for (std::size_t kind = 0; kind < named.size(); ++kind) {
    if (named[kind]) kinds.push_back(static_cast<ExchangeKind>(kind + 1));
  }
  return kinds;
}

// Reads the kinds of every degree: one array for all allowed degrees, of which each takes the kinds
// it can use, or arrays keyed by degree.
void read_exchange_kinds(const ObjectReader& reader, const Cluster& cluster, Exchange& exchange) {
  const JsonValue* const value = reader.require("kinds");
  if (value == nullptr) return;
  ErrorList& errors = reader.errors();
  const JsonPath path = reader.at("kinds");
  const std::int64_t before = errors.found();
  const bool for_all = value->array() != nullptr;
  if (for_all) {
    const std::vector<ExchangeKind> kinds = read_kinds(*value, path, errors);
    for (const int degree : cluster.degrees) {
      if (degree == 1) continue;
      for (const ExchangeKind kind : kinds) {
        if (can_exchange(cluster, {degree, kind})) exchange.kinds[degree].push_back(kind);
      }
    }
  } else {
    each_degree(reader, "kinds", "an array of kinds of exchange, or an object of such arrays",
                [&](int degree, const JsonValue& of_degree, const JsonPath& where) {
                  exchange.kinds[degree] = read_kinds(of_degree, where, errors);
                });
  }
  if (errors.found() != before) return;
  for (const int degree : cluster.degrees) {
    if (degree == 1) continue;
    const auto kinds = exchange.kinds.find(degree);
    if (kinds == exchange.kinds.end() || kinds->second.empty()) {
      errors.add(
          code::kExchange, path.pointer(),
          "must name an exchange that groups of degree " + std::to_string(degree) + " can use");
      continue;
    }
    for (const ExchangeKind kind : kinds->second) {
      if (can_exchange(cluster, {degree, kind})) continue;
      errors.add(code::kExchange, path.key(std::to_string(degree)).pointer(),
                 "must be without two_level, which needs aligned groups of several whole nodes, is "
                 "with it");
    }
  }
}

// Checks that volumes by devices contain each number of devices that exchanges.
void check_volumes(const Cluster& cluster, const Exchange& exchange, const ObjectReader& reader) {
  std::string missing;
  std::set<int> seen;
  for (const int degree : cluster.degrees) {
    if (degree == 1) continue;
    for (const ExchangeKind kind : exchange.kinds.at(degree)) {
      const bool two_level = kind == ExchangeKind::two_level;
      if (!two_level && kind != ExchangeKind::all_to_all) continue;
      const int devices = two_level ? cluster.devices_per_node : degree;
      if (exchange.all_to_all_by_devices.contains(devices) || !seen.insert(devices).second)
        continue;
      missing += (missing.empty() ? "" : ", ") + std::to_string(devices);
    }
  }
  if (missing.empty()) return;
  reader.errors().add(
      code::kBandwidth, reader.at("all_to_all_mib_per_token").pointer(),
      "must hold a volume for every number of devices that exchange, lacks " + missing);
}

// Checks that all volumes and bandwidths that some allowed form uses are present.
void check_exchange(const Cluster& cluster, const Exchange& exchange, const ObjectReader& reader) {
  std::map<std::string_view, int> used;  // by key: a degree that uses it
  for (const int degree : cluster.degrees) {
    if (degree == 1) continue;
    const char* const slowest =
        may_cross_nodes(cluster, degree) ? "across_mib_per_ms" : "inside_mib_per_ms";
    for (const ExchangeKind kind : exchange.kinds.at(degree)) {
      const bool two_level = kind == ExchangeKind::two_level;
      used.emplace(slowest, degree);
      if (two_level) used.emplace("inside_mib_per_ms", degree);
      if (two_level || kind == ExchangeKind::all_to_all) {
        used.emplace("all_to_all_mib_per_token", degree);
      }
      if (kind != ExchangeKind::all_to_all) used.emplace("keys_values_mib_per_token", degree);
    }
  }
  for (const auto& [key, degree] : used) {
    if (reader.find(key) != nullptr) continue;
    reader.errors().add(
        code::kBandwidth, reader.at(key).pointer(),
        "must be given, as groups of degree " + std::to_string(degree) + " use it, is missing");
  }
}

void check_bandwidths(const Cluster& cluster, const AllToAll& all_to_all, const JsonPath& path,
                      ErrorList& errors) {
  std::string missing;
  for (const int degree : cluster.degrees) {
    if (degree == 1 || all_to_all.mib_per_ms.count(degree) > 0) continue;
    missing += (missing.empty() ? "" : ", ") + std::to_string(degree);
  }
  if (missing.empty()) return;
  errors.add(code::kBandwidth, path.pointer(),
             "must hold a bandwidth for every allowed degree above 1, lacks " + missing);
}

}  // namespace

Exchange read_exchange(const JsonValue& value, const JsonPath& path, const Cluster* cluster,
                       ErrorList& errors) {
  const ObjectReader reader(
      value, path, errors,
      {"kinds", "all_to_all_mib_per_token", "keys_values_mib_per_token", "inside_mib_per_ms",
       "across_mib_per_ms", "inside_latency_ms", "across_latency_ms", "overlap"});
  const std::int64_t before = errors.found();
  const JsonValue* const volume = reader.find("all_to_all_mib_per_token");
  const bool by_devices = volume != nullptr && volume->object() != nullptr;
  Exchange exchange{
      .all_to_all_mib_per_token =
          by_devices ? 0 : reader.number("all_to_all_mib_per_token", kQuantity, 0),
      .keys_values_mib_per_token = reader.number("keys_values_mib_per_token", kQuantity, 0),
      .all_to_all_by_devices = by_devices
                                   ? read_by_degree(reader, "all_to_all_mib_per_token", kQuantity)
                                   : std::map<int, Mib>(),
      .inside_mib_per_ms = reader.number("inside_mib_per_ms", kDivisor, 0),
      .across_mib_per_ms = reader.number("across_mib_per_ms", kDivisor, 0),
      .inside_latency_ms = reader.number("inside_latency_ms", kQuantity, 0),
      .across_latency_ms = reader.number("across_latency_ms", kQuantity, 0),
      .overlap = reader.number("overlap", kShareOfOne, 0)};
  if (cluster == nullptr) return exchange;
  read_exchange_kinds(reader, *cluster, exchange);
  if (value.object() != nullptr && errors.found() == before) {
    check_exchange(*cluster, exchange, reader);
    if (by_devices) check_volumes(*cluster, exchange, reader);
  }
  return exchange;
}

AllToAll read_all_to_all(const JsonValue& value, const JsonPath& path, const Cluster* cluster,
                         ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"mib_per_token", "mib_per_ms", "latency_ms"});
  const std::int64_t before = errors.found();
  AllToAll all_to_all{.mib_per_token = reader.number("mib_per_token", kQuantity),
                      .mib_per_ms = read_by_degree(reader, "mib_per_ms", kDivisor),
                      .latency_ms = read_by_degree(reader, "latency_ms", kQuantity)};
  if (errors.found() == before && cluster != nullptr && all_to_all.mib_per_token > 0) {
    check_bandwidths(*cluster, all_to_all, reader.at("mib_per_ms"), errors);
  }
  return all_to_all;
}

void write_exchange(JsonWriter& json, const Exchange& exchange) {
  json.begin_object();
  json.key("kinds");
  json.begin_object();
  for (const auto& [degree, kinds] : exchange.kinds) {
    json.key(std::to_string(degree));
    json.begin_array(JsonWriter::Layout::line);
    for (const ExchangeKind kind : kinds) {
      write_choice(json, kind, exchange_names());
    }
    json.end_array();
  }
  json.end_object();
  if (exchange.all_to_all_by_devices.empty()) {
    json.number("all_to_all_mib_per_token", exchange.all_to_all_mib_per_token);
  } else {
    write_by_degree(json, "all_to_all_mib_per_token", exchange.all_to_all_by_devices);
  }
  json.number("keys_values_mib_per_token", exchange.keys_values_mib_per_token);
  const auto unless_zero = [&](std::string_view key, double value) {
    if (value != 0) json.number(key, value);
  };
  unless_zero("inside_mib_per_ms", exchange.inside_mib_per_ms);
  unless_zero("across_mib_per_ms", exchange.across_mib_per_ms);
  json.number("inside_latency_ms", exchange.inside_latency_ms);
  json.number("across_latency_ms", exchange.across_latency_ms);
  json.number("overlap", exchange.overlap);
  json.end_object();
}

}  // namespace stowage
