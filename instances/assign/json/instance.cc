// Reads and writes assign instances. Reading checks keys and types first, then the rules that join
// several members.
#include <algorithm>
#include <map>
#include <string>

#include "instances/assign/chunks/chunk_flow.h"
#include "instances/assign/json/embedded_documents.h"
#include "instances/assign/json/fields.h"
#include "instances/assign/json/json.h"
#include "instances/json/limits.h"
#include "instances/json/text.h"
#include "instances/lengths/json.h"

namespace stowage {
namespace {

// Returns the members of a table whose keys are the user's names, or null after an error.
const JsonValue::Object* members_of(const JsonValue& value, const JsonPath& path,
                                    std::string_view expected, std::int64_t most,
                                    ErrorList& errors) {
  const JsonValue::Object* members = value.object();
  if (members == nullptr) {
    add_wrong_type(value, path, "an object of " + std::string(expected) + " keyed by name", errors);
  } else if (static_cast<std::int64_t>(members->size()) > most) {
    errors.add(code::kTooManyValues, path.pointer(),
               "must be at most " + std::to_string(most) + ' ' + std::string(expected) + ", is " +
                   std::to_string(members->size()));
    return nullptr;
  }
  return members;
}

bool is_users_own(const JsonMember& member) { return member.key.compare(0, 2, "x-") == 0; }

void read_schemes(const JsonValue& value, const JsonPath& path, AssignInstance& instance,
                  ErrorList& errors) {
  const JsonValue::Object* members = members_of(value, path, "schemes", kMaxSchemes, errors);
  if (members == nullptr) return;
  for (const JsonMember& member : *members) {
    if (is_users_own(member)) continue;
    Scheme& scheme = instance.schemes.emplace_back(Scheme{.name = member.key});
    read_fields(member.value, path.key(member.key), errors, scheme);
  }
  if (instance.schemes.empty()) {
    errors.add(code::kNoScheme, path.pointer(), "must hold at least one scheme, is empty");
  }
}

// The index of each scheme in AssignInstance::schemes.
using SchemeIndex = std::map<std::string_view, std::size_t>;

// Reads {"16x1": 1, "8x1": 6}.
Strategy read_strategy(const JsonMember& strategy, const JsonPath& path, const SchemeIndex& schemes,
                       std::size_t count, ErrorList& errors) {
  Strategy read{.name = strategy.key, .replicas = std::vector<int>(count)};
  const JsonValue::Object* members =
      members_of(strategy.value, path, "numbers of replicas", kMaxSchemes, errors);
  if (members == nullptr) return read;
  for (const JsonMember& member : *members) {
    if (is_users_own(member)) continue;
    const auto scheme = schemes.find(member.key);
    if (scheme == schemes.end()) {
      if (!errors.room()) {
        errors.add_unseen();
        continue;
      }
      std::vector<std::string_view> names;
      for (const auto& [name, index] : schemes) names.push_back(name);
      errors.add(code::kUnknownScheme, path.key(member.key).pointer(),
                 "must be a scheme of /schemes, is " + in_quotes(member.key) +
                     did_you_mean(member.key, names));
      continue;
    }
    if (const auto replicas =
            read_integer(member.value, path.key(member.key), {0, kMaxDevices}, errors)) {
      read.replicas[scheme->second] = static_cast<int>(*replicas);
    }
  }
  return read;
}

// Checks the strategy. Requires replicas of known schemes; `devices` is 0 if it could not be read.
void check_strategy(const Strategy& strategy, const AssignInstance& instance, const JsonPath& path,
                    ErrorList& errors) {
  std::int64_t used = 0;  // at most 10^3 schemes of 10^6 * 1024 devices, 10^6 replicas each
  for (std::size_t g = 0; g < instance.schemes.size(); ++g) {
    const Scheme& scheme = instance.schemes[g];
    used += std::int64_t{scheme.tp} * scheme.pp * strategy.replicas[g];
  }
  if (used == 0) {
    errors.add(code::kNoReplica, path.pointer(), "must have at least one replica, is without");
  } else if (used > instance.devices) {
    errors.add(code::kTooManyReplicas, path.pointer(),
               "must use at most the " + std::to_string(instance.devices) +
                   " devices, is replicas of " + std::to_string(used));
  }
}

void read_strategies(const JsonValue& value, const JsonPath& path, bool checked,
                     AssignInstance& instance, ErrorList& errors) {
  const JsonValue::Object* members = members_of(value, path, "strategies", kMaxStrategies, errors);
  if (members == nullptr) return;
  SchemeIndex schemes;  // the first of a name: a repeated name is already an error
  const std::size_t count = instance.schemes.size();
  for (std::size_t g = 0; g < count; ++g) schemes.emplace(instance.schemes[g].name, g);
  for (const JsonMember& member : *members) {
    if (is_users_own(member)) continue;
    const std::int64_t before = errors.found();
    const JsonPath where = path.key(member.key);
    instance.strategies.push_back(read_strategy(member, where, schemes, count, errors));
    if (checked && errors.found() == before) {
      check_strategy(instance.strategies.back(), instance, where, errors);
    }
  }
  if (instance.strategies.empty()) {
    errors.add(code::kNoScheme, path.pointer(), "must hold at least one strategy, is empty");
  }
}

// Checks the number of parts: each part is a row of the plan, and each row passes all stages of its
// pipeline.
void check_parts(const AssignInstance& instance, const JsonPath& constraints,
                 const JsonPath& lengths, ErrorList& errors) {
  const std::int64_t parts = cut_parts(instance);
  if (parts <= kMaxParts) {
    const bool chunks = instance.constraints.chunks.has_value();
    const std::int64_t most = chunks ? kMaxChunkPasses : kMaxPasses;
    const std::int64_t passes = most_passes(instance);
    if (passes <= most) return;
    errors.add(code::kTooManyValues,
               (chunks ? constraints.key("chunks").key("size_tokens") : lengths).pointer(),
               "must make at most " + std::to_string(most) +
                   (chunks ? " rows of chunks" : " rows") + " times stages, is " +
                   std::to_string(passes));
    return;
  }
  errors.add(code::kTooManyValues, constraints.key("chunks").key("size_tokens").pointer(),
             "must cut the sequences into at most " + std::to_string(kMaxParts) + " parts, is " +
                 std::to_string(instance.constraints.chunks->size) + ", which makes " +
                 std::to_string(parts));
}

// Reads the members one by one: strategies are checked against schemes, and lengths against both.
AssignInstance assign_instance_from(const JsonValue& document, const std::string& base_dir,
                                    ErrorList& errors) {
  const JsonPath root;
  const ObjectReader reader(
      document, root, errors,
      {"format", "version", "problem", "name", "devices", "schemes", "strategies", "constraints",
       "pad_multiple", "lengths", "loss_tokens"});
  AssignInstance instance;
  if (document.object() == nullptr || !check_head(reader, "stowage/instance", "assign")) {
    return instance;
  }
  instance.name = reader.text("name", "");
  std::int64_t before = errors.found();
  instance.devices = static_cast<int>(reader.integer("devices", kDeviceRange));
  if (const JsonValue* schemes = reader.require("schemes")) {
    read_schemes(*schemes, reader.at("schemes"), instance, errors);
  }
  const bool known = errors.found() == before;
  if (const JsonValue* strategies = reader.require("strategies")) {
    read_strategies(*strategies, reader.at("strategies"), known, instance, errors);
  }
  FieldReader(reader).optional("constraints", instance.constraints);
  before = errors.found();
  instance.pad_multiple = reader.integer("pad_multiple", {1, kMaxPadMultiple}, 1);
  if (const JsonValue* lengths = reader.require("lengths")) {
    const JsonPath where = reader.at("lengths");
    instance.lengths = read_lengths_or_list(*lengths, where, base_dir, errors);
    if (errors.found() == before) {
      check_padded_sum(instance.lengths, instance.pad_multiple, where, errors);
      check_costs(instance.lengths.size(), instance.schemes.size(), "schemes", where, errors);
      check_parts(instance, reader.at("constraints"), where, errors);
      instance.loss_tokens = read_loss_tokens(reader, base_dir, instance.lengths);
      if (instance.constraints.chunks && !instance.loss_tokens.empty()) {
        errors.add(code::kChunkConstraint, reader.at("loss_tokens").pointer(),
                   "must be absent beside chunks: it does not say in which part of a sequence its "
                   "targets are");
      }
    }
  }
  return instance;
}

void write_strategy(JsonWriter& json, const AssignInstance& instance, const Strategy& strategy) {
  json.key(strategy.name);
  json.begin_object(JsonWriter::Layout::line);
  for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
    // An index without a scheme is written as a name that the reader refuses.
    const std::string name =
        g < instance.schemes.size() ? instance.schemes[g].name : std::to_string(g);
    if (strategy.replicas[g] > 0) json.integer(name, strategy.replicas[g]);
  }
  json.end_object();
}

}  // namespace

