// Scatter instances. Reading looks at keys and types first, then at what they mean together.
#include <algorithm>
#include <charconv>
#include <map>
#include <string>

#include "instances/json/document.h"
#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/json/text.h"
#include "instances/lengths/json.h"
#include "instances/scatter/json.h"
#include "instances/scatter/json_members.h"

namespace stowage {
namespace {

// Quantities beyond 2^53 are typing errors, and would let sums leave the range of a double.
constexpr auto kMost = static_cast<double>(kMaxExact);
constexpr NumberRange kNotNegative = {.least = 0, .most = kMost};
constexpr NumberRange kPositive = {.least = 0, .most = kMost, .above = true};
constexpr NumberRange kBandwidth = {.least = 1e-9, .most = kMost};

}  // namespace

template <class Visitor, Of<ModelMemory> Model>
void fields(Visitor& v, Model& model) {
  v.required("states_mib", model.states_mib, kNotNegative);
  v.required("activation_mib_per_token", model.activation_mib_per_token, kPositive);
}

namespace {

std::vector<int> powers_of_two_up_to(int devices) {
  std::vector<int> degrees;
  for (std::int64_t degree = 1; degree <= devices; degree *= 2) {
    degrees.push_back(static_cast<int>(degree));
  }
  return degrees;
}

void check_degrees(const Cluster& cluster, const JsonPath& path, ErrorList& errors) {
  const std::vector<int>& degrees = cluster.degrees;
  if (degrees.empty()) {
    errors.add(code::kDegrees, path.pointer(), "must list at least one degree, is empty");
  }
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    const auto must_be = [&](const char* error_code, const std::string& expected) {
      errors.add(error_code, path.index(static_cast<std::int64_t>(i)).pointer(),
                 "must be " + expected + ", is " + std::to_string(degrees[i]));
    };
    if (degrees[i] > cluster.devices) {
      must_be(code::kDegrees, "at most the " + std::to_string(cluster.devices) + " devices");
    }
    if (i == 0) continue;
    const std::string previous = "the degree before it, " + std::to_string(degrees[i - 1]);
    if (degrees[i] <= degrees[i - 1]) {
      must_be(code::kDegrees, "above " + previous);
    } else if (cluster.aligned && degrees[i] % degrees[i - 1] != 0) {
      must_be(code::kDivisibility,
              "a multiple of " + previous + " (or write \"aligned\": false in /cluster)");
    }
  }
}

// The cluster, and whether its degrees can be trusted.
bool read_cluster(const JsonValue& value, const JsonPath& path, ErrorList& errors,
                  Cluster& cluster) {
  const ObjectReader reader(value, path, errors,
                            {"devices", "devices_per_node", "memory_mib", "degrees", "aligned"});
  cluster.devices_per_node =
      static_cast<int>(reader.integer("devices_per_node", {1, kMaxDevices}, 8));
  cluster.memory_mib = reader.number("memory_mib", kNotNegative);
  const std::int64_t before = errors.found();
  cluster.devices = static_cast<int>(reader.integer("devices", {1, kMaxDevices}));
  cluster.aligned = reader.boolean("aligned", true);
  const JsonValue* listed = reader.find("degrees");
  if (listed == nullptr) {
    cluster.degrees = powers_of_two_up_to(cluster.devices);
  } else {
    const JsonPath where = reader.at("degrees");
    for (const std::int64_t d : read_integers(*listed, where, {1, kMaxDevices}, errors)) {
      cluster.degrees.push_back(static_cast<int>(d));
    }
    if (errors.found() == before) check_degrees(cluster, where, errors);
  }
  return value.object() != nullptr && errors.found() == before;
}

// {"2": 119.54, "4": 104.07}: numbers keyed by degree.
std::map<int, double> read_by_degree(const ObjectReader& reader, std::string_view key,
                                     NumberRange range) {
  std::map<int, double> by_degree;
  const JsonValue* value = reader.find(key);
  if (value == nullptr) return by_degree;
  ErrorList& errors = reader.errors();
  const JsonPath path = reader.at(key);
  const JsonValue::Object* members = value->object();
  if (members == nullptr) {
    add_wrong_type(*value, path, "an object of numbers keyed by degree", errors);
    return by_degree;
  }
  for (const JsonMember& member : *members) {
    if (member.key.compare(0, 2, "x-") == 0) continue;
    int degree = 0;
    const char* const last = member.key.data() + member.key.size();
    const auto [end, failure] = std::from_chars(member.key.data(), last, degree);
    // Compared as text too, so that "08" and "8" cannot stand side by side.
    if (failure != std::errc() || end != last || degree < 1 || degree > kMaxDevices ||
        std::to_string(degree) != member.key) {
      errors.add(code::kDegreeKey, path.key(member.key).pointer(),
                 "must be keyed by a degree from 1 to " + std::to_string(kMaxDevices) + ", is " +
                     in_quotes(member.key));
      continue;
    }
    if (const auto number = read_number(member.value, path.key(member.key), range, errors)) {
      by_degree[degree] = *number;
    }
  }
  return by_degree;
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

// `cluster` is null if its degrees are not known.
AllToAll read_all_to_all(const JsonValue& value, const JsonPath& path, const Cluster* cluster,
                         ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"mib_per_token", "mib_per_ms", "latency_ms"});
  const std::int64_t before = errors.found();
  AllToAll all_to_all{.mib_per_token = reader.number("mib_per_token", kNotNegative),
                      .mib_per_ms = read_by_degree(reader, "mib_per_ms", kBandwidth),
                      .latency_ms = read_by_degree(reader, "latency_ms", kNotNegative)};
  if (errors.found() == before && cluster != nullptr && all_to_all.mib_per_token > 0) {
    check_bandwidths(*cluster, all_to_all, reader.at("mib_per_ms"), errors);
  }
  return all_to_all;
}

