// The family of strategies: the choice of the parallel configuration in which a model is trained.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstddef>
#include <string_view>

#include "instances/strategy/configuration.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/verify/verify.h"
#include "instances/unit.h"

namespace stowage {

class JsonWriter;

// Write the plan or certificate inside other documents (instances/json/writer.h).
void write_json(JsonWriter& json, const StrategyPlan& plan);
void write_json(JsonWriter& json, const StrategyCertificate& certificate);

// The type is not called Strategy, which is the name of an assign instance's sets of pipelines.
struct StrategyFamily {
  using Instance = StrategyInstance;
  using Plan = StrategyPlan;
  using Certificate = StrategyCertificate;

  static constexpr std::string_view name = "strategy";
  static constexpr Unit unit = kMs;  // of the objective

  static constexpr auto read_instance = read_strategy_instance;
  static constexpr auto read_plan = read_strategy_plan;
  // Reads a plan that may state only the configuration.
  static constexpr auto complete_plan = complete_strategy_plan;
  static constexpr auto read_certificate = read_strategy_certificate;
  static constexpr auto write_instance = write_strategy_instance;
  static constexpr auto write_plan = write_strategy_plan;
  // Returns the errors of an instance in memory that its document cannot express.
  static constexpr auto hidden_errors = hidden_strategy_errors;

  static int devices(const Instance& instance) {
    return static_cast<int>(instance.cluster.devices());
  }
  static std::size_t size(const Instance& instance) { return instance.lengths.size(); }
};

}  // namespace stowage
