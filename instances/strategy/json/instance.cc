// Reads and writes strategy instances. A model is an object, or a name in the table of shapes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/json/text.h"
#include "instances/lengths/json.h"
#include "instances/lengths/soundness.h"
#include "instances/model/transformer.h"
#include "instances/strategy/generate/from_shape.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/json/validate.h"

namespace stowage {
namespace {

constexpr IntegerRange kWidth = {1, kMaxModelWidth};
constexpr IntegerRange kWidthOrNone = {0, kMaxModelWidth};
constexpr IntegerRange kDegree = {1, kMaxDevices};
constexpr NumberRange kShare = {.least = 0, .most = 1e6};
constexpr NumberRange kRate = {.least = kLeastDivisor, .most = 1e9};

// Reads a list of enumerators by their names; `what` lists the names in an error.
template <class Enum, std::size_t N>
std::vector<Enum> read_choices(const ObjectReader& reader, std::string_view key,
                               const std::array<std::string_view, N>& names, const char* what) {
  std::vector<Enum> values;
  reader.each(key, [&](const JsonValue& element, const JsonPath& where) {
    const std::string* name = element.string();
    const auto found = name == nullptr ? names.end() : std::ranges::find(names, *name);
    if (found == names.end()) {
      add_wrong_type(element, where, what, reader.errors());
    } else {
      values.push_back(static_cast<Enum>(found - names.begin()));
    }
  });
  return values;
}

std::vector<StrategyRecompute> read_recomputes(const ObjectReader& reader, std::string_view key) {
  if (reader.find(key) == nullptr) return StrategyOptions().recompute;
  return read_choices<StrategyRecompute>(reader, key, kStrategyRecomputes,
                                         "\"none\", \"selective\" or \"full\"");
}

std::vector<StrategyExchange> read_exchanges(const ObjectReader& reader, std::string_view key) {
  if (reader.find(key) == nullptr) return StrategyOptions().cp_exchange;
  return read_choices<StrategyExchange>(reader, key, kStrategyExchanges,
                                        "\"all_to_all\" or \"ring\"");
}

std::vector<std::string> read_texts(const ObjectReader& reader, std::string_view key) {
  std::vector<std::string> values;
  if (reader.find(key) == nullptr) return values;
  reader.each(key, [&](const JsonValue& element, const JsonPath& where) {
    if (const std::string* text = element.string()) {
      values.push_back(*text);
    } else {
      add_wrong_type(element, where, "a string", reader.errors());
    }
  });
  return values;
}

// Writes the list, unless it is empty.
void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& values) {
  if (values.empty()) return;
  json.key(key);
  json.begin_array(JsonWriter::Layout::line);
  for (const std::string& value : values) json.text(value);
  json.end_array();
}

void write_recomputes(JsonWriter& json, std::string_view key,
                      const std::vector<StrategyRecompute>& values) {
  json.key(key);
  json.begin_array(JsonWriter::Layout::line);
  for (const StrategyRecompute value : values) {
    write_choice(json, value, kStrategyRecomputes);
  }
  json.end_array();
}

// Writes the list, unless it is the default.
void write_exchanges(JsonWriter& json, std::string_view key,
                     const std::vector<StrategyExchange>& values) {
  if (values == StrategyOptions().cp_exchange) return;
  json.key(key);
  json.begin_array(JsonWriter::Layout::line);
  for (const StrategyExchange value : values) write_choice(json, value, kStrategyExchanges);
  json.end_array();
}

}  // namespace

template <class Visitor, Of<StrategyExperts> Experts>
void fields(Visitor& v, Experts& experts) {
  v.one_line();
  v.required("count", experts.count, kWidth);
  v.required("top_k", experts.top_k, kWidth);
  v.required("ffn", experts.ffn, kWidth);
}

template <class Visitor, Of<StrategyBlock> Block>
void fields(Visitor& v, Block& block) {
  v.one_line();
  v.omit_if(block.name.empty(), "name", block.name);
  v.required("count", block.count, {1, kMaxLayers});
  v.required("ffn", block.ffn, kWidthOrNone);
  v.omit_if(block.gated, "gated", block.gated);
  v.optional("experts", block.experts);
}

