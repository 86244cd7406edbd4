#include "bench/suite.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "bench/drawn_assign.h"
#include "instances/assign/json/generate.h"
#include "instances/documents.h"
#include "instances/json/document.h"
#include "instances/json/limits.h"
#include "instances/json/reader.h"
#include "instances/layout/generate/generate.h"
#include "instances/layout/generate/hard_packings.h"
#include "instances/layout/generate/transformer_trace.h"
#include "instances/lengths/list.h"
#include "instances/order/generate/generate.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/json/generate.h"

namespace stowage::bench {
namespace {

using Entry = Result<SuiteEntry>;

template <class InstanceT>
Entry named(Result<InstanceT> result) {
  if (!result) return result.errors();
  InstanceT instance = *std::move(result);
  std::string name = instance.name;
  return SuiteEntry{std::move(name), std::move(instance)};
}

Entry instance_in(const std::filesystem::path& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return text.errors();
  Result<Instance> instance = read_instance(*text, path.parent_path());
  if (!instance) return instance.errors();
  std::string name = std::visit([](const auto& own) { return own.name; }, *instance);
  return SuiteEntry{std::move(name), *std::move(instance)};
}

// Returns the entry that a generator of either family creates from a bundled list or a
// distribution.
template <class Generator, class Make>
Entry generated_from(const Generator& generator, const std::filesystem::path& root, Make make) {
  std::vector<Tokens> list;
  if (!generator.source.list.empty()) {
    Result<std::vector<Tokens>> lengths =
        read_length_file(root / "instances/data/lengths" / generator.source.list);
    if (!lengths) return lengths.errors();
    list = *std::move(lengths);
  }
  auto generated = make(generator, list);
  if (!generated) return generated.errors();
  auto instance = (*std::move(generated)).instance;
  return named(Result<decltype(instance)>(std::move(instance)));
}

// Replaces the cost of a generated step by a file's, and appends the file's name to the step's.
Entry priced_by(Entry entry, const std::filesystem::path& file) {
  if (!entry) return entry;
  SuiteEntry made = *std::move(entry);
  auto& step = std::get<ScatterInstance>(made.instance);
  const Result<std::string> text = read_text_file(file);
  if (!text) return text.errors();
  const Result<ScatterCost> cost = read_scatter_cost(*text, step.cluster);
  if (!cost) return cost.errors();
  step.cost = *cost;
  step.name = made.name += '-' + file.stem().string();
  return made;
}

// Adds memory other than activations to the groups of a generated step.
Entry holding(Entry entry, const JsonValue& memory, const JsonPath& path, ErrorList& errors) {
  if (!entry) return entry;
  const ObjectReader reader(
      memory, path, errors,
      {"sequence_mib", "logits_mib_per_token", "logits_chunk_tokens", "keys_values_mib_per_token"});
  SuiteEntry made = *std::move(entry);
  ModelMemory& model = std::get<ScatterInstance>(made.instance).model;
  model.sequence_mib = reader.number("sequence_mib", {.least = 0}, 0);
  model.logits_mib_per_token = reader.number("logits_mib_per_token", {.least = 0}, 0);
  model.logits_chunk_tokens = reader.integer("logits_chunk_tokens", {0, kMaxExact}, 0);
  model.keys_values_mib_per_token = reader.number("keys_values_mib_per_token", {.least = 0}, 0);
  return made;
}

// Adds rules to a generated step, and appends them to its name.
Entry ruled_by(Entry entry, const JsonValue& rules, const JsonPath& path, ErrorList& errors) {
  if (!entry) return entry;
  SuiteEntry made = *std::move(entry);
  auto& step = std::get<ScatterInstance>(made.instance);
  step.rules = read_scatter_rules(rules, path, &step.cluster, errors);
  step.name = made.name += "-rules";
  return made;
}

// Puts a generated step in a pipeline, and appends that to its name.
Entry staged(Entry entry, int stages, bool planned_flat) {
  if (!entry || stages == 1) return entry;
  SuiteEntry made = *std::move(entry);
  auto& step = std::get<ScatterInstance>(made.instance);
  step.pipeline_stages = stages;
  step.name = made.name += "-p" + std::to_string(stages);
  if (planned_flat) {
    made.planned = step;
    made.planned->pipeline_stages = 1;
    step.name = made.name += "-flat";
  }
  return made;
}

LayoutGenerator buffers_from(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors,
                            {"kind", "buffers", "steps", "lifetime", "bytes", "seed"});
  const std::string kind = reader.text("kind");
  const auto known = std::ranges::find(LayoutGenerator::kNames, kind);
  if (known == LayoutGenerator::kNames.end()) {
    errors.add(code::kGenerator, reader.at("kind").pointer(), "is no kind of layout");
    return {};
  }
  const std::int64_t lifetime = reader.integer("lifetime", {}, 0);  // 0: the default of the kind
  return {.kind = static_cast<LayoutGenerator::Kind>(known - LayoutGenerator::kNames.begin()),
          .buffers = reader.integer("buffers", {}),
          .steps = reader.integer("steps", {}),
          .lifetime = lifetime != 0 ? std::optional(lifetime) : std::nullopt,
          .bytes = reader.integer("bytes", {}),
          .seed = static_cast<std::uint64_t>(reader.integer("seed", {}, 0))};
}

PackingGenerator packing_from(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"kind", "seed"});
  const std::string kind = reader.text("kind");
  const auto known = std::ranges::find(PackingGenerator::kNames, kind);
  if (known == std::end(PackingGenerator::kNames)) {
    errors.add(code::kGenerator, reader.at("kind").pointer(), "is no kind of packing");
    return {};
  }
  return {.kind = static_cast<PackingGenerator::Kind>(known - PackingGenerator::kNames),
          .seed = static_cast<std::uint64_t>(reader.integer("seed", {}, 0))};
}

