// Reads and writes scatter instances. Reading checks keys and types first, then the rules that join
// several members.
#include <algorithm>
#include <string>
#include <string_view>

#include "instances/json/document.h"
#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/json/text.h"
#include "instances/lengths/json.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/json/device_types.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/json/mixed.h"
#include "instances/scatter/json/padding.h"
#include "instances/scatter/json/time_table.h"

namespace stowage {
namespace {

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

template <class Visitor, Of<ActivationOffload> Own>
void fields(Visitor& v, Own& offload) {
  v.one_line();
  v.required("mib_per_token", offload.mib_per_token, kPositive);
  v.required("out_mib_per_ms", offload.out_mib_per_ms, kDivisor);
  v.required("in_mib_per_ms", offload.in_mib_per_ms, kDivisor);
  v.omit_if(!offload.host_mib, "host_mib", offload.host_mib, kQuantity);
  v.omit_if(offload.forward_share == ActivationOffload().forward_share, "forward_share",
            offload.forward_share, kShareOfOne);
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
  v.omit_if(!model.offload, "offload", model.offload);
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

// Checks the offload with the members that it depends on. Which activations are on the host at a
// time is known for one packed row and one micro-batch at a time only.
void check_offload(const ScatterInstance& instance, const ObjectReader& reader) {
  if (!instance.model.offload) return;
  const JsonPath model = reader.at("model");
  const JsonPath path = model.key("offload");
  const auto refuse = [&](bool wrong, const std::string& message) {
    if (wrong) reader.errors().add(code::kOffload, path.pointer(), message);
  };
  const Mib least = instance.model.offload->mib_per_token;
  if (least > instance.model.activation_mib_per_token) {
    reader.errors().add(code::kOffload, path.key("mib_per_token").pointer(),
                        "must be at most activation_mib_per_token, " +
                            shortest(instance.model.activation_mib_per_token) + ", is " +
                            shortest(least));
  }
  refuse(instance.model.sequence_mib > 0,
         "must stand without sequence_mib, as it moves activations of tokens only, is beside it");
  refuse(
      !instance.rules.packed,
      "must stand without \"packed\": false in /rules, as whole rows share copies, is beside it");
  refuse(
      instance.pipeline_stages > 1,
      "must stand with one pipeline stage, as several keep several micro-batches on the host, is "
      "beside " +
          std::to_string(instance.pipeline_stages));
}

// Reads the members one by one: costs and lengths are checked against the degrees of the cluster.
ScatterInstance scatter_instance_from(const JsonValue& document, const std::string& base_dir,
                                      ErrorList& errors) {
  const JsonPath root;
  const ObjectReader reader(
      document, root, errors,
      {"format", "version", "problem", "name", "cluster", "model", "cost", "rules",
       "pipeline_stages", "pad_multiple", "padding", "mixed", "lengths", "loss_tokens"});
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
  check_offload(instance, reader);
  read_mixed(reader, degrees_known, instance);
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
  write_mixed(json, instance);
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
