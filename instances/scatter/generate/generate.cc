#include "instances/scatter/generate/generate.h"

#include <algorithm>
#include <utility>

#include "instances/document/option_check.h"
#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/model/transformer.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/cost/cost_model.h"

namespace stowage {
namespace {

using SourceKind = LengthSource::Kind;

void check_cluster(const ScatterGenerator& generator, ErrorList& errors) {
  if (generator.pad_multiple) {
    check_option("/pad_multiple", *generator.pad_multiple, 1, kMaxPadMultiple, errors);
  }
  const double offload = generator.offload_mib_per_ms.value_or(1);
  if (!(offload >= kLeastDivisor && offload <= kMaxNumber)) {
    errors.add(code::kPreset, "/offload_mib_per_ms",
               "must be a number from 1e-09 to 9007199254740992, is " + shortest(offload));
  }
  const double hidden = generator.mixed_hidden_share.value_or(1);
  if (!(hidden >= 0 && hidden <= 1)) {
    errors.add(code::kPreset, "/mixed", "must be a number from 0 to 1, is " + shortest(hidden));
  } else if (generator.mixed_hidden_share &&
             (generator.preset.degrees != DegreeSet::local_or_sharded ||
              (generator.preset.largest_degree != 0 &&
               generator.preset.largest_degree != generator.preset.devices))) {
    errors.add(
        code::kPreset, "/mixed",
        "must stand beside the degrees \"local-or-sharded\" of all devices, is beside others");
  }
}

void check_drawing(const ScatterGenerator& generator, const std::vector<Tokens>& list,
                   ErrorList& errors) {
  const bool count_ok = check_option("/count", generator.count, 0, kMaxSequences, errors);
  check_seed(generator.seed, errors);
  const std::int64_t before = errors.found();
  check_source(generator.source, errors);
  if (!count_ok || errors.found() != before) return;
  const LengthSource& source = generator.source;
  const auto lines = static_cast<std::int64_t>(list.size());
  if (source.kind == SourceKind::slice && generator.count * (source.step + 1) > lines) {
    errors.add(code::kGenerator, "/step",
               "must select lines of the list, which has " + std::to_string(lines) + ": step " +
                   std::to_string(source.step) + " of count " + std::to_string(generator.count) +
                   " ends behind line " + std::to_string(generator.count * (source.step + 1)));
  } else if (source.kind == SourceKind::sample && generator.count > lines) {
    errors.add(code::kGenerator, "/count",
               "must be at most the " + std::to_string(lines) + " lines of the list, is " +
                   std::to_string(generator.count));
  }
}

// Layers whose activations stay on their device: the one in work and the one whose copy runs.
constexpr int kResidentLayers = 2;

void set_offload(ScatterInstance& instance, const ScatterGenerator& generator) {
  const TransformerShape* const shape = transformer_shape(generator.preset.model);
  const int layers = shape == nullptr ? 0 : shape->layers;
  if (layers <= kResidentLayers) return;  // nothing can leave
  instance.model.offload =
      ActivationOffload{.mib_per_token = instance.model.activation_mib_per_token *
                                         (layers - kResidentLayers) / layers,
                        .out_mib_per_ms = *generator.offload_mib_per_ms,
                        .in_mib_per_ms = *generator.offload_mib_per_ms};
}

// Requires the degrees 1 and N. A single device has no row beside its own.
void set_mixed(ScatterInstance& instance, double hidden_share) {
  const int devices = instance.cluster.devices;
  if (instance.cluster.degrees.size() != 2) return;
  if (auto& exchange = instance.cost.exchange) {
    exchange->kinds[devices] = {ExchangeKind::all_to_all};
    exchange->overlap = 0;
  }
  instance.mixed = MixedMicroBatches{.hidden_share = hidden_share};
}

}  // namespace

Result<ScatterInstance> scatter_cluster(const ScatterGenerator& generator) {
  ErrorList errors;
  Result<ScatterInstance> preset = scatter_preset(generator.preset);
  if (!preset) errors.append(preset.errors());
  check_cluster(generator, errors);
  if (!errors.empty()) return std::move(errors).take();
  ScatterInstance instance = *std::move(preset);
  if (generator.pad_multiple) {
    instance.padding.reset();
    instance.pad_multiple = *generator.pad_multiple;
  }
  if (generator.offload_mib_per_ms) set_offload(instance, generator);
  if (generator.mixed_hidden_share) set_mixed(instance, *generator.mixed_hidden_share);
  return instance;
}

Result<GeneratedScatter> generate_scatter(const ScatterGenerator& generator,
                                          const std::vector<Tokens>& list) {
  ErrorList errors;
  Result<ScatterInstance> cluster = scatter_cluster(generator);
  if (!cluster) errors.append(cluster.errors());
  check_drawing(generator, list, errors);
  if (!errors.empty()) return std::move(errors).take();

  GeneratedScatter generated{.instance = *std::move(cluster), .generator = generator};
  generated.generator.preset.memory_mib = preset_memory_mib(generator.preset);
  ScatterInstance& instance = generated.instance;
  instance.name = generator.name.empty()
                      ? instance.name + '-' + name_of(generator.source, generator.seed)
                      : generator.name;
  const Tokens held = longest_in_group(instance, largest_form(instance));
  generated.longest_allowed =
      std::min(generator.preset.limit_tokens, held - held % common_multiple(instance));
  if (generated.longest_allowed < 1) {
    return InputError{code::kNothingFits, "/memory_mib",
                      "must leave room for " + std::to_string(common_multiple(instance)) +
                          " tokens on the whole cluster, is room for " + std::to_string(held)};
  }
  LengthStream lengths(generator.source, generator.seed, list);
  if (generator.source.kind == SourceKind::slice) {
    lengths.skip(static_cast<std::size_t>(generator.count * generator.source.step));
  }
  for (std::int64_t i = 0; i < generator.count; ++i) {
    const Tokens length = *lengths.next();  // checked above: the list is long enough
    const bool too_long = length > generated.longest_allowed;
    if (too_long) ++generated.above;
    if (too_long && generator.above_limit == AboveLimit::drop) continue;
    instance.lengths.push_back(std::min(length, generated.longest_allowed));
  }
  return generated;
}

}  // namespace stowage