template <class Visitor, Of<StrategyModel> Model>
void fields(Visitor& v, Model& model) {
  v.required("hidden", model.hidden, kWidth);
  v.required("heads", model.heads, kWidth);
  v.optional("kv_width", model.kv_width, kWidth);
  v.optional("query_width", model.query_width, kWidth);
  v.required("vocabulary", model.vocabulary, kWidthOrNone);
  v.omit_if(!model.tied, "tied", model.tied);
  v.omit_if(model.causal, "causal", model.causal);
  v.omit_if(model.flash_attention, "flash_attention", model.flash_attention);
  v.omit_if(model.sequence_parallel, "sequence_parallel", model.sequence_parallel);
  v.required("blocks", model.blocks);
}

template <class Visitor, Of<StrategyBandwidth> Bandwidth>
void fields(Visitor& v, Bandwidth& bandwidth) {
  v.one_line();
  v.required("inside", bandwidth.inside, kRate);
  v.required("across", bandwidth.across, kRate);
}

template <class Visitor, Of<StrategyOffload> Offload>
void fields(Visitor& v, Offload& offload) {
  v.one_line();
  v.required("out_mib_per_ms", offload.out_mib_per_ms, kRate);
  v.required("in_mib_per_ms", offload.in_mib_per_ms, kRate);
  v.optional("host_mib", offload.host_mib, kQuantity);
}

template <class Visitor, Of<StrategyCluster> Cluster>
void fields(Visitor& v, Cluster& cluster) {
  v.required("nodes", cluster.nodes, kDegree);
  v.required("devices_per_node", cluster.devices_per_node, kDegree);
  v.required("memory_mib", cluster.memory_mib, kQuantity);
  v.required("mib_per_ms", cluster.mib_per_ms);
  v.optional("offload", cluster.offload);
}

template <class Visitor, Of<StrategyMeasured> Measured>
void fields(Visitor& v, Measured& measured) {
  v.one_line();
  v.required("block", measured.block, {0, kMaxLayers - 1});
  v.required("tp", measured.tp, kDegree);
  v.required("cp", measured.cp, kDegree);
  v.choice("recompute", measured.recompute, kStrategyRecomputes);
  v.required("tokens", measured.tokens, {1, kMaxExact});
  v.required("ms", measured.ms, kRate);
}

template <class Visitor, Of<StrategyDetail> Detail>
void fields(Visitor& v, Detail& detail) {
  v.required("memory_mib_per_ms", detail.memory_mib_per_ms, kRate);
  v.optional("pass_bytes", detail.pass_bytes, kShare);
  v.optional("pass_ms", detail.pass_ms, kShare);
  v.optional("message_ms", detail.message_ms, kShare);
  v.optional("square_bytes", detail.square_bytes, kShare);
  v.optional("expert_slowdown", detail.expert_slowdown, {.least = 1, .most = 1000});
  v.optional("update_bytes", detail.update_bytes, kShare);
  v.optional("update_ms", detail.update_ms, kShare);
  v.optional("activation_factor", detail.activation_factor, {.least = 0.1, .most = 100});
  v.optional("fixed_mib", detail.fixed_mib, {.least = 0, .most = 1e9});
  v.optional("gradient_bytes", detail.gradient_bytes, {2, 8});
  v.optional("step_overlap", detail.step_overlap, kShareOfOne);
}

template <class Visitor, Of<RateError> Error>
void fields(Visitor& v, Error& error) {
  v.one_line();
  v.required("steps", error.steps, {1, kMaxExact});
  v.required("median", error.median, kShare);
  v.required("p90", error.p90, kShare);
  v.required("worst", error.worst, kShare);
}

template <class Visitor, Of<StrategyRates> Rates>
void fields(Visitor& v, Rates& rates) {
  v.choice("source", rates.source, kStrategyRateSources);
  v.omit_if(rates.stack.empty(), "stack", rates.stack);
  v.omit_if(rates.steps == 0, "steps", rates.steps, {0, kMaxExact});
  v.special("kept", rates.kept, read_texts, write_texts);
  v.optional("error", rates.error);
}

template <class Visitor, Of<StrategyCost> Cost>
void fields(Visitor& v, Cost& cost) {
  v.required("linear_tflops", cost.linear_tflops, kRate);
  v.required("attention_tflops", cost.attention_tflops, kRate);
  v.optional("half_width", cost.half_width, {.least = 0, .most = 1e9});
  v.optional("overlap", cost.overlap, kShareOfOne);
  v.omit_if(cost.measured.empty(), "measured", cost.measured);
  v.optional("detail", cost.detail);
  v.optional("rates", cost.rates);
}

