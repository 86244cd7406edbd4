// A directory with the plans of a stream, a file each: "00000012.json", so that sorted by name is
// sorted by step, and beside it what the step is for a trainer, if that was asked for.
//
//   const PlanDirectory plans("plans", TrainerFormat::binary);
//   Result<bool> there = plans.has(12, step);     // false: not yet
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

class PlanDirectory {
 public:
  explicit PlanDirectory(std::string path, TrainerFormat trainer = TrainerFormat::none)
      : path_(std::move(path)), trainer_(trainer) {}

  // Whether the plan of this very step is there, with its trainer's file. Error E002 if its file
  // holds anything else: another batch size, cluster or list must not be mixed with this one's.
  Result<bool> has(std::int64_t index, const ScatterInstance& step) const;

  // Writes the step's files, the plan last: where it is, the others are. Requires a plan. Errors:
  // E002, E604.
  std::optional<InputError> put(const PlannedStep& step) const;

 private:
  std::string file_of(std::int64_t index, const std::string& ending) const;

  std::string path_;
  TrainerFormat trainer_;
};

}  // namespace stowage
