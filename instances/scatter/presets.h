// Published clusters and models, as scatter instances without sequences.
//
//   Result<ScatterInstance> step = scatter_preset({.model = "gpt-7b", .devices = 64});
//   // (*step).lengths = ...
//
// The published cluster has A100-40GB GPUs, 8 on a node, and ZeRO-3. Source: FlexSP (arXiv
// 2412.01523) and the tables of its published code. With a `machine`, a preset is any model of the
// table of shapes on that machine, with computed (cost/machine_costs.h) instead of measured
// coefficients. instances/presets.md lists the assumptions for unpublished values.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/scatter/instance.h"

namespace stowage {

// The degrees, up to the largest, that a group may have.
enum class DegreeSet {
  powers,            // powers of two: FlexSP, Megatron's dynamic context parallelism
  local_or_sharded,  // 1 and the largest: Skrull (arXiv 2505.19609)
  any,               // every degree, starting at any rank: ByteScale (arXiv 2502.21231)
};

struct ScatterPreset {
  // One of scatter_preset_models(); with a machine one of transformer_names().
  std::string model = "gpt-7b";
  int devices = 64;              // 1 to kMaxPresetDevices
  Tokens limit_tokens = 192000;  // the longest sequence the model is built for
  // Usable memory of one device. Without a value: the machine's, or 30720 without a machine.
  std::optional<Mib> memory_mib;
  DegreeSet degrees = DegreeSet::powers;
  int largest_degree = 0;  // 0: the number of devices
  std::string machine;     // one of machine_names(); empty: the published cluster
  // Version of the costs that are counted for a machine, 1 to kScatterFormulas. Published clusters
  // have one. Version 3 pads by the form of a group, and gives all-to-alls their volumes by
  // devices.
  std::int64_t formulas = 3;

  bool operator==(const ScatterPreset&) const = default;
};

inline constexpr int kMaxPresetDevices = 16384;
inline constexpr std::int64_t kScatterFormulas = 3;

// Returns "gpt-7b", "gpt-13b", "gpt-30b".
std::vector<std::string_view> scatter_preset_models();

// Returns the memory of a device, with the defaults above. 30720 for an unknown machine.
Mib preset_memory_mib(const ScatterPreset& preset);

// Returns "powers", "local-or-sharded", "any", in the order of DegreeSet.
std::vector<std::string_view> degree_set_names();

// Returns the instance: with a machine from version 3 on with padding by degree, otherwise with a
// pad_multiple of twice the largest degree. Errors point at the option
// ("/model"): E501 for an unknown model or machine or an impossible number, E502 for a combination
// that was never published. With a machine any limit from 1 on is allowed.
Result<ScatterInstance> scatter_preset(const ScatterPreset& preset);

}  // namespace stowage