OrderGenerator graph_from(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors,
                            {"kind", "operators", "tokens", "seed", "capacity_share"});
  const OrderGenerator usual;
  const std::string kind = reader.text("kind");
  const auto known = std::ranges::find(OrderGenerator::kNames, kind);
  if (known == OrderGenerator::kNames.end()) {
    errors.add(code::kGenerator, reader.at("kind").pointer(), "is no kind of graph");
    return {};
  }
  return {.kind = static_cast<OrderGenerator::Kind>(known - OrderGenerator::kNames.begin()),
          .operators = reader.integer("operators", {}, usual.operators),
          .tokens = reader.integer("tokens", {}, usual.tokens),
          .seed = static_cast<std::uint64_t>(reader.integer("seed", {}, 0)),
          .capacity_share = reader.number("capacity_share", {.least = 0}, 0)};
}

TransformerStep trace_from(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors,
                            {"model", "tokens", "ranks", "layers", "recompute"});
  const std::string recompute = reader.text("recompute", "none");
  const auto layers = static_cast<int>(reader.integer("layers", {0, 1000}, 0));
  return {.model = reader.text("model"),
          .tokens = reader.integer("tokens", {}),
          .ranks = static_cast<int>(reader.integer("ranks", {1, kMaxDevices}, 8)),
          .layers = layers,
          .whole_step = layers != 1,
          .recompute = recompute == "full"        ? Recompute::full
                       : recompute == "selective" ? Recompute::selective
                                                  : Recompute::none};
}

// Returns a step with one scheme of one stage on every rank, which reduces the problem to balancing
// sequences and filling rows.
Entry plain_from(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"ranks", "sequences", "fixed_ms", "seed"});
  const auto ranks = static_cast<int>(reader.integer("ranks", {1, kMaxDevices}));
  const std::int64_t sequences = reader.integer("sequences", {1, kMaxSequences});
  const double fixed = reader.number("fixed_ms", {.least = 0});
  const auto seed = static_cast<std::uint64_t>(reader.integer("seed", {}, 0));
  AssignInstance instance{.name = "plain-" + std::to_string(ranks) + '-' +
                                  std::to_string(sequences) + '-' +
                                  std::to_string(static_cast<int>(fixed)),
                          .devices = ranks,
                          .schemes = {{.name = "1x1",
                                       .quadratic_ms = 1.4e-6,
                                       .linear_ms = 0.1,
                                       .fixed_ms = fixed,
                                       .max_tokens = 43520}},
                          .strategies = {{"all", {ranks}}}};
  LengthStream lengths({.kind = LengthSource::Kind::lognormal, .mu = 6.5, .sigma = 1}, seed, {});
  for (std::int64_t k = 0; k < sequences; ++k) {
    instance.lengths.push_back(std::min<Tokens>(*lengths.next(), 32768));
  }
  return named(Result<AssignInstance>(std::move(instance)));
}

