// The family of assign steps: sequences over replicas of several shapes.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string_view>

#include "instances/assign/json/json.h"
#include "instances/assign/trainer.h"
#include "instances/assign/verify/verify.h"
#include "instances/unit.h"

namespace stowage {

class JsonWriter;

// Write the plan or certificate inside other documents (instances/json/writer.h).
void write_json(JsonWriter& json, const AssignPlan& plan);
void write_json(JsonWriter& json, const AssignCertificate& certificate);

struct Assign {
  using Instance = AssignInstance;
  using Plan = AssignPlan;
  using Certificate = AssignCertificate;

  static constexpr std::string_view name = "assign";
  static constexpr Unit unit = kMs;  // of the objective

  static constexpr auto read_instance = read_assign_instance;
  static constexpr auto read_plan = read_assign_plan;
  static constexpr auto read_certificate = read_assign_certificate;
  static constexpr auto write_instance = write_assign_instance;
  static constexpr auto write_plan = write_assign_plan;
  static constexpr Result<TrainerStep> (*trainer_step)(const Instance&,
                                                       const Plan&) = stowage::trainer_step;
  // Returns the errors of an instance in memory that its document cannot express.
  static constexpr auto hidden_errors = hidden_assign_errors;

  static int devices(const Instance& step) { return step.devices; }
  static std::size_t size(const Instance& step) { return step.lengths.size(); }  // sequences
};

}  // namespace stowage
