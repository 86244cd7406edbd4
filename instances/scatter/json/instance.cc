// Reads and writes scatter instances. Longer than 300 lines because costs are checked against the
// degrees of the cluster, and so are read beside them. Reading checks keys and types first, then
// the rules that join several members.
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "instances/json/document.h"
#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/json/text.h"
#include "instances/lengths/json.h"
#include "instances/scatter/json/device_types.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/json/padding.h"
#include "instances/scatter/json/time_table.h"

namespace stowage {
namespace {

// The coefficients that rows of one length cannot separate.
constexpr std::array<std::string_view, 3> kSplitCoefficients = {"quadratic_ms", "linear_ms",
                                                                "fixed_ms"};

constexpr NumberRange kPositive = {.least = 0, .most = kMaxNumber, .above = true};

void check_recomputation(const ModelMemory& model, const ObjectReader& reader) {
  const std::vector<Recomputation>& choices = model.recomputation;
  const JsonPath path = reader.at("recomputation");
  if (std::ssize(choices) > kMaxRecomputations) {
    reader.errors().add(code::kRecomputation, path.pointer(),
                        "must have at most " + std::to_string(kMaxRecomputations) +
                            " entries, has " + std::to_string(choices.size()));
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto end = choices.begin() + static_cast<std::ptrdiff_t>(i);
    const bool again = std::find_if(choices.begin(), end, [&](const Recomputation& other) {
                         return other.name == choices[i].name;
                       }) != end;
    if (!again && !choices[i].name.empty()) continue;
    reader.errors().add(code::kRecomputation,
                        path.index(static_cast<std::int64_t>(i)).key("name").pointer(),
                        "must be a name of its own, is " + in_quotes(choices[i].name));
  }
}

}  // namespace

template <class Visitor, Of<SlidingWindow> Window>
void fields(Visitor& v, Window& window) {
  v.one_line();
  v.required("tokens", window.tokens, {1, kMaxExact});
  v.required("share", window.share, kShareOfOne);
}

// A missing number of activations is the model's.
template <class Visitor, Of<Recomputation> Choice>
void fields(Visitor& v, Choice& choice) {
  v.one_line();
  v.required("name", choice.name);
  v.optional("activation_mib_per_token", choice.activation_mib_per_token, kPositive);
  v.omit_if(choice.quadratic_factor == 1, "quadratic_factor", choice.quadratic_factor, kPositive);
  v.omit_if(choice.linear_factor == 1, "linear_factor", choice.linear_factor, kPositive);
  v.omit_if(choice.exchange_factor == 1, "exchange_factor", choice.exchange_factor, kPositive);
}

template <class Visitor, Of<ModelMemory> Model>
void fields(Visitor& v, Model& model) {
  v.required("states_mib", model.states_mib, kQuantity);
  v.required("activation_mib_per_token", model.activation_mib_per_token, kPositive);
  v.omit_if(model.sequence_mib == 0, "sequence_mib", model.sequence_mib, kQuantity);
  v.omit_if(model.logits_mib_per_token == 0, "logits_mib_per_token", model.logits_mib_per_token,
            kQuantity);
  v.omit_if(model.logits_chunk_tokens == 0, "logits_chunk_tokens", model.logits_chunk_tokens,
            {1, kMaxExact});
  v.omit_if(model.keys_values_mib_per_token == 0, "keys_values_mib_per_token",
            model.keys_values_mib_per_token, kQuantity);
  v.omit_if(model.recomputation.empty(), "recomputation", model.recomputation);
  v.check(model, check_recomputation);
  v.check(model, [](const ModelMemory& stated, const ObjectReader& reader) {
    if (stated.logits_chunk_tokens == 0 || stated.logits_mib_per_token > 0) return;
    reader.errors().add(code::kLogits, reader.at("logits_chunk_tokens").pointer(),
                        "must stand beside a logits_mib_per_token above 0, is without");
  });
}

// Rules at their defaults are not written.
template <class Visitor, Of<ScatterRules> Rules>
void fields(Visitor& v, Rules& rules) {
  const ScatterRules none;
  v.omit_if(!rules.no_idle_ranks, "no_idle_ranks", rules.no_idle_ranks);
  v.omit_if(!rules.sorted_groups, "sorted_groups", rules.sorted_groups);
  v.omit_if(rules.micro_batches_multiple_of == none.micro_batches_multiple_of,
            "micro_batches_multiple_of", rules.micro_batches_multiple_of, {1, kMaxSequences});
  v.omit_if(rules.min_degree == none.min_degree, "min_degree", rules.min_degree, {1, kMaxDevices});
  v.omit_if(rules.max_tokens_per_rank == none.max_tokens_per_rank, "max_tokens_per_rank",
            rules.max_tokens_per_rank, {1, kMaxExact});
  v.omit_if(rules.max_sequences_per_group == none.max_sequences_per_group,
            "max_sequences_per_group", rules.max_sequences_per_group, {1, kMaxExact});
  v.omit_if(!rules.equal_sequences, "equal_sequences", rules.equal_sequences);
  v.omit_if(rules.packed, "packed", rules.packed);
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

// Reads the cluster. Returns whether its degrees are valid.
bool read_cluster(const JsonValue& value, const JsonPath& path, ErrorList& errors,
                  Cluster& cluster) {
  const ObjectReader reader(
      value, path, errors,
      {"devices", "devices_per_node", "memory_mib", "degrees", "aligned", "kinds"});
  cluster.devices_per_node =
      static_cast<int>(reader.integer("devices_per_node", {1, kMaxDevices}, 8));
  cluster.memory_mib = reader.number("memory_mib", kQuantity);
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
  if (errors.found() == before) read_device_kinds(reader, cluster);
  return value.object() != nullptr && errors.found() == before;
}

// Calls `read` with the degree, value and place of each member of an object keyed by degree.
template <class Read>
void each_degree(const ObjectReader& reader, std::string_view key, const char* expected,
                 Read read) {
  const JsonValue* value = reader.find(key);
  if (value == nullptr) return;
  ErrorList& errors = reader.errors();
  const JsonPath path = reader.at(key);
  const JsonValue::Object* members = value->object();
  if (members == nullptr) {
    add_wrong_type(*value, path, expected, errors);
    return;
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
    read(degree, member.value, path.key(member.key));
  }
}

// Reads {"2": 119.54, "4": 104.07}: numbers keyed by degree.
std::map<int, double> read_by_degree(const ObjectReader& reader, std::string_view key,
                                     NumberRange range) {
  std::map<int, double> by_degree;
  each_degree(reader, key, "an object of numbers keyed by degree",
              [&](int degree, const JsonValue& value, const JsonPath& path) {
                if (const auto number = read_number(value, path, range, reader.errors())) {
                  by_degree[degree] = *number;
                }
              });
  return by_degree;
}

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

// Reads the exchange. `cluster` is null if its degrees are unknown.
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

// Reads the all-to-all. `cluster` is null if its degrees are unknown.
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

// Reads {"table": {"1": {...}, "2": {...}}}, which excludes all other members of the cost.
ScatterCost read_measured(const ObjectReader& reader, std::span<const std::string_view> others) {
  ScatterCost cost;
  for (const std::string_view key : others) {
    if (reader.find(key) == nullptr) continue;
    reader.errors().add(code::kTable, reader.at(key).pointer(),
                        "must not stand beside a table, which has all of the time, is there");
  }
  each_degree(reader, "table", "an object of grids keyed by degree",
              [&](int degree, const JsonValue& value, const JsonPath& path) {
                cost.table[degree] = read_time_grid(value, path, reader.errors());
              });
  if (cost.table.empty() && reader.errors().empty()) {
    reader.errors().add(code::kTable, reader.at("table").pointer(),
                        "must have a grid for every allowed degree, has none");
  }
  return cost;
}

// Reads keys of coefficients.
std::vector<std::string> read_undetermined(const ObjectReader& reader) {
  std::vector<std::string> keys;
  if (reader.find("undetermined") == nullptr) return keys;
  reader.each("undetermined", [&](const JsonValue& element, const JsonPath& where) {
    const std::string* key = element.string();
    if (key == nullptr || std::ranges::find(kSplitCoefficients, *key) == kSplitCoefficients.end()) {
      add_wrong_type(element, where, "\"quadratic_ms\", \"linear_ms\" or \"fixed_ms\"",
                     reader.errors());
    } else {
      keys.push_back(*key);
    }
  });
  return keys;
}

ScatterCost read_cost(const JsonValue& value, const JsonPath& path, const Cluster* cluster,
                      ErrorList& errors) {
  constexpr std::array<std::string_view, 9> kFormula = {
      "quadratic_ms", "linear_ms",   "fixed_ms", "all_to_all", "sequence_fixed_ms",
      "split_ms",     "tile_tokens", "window",   "exchange"};
  const ObjectReader reader(
      value, path, errors,
      {"quadratic_ms", "linear_ms", "fixed_ms", "all_to_all", "sequence_fixed_ms", "split_ms",
       "tile_tokens", "window", "exchange", "table", "undetermined"});
  if (reader.find("table") != nullptr) return read_measured(reader, kFormula);
  ScatterCost cost{.quadratic_ms = reader.number("quadratic_ms", kQuantity),
                   .linear_ms = reader.number("linear_ms", kQuantity),
                   .fixed_ms = reader.number("fixed_ms", kQuantity),
                   .sequence_fixed_ms = reader.number("sequence_fixed_ms", kQuantity, 0),
                   .split_ms = reader.number("split_ms", kQuantity, 0),
                   .tile_tokens = reader.integer("tile_tokens", {1, kMaxPadMultiple}, 1)};
  FieldReader(reader).optional("window", cost.window);
  cost.undetermined = read_undetermined(reader);
  const JsonValue* const all_to_all = reader.find("all_to_all");
  if (all_to_all != nullptr) {
    cost.all_to_all = read_all_to_all(*all_to_all, reader.at("all_to_all"), cluster, errors);
  }
  if (const JsonValue* exchange = reader.find("exchange")) {
    if (all_to_all != nullptr) {
      errors.add(code::kExchange, reader.at("exchange").pointer(),
                 "must stand in place of all_to_all, is beside it");
    }
    cost.exchange = read_exchange(*exchange, reader.at("exchange"), cluster, errors);
  }
  return cost;
}

}  // namespace

ScatterCost read_scatter_cost(const JsonValue& value, const JsonPath& path,
                              const std::string& base_dir, const Cluster* cluster,
                              ErrorList& errors) {
  if (value.find("file") == nullptr) return read_cost(value, path, cluster, errors);
  const ObjectReader reader(value, path, errors, {"file"});
  const std::filesystem::path file = reader.text("file");
  if (file.empty() || file.is_absolute()) {
    errors.add(code::kListPath, reader.at("file").pointer(),
               "must be a path relative to the instance, is " + in_quotes(file.string()));
    return {};
  }
  const std::filesystem::path path_of_file = std::filesystem::path(base_dir) / file;
  const Result<std::string> text = read_text_file(path_of_file);
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
    errors.add(error.code, path_of_file.string() + ' ' + error.pointer, error.message);
  }
  return cost;
}