// Returns the entry's instance, or nullopt after an error of the entry itself.
std::optional<Entry> instance_of(const ObjectReader& reader, const std::filesystem::path& root) {
  ErrorList& errors = reader.errors();
  const std::int64_t before = errors.found();
  const auto clean = [&] { return errors.found() == before; };
  if (const JsonValue* generator = reader.find("generator")) {
    const ScatterGenerator asked =
        scatter_generator_from(*generator, reader.at("generator"), errors);
    const std::string cost = reader.text("cost", "");
    const bool flat = reader.boolean("planned_flat", false);
    const auto stages = static_cast<int>(reader.integer("pipeline_stages", {1, kMaxStages}, 1));
    if (!clean()) return std::nullopt;
    Entry made = generated_from(asked, root, generate_scatter);
    if (!cost.empty()) made = priced_by(std::move(made), root / cost);
    if (const JsonValue* memory = reader.find("memory")) {
      made = holding(std::move(made), *memory, reader.at("memory"), errors);
    }
    if (const JsonValue* rules = reader.find("rules")) {
      made = ruled_by(std::move(made), *rules, reader.at("rules"), errors);
    }
    if (!clean()) return std::nullopt;
    return staged(std::move(made), stages, flat);
  } else if (const JsonValue* assign = reader.find("assign")) {
    const AssignGenerator asked = assign_generator_from(*assign, reader.at("assign"), errors);
    if (clean()) return generated_from(asked, root, generate_assign);
  } else if (const JsonValue* plain = reader.find("plain")) {
    Entry made = plain_from(*plain, reader.at("plain"), errors);
    if (clean()) return made;
  } else if (reader.find("drawn_assign") != nullptr) {
    const std::int64_t seed = reader.integer("drawn_assign", {.least = 0});
    if (clean()) {
      return named(Result<AssignInstance>(drawn_assign(static_cast<std::uint64_t>(seed))));
    }
  } else if (const JsonValue* buffers = reader.find("buffers")) {
    const LayoutGenerator asked = buffers_from(*buffers, reader.at("buffers"), errors);
    if (!clean()) return std::nullopt;
    const Result<GeneratedLayout> made = generate_layout(asked);
    return made ? named(Result<LayoutInstance>(made->instance)) : Entry(made.errors());
  } else if (const JsonValue* packing = reader.find("packing")) {
    const PackingGenerator asked = packing_from(*packing, reader.at("packing"), errors);
    if (clean()) return named(Result<LayoutInstance>(generate_packing(asked)));
  } else if (const JsonValue* graph = reader.find("graph")) {
    const OrderGenerator asked = graph_from(*graph, reader.at("graph"), errors);
    if (clean()) return named(generate_order(asked));
  } else if (const JsonValue* trace = reader.find("trace")) {
    const TransformerStep asked = trace_from(*trace, reader.at("trace"), errors);
    if (clean()) return named(trace_layout(asked));
  } else {
    const std::string file = reader.text("file");
    if (clean()) return instance_in(root / file);
  }
  return std::nullopt;
}

std::optional<SuiteEntry> read_entry(const JsonValue& value, const JsonPath& path,
                                     const std::filesystem::path& root, ErrorList& errors) {
  const ObjectReader reader(
      value, path, errors,
      {"file", "generator", "cost", "memory", "rules", "pipeline_stages", "planned_flat", "assign",
       "plain", "drawn_assign", "buffers", "packing", "graph", "trace"});
  std::optional<Entry> entry = instance_of(reader, root);
  if (!entry) return std::nullopt;
  if (*entry) return **std::move(entry);
  for (const InputError& error : entry->errors()) {
    errors.add(error.code, path.pointer() + ' ' + error.pointer, error.message);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<SuiteEntry>> read_suite(const std::filesystem::path& file,
                                           const std::string& suite) {
  const Result<std::string> text = read_text_file(file);
  if (!text) return text.errors();
  ErrorList errors;
  std::vector<SuiteEntry> entries;
  if (const std::optional<JsonValue> document = parse_json(*text, errors)) {
    const JsonPath root;
    const ObjectReader top(*document, root, errors, {"suites"});
    const JsonValue* suites = top.require("suites");
    const JsonPath at_suites = top.at("suites");
    const JsonValue* listed = suites == nullptr ? nullptr : suites->find(suite);
    const JsonPath place = at_suites.key(suite);
    if (listed == nullptr || listed->array() == nullptr) {
      errors.add(code::kMissingKey, place.pointer(), "must be an array of entries, is missing");
    } else {
      std::int64_t index = 0;
      for (const JsonValue& value : *listed->array()) {
        auto entry =
            read_entry(value, place.index(index++), file.parent_path().parent_path(), errors);
        if (entry) entries.push_back(*std::move(entry));
      }
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return entries;
}

}  // namespace stowage::bench