Result<AssignInstance> read_assign_instance(std::string_view text, const std::string& base_dir) {
  return read_document(text, [&](const JsonValue& document, ErrorList& errors) {
    return assign_instance_from(document, base_dir, errors);
  });
}

void write_json_members(JsonWriter& json, const AssignInstance& instance) {
  write_head(json, "stowage/instance", "assign", instance.name);
  json.integer("devices", instance.devices);
  json.key("schemes");
  json.begin_object();
  for (const Scheme& scheme : instance.schemes) {
    json.key(scheme.name);
    write_fields(json, scheme);
  }
  json.end_object();
  json.key("strategies");
  json.begin_object();
  for (const Strategy& strategy : instance.strategies) write_strategy(json, instance, strategy);
  json.end_object();
  json.key("constraints");
  write_fields(json, instance.constraints);
  json.integer("pad_multiple", instance.pad_multiple);
  json.key("lengths");
  json.integers(instance.lengths);
  if (!instance.loss_tokens.empty()) {
    json.key("loss_tokens");
    json.integers(instance.loss_tokens);
  }
}

std::string write_assign_instance(const AssignInstance& instance) {
  JsonWriter json;
  json.begin_object();
  write_json_members(json, instance);
  json.end_object();
  return json.take();
}

std::vector<InputError> hidden_assign_errors(const AssignInstance& instance) {
  ErrorList errors;
  check_utf8(instance.name, "/name", errors);
  // The reader takes a member whose key begins with "x-" for a user's remark.
  const auto check_key = [&errors](const char* list, const std::string& name) {
    const std::string pointer = list + json_pointer_step(is_utf8(name) ? name : printable(name));
    check_utf8(name, pointer, errors);
    if (!name.starts_with("x-")) return;
    errors.add(code::kUnknownKey, pointer, "must not begin with \"x-\", is " + in_quotes(name));
  };
  for (const Scheme& scheme : instance.schemes) check_key("/schemes", scheme.name);
  for (const Strategy& strategy : instance.strategies) {
    check_key("/strategies", strategy.name);
    if (strategy.replicas.size() == instance.schemes.size() &&
        std::ranges::all_of(strategy.replicas, [](int count) { return count >= 0; })) {
      continue;
    }
    errors.add(code::kIntegerRange, "/strategies" + json_pointer_step(printable(strategy.name)),
               "must be a number of replicas from 0 for each of the " +
                   std::to_string(instance.schemes.size()) + " schemes");
  }
  return std::move(errors).take();
}

}  // namespace stowage
