// Published models and clusters, as assign instances without sequences.
//
//   Result<AssignInstance> step = assign_preset("llama-32b");
//   // 64 devices, seven schemes, seven strategies; (*step).lengths = ...
//
// The clusters are A800 GPUs with 80 GB, 8 on a node. Coefficients are those published with
// Hydraulis (arXiv 2412.07894); the caps follow from memory.h. instances/presets.md lists the
// strategies of each preset.
#pragma once

#include <string_view>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/memory.h"
#include "instances/result.h"

namespace stowage {

// Returns "llama-7b" (16 devices), "llama-13b" (32), "llama-32b" (64).
std::vector<std::string_view> assign_preset_models();

// Returns the preset. Errors point at the option ("/model"): E501 for an unknown model.
Result<AssignInstance> assign_preset(std::string_view model);

// Returns the memory model that the caps of a preset come from. Requires one of
// assign_preset_models().
const ReplicaMemory& assign_preset_memory(std::string_view model);

// Returns strategies that fill all devices with replicas of one scheme, or with one replica of a
// scheme that admits `longest` tokens and replicas of one scheme that admits fewer. They stand in
// the order of the schemes and are called S0, S1, ...
std::vector<Strategy> simple_strategies(const std::vector<Scheme>& schemes, int devices,
                                        Tokens longest);

}  // namespace stowage
