// Certificates inside outcomes. Prices of zero are left out, because most prices are zero.
#include <string>

#include "instances/json/answer.h"
#include "instances/json/limits.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/json/json.h"

namespace stowage {
namespace {

constexpr NumberRange kPrice = {.least = 0};
constexpr IntegerRange kCount = {0, kMaxExact};

Resource read_resource(const ObjectReader& reader, std::string_view key) {
  return read_either(reader, key, "time", "tokens") ? Resource::time : Resource::tokens;
}

void write_resource(JsonWriter& json, std::string_view key, Resource resource) {
  json.text(key, resource == Resource::time ? "time" : "tokens");
}

ProfileNode::Kind kind_of(const JsonValue& node) {
  if (node.find("at_ms") != nullptr) return ProfileNode::Kind::split;
  return node.find("values_ms") != nullptr ? ProfileNode::Kind::priced : ProfileNode::Kind::open;
}

}  // namespace

template <class Visitor, Of<CertificateLevel> GroupConfig>
void fields(Visitor& v, GroupConfig& level) {
  v.one_line();
  v.required("degree", level.degree, {1, kMaxDevices});
  v.choice("exchange", level.exchange, exchange_names(), level.exchange == ExchangeKind::none);
  v.omit_if(level.recomputation == 0, "recomputation", level.recomputation,
            {0, kMaxRecomputations - 1});
  v.omit_if(level.place == 0, "place", level.place, {0, 2 * kMaxDeviceKinds - 2});
  v.required("weight", level.weight, kPrice);
  v.omit_if(level.below.ms == 0, "below_ms", level.below.ms, kPrice);
  v.omit_if(level.below.token_ms == 0, "token_ms", level.below.token_ms, kPrice);
  v.omit_if(level.below.square_ms == 0, "square_ms", level.below.square_ms, kPrice);
}

template <class Visitor, Of<PackingPrice> Packing>
void fields(Visitor& v, Packing& packing) {
  v.one_line();
  v.special("of", packing.resource, read_resource, write_resource);
  v.omit_if(packing.threshold > 0, "steps", packing.steps, kCount);
  v.omit_if(!(packing.threshold > 0), "threshold", packing.threshold, kPrice);
  v.required("group_ms", packing.price, kPrice);
}

template <class Visitor, Of<DegreePrices> Prices>
void fields(Visitor& v, Prices& prices) {
  v.omit_if(prices.time == 0, "time", prices.time, kPrice);
  v.omit_if(prices.tokens == 0, "token_ms", prices.tokens, kPrice);
  v.omit_if(prices.packing.empty(), "packing", prices.packing);
}

template <class Visitor, Of<PriceInterval> Interval>
void fields(Visitor& v, Interval& interval) {
  v.one_line();
  v.required("from_ms", interval.from, kPrice);
  v.required("degrees", interval.degrees);
}

template <class Visitor, Of<CertificateNode> Node>
void fields(Visitor& v, Node& node) {
  v.kind(node.is_leaf, [](const JsonValue& value) { return value.find("fewer") == nullptr; });
  if (node.is_leaf) {
    v.required("micro_batch_ms", node.leaf.micro_batch, kPrice);
    v.required("conditions_ms", node.leaf.conditions, kPrice);
    v.required("values_ms", node.leaf.values, kPrice);
    v.required("intervals", node.leaf.intervals);
  } else {
    v.one_line();
    v.required("from_ms", node.from, kPrice);
    v.required("at_most", node.at_most, kCount);
    v.required("fewer", node.fewer, kCount);
    v.required("more", node.more, kCount);
  }
}

template <class Visitor, Of<GroupPrices> Prices>
void fields(Visitor& v, Prices& prices) {
  v.omit_if(prices.time == 0, "time", prices.time, kPrice);
  v.omit_if(prices.group == 0, "group_ms", prices.group, kPrice);
}

template <class Visitor, Of<std::vector<GroupPrices>> MicroBatch>
void fields(Visitor& v, MicroBatch& degrees) {
  v.required("degrees", degrees);
}

// An open node is written as {}.
template <class Visitor, Of<ProfileNode> Node>
void fields(Visitor& v, Node& node) {
  v.one_line();
  v.kind(node.kind, kind_of);
  if (node.kind == ProfileNode::Kind::split) {
    v.required("batch", node.batch, kCount);
    v.required("at_ms", node.at, kPrice);
    v.required("below", node.below, kCount);
    v.required("above", node.above, kCount);
  } else {
    const bool priced = node.kind == ProfileNode::Kind::priced;
    v.required_if(priced, "values_ms", node.values, kPrice);
    v.required_if(priced, "batches", node.batches);
  }
}

template <class Visitor, Of<ProfileTree> Tree>
void fields(Visitor& v, Tree& nodes) {
  v.required("nodes", nodes);
}

// Reads the members one by one: either nodes or profiles are required.
static void read_certificate_json(const JsonValue& value, const JsonPath& path, ErrorList& errors,
                                  ScatterCertificate& certificate) {
  const ObjectReader reader(value, path, errors,
                            {"bound_ms", "levels", "kind_weights", "nodes", "profiles"});
  FieldReader members(reader);
  members.required("bound_ms", certificate.bound_ms, kPrice);
  members.optional("levels", certificate.levels);
  members.optional("kind_weights", certificate.kind_weights, kPrice);
  members.optional("profiles", certificate.profiles);
  if (reader.find("profiles") != nullptr && reader.find("nodes") == nullptr) return;
  members.required("nodes", certificate.nodes);
}

void write_json(JsonWriter& json, const ScatterCertificate& certificate) {
  json.begin_object();
  FieldWriter members(json);
  members.required("bound_ms", certificate.bound_ms);
  members.omit_if(certificate.levels.empty(), "levels", certificate.levels);
  members.omit_if(certificate.kind_weights.empty(), "kind_weights", certificate.kind_weights);
  if (certificate.profiles.empty()) {
    members.required("nodes", certificate.nodes);
  } else {
    members.required("profiles", certificate.profiles);
  }
  json.end_object();
}

Result<std::optional<ScatterCertificate>> read_scatter_certificate(std::string_view text) {
  return read_certificate(text, read_certificate_json);
}

}  // namespace stowage
