#include "instances/assign/presets.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "instances/model/transformer.h"

namespace stowage {
namespace {

struct PublishedScheme {
  int tp;
  int pp;
  double quadratic_ms;
  double linear_ms;
  Ms fixed_ms;
};

struct Replicas {
  std::size_t scheme;  // index of the scheme
  int count;
};

struct PublishedStrategy {
  Replicas first;
  Replicas second;  // unused if the count is 0
};

struct PublishedModel {
  std::string_view name;
  int devices;
  ReplicaMemory memory;
  std::span<const PublishedScheme> schemes;
  std::span<const PublishedStrategy> strategies;  // empty: simple_strategies()
};

constexpr int kVocabulary = 30592;  // of the published planner; the models' own is 32000
constexpr Tokens kLongest = 32768;  // the context that the models are trained for

constexpr PublishedScheme k7bSchemes[] = {
    {4, 1, 1.030e-6, 0.05648, 56.70}, {4, 2, 5.16e-7, 0.02851, 28.99},
    {4, 4, 2.58e-7, 0.01468, 14.98},  {2, 1, 2.054e-6, 0.09671, 65.18},
    {2, 2, 1.027e-6, 0.04907, 31.87}, {2, 4, 5.25e-7, 0.02499, 17.47},
    {8, 1, 5.07e-7, 0.03662, 44.32},  {8, 2, 2.54e-7, 0.01847, 22.98},
    {16, 1, 3.02e-7, 0.02923, 65.24}, {1, 4, 9.55e-7, 0.04552, 14.27}};

constexpr PublishedScheme k13bSchemes[] = {
    {4, 1, 1.629e-6, 0.0998, 76.4}, {4, 2, 8.13e-7, 0.0501, 39.5}, {2, 2, 1.534e-6, 0.0901, 40.5},
    {2, 4, 7.97e-7, 0.0452, 23.3},  {8, 1, 6.59e-7, 0.0667, 50.4}, {1, 4, 1.255e-6, 0.0851, 20.2}};

constexpr PublishedScheme k32bSchemes[] = {
    {2, 2, 3.734e-6, 0.2131, 80.7},  {4, 1, 3.870e-6, 0.2390, 120.7},
    {4, 2, 2.046e-6, 0.1183, 65.4},  {8, 1, 2.125e-6, 0.1414, 122.9},
    {8, 2, 1.068e-6, 0.0711, 61.8},  {8, 3, 6.86e-7, 0.0483, 38.1},
    {16, 1, 1.378e-6, 0.1024, 145.7}};

constexpr PublishedStrategy k32bStrategies[] = {
    {{6, 4}, {}},      {{6, 1}, {5, 2}},  {{6, 1}, {3, 6}}, {{6, 1}, {1, 12}},
    {{5, 1}, {1, 10}}, {{3, 1}, {1, 14}}, {{2, 8}, {}}};

// Returns the memory model of a model of this shape.
constexpr ReplicaMemory shaped(const TransformerShape& shape, ReplicaMemory memory) {
  memory.hidden = shape.hidden;
  memory.layers = shape.layers;
  memory.vocabulary = kVocabulary;
  return memory;
}

constexpr std::array<PublishedModel, 3> kModels = {{
    {.name = "llama-7b",
     .devices = 16,
     .memory = shaped(*transformer_shape("llama-7b"),
                      {.block = 210,
                       .reserve_mib = 6 * 1024,
                       .optimizer = {.dp = 2, .tp = 4, .pp = 2},
                       .activation = {{{1, 38}, {2, 39}, {4, 42}, {8, 48}, {16, 61}}}}),
     .schemes = k7bSchemes,
     .strategies = {}},
    {.name = "llama-13b",
     .devices = 32,
     .memory = shaped(*transformer_shape("llama-13b"),
                      {.block = 210,
                       .reserve_mib = 8 * 1024,
                       .optimizer = {.dp = 8, .tp = 4, .pp = 1},
                       .activation = {{{1, 38}, {2, 39}, {4, 39}, {8, 48}}}}),
     .schemes = k13bSchemes,
     .strategies = {}},
    {.name = "llama-32b",  // the shape that LLaMA calls 30B
     .devices = 64,
     .memory = shaped(*transformer_shape("llama-30b"),
                      {.block = 201,
                       .reserve_mib = 10 * 1024,
                       .optimizer = {.dp = 4, .tp = 16, .pp = 1},
                       .activation = {{{2, 36}, {4, 37}, {8, 42}, {16, 50}}}}),
     .schemes = k32bSchemes,
     .strategies = k32bStrategies},
}};

const PublishedModel* find_model(std::string_view name) {
  const auto found = std::find_if(kModels.begin(), kModels.end(),
                                  [&](const PublishedModel& m) { return m.name == name; });
  return found == kModels.end() ? nullptr : &*found;
}

int devices_of(const Scheme& scheme) { return scheme.tp * scheme.pp; }

}  // namespace

std::vector<std::string_view> assign_preset_models() {
  std::vector<std::string_view> names;
  for (const PublishedModel& model : kModels) names.push_back(model.name);
  return names;
}

const ReplicaMemory& assign_preset_memory(std::string_view model) {
  return find_model(model)->memory;
}

std::vector<Strategy> simple_strategies(const std::vector<Scheme>& schemes, int devices,
                                        Tokens longest) {
  std::vector<Strategy> strategies;
  const auto add = [&](std::size_t one, std::size_t other, int others) {
    Strategy strategy{.name = 'S' + std::to_string(strategies.size()),
                      .replicas = std::vector<int>(schemes.size())};
    if (one < schemes.size()) strategy.replicas[one] = 1;
    strategy.replicas[other] += others;
    strategies.push_back(std::move(strategy));
  };
  for (std::size_t g = 0; g < schemes.size(); ++g) {
    if (devices % devices_of(schemes[g]) == 0) {
      add(schemes.size(), g, devices / devices_of(schemes[g]));
    }
  }
  for (std::size_t one = 0; one < schemes.size(); ++one) {
    const int left = devices - devices_of(schemes[one]);
    if (schemes[one].max_tokens < longest || left <= 0) continue;
    for (std::size_t g = 0; g < schemes.size(); ++g) {
      if (schemes[g].max_tokens >= schemes[one].max_tokens) continue;
      if (left % devices_of(schemes[g]) == 0) add(one, g, left / devices_of(schemes[g]));
    }
  }
  return strategies;
}

Result<AssignInstance> assign_preset(std::string_view model) {
  const PublishedModel* published = find_model(model);
  if (published == nullptr) {
    return unknown_model(model, assign_preset_models());
  }
  AssignInstance instance;
  instance.devices = published->devices;
  instance.name = std::string(model) + '-' + std::to_string(instance.devices) + "gpu";
  for (const PublishedScheme& scheme : published->schemes) {
    instance.schemes.push_back(
        {.name = std::to_string(scheme.tp) + 'x' + std::to_string(scheme.pp),
         .tp = scheme.tp,
         .pp = scheme.pp,
         .quadratic_ms = scheme.quadratic_ms,
         .linear_ms = scheme.linear_ms,
         .fixed_ms = scheme.fixed_ms,
         .max_tokens = max_row_tokens(published->memory, scheme.tp, scheme.pp)});
  }
  for (const PublishedStrategy& listed : published->strategies) {
    Strategy strategy{.name = 'S' + std::to_string(instance.strategies.size()),
                      .replicas = std::vector<int>(instance.schemes.size())};
    for (const auto& [scheme, count] : {listed.first, listed.second}) {
      strategy.replicas[scheme] += count;
    }
    instance.strategies.push_back(std::move(strategy));
  }
  if (published->strategies.empty()) {
    instance.strategies = simple_strategies(instance.schemes, instance.devices, kLongest);
  }
  return instance;
}

}  // namespace stowage
