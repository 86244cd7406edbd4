#include "instances/scatter/presets.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/model/machine.h"
#include "instances/model/transformer.h"
#include "instances/scatter/cost/machine_costs.h"

namespace stowage {
namespace {

// 2^30 parameters of a model up to this limit: longer limits have more position embeddings.
struct Parameters {
  Tokens limit_tokens;
  double gibi;
};

struct PublishedModel {
  std::string_view name;
  double quadratic_ms;
  double linear_ms;
  double fixed_ms;
  Mib activation_mib_per_token;
  Mib all_to_all_mib_per_token;
  std::vector<Parameters> parameters;
};

const std::array<PublishedModel, 3>& published_models() {
  static const std::array<PublishedModel, 3> kModels = {{
      {"gpt-7b",
       5.128e-6,
       0.1839576,
       629.3563,
       4.480441895,
       2.0,
       {{64000, 6.63}, {192000, 7.1174}, {384000, 7.8499}}},
      {"gpt-13b",
       9.2852e-6,
       0.3060189,
       1132.5632,
       4.220439453,
       3.125,
       {{192000, 13.1161}, {384000, 14.0316}}},
      {"gpt-30b",
       15.4262e-6,
       0.8035742,
       2789.3644,
       3.417381836,
       6.094,
       {{192000, 31.5251}, {384000, 32.7153}}},
  }};
  return kModels;
}

constexpr Mib kPublishedMemoryMib = 30720;      // of 40 GB
constexpr Mib kActivation7bOn16 = 2.668764648;  // published for 16 devices, assumed below 32

// Returns the MiB per ms between the devices of a group. It is published for powers of two up to
// 64. Beyond, each doubling is assumed to lose as much as the last published one, and the result is
// rounded to two decimals. Between powers of two that of the next larger is assumed: the slowest
// link decides.
double bandwidth(int degree) {
  constexpr std::array<double, 6> kPublished = {119.54, 104.07, 96.5, 10.33, 5.94, 4.87};
  std::size_t doublings = 0;  // degree = 2^(doublings + 1)
  for (int d = 2; d < degree; d *= 2) ++doublings;
  if (doublings < kPublished.size()) return kPublished[doublings];
  double value = kPublished.back();
  for (std::size_t i = kPublished.size(); i <= doublings; ++i) {
    value *= kPublished[5] / kPublished[4];
  }
  return std::round(value * 100) / 100;
}

std::vector<int> degrees_up_to(int largest, DegreeSet set) {
  if (set == DegreeSet::local_or_sharded) {
    return largest == 1 ? std::vector<int>{1} : std::vector<int>{1, largest};
  }
  std::vector<int> degrees;
  for (int degree = 1; degree <= largest;
       degree = set == DegreeSet::any ? degree + 1 : 2 * degree) {
    degrees.push_back(degree);
  }
  return degrees;
}

std::string listed_limits(const PublishedModel& model) {
  std::string text;
  for (const Parameters& p : model.parameters) {
    text += (text.empty() ? "" : ", ") + std::to_string(p.limit_tokens);
  }
  return text;
}

void check_numbers(const ScatterPreset& preset, ErrorList& errors) {
  if (preset.devices < 1 || preset.devices > kMaxPresetDevices) {
    errors.add(code::kPreset, "/devices",
               "must be an integer from 1 to " + std::to_string(kMaxPresetDevices) + ", is " +
                   std::to_string(preset.devices));
  }
  if (preset.largest_degree < 0 || preset.largest_degree > preset.devices) {
    errors.add(code::kPreset, "/largest_degree",
               "must be an integer from 1 to the number of devices, is " +
                   std::to_string(preset.largest_degree));
  }
  if (preset.formulas < 1 || preset.formulas > kScatterFormulas) {
    errors.add(code::kPreset, "/formulas",
               "must be from 1 to " + std::to_string(kScatterFormulas) + ", is " +
                   std::to_string(preset.formulas));
  }
  const Mib memory_mib = preset_memory_mib(preset);
  if (!(memory_mib >= 0 && memory_mib <= static_cast<double>(kMaxExact))) {
    errors.add(code::kPreset, "/memory_mib",
               "must be a number from 0 to " + std::to_string(kMaxExact) + ", is " +
                   describe(JsonValue(memory_mib)));
  }
}

std::string listed_models() {
  std::string text;
  for (const PublishedModel& model : published_models()) {
    text += (text.empty() ? "" : ", ") + std::string(model.name);
  }
  return text;
}

// Returns the model and the cost without bandwidths, which depend on the degrees.
Result<ScatterInstance> published_step(const ScatterPreset& preset, ErrorList& errors) {
  const auto& models = published_models();
  const auto model = std::find_if(models.begin(), models.end(),
                                  [&](const PublishedModel& m) { return m.name == preset.model; });
  if (model == models.end()) {
    if (transformer_shape(preset.model) != nullptr) {
      errors.add(code::kNotPublished, "/model",
                 "must be one of " + listed_models() + " without a machine, is " + preset.model +
                     ": say on which machine");
    } else {
      errors.append({unknown_model(preset.model, transformer_names())});
    }
    return std::move(errors).take();
  }
  const auto parameters =
      std::find_if(model->parameters.begin(), model->parameters.end(),
                   [&](const Parameters& p) { return p.limit_tokens == preset.limit_tokens; });
  if (parameters == model->parameters.end()) {
    errors.add(code::kNotPublished, "/limit_tokens",
               "must be one of " + listed_limits(*model) + " for " + preset.model + ", is " +
                   std::to_string(preset.limit_tokens));
  }
  const bool small_7b = preset.model == "gpt-7b" && preset.devices < 32;
  if (!errors.empty()) return std::move(errors).take();

  ScatterInstance instance;
  instance.model.activation_mib_per_token =
      small_7b ? kActivation7bOn16 : model->activation_mib_per_token;
  // ZeRO-3 spreads 16 bytes per parameter over all devices.
  instance.model.states_mib = parameters->gibi * 16 * 1024 / preset.devices;
  instance.cost = {.quadratic_ms = model->quadratic_ms,
                   .linear_ms = model->linear_ms,
                   .fixed_ms = model->fixed_ms,
                   .all_to_all = {.mib_per_token = model->all_to_all_mib_per_token}};
  return instance;
}

// Returns the step of a shape on a machine.
Result<ScatterInstance> machine_step(const ScatterPreset& preset, ErrorList& errors) {
  const TransformerShape* const shape = transformer_shape(preset.model);
  const Machine* const machine = machine_named(preset.machine);
  if (shape == nullptr) errors.append({unknown_model(preset.model, transformer_names())});
  if (machine == nullptr) errors.append({unknown_machine(preset.machine)});
  if (preset.limit_tokens < 1 || preset.limit_tokens > kMaxExact) {
    errors.add(code::kPreset, "/limit_tokens",
               "must be an integer from 1 to " + std::to_string(kMaxExact) + ", is " +
                   std::to_string(preset.limit_tokens));
  }
  if (!errors.empty()) return std::move(errors).take();
  ScatterInstance instance;
  instance.model = machine_memory(*shape, preset.devices);
  instance.cost = machine_cost(*shape, *machine, preset.devices, preset.formulas);
  return instance;
}

}  // namespace

std::vector<std::string_view> scatter_preset_models() {
  std::vector<std::string_view> names;
  for (const PublishedModel& model : published_models()) names.push_back(model.name);
  return names;
}

std::vector<std::string_view> degree_set_names() { return {"powers", "local-or-sharded", "any"}; }

Mib preset_memory_mib(const ScatterPreset& preset) {
  const Machine* const machine = machine_named(preset.machine);
  return preset.memory_mib.value_or(machine == nullptr ? kPublishedMemoryMib
                                                       : machine->memory_mib());
}

Result<ScatterInstance> scatter_preset(const ScatterPreset& preset) {
  ErrorList errors;
  check_numbers(preset, errors);
  if (static_cast<std::size_t>(preset.degrees) >= degree_set_names().size()) {
    errors.add(code::kPreset, "/degrees",
               "must be powers, local_or_sharded or any, is the number " +
                   std::to_string(static_cast<int>(preset.degrees)));
  }
  Result<ScatterInstance> step =
      preset.machine.empty() ? published_step(preset, errors) : machine_step(preset, errors);
  if (!step) return step;
  ScatterInstance instance = *std::move(step);
  instance.name = preset.model + '-' + (preset.machine.empty() ? "" : preset.machine + '-') +
                  std::to_string(preset.devices) + "gpu-" +
                  std::to_string(preset.limit_tokens / 1000) + 'k';
  instance.cluster = {.devices = preset.devices, .memory_mib = preset_memory_mib(preset)};
  const int largest = preset.largest_degree == 0 ? preset.devices : preset.largest_degree;
  instance.cluster.degrees = degrees_up_to(largest, preset.degrees);
  instance.cluster.aligned = preset.degrees != DegreeSet::any;
  if (instance.cost.exchange) {
    const TransformerShape& shape = *transformer_shape(preset.model);
    set_exchange_kinds(instance, shape.heads);
    if (preset.formulas > 2) set_volumes_by_devices(instance, shape);
  } else {
    for (const int degree : instance.cluster.degrees) {
      if (degree > 1) instance.cost.all_to_all.mib_per_ms[degree] = bandwidth(degree);
    }
  }
  if (preset.degrees != DegreeSet::powers) {
    instance.name +=
        '-' + std::string(degree_set_names()[static_cast<std::size_t>(preset.degrees)]);
  }
  if (instance.cost.exchange && preset.formulas > 2) {
    instance.padding = Padding{.device_multiple = 2};  // a zigzag loop's chunks
  } else {
    instance.pad_multiple = Tokens{2} * instance.cluster.degrees.back();
  }
  return instance;
}

}  // namespace stowage
