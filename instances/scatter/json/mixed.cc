#include "instances/scatter/json/mixed.h"

#include <string>
#include <vector>

#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"

namespace stowage {

template <class Visitor, Of<MixedMicroBatches> Own>
void fields(Visitor& v, Own& mixed) {
  v.one_line();
  v.optional("hidden_share", mixed.hidden_share, kShareOfOne);
}

namespace {

// Returns whether groups of all devices have no other exchange than an all-to-all with overlap 0.
// Other exchanges have no time apart from that of compute.
bool exchanges_apart(const ScatterInstance& instance) {
  const auto& exchange = instance.cost.exchange;
  if (!exchange) return true;
  const auto kinds = exchange->kinds.find(instance.cluster.devices);
  const std::vector<ExchangeKind> only{ExchangeKind::all_to_all};
  return exchange->overlap == 0 && kinds != exchange->kinds.end() && kinds->second == only;
}

}  // namespace

void read_mixed(const ObjectReader& reader, bool degrees_known, ScatterInstance& instance) {
  const JsonValue* const value = reader.find("mixed");
  if (value == nullptr) return;
  ErrorList& errors = reader.errors();
  const JsonPath path = reader.at("mixed");
  const std::int64_t before = errors.found();
  MixedMicroBatches mixed;
  read_fields(*value, path, errors, mixed);
  const auto refuse = [&](bool wrong, const std::string& message) {
    if (wrong) errors.add(code::kMixed, path.pointer(), message);
  };
  ScatterRules known;
  known.max_tokens_per_rank = instance.rules.max_tokens_per_rank;
  if (degrees_known) {
    const int devices = instance.cluster.devices;
    const std::vector<int> both{1, devices};
    refuse(devices == 1, "must stand beside several devices, is beside one");
    refuse(devices > 1 && instance.cluster.degrees != both,
           "must stand beside the degrees 1 and " + std::to_string(devices) +
               ", all devices, alone, is beside others");
    refuse(
        !exchanges_apart(instance),
        "must stand beside groups that only have an all_to_all, with overlap 0, is beside others");
  }
  refuse(!instance.cluster.kinds.empty(), "must stand without kinds in /cluster, is beside them");
  refuse(!instance.cost.table.empty(), "must stand without a table in /cost, is beside it");
  refuse(instance.rules != known,
         "must stand without rules but max_tokens_per_rank, is beside others");
  refuse(instance.pipeline_stages > 1, "must stand with one pipeline stage, is beside " +
                                           std::to_string(instance.pipeline_stages));
  refuse(instance.model.sequence_mib > 0, "must stand without sequence_mib, is beside it");
  refuse(!instance.model.recomputation.empty(), "must stand without recomputation, is beside it");
  refuse(instance.model.offload.has_value(), "must stand without offload, is beside it");
  if (errors.found() == before) instance.mixed = mixed;
}

void write_mixed(JsonWriter& json, const ScatterInstance& instance) {
  if (!instance.mixed) return;
  json.key("mixed");
  write_fields(json, *instance.mixed);
}

}  // namespace stowage