template <class Visitor, Of<StrategyOptions> Options>
void fields(Visitor& v, Options& options) {
  v.optional("pp", options.pp, {1, kMaxStages});
  v.optional("v", options.v, {1, kMaxLayers});
  v.optional("tp", options.tp, kDegree);
  v.optional("cp", options.cp, kDegree);
  v.special("cp_exchange", options.cp_exchange, read_exchanges, write_exchanges);
  v.omit_if(options.ep == std::vector<std::int64_t>{1}, "ep", options.ep, kDegree);
  v.optional("zero", options.zero, {0, kMaxZero});
  v.omit_if(options.shard == std::vector<std::int64_t>{0}, "shard", options.shard,
            {0, kMaxDevices});
  v.omit_if(options.pipeline_zero == kMaxStrategyZero, "pipeline_zero", options.pipeline_zero,
            {0, kMaxZero});
  v.special("recompute", options.recompute, read_recomputes, write_recomputes);
  v.optional("logit_chunks", options.logit_chunks, kDegree);
  v.omit_if(options.stream_chunks == std::vector<std::int64_t>{1}, "stream_chunks",
            options.stream_chunks, kDegree);
  v.omit_if(options.micro_batches.empty(), "micro_batches", options.micro_batches,
            {1, kMaxSequences});
}

// Reads a model by its name in the table of shapes, or by its numbers.
static StrategyModel read_model(const ObjectReader& reader) {
  StrategyModel model;
  const JsonValue* value = reader.require("model");
  if (value == nullptr) return model;
  const std::string* name = value->string();
  if (name == nullptr) {
    read_fields(*value, reader.at("model"), reader.errors(), model);
    return model;
  }
  const TransformerShape* shape = transformer_shape(*name);
  if (shape == nullptr) {
    reader.errors().append({unknown_model(*name, transformer_names())});
  } else {
    model = model_of(*shape);
  }
  return model;
}

static StrategyInstance strategy_instance_from(const JsonValue& document,
                                               const std::string& base_dir, ErrorList& errors) {
  const JsonPath root;
  const ObjectReader reader(
      document, root, errors,
      {"format", "version", "problem", "name", "model", "cluster", "cost", "options", "lengths"});
  StrategyInstance instance;
  if (document.object() == nullptr || !check_head(reader, "stowage/instance", "strategy")) {
    return instance;
  }
  const std::int64_t before = errors.found();
  FieldReader members(reader);
  members.optional("name", instance.name);
  instance.model = read_model(reader);
  members.required("cluster", instance.cluster);
  members.required("cost", instance.cost);
  members.required("options", instance.options);
  if (const JsonValue* lengths = reader.require("lengths")) {
    const JsonPath where = reader.at("lengths");
    instance.lengths = read_lengths_or_list(*lengths, where, base_dir, errors);
    if (errors.found() == before) check_padded_sum(instance.lengths, 1, where, errors);
  }
  if (errors.found() == before) check_strategy(instance, root, errors);
  return instance;
}

Result<StrategyInstance> read_strategy_instance(std::string_view text,
                                                const std::string& base_dir) {
  return read_document(text, [&](const JsonValue& document, ErrorList& errors) {
    return strategy_instance_from(document, base_dir, errors);
  });
}

std::string write_strategy_instance(const StrategyInstance& instance) {
  JsonWriter json;
  json.begin_object();
  FieldWriter members(json);
  members.head("stowage/instance", "strategy", instance.name);
  members.required("model", instance.model);
  members.required("cluster", instance.cluster);
  members.required("cost", instance.cost);
  members.required("options", instance.options);
  json.key("lengths");
  json.integers(instance.lengths);
  json.end_object();
  return json.take();
}

std::vector<InputError> hidden_strategy_errors(const StrategyInstance& instance) {
  ErrorList errors;
  check_utf8(instance.name, "/name", errors);
  if (instance.cost.rates) check_utf8(instance.cost.rates->stack, "/cost/rates/stack", errors);
  for (std::size_t k = 0; k < instance.model.blocks.size(); ++k) {
    check_utf8(instance.model.blocks[k].name, "/model/blocks/" + std::to_string(k) + "/name",
               errors);
  }
  return std::move(errors).take();
}

// Checks the instance with one length, so that not all lengths are written.
bool is_well_formed(const StrategyInstance& instance) {
  StrategyInstance one_length = instance;
  one_length.lengths = {1};
  return !instance.lengths.empty() && lengths_are_sound(instance.lengths, 1, {}, 1) &&
         read_strategy_instance(write_strategy_instance(one_length));
}

}  // namespace stowage
