// Published clusters and models, as scatter instances without sequences.
//
//   Result<ScatterInstance> step = scatter_preset({.model = "gpt-7b", .devices = 64});
//   // (*step).lengths = ...
//
// A100-40GB GPUs, 8 on a node, ZeRO-3. Source: FlexSP (arXiv 2412.01523) and the tables of its
// published code. With a `machine`, any model of the table of shapes on that machine: coefficients
// are then counted (machine_costs.h), not measured. What is not published and had to be assumed is
// listed in instances/presets.md.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/scatter/instance.h"

namespace stowage {

// Which degrees, up to the largest, a group may have.
enum class DegreeSet {
  powers,            // powers of two: FlexSP, Megatron's dynamic context parallelism
  local_or_sharded,  // 1 and the largest: Skrull (arXiv 2505.19609)
  any,               // every one, starting at any rank: ByteScale (arXiv 2502.21231)
};

struct ScatterPreset {
  // One of scatter_preset_models(); with a machine one of transformer_names().
  std::string model = "gpt-7b";
  int devices = 64;              // 1 to kMaxPresetDevices
  Tokens limit_tokens = 192000;  // the longest sequence the model is built for
  // Usable memory of one device. Nothing: the machine's, 30720 without one.
  std::optional<Mib> memory_mib;
  DegreeSet degrees = DegreeSet::powers;
  int largest_degree = 0;  // 0: as many as devices
  std::string machine;     // one of machine_names(); empty: the published cluster

  bool operator==(const ScatterPreset&) const = default;
};

inline constexpr int kMaxPresetDevices = 16384;

// "gpt-7b", "gpt-13b", "gpt-30b".
std::vector<std::string_view> scatter_preset_models();

// What the preset leaves open. 30720 for an unknown machine.
Mib preset_memory_mib(const ScatterPreset& preset);

// "powers", "local-or-sharded", "any", in the order of DegreeSet.
std::vector<std::string_view> degree_set_names();

// The instance, with pad_multiple twice the largest degree. Errors point at the option ("/model"):
// E501 for an unknown model or machine or an impossible number of devices, degree or memory, E502
// for a combination that was never published. With a machine any limit from 1 on goes.
Result<ScatterInstance> scatter_preset(const ScatterPreset& preset);

}  // namespace stowage
