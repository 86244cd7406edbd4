// Certificates inside outcomes: prices of zero are left out, for there are many.
#include <string>

#include "instances/scatter/json.h"
#include "instances/scatter/json_members.h"

namespace stowage {
namespace {

constexpr NumberRange kPrice = {.least = 0};
constexpr IntegerRange kCount = {0, kMaxExact};

void write_numbers(JsonWriter& json, std::string_view key, const std::vector<double>& values) {
  json.key(key);
  json.begin_array(JsonWriter::Layout::line);
  for (const double value : values) json.number(value);
  json.end_array();
}

void write_prices(JsonWriter& json, const DegreePrices& prices) {
  json.begin_object(JsonWriter::Layout::line);
  if (prices.time != 0) json.number("time", prices.time);
  if (prices.tokens != 0) json.number("token_ms", prices.tokens);
  if (!prices.packing.empty()) {
    json.key("packing");
    json.begin_array(JsonWriter::Layout::line);
    for (const PackingPrice& packing : prices.packing) {
      json.begin_object(JsonWriter::Layout::line);
      json.text("of", packing.resource == Resource::time ? "time" : "tokens");
      if (packing.threshold > 0) {
        json.number("threshold", packing.threshold);
      } else {
        json.integer("steps", packing.steps);
      }
      json.number("group_ms", packing.price);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

void write_leaf(JsonWriter& json, const CertificateLeaf& leaf) {
  json.number("micro_batch_ms", leaf.micro_batch);
  write_numbers(json, "conditions_ms", leaf.conditions);
  write_numbers(json, "values_ms", leaf.values);
  json.key("intervals");
  json.begin_array();
  for (const PriceInterval& interval : leaf.intervals) {
    json.begin_object(JsonWriter::Layout::line);
    json.number("from_ms", interval.from);
    json.key("degrees");
    json.begin_array(JsonWriter::Layout::line);
    for (const DegreePrices& prices : interval.degrees) write_prices(json, prices);
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

std::vector<double> read_numbers(const ObjectReader& reader, std::string_view key) {
  std::vector<double> numbers;
  if (const JsonValue::Array* array = reader.array(key)) {
    const JsonPath where = reader.at(key);
    for (const JsonValue& value : *array) {
      const auto index = static_cast<std::int64_t>(numbers.size());
      numbers.push_back(
          read_number(value, where.index(index), kPrice, reader.errors()).value_or(0));
    }
  }
  return numbers;
}

// Calls read(value, path) for every element of the array under `key`.
template <class Read>
void each(const ObjectReader& reader, std::string_view key, Read read) {
  const JsonValue::Array* array = reader.array(key);
  if (array == nullptr) return;
  const JsonPath where = reader.at(key);
  std::int64_t index = 0;
  for (const JsonValue& value : *array) read(value, where.index(index++));
}

PackingPrice read_packing(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"of", "steps", "threshold", "group_ms"});
  PackingPrice packing;
  const std::string of = reader.text("of");
  if (of == "tokens") packing.resource = Resource::tokens;
  if (of != "tokens" && of != "time" && errors.room()) {
    errors.add(code::kWrongType, path.key("of").pointer(),
               "must be \"time\" or \"tokens\", is \"" + of + '"');
  }
  packing.steps = reader.integer("steps", kCount, 0);
  packing.threshold = reader.number("threshold", kPrice, 0);
  packing.price = reader.number("group_ms", kPrice);
  return packing;
}

DegreePrices read_prices(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"time", "token_ms", "packing"});
  DegreePrices prices{.time = reader.number("time", kPrice, 0),
                      .tokens = reader.number("token_ms", kPrice, 0)};
  if (reader.find("packing") != nullptr) {
    each(reader, "packing", [&](const JsonValue& one, const JsonPath& where) {
      prices.packing.push_back(read_packing(one, where, errors));
    });
  }
  return prices;
}

PriceInterval read_interval(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"from_ms", "degrees"});
  PriceInterval interval{.from = reader.number("from_ms", kPrice)};
  each(reader, "degrees", [&](const JsonValue& one, const JsonPath& where) {
    interval.degrees.push_back(read_prices(one, where, errors));
  });
  return interval;
}

CertificateNode read_node(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  CertificateNode node{.is_leaf = value.find("fewer") == nullptr};
  if (!node.is_leaf) {
    const ObjectReader reader(value, path, errors, {"from_ms", "at_most", "fewer", "more"});
    node.from = reader.number("from_ms", kPrice);
    node.at_most = reader.integer("at_most", kCount);
    node.fewer = static_cast<std::size_t>(reader.integer("fewer", kCount));
    node.more = static_cast<std::size_t>(reader.integer("more", kCount));
    return node;
  }
  const ObjectReader reader(value, path, errors,
                            {"micro_batch_ms", "conditions_ms", "values_ms", "intervals"});
  node.leaf.micro_batch = reader.number("micro_batch_ms", kPrice);
  node.leaf.conditions = read_numbers(reader, "conditions_ms");
  node.leaf.values = read_numbers(reader, "values_ms");
  each(reader, "intervals", [&](const JsonValue& one, const JsonPath& where) {
    node.leaf.intervals.push_back(read_interval(one, where, errors));
  });
  return node;
}

// A profile's node: {} if open, a split, or prices.
void write_profile(JsonWriter& json, const ProfileNode& node) {
  json.begin_object(JsonWriter::Layout::line);
  if (node.kind == ProfileNode::Kind::split) {
    json.integer("batch", static_cast<std::int64_t>(node.batch));
    json.number("at_ms", node.at);
    json.integer("below", static_cast<std::int64_t>(node.below));
    json.integer("above", static_cast<std::int64_t>(node.above));
  } else if (node.kind == ProfileNode::Kind::priced) {
    write_numbers(json, "values_ms", node.values);
    json.key("batches");
    json.begin_array(JsonWriter::Layout::line);
    for (const std::vector<GroupPrices>& degrees : node.batches) {
      json.begin_object(JsonWriter::Layout::line);
      json.key("degrees");
      json.begin_array(JsonWriter::Layout::line);
      for (const GroupPrices& prices : degrees) {
        json.begin_object(JsonWriter::Layout::line);
        if (prices.time != 0) json.number("time", prices.time);
        if (prices.group != 0) json.number("group_ms", prices.group);
        json.end_object();
      }
      json.end_array();
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

ProfileNode read_profile(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  ProfileNode node;
  if (value.find("at_ms") != nullptr) {
    const ObjectReader reader(value, path, errors, {"batch", "at_ms", "below", "above"});
    node.kind = ProfileNode::Kind::split;
    node.batch = static_cast<std::size_t>(reader.integer("batch", kCount));
    node.at = reader.number("at_ms", kPrice);
    node.below = static_cast<std::size_t>(reader.integer("below", kCount));
    node.above = static_cast<std::size_t>(reader.integer("above", kCount));
    return node;
  }
  const ObjectReader reader(value, path, errors, {"values_ms", "batches"});
  if (value.find("values_ms") == nullptr) return node;
  node.kind = ProfileNode::Kind::priced;
  node.values = read_numbers(reader, "values_ms");
  each(reader, "batches", [&](const JsonValue& batch, const JsonPath& where) {
    std::vector<GroupPrices>& degrees = node.batches.emplace_back();
    const ObjectReader micro_batch(batch, where, errors, {"degrees"});
    each(micro_batch, "degrees", [&](const JsonValue& one, const JsonPath& here) {
      const ObjectReader prices(one, here, errors, {"time", "group_ms"});
      degrees.push_back({.time = prices.number("time", kPrice, 0),
                         .group = prices.number("group_ms", kPrice, 0)});
    });
  });
  return node;
}

}  // namespace

void write_json(JsonWriter& json, const ScatterCertificate& certificate) {
  json.begin_object();
  json.number("bound_ms", certificate.bound_ms);
  if (!certificate.profiles.empty()) {
    json.key("profiles");
    json.begin_array();
    for (const ProfileTree& tree : certificate.profiles) {
      json.begin_object();
      json.key("nodes");
      json.begin_array();
      for (const ProfileNode& node : tree) write_profile(json, node);
      json.end_array();
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return;
  }
  json.key("nodes");
  json.begin_array();
  for (const CertificateNode& node : certificate.nodes) {
    json.begin_object(node.is_leaf ? JsonWriter::Layout::lines : JsonWriter::Layout::line);
    if (node.is_leaf) {
      write_leaf(json, node.leaf);
    } else {
      json.number("from_ms", node.from);
      json.integer("at_most", node.at_most);
      json.integer("fewer", static_cast<std::int64_t>(node.fewer));
      json.integer("more", static_cast<std::int64_t>(node.more));
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

ScatterCertificate scatter_certificate_from(const JsonValue& value, const JsonPath& path,
                                            ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"bound_ms", "nodes", "profiles"});
  ScatterCertificate certificate{.bound_ms = reader.number("bound_ms", kPrice)};
  if (reader.find("profiles") != nullptr) {
    each(reader, "profiles", [&](const JsonValue& tree, const JsonPath& where) {
      ProfileTree& nodes = certificate.profiles.emplace_back();
      const ObjectReader inner(tree, where, errors, {"nodes"});
      each(inner, "nodes", [&](const JsonValue& one, const JsonPath& here) {
        nodes.push_back(read_profile(one, here, errors));
      });
    });
    if (reader.find("nodes") == nullptr) return certificate;
  }
  each(reader, "nodes", [&](const JsonValue& one, const JsonPath& where) {
    certificate.nodes.push_back(read_node(one, where, errors));
  });
  return certificate;
}

Result<std::optional<ScatterCertificate>> read_scatter_certificate(std::string_view text) {
  ErrorList errors;
  std::optional<ScatterCertificate> certificate;
  if (const std::optional<JsonValue> document = parse_json(text, errors)) {
    const JsonValue* inner = document->find("certificate");
    const JsonPath root;
    if (inner != nullptr && !inner->is_null()) {
      certificate = scatter_certificate_from(*inner, root.key("certificate"), errors);
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return certificate;
}

}  // namespace stowage