ScatterCost read_cost(const JsonValue& value, const JsonPath& path, const Cluster* cluster,
                      ErrorList& errors) {
  const ObjectReader reader(value, path, errors,
                            {"quadratic_ms", "linear_ms", "fixed_ms", "all_to_all"});
  ScatterCost cost{.quadratic_ms = reader.number("quadratic_ms", kNotNegative),
                   .linear_ms = reader.number("linear_ms", kNotNegative),
                   .fixed_ms = reader.number("fixed_ms", kNotNegative)};
  if (const JsonValue* all_to_all = reader.find("all_to_all")) {
    cost.all_to_all = read_all_to_all(*all_to_all, reader.at("all_to_all"), cluster, errors);
  }
  return cost;
}

// A cost, or {"file": ...} that names one, relative to `base_dir`. Errors of a file name it.
ScatterCost read_cost_or_file(const JsonValue& value, const JsonPath& path,
                              const std::filesystem::path& base_dir, const Cluster* cluster,
                              ErrorList& errors) {
  if (value.find("file") == nullptr) return read_cost(value, path, cluster, errors);
  const ObjectReader reader(value, path, errors, {"file"});
  const std::filesystem::path file = reader.text("file");
  if (file.empty() || file.is_absolute()) {
    errors.add(code::kListPath, reader.at("file").pointer(),
               "must be a path relative to the instance, is " + in_quotes(file.string()));
    return {};
  }
  const Result<std::string> text = read_text_file(base_dir / file);
  if (!text) {
    errors.append(text.errors());
    return {};
  }
  ErrorList inside;
  ScatterCost cost;
  if (const std::optional<JsonValue> document = parse_json(*text, inside)) {
    const JsonPath root;
    cost = read_cost(*document, root, cluster, inside);
  }
  for (const InputError& error : std::move(inside).take()) {
    errors.add(error.code, (base_dir / file).string() + ' ' + error.pointer, error.message);
  }
  return cost;
}

