// A directory with the plans of a stream, a file each: "00000012.json", so that sorted by name is
// sorted by step, and beside it what the step is for a trainer, if that was asked for.
//
//   const PlanDirectory plans("plans", {.trainer = TrainerFormat::binary});
//   Result<StoredStep> stored = plans.resume(12, step);
//   if (auto error = plans.put(planned)) complain(*error);
//
// What lies beside a plan, the step as an instance and a trainer's file, follows from the step and
// its plan. So it is never a reason to plan again, and what is there, whatever its format, is kept
// to the plan: it never stays that of another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "instances/result.h"
#include "solvers/plan_stream.h"

namespace stowage {

enum class TrainerFormat { none, json, binary };

enum class StoredPlan {
  missing,
  invalid,  // a plan of this step that the verifier refuses, or whose bound is false
  there,
};

// What there is of a step.
struct StoredStep {
  StoredPlan plan = StoredPlan::missing;
  bool claimed = false;  // its bound is a backend's word, and not proven
  std::string mended;    // a file beside the plan that was missing or not of it, and now is; or ""
};

// Files of which the same is to be said, in one line for all of them.
class FilesAlike {
 public:
  void add(const std::string& file);
  bool empty() const { return count_ == 0; }

  // "plans/00000012.json: is invalid, as 3 more". Requires a file.
  std::string say(const std::string& what) const;

 private:
  std::int64_t count_ = 0;
  std::string first_;
};

// What is written beside each plan.
struct BesidePlan {
  TrainerFormat trainer = TrainerFormat::none;
  bool instance = false;
};

class PlanDirectory {
 public:
  explicit PlanDirectory(std::string path, BesidePlan beside = {})
      : path_(std::move(path)), beside_(beside) {}

  // Whether the plan of this very step is there, verified, and its bound with it: computed again,
  // or proven by the certificate in "00000012.outcome.json". If so it is not touched, and the files
  // beside it are: compared with what the plan makes of them, and written if they differ. Errors:
  // E002 if its file holds anything else, as another batch size, cluster or list must not be mixed
  // with this one's, if it is no regular file, which could keep its reader waiting, or if a file
  // beside it cannot be written; E110 and E107 if what is there cannot be read; E604.
  Result<StoredStep> resume(std::int64_t index, const ScatterInstance& step) const;

  // Writes the step's files, its outcome among them where the plan's bound has a certificate, and
  // the plan last: who waits for it finds the others. A run that is killed in between leaves no
  // plan, or an invalid one, and both are planned again. Requires a plan. Errors: E002, E110, E604.
  std::optional<InputError> put(const PlannedStep& step) const;

  // "plans/00000012.json" for 12 and ".json".
  std::string file_of(std::int64_t index, const std::string& ending) const;

 private:
  Result<std::string> keep_beside(std::int64_t index, const ScatterInstance& step,
                                  const ScatterPlan& plan) const;

  std::string path_;
  BesidePlan beside_;
};

}  // namespace stowage