namespace {

// Reads the members one by one: costs and lengths are checked against the degrees of the cluster.
ScatterInstance scatter_instance_from(const JsonValue& document, const std::string& base_dir,
                                      ErrorList& errors) {
  const JsonPath root;
  const ObjectReader reader(
      document, root, errors,
      {"format", "version", "problem", "name", "cluster", "model", "cost", "rules",
       "pipeline_stages", "pad_multiple", "padding", "lengths", "loss_tokens"});
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
  for (Recomputation& choice : instance.model.recomputation) {
    if (choice.activation_mib_per_token == 0) {
      choice.activation_mib_per_token = instance.model.activation_mib_per_token;
    }
  }
  if (const JsonValue* cost = reader.require("cost")) {
    instance.cost = read_scatter_cost(*cost, reader.at("cost"), base_dir,
                                      degrees_known ? &instance.cluster : nullptr, errors);
  }
  if (const JsonValue* rules = reader.find("rules")) {
    instance.rules = read_scatter_rules(*rules, reader.at("rules"),
                                        degrees_known ? &instance.cluster : nullptr, errors);
  }
  check_rules_of_device_kinds(instance, reader);
  if (degrees_known && errors.empty()) check_table(instance, reader.at("cost"), errors);
  instance.pipeline_stages =
      static_cast<int>(reader.integer("pipeline_stages", {1, kMaxStages}, 1));
  const std::int64_t before = errors.found();
  read_padding(reader, degrees_known, instance);
  if (const JsonValue* lengths = reader.require("lengths")) {
    const JsonPath where = reader.at("lengths");
    instance.lengths = read_lengths_or_list(*lengths, where, base_dir, errors);
    if (errors.found() == before) {
      check_padded_sum(instance.lengths,
                       errors.empty() ? largest_multiple(instance) : instance.pad_multiple, where,
                       errors);
      check_costs(instance.lengths.size(), instance.cluster.degrees.size(), "degrees", where,
                  errors);
      instance.loss_tokens = read_loss_tokens(reader, base_dir, instance.lengths);
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

Result<ScatterInstance> read_scatter_instance(std::string_view text, const std::string& base_dir) {
  return read_document(text, [&](const JsonValue& document, ErrorList& errors) {
    return scatter_instance_from(document, base_dir, errors);
  });
}

ScatterRules read_scatter_rules(const JsonValue& value, const JsonPath& path,
                                const Cluster* cluster, ErrorList& errors) {
  ScatterRules rules;
  const std::int64_t before = errors.found();
  read_fields(value, path, errors, rules);
  if (errors.found() == before && cluster != nullptr &&
      rules.min_degree > cluster->degrees.back()) {
    errors.add(code::kDegrees, path.key("min_degree").pointer(),
               "must be at most the largest degree, " + std::to_string(cluster->degrees.back()) +
                   ", is " + std::to_string(rules.min_degree));
  }
  return rules;
}

Result<ScatterCost> read_scatter_cost(std::string_view text, const Cluster& cluster) {
  return read_document(text, [&](const JsonValue& document, ErrorList& errors) {
    return read_cost(document, JsonPath(), &cluster, errors);
  });
}

static void write_exchange(JsonWriter& json, const Exchange& exchange) {
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

void write_json(JsonWriter& json, const ScatterCost& cost) {
  json.begin_object();
  if (!cost.table.empty()) {
    json.key("table");
    json.begin_object();
    for (const auto& [degree, grid] : cost.table) {
      json.key(std::to_string(degree));
      write_json(json, grid);
    }
    json.end_object();
    json.end_object();
    return;
  }
  json.number("quadratic_ms", cost.quadratic_ms);
  json.number("linear_ms", cost.linear_ms);
  json.number("fixed_ms", cost.fixed_ms);
  if (cost.sequence_fixed_ms != 0) json.number("sequence_fixed_ms", cost.sequence_fixed_ms);
  if (cost.split_ms != 0) json.number("split_ms", cost.split_ms);
  if (cost.tile_tokens != 1) json.integer("tile_tokens", cost.tile_tokens);
  if (!cost.undetermined.empty()) {
    json.key("undetermined");
    json.begin_array(JsonWriter::Layout::line);
    for (const std::string& key : cost.undetermined) json.text(key);
    json.end_array();
  }
  if (cost.window.share != 0) {
    json.key("window");
    write_fields(json, cost.window);
  }
  if (cost.exchange) {
    json.key("exchange");
    write_exchange(json, *cost.exchange);
    json.end_object();
    return;
  }
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
  write_device_kinds(json, cluster);
  json.end_object();
  json.key("model");
  write_fields(json, instance.model);
  json.key("cost");
  write_json(json, instance.cost);
  if (instance.rules != ScatterRules{}) {
    json.key("rules");
    write_fields(json, instance.rules);
  }
  if (instance.pipeline_stages != 1) json.integer("pipeline_stages", instance.pipeline_stages);
  write_padding(json, instance);
  json.key("lengths");
  json.integers(instance.lengths);
  if (!instance.loss_tokens.empty()) {
    json.key("loss_tokens");
    json.integers(instance.loss_tokens);
  }
}

std::string write_scatter_instance(const ScatterInstance& instance) {
  JsonWriter json;
  json.begin_object();
  write_json_members(json, instance);
  json.end_object();
  return json.take();
}

}  // namespace stowage