// By hand: costs and lengths are checked against the degrees of the cluster.
ScatterInstance scatter_instance_from(const JsonValue& document,
                                      const std::filesystem::path& base_dir, ErrorList& errors) {
  const JsonPath root;
  const ObjectReader reader(document, root, errors,
                            {"format", "version", "problem", "name", "cluster", "model", "cost",
                             "pad_multiple", "lengths"});
  ScatterInstance instance;
  if (document.object() == nullptr || !check_head(reader, "stowage/instance", "scatter")) {
    return instance;
  }
  instance.name = reader.text("name", "");
  bool degrees_known = false;
  if (const JsonValue* cluster = reader.require("cluster")) {
    degrees_known = read_cluster(*cluster, reader.at("cluster"), errors, instance.cluster);
  }
  FieldReader(reader).required("model", instance.model);
  if (const JsonValue* cost = reader.require("cost")) {
    instance.cost = read_cost_or_file(*cost, reader.at("cost"), base_dir,
                                      degrees_known ? &instance.cluster : nullptr, errors);
  }
  const std::int64_t before = errors.found();
  instance.pad_multiple = reader.integer("pad_multiple", {1, kMaxPadMultiple}, 1);
  if (const JsonValue* lengths = reader.require("lengths")) {
    const JsonPath where = reader.at("lengths");
    instance.lengths = read_lengths_or_list(*lengths, where, base_dir, errors);
    if (errors.found() == before) {
      check_padded_sum(instance.lengths, instance.pad_multiple, where, errors);
      check_costs(instance.lengths.size(), instance.cluster.degrees.size(), "degrees", where,
                  errors);
    }
  }
  return instance;
}

void write_by_degree(JsonWriter& json, std::string_view key, const std::map<int, double>& values) {
  json.key(key);
  json.begin_object(JsonWriter::Layout::line);
  for (const auto& [degree, value] : values) json.number(std::to_string(degree), value);
  json.end_object();
}

}  // namespace

Result<ScatterInstance> read_scatter_instance(std::string_view text,
                                              const std::filesystem::path& base_dir) {
  return read_document(text, [&](const JsonValue& document, ErrorList& errors) {
    return scatter_instance_from(document, base_dir, errors);
  });
}

void write_json(JsonWriter& json, const ScatterCost& cost) {
  json.begin_object();
  json.number("quadratic_ms", cost.quadratic_ms);
  json.number("linear_ms", cost.linear_ms);
  json.number("fixed_ms", cost.fixed_ms);
  json.key("all_to_all");
  json.begin_object();
  json.number("mib_per_token", cost.all_to_all.mib_per_token);
  write_by_degree(json, "mib_per_ms", cost.all_to_all.mib_per_ms);
  write_by_degree(json, "latency_ms", cost.all_to_all.latency_ms);
  json.end_object();
  json.end_object();
}

void write_json_members(JsonWriter& json, const ScatterInstance& instance) {
  write_head(json, "stowage/instance", "scatter", instance.name);
  const Cluster& cluster = instance.cluster;
  json.key("cluster");
  json.begin_object();
  json.integer("devices", cluster.devices);
  json.integer("devices_per_node", cluster.devices_per_node);
  json.number("memory_mib", cluster.memory_mib);
  json.key("degrees");
  json.integers({cluster.degrees.begin(), cluster.degrees.end()});
  json.boolean("aligned", cluster.aligned);
  json.end_object();
  json.key("model");
  write_fields(json, instance.model);
  json.key("cost");
  write_json(json, instance.cost);
  json.integer("pad_multiple", instance.pad_multiple);
  json.key("lengths");
  json.integers(instance.lengths);
}

std::string write_scatter_instance(const ScatterInstance& instance) {
  JsonWriter json;
  json.begin_object();
  write_json_members(json, instance);
  json.end_object();
  return json.take();
}

}  // namespace stowage
