// The family of scatter steps: sequences over sequence-parallel groups.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string_view>

#include "instances/scatter/json/json.h"
#include "instances/scatter/trainer.h"
#include "instances/scatter/verify/verify.h"
#include "instances/unit.h"

namespace stowage {

class JsonWriter;

// Write the plan or certificate inside other documents (instances/json/writer.h).
void write_json(JsonWriter& json, const ScatterPlan& plan);
void write_json(JsonWriter& json, const ScatterCertificate& certificate);

struct Scatter {
  using Instance = ScatterInstance;
  using Plan = ScatterPlan;
  using Certificate = ScatterCertificate;

  static constexpr std::string_view name = "scatter";
  static constexpr Unit unit = kMs;  // of the objective

  static constexpr auto read_instance = read_scatter_instance;
  static constexpr auto read_plan = read_scatter_plan;
  // Reads a plan that may leave out values that follow from the instance.
  static constexpr auto complete_plan = complete_scatter_plan;
  static constexpr auto read_certificate = read_scatter_certificate;
  static constexpr auto write_instance = write_scatter_instance;
  static constexpr auto write_plan = write_scatter_plan;
  static constexpr Result<TrainerStep> (*trainer_step)(const Instance&,
                                                       const Plan&) = stowage::trainer_step;
  // Returns the errors of an instance in memory that its document cannot express.
  static constexpr auto hidden_errors = hidden_scatter_errors;

  static int devices(const Instance& step) { return step.cluster.devices; }
  static std::size_t size(const Instance& step) { return step.lengths.size(); }  // sequences
};

}  // namespace stowage
