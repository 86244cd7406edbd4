// Checks a step in memory without writing it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "instances/assign/chunks/chunk_flow.h"
#include "instances/assign/json/fields.h"
#include "instances/assign/json/json.h"
#include "instances/json/field_ranges.h"
#include "instances/json/text.h"
#include "instances/lengths/soundness.h"

namespace stowage {
namespace {

// Upper limits for the document: an escaped byte takes six, the text beside a name less than a
// hundred. Half of a document's limit is kept for the lengths and the rest.
constexpr std::size_t kEscaped = 6;
constexpr std::size_t kBesideName = 100;
constexpr std::size_t kMaxBytes = kMaxDocumentBytes / 2;
constexpr std::size_t kMaxNames = static_cast<std::size_t>(kMaxTexts) / 2;

// Returns whether all names can be keys of one object: they are unique, and none begins with "x-".
template <class Named>
bool can_be_keys(const std::vector<Named>& all) {
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const Named& each : all) {
    if (each.name.starts_with("x-") || !surely_readable(each.name)) return false;
    names.push_back(each.name);
  }
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) == names.end();
}

bool schemes_are_sound(const std::vector<Scheme>& schemes) {
  return !schemes.empty() && schemes.size() <= static_cast<std::size_t>(kMaxSchemes) &&
         can_be_keys(schemes) &&
         std::ranges::all_of(schemes, [](const Scheme& scheme) { return in_ranges(scheme); });
}

// Requires valid schemes.
bool strategies_are_sound(const AssignInstance& instance) {
  const std::vector<Strategy>& strategies = instance.strategies;
  const std::size_t schemes = instance.schemes.size();
  if (strategies.empty() || strategies.size() > static_cast<std::size_t>(kMaxStrategies) ||
      !can_be_keys(strategies)) {
    return false;
  }
  std::size_t names = 0;
  std::size_t bytes = 0;
  const auto write = [&](const std::string& name) {
    ++names;
    bytes += kEscaped * name.size() + kBesideName;
  };
  for (const Scheme& scheme : instance.schemes) write(scheme.name);
  for (const Strategy& strategy : strategies) {
    write(strategy.name);
    if (strategy.replicas.size() != schemes) return false;
    std::int64_t used = 0;  // at most 10^3 schemes of 10^6 * 1024 devices, 10^6 replicas each
    for (std::size_t g = 0; g < schemes; ++g) {
      const int count = strategy.replicas[g];
      if (count < 0 || count > kMaxDevices) return false;
      if (count == 0) continue;
      write(instance.schemes[g].name);
      used += std::int64_t{instance.schemes[g].tp} * instance.schemes[g].pp * count;
    }
    if (used == 0 || used > instance.devices) return false;
  }
  return names <= kMaxNames && bytes <= kMaxBytes;
}

}  // namespace

bool is_well_formed(const AssignInstance& instance) {
  const auto in = [](std::int64_t number, IntegerRange range) {
    return number >= range.least && number <= range.most;
  };
  return surely_readable(instance.name) && in(instance.devices, kDeviceRange) &&
         in(instance.pad_multiple, {1, kMaxPadMultiple}) && schemes_are_sound(instance.schemes) &&
         strategies_are_sound(instance) && in_ranges(instance.constraints) &&
         lengths_are_sound(instance.lengths, instance.pad_multiple, instance.loss_tokens,
                           instance.schemes.size()) &&
         (instance.loss_tokens.empty() || !instance.constraints.chunks) &&
         cut_parts(instance) <= kMaxParts &&
         most_passes(instance) <= (instance.constraints.chunks ? kMaxChunkPasses : kMaxPasses);
}

}  // namespace stowage
