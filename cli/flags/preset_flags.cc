#include "cli/flags/preset_flags.h"

#include <algorithm>
#include <utility>

#include "cli/flags/common_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/model/machine.h"
#include "instances/model/transformer.h"

namespace stowage {

void PresetFlags::declare(Flags& flags) {
  std::vector<std::string> models;
  for (const std::string_view model : transformer_names()) models.emplace_back(model);
  const ScatterPreset defaults;
  flags.choice(
      "--preset", model_, models,
      "Published model, of a published cluster or with --machine; default " + defaults.model);
  const std::vector<std::string_view> machines = machine_names();
  flags.choice("--machine", machine_, {machines.begin(), machines.end()},
               "GPUs that the model is counted for; default A100s of 40 GB as published");
  flags.integer("--formulas", formulas_, "N", 1, kScatterFormulas,
                "Version of the costs that are counted for a machine; default " +
                    std::to_string(defaults.formulas));
  flags.integer("--devices", devices_, "N", 1, kMaxPresetDevices,
                "GPUs; default " + std::to_string(defaults.devices));
  flags.text("--limit", limit_, "TOKENS",
             "Longest sequence the model is built for; default 192000");
  flags.number("--memory", memory_mib_, "MIB", 0, 1e9,
               "Usable memory of a GPU; default the machine's, or 30720");
  const std::vector<std::string_view> sets = degree_set_names();
  degrees_ = sets.front();
  flags.choice("--degrees", degrees_, {sets.begin(), sets.end()},
               "Degrees a group may have; default " + degrees_);
  flags.integer("--largest-degree", largest_degree_, "N", 1, kMaxPresetDevices,
                "Largest degree of a group; default all GPUs");
  flags.integer("--pad-multiple", pad_multiple_, "N", 1, kMaxPadMultiple,
                "Lengths are rounded up to multiples; default by the degree of their group with "
                "--machine, else twice the largest degree");
  flags.number("--offload", offload_mib_per_ms_, "MIB_PER_MS", kLeastDivisor, 1e9,
               "Activations may leave for the host, at this rate of a GPU each way");
  flags.number(
      "--mixed", mixed_hidden_share_, "SHARE", 0, 1,
      "Micro-batches may mix rows of all GPUs and of one; these hide this share of exchange");
}

bool PresetFlags::given() const {
  return !model_.empty() || !machine_.empty() || formulas_ || devices_ || !limit_.empty() ||
         memory_mib_ || pad_multiple_ || offload_mib_per_ms_ || mixed_hidden_share_;
}

Result<ScatterGenerator> PresetFlags::generator(Console& console) const {
  ScatterGenerator generator{.pad_multiple = pad_multiple_,
                             .offload_mib_per_ms = offload_mib_per_ms_,
                             .mixed_hidden_share = mixed_hidden_share_};
  ScatterPreset& preset = generator.preset;
  if (!model_.empty()) preset.model = model_;
  preset.machine = machine_;
  if (formulas_) preset.formulas = *formulas_;
  if (devices_) preset.devices = static_cast<int>(*devices_);
  preset.memory_mib = memory_mib_;
  const std::vector<std::string_view> sets = degree_set_names();
  const auto set = std::find(sets.begin(), sets.end(), degrees_);
  preset.degrees = static_cast<DegreeSet>(set - sets.begin());
  if (largest_degree_) preset.largest_degree = static_cast<int>(*largest_degree_);
  if (!limit_.empty()) {
    const Result<Tokens> limit = read_token_flag(console, "--limit", limit_);
    if (!limit) return limit.errors().front();
    preset.limit_tokens = *limit;
  }
  return generator;
}

std::vector<CliError> as_flag_errors(const std::vector<InputError>& errors,
                                     const std::string& model_flag) {
  const std::vector<std::pair<std::string, std::string>> renamed = {
      {"/model", model_flag}, {"/limit_tokens", "--limit"}, {"/memory_mib", "--memory"}};
  std::vector<CliError> result;
  for (InputError error : errors) {
    const auto found = std::find_if(renamed.begin(), renamed.end(), [&error](const auto& pair) {
      return pair.first == error.pointer;
    });
    if (found != renamed.end()) {
      error.pointer = found->second;
    } else if (error.pointer.rfind('/', 0) == 0) {
      error.pointer = "--" + error.pointer.substr(1);
      std::replace(error.pointer.begin(), error.pointer.end(), '_', '-');
    }
    result.push_back({"", std::move(error)});
  }
  return result;
}

}  // namespace stowage
