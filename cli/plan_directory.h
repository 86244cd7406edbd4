// A directory with the plans of a stream, a file each: "00000012.json", so that sorted by name is
// sorted by step, and beside it what the step is for a trainer, if that was asked for.
//
//   const PlanDirectory plans("plans", TrainerFormat::binary);
//   Result<StoredPlan> there = plans.find(12, step);
//   if (auto error = plans.put(planned)) complain(*error);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "instances/result.h"
#include "solvers/plan_stream.h"

namespace stowage {

enum class TrainerFormat { none, json, binary };

// What there is of a step.
enum class StoredPlan {
  missing,
  invalid,  // a plan of this step that the verifier refuses
  there,
};

class PlanDirectory {
 public:
  explicit PlanDirectory(std::string path, TrainerFormat trainer = TrainerFormat::none)
      : path_(std::move(path)), trainer_(trainer) {}

  // Whether the plan of this very step is there, verified, with its trainer's file. Errors: E002 if
  // its file holds anything else, as another batch size, cluster or list must not be mixed with
  // this one's; E110 and E107 if that cannot be told.
  Result<StoredPlan> find(std::int64_t index, const ScatterInstance& step) const;

  // Writes the step's files, the plan last: where it is, the others are. Requires a plan. Errors:
  // E002, E604.
  std::optional<InputError> put(const PlannedStep& step) const;

  // "plans/00000012.json" for 12 and ".json".
  std::string file_of(std::int64_t index, const std::string& ending) const;

 private:
  std::string path_;
  TrainerFormat trainer_;
};

}  // namespace stowage
